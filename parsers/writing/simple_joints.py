"""Joints as joints of one axis, balls and free ones, that follow one another on one body: as MJCF has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, pi
from typing import TYPE_CHECKING, Any

from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.joint_kinds import BALL, FREE
from mbcli.parsers.spec import AxisSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.parsers.spec import JointSpec


@dataclass(frozen=True)
class Part:
    """One of the joints that a JointSpec becomes: q = sum of row * q of the JointSpec."""

    name: str
    kind: str
    row: tuple[float, ...]
    axis: AxisSpec | None  # direction in frame M, limits, damping; None: a ball or free joint
    damping: float  # of a ball or free joint
    armature: float
    stiffness: float = 0.0  # of a ball joint
    follows: tuple[str, float] | None = None  # (another part, ratio) to which it is coupled
    friction: float = 0.0  # of a ball joint
    turn_limit: float = inf  # [rad] of a ball joint


def _part(joint: JointSpec, k: int, name: Callable[[str], str]) -> Part:
    """The Part of one of the motions of a joint."""
    motion, inertia = joint.kind.motions[k], joint.reflected_inertia
    if motion.kind in (BALL, FREE):
        row = (1.0,) * joint.kind.num_velocities
        common = joint.name, motion.kind, row, None, max(joint.damping, default=0.0), inertia, joint.stiffness
        return Part(*common, friction=joint.friction, turn_limit=joint.turn_limit)
    if motion.by_pitch:
        axis, ratio = joint.axes[0], joint.screw_pitch / (2.0 * pi)
        travel = AxisSpec(axis.xyz, axis.place, default_position=ratio * axis.default_position)
        follows = joint.name, ratio
        return Part(name(f"{joint.name}_{motion.ending}"), motion.kind, (ratio,), travel, 0.0, 0.0, 0.0, follows)
    if motion.direction is None:
        return Part(joint.name, motion.kind, (1.0,), joint.axes[0], 0.0, inertia)
    count = joint.kind.num_velocities
    if joint.kind.num_axes == count:
        axis = replace(joint.axes[k], xyz=motion.direction)
    else:
        axis = AxisSpec(motion.direction, joint.place, damping=joint.damping[k] if joint.damping else 0.0)
    row = tuple(float(k == column) for column in range(count))
    return Part(name(f"{joint.name}_{motion.ending}"), motion.kind, row, axis, 0.0, inertia)


def parts_of(joints: Any) -> dict[str, tuple[Part, ...]]:
    """{name: its Parts, in the order in which they follow one another} of JointSpecs; their names differ."""
    taken = {joint.name for joint in joints}
    found: dict[str, tuple[Part, ...]] = {}

    def name(wanted: str) -> str:
        free = generated_name(wanted, taken)
        taken.add(free)
        return free

    for joint in joints:
        found[joint.name] = tuple(_part(joint, k, name) for k in range(len(joint.kind.motions)))
    return found

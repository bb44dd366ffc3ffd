"""Joints as joints of one axis, balls and free ones, that follow one another on one body: as MJCF has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, pi
from typing import TYPE_CHECKING, Any

from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.spec import AxisSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.parsers.spec import JointSpec

HINGE, SLIDE, BALL, FREE = "hinge", "slide", "ball", "free"
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


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


def _one_axis(kind: str) -> Callable[..., tuple[Part, ...]]:
    def parts(joint: JointSpec, name: Callable[[str], str]) -> tuple[Part, ...]:
        return (Part(joint.name, kind, (1.0,), joint.axes[0], 0.0, joint.reflected_inertia),)

    return parts


def _in_space(kind: str, count: int) -> Callable[..., tuple[Part, ...]]:
    def parts(joint: JointSpec, name: Callable[[str], str]) -> tuple[Part, ...]:
        damping, inertia = max(joint.damping, default=0.0), joint.reflected_inertia
        common = joint.name, kind, (1.0,) * count, None, damping, inertia, joint.stiffness
        return (Part(*common, friction=joint.friction, turn_limit=joint.turn_limit),)

    return parts


def _universal(joint: JointSpec, name: Callable[[str], str]) -> tuple[Part, ...]:
    axes = zip("xy", (X, Y), joint.axes, ((1.0, 0.0), (0.0, 1.0)), strict=True)
    return tuple(
        Part(name(f"{joint.name}_q{letter}"), HINGE, row, _along(axis, direction), 0.0, joint.reflected_inertia)
        for letter, direction, axis, row in axes
    )


def _planar(joint: JointSpec, name: Callable[[str], str]) -> tuple[Part, ...]:
    damping = joint.damping or (0.0, 0.0, 0.0)
    kinds = (("x", SLIDE, X), ("y", SLIDE, Y), ("qz", HINGE, Z))
    return tuple(
        Part(
            name(f"{joint.name}_{ending}"),
            kind,
            tuple(float(k == column) for column in range(3)),
            AxisSpec(direction, joint.place, damping=damping[k]),
            0.0,
            joint.reflected_inertia,
        )
        for k, (ending, kind, direction) in enumerate(kinds)
    )


def _screw(joint: JointSpec, name: Callable[[str], str]) -> tuple[Part, ...]:
    axis, ratio = joint.axes[0], joint.screw_pitch / (2.0 * pi)
    turn = Part(joint.name, HINGE, (1.0,), axis, 0.0, joint.reflected_inertia)
    travel = AxisSpec(axis.xyz, axis.place, default_position=ratio * axis.default_position)
    return turn, Part(name(f"{joint.name}_travel"), SLIDE, (ratio,), travel, 0.0, 0.0, 0.0, (joint.name, ratio))


def _along(axis: AxisSpec, direction: tuple[float, float, float]) -> AxisSpec:
    return replace(axis, xyz=direction)


COMPOUND = ("universal", "planar", "screw")  # types that become several joints

_PARTS: dict[str, Callable[..., tuple[Part, ...]]] = {
    "fixed": lambda joint, name: (),
    "revolute": _one_axis(HINGE),
    "continuous": _one_axis(HINGE),
    "prismatic": _one_axis(SLIDE),
    "screw": _screw,
    "universal": _universal,
    "planar": _planar,
    "ball": _in_space(BALL, 3),
    "quaternion_floating": _in_space(FREE, 6),
}


def parts_of(joints: Any) -> dict[str, tuple[Part, ...]]:
    """{name: its Parts, in the order in which they follow one another} of JointSpecs; their names differ."""
    taken = {joint.name for joint in joints}
    found: dict[str, tuple[Part, ...]] = {}

    def name(wanted: str) -> str:
        free = generated_name(wanted, taken)
        taken.add(free)
        return free

    for joint in joints:
        found[joint.name] = _PARTS[joint.type](joint, name)
    return found

"""The spanning forest of a `ModelSpec`, by names: as the plant of the model has it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import WORLD

from mbcli.common.topology import CUT_EARLY, CUT_FIRST, CUT_LAST, CUT_LATE, forest_by_loss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.parsers.spec import JointSpec, ModelSpec


@dataclass(frozen=True)
class Branch:
    """A link, its inboard link, and the JointSpec that moves it (None: it floats); reversed: the joint's parent is the
    link."""

    link: str
    inboard: str
    joint: JointSpec | None
    reversed: bool


def cut_of(joint: JointSpec, is_needed: bool) -> int:
    """The loss of a joint without its coordinates, as the plant sees it."""
    if is_needed or joint.kind.is_floating:  # which holds nothing
        return CUT_LAST
    if any(isfinite(axis.lower) or isfinite(axis.upper) or axis.friction for axis in joint.axes):
        return CUT_LATE
    forces = any(axis.damping or axis.spring_stiffness for axis in joint.axes) or any(joint.damping)
    return CUT_EARLY if forces else CUT_FIRST


def needed_joints(model: ModelSpec) -> Iterator[str]:
    """Names of joints that have to keep their coordinates because other elements of the ModelSpec refer to them."""
    yield from (actuator.joint for actuator in model.actuators)
    for joint in model.joints:
        for axis in joint.axes:
            if axis.mimic is not None:
                yield from (joint.name, axis.mimic.leader)
    for constraint in model.constraints:
        yield from getattr(constraint, "joints", ())


def spanning_tree(model: ModelSpec) -> tuple[list[Branch], set[str]]:
    """(Branches, each after that of the link it hangs on; names of the joints that close loops) of a flat model."""
    names = [WORLD, *(link.name for link in model.links if link.name != WORLD)]
    index = {name: k for k, name in enumerate(names)}
    ends = [(index[joint.parent], index[joint.child]) for joint in model.joints]
    needed = set(needed_joints(model))
    mobods, loops = forest_by_loss(
        len(names), ends, lambda: (cut_of(joint, joint.name in needed) for joint in model.joints)
    )
    branches = [
        Branch(
            names[mobod.link],
            names[mobod.inboard],
            None if mobod.joint is None else model.joints[mobod.joint],
            mobod.reversed,
        )
        for mobod in mobods
    ]
    return branches, {model.joints[k].name for k in loops}

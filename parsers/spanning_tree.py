"""The spanning forest of a `ModelSpec`, by names: as the plant of the model has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import WORLD

from mbcli.common.topology import Edge, spanning_forest

if TYPE_CHECKING:
    from mbcli.parsers.spec import JointSpec, ModelSpec


@dataclass(frozen=True)
class Branch:
    """A link, its inboard link, and the JointSpec that moves it (None: it floats); reversed: the joint's parent is the
    link."""

    link: str
    inboard: str
    joint: JointSpec | None
    reversed: bool


def spanning_tree(model: ModelSpec) -> tuple[list[Branch], set[str]]:
    """(Branches, each after that of the link it hangs on; names of the joints that close loops) of a flat model."""
    names = [WORLD, *(link.name for link in model.links if link.name != WORLD)]
    index = {name: k for k, name in enumerate(names)}
    edges = [Edge(k, index[joint.parent], index[joint.child]) for k, joint in enumerate(model.joints)]
    mobods, loops = spanning_forest(len(names), edges)
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

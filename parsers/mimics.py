"""Whether the joints that follow others can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.cycles import find_cycles

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.parsers.xml_node import Node


def check_mimics(
    followers: Mapping[str, tuple[str, Node]], nodes: Mapping[str, Node], mismatch: Callable[[str, str], str | None]
) -> list[list[str]]:
    """Report each joint that cannot follow its leader; the cycles of joints that follow each other, lists of names.

    followers: {joint name: (name of its leader, the XML node that states it)}; nodes: {name: XML node} of all joints
    of the file. mismatch(follower, leader): why the one joint cannot follow the other, by their names, or None.
    """
    leaders: dict[str, Any] = {}
    for name, (leader, node) in followers.items():
        hint = None
        problem: str | None
        if leader == name:
            problem = f'joint "{name}" mimics itself'
        elif leader not in nodes:
            problem, hint = f'there is no joint "{leader}" to mimic', did_you_mean(leader, nodes)
        else:
            problem = mismatch(name, leader)
        if problem is None:
            leaders[name] = leader
        else:
            node.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", problem, node, value=leader, hint=hint)
    return find_cycles(leaders)

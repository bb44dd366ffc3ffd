"""The plugin of Gazebo classic that lets a joint follow another, as makers of grippers write it: another <mimic>.

It is the one of the roboticsgroup, in several copies whose file names have `mimic_joint` in them. Its controller is not
simulated: the joint follows exactly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mbcli.parsers.spec import MimicSpec

if TYPE_CHECKING:
    from mbcli.parsers.spec import JointSpec
    from mbcli.parsers.xml_node import Node

PART_OF_FILE = "mimic_joint"
ELSEWHERE = ("robotNamespace", "namespace", "hasPID", "sensitiveness", "maxEffort")


def follow_by_plugins(root: Node, joints: dict[str, JointSpec]) -> None:
    """Joints that a plugin lets follow another do; a plugin that makes no sense is left to its reader, who warns."""
    for owner in root.child_nodes:
        for node in owner.child_nodes if owner.tag == "gazebo" else ():
            if node.tag == "plugin" and PART_OF_FILE in (node.raw("filename") or "").lower():
                _follow(node, joints)


def _follow(node: Node, joints: dict[str, JointSpec]) -> None:
    leader, follower = (_text(node, tag) for tag in ("joint", "mimicJoint"))
    multiplier, offset = (_number(node, tag, default) for tag, default in (("multiplier", 1.0), ("offset", 0.0)))
    mimic = MimicSpec(leader, multiplier, offset, node.place)
    if _can_follow(follower, leader, joints):
        joint = joints[follower]
        joints[follower] = replace(joint, axes=(replace(joint.axes[0], mimic=mimic), *joint.axes[1:]))
    elif not _follows(follower, mimic, joints):
        return
    for tag in ELSEWHERE:
        for child in node.children(tag):
            child.ignore("foreign")
    node.attribute("name")
    node.attribute("filename")
    node.ignore("settled")


def _text(node: Node, tag: str) -> str:
    child = node.child(tag)
    return "" if child is None else child.text("") or ""


def _number(node: Node, tag: str, default: float) -> float:
    child = node.child(tag)
    return default if child is None else child.text_number(default) or 0.0


def _follows(follower: str, mimic: MimicSpec, joints: dict[str, JointSpec]) -> bool:
    """Whether the joint says the same by its <mimic>."""
    axes = joints[follower].axes if follower in joints else ()
    own = axes[0].mimic if axes else None
    said = mimic.leader, mimic.multiplier, mimic.offset
    return own is not None and (own.leader, own.multiplier, own.offset) == said


def _can_follow(follower: str, leader: str, joints: dict[str, JointSpec]) -> bool:
    """Whether both are joints of one axis, the one free to follow and the other not following it in turn."""
    for name in (follower, leader):
        if name not in joints or joints[name].kind.num_velocities != 1 or not joints[name].axes:
            return False
    if joints[follower].axes[0].mimic is not None:
        return False
    chain = leader
    while chain != follower:
        mimic = joints[chain].axes[0].mimic if joints[chain].axes else None
        if mimic is None or mimic.leader not in joints:
            return True
        chain = mimic.leader
    return False

"""Drives of the joints of SDFormat files: actuators, and other joints that they follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mbcli.parsers.mimics import check_mimics
from mbcli.parsers.sdf.sdf_values import child_number, descendant
from mbcli.parsers.spec import ActuatorSpec, MimicSpec
from mbcli.parsers.xml_node import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.sdf.sdf_values import ModelElement
    from mbcli.parsers.spec import JointSpec
    from mbcli.parsers.xml_node import Node

NO_ACTUATOR = "mbcli:no_actuator"  # of a joint with an effort limit, which is written for other programs


def read_actuators(elements: Sequence[ModelElement], joints: Sequence[JointSpec]) -> tuple[ActuatorSpec, ...]:
    """The actuators of a model's joints, a tuple of `ActuatorSpec` in the order of the joints."""
    nodes = {element.name: element.node for element in elements if element.tag == "joint"}
    found = [_read_actuator(nodes[joint.name], joint) for joint in joints if joint.name in nodes]
    return tuple(actuator for actuator in found if actuator is not None)


def _read_actuator(node: Node, joint: JointSpec) -> ActuatorSpec | None:
    """The actuator of a joint, or None: there is one unless the effort limit is 0, or it is said that there is none."""
    if not joint.kind.has_one_coordinate or node.child(NO_ACTUATOR) is not None or joint.axes[0].effort == 0:
        for tag in ("drake:rotor_inertia", "drake:gear_ratio", "drake:controller_gains"):
            for child in node.children(tag):
                child.unsupported("the joint has no actuator")
        return None
    gains = node.child("drake:controller_gains")
    return ActuatorSpec(
        name=joint.name,
        joint=joint.name,
        place=node.place,
        effort_limit=joint.axes[0].effort,
        rotor_inertia=_read_rotor_inertia(node),
        gear_ratio=child_number(node, "drake:gear_ratio", 1.0),
        controller_gains=_read_gains(gains) if gains is not None else None,
    )


def _read_rotor_inertia(joint: Node) -> float:
    inertia = child_number(joint, "drake:rotor_inertia", 0.0)
    if inertia < 0:
        message = f"<drake:rotor_inertia> must not be negative, found {inertia!r}"
        joint.diagnostics.error("ELEMENT_INVALID", message, joint.child("drake:rotor_inertia"))
    return inertia


def _read_gains(node: Node) -> tuple[float, float]:
    p, d = (node.number(name, 0.0, required=True) for name in ("p", "d"))
    if min(p, d) < 0:
        node.diagnostics.error("ATTRIBUTE_INVALID", "<drake:controller_gains> must not be negative", node)
    return p, d


def read_mimic(joint: Node, axis: Node, one_dof: bool) -> MimicSpec | None:
    """The MimicSpec of a joint that follows another, whether or not there is such a leader."""
    own, standard = joint.child("drake:mimic"), axis.child("mimic")
    if not one_dof:
        for node in (own, standard):
            if node is not None:
                node.unsupported("only a joint with one degree of freedom can follow another")
        return None
    of_standard = _read_standard_mimic(standard) if standard is not None else None
    if own is None:
        return of_standard
    multiplier = own.number("multiplier", 1.0, required=True)
    offset = own.number("offset", 0.0, required=True)
    leader = own.attribute("joint", required=True)
    found = None if leader is None else MimicSpec(leader, multiplier, offset, own.place)
    if of_standard is not None and found is not None and replace(of_standard, place=own.place) != found:
        assert standard is not None
        standard.unsupported("<drake:mimic> is there, too, and says something else")
    return found


def _read_standard_mimic(node: Node) -> MimicSpec | None:
    """<axis><mimic>: q = multiplier (leader - reference) + offset."""
    multiplier = child_number(node, "multiplier", 1.0)
    offset = child_number(node, "offset", 0.0) - multiplier * child_number(node, "reference", 0.0)
    leader = node.attribute("joint", required=True)
    axis = node.attribute("axis", "axis")
    if axis not in ("axis", "axis2"):
        message = f'attribute "axis" of <mimic> must be "axis" or "axis2", found {quoted(axis)}'
        node.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", message, node, attribute="axis", value=axis)
    if leader is None:
        return None
    return MimicSpec(leader, multiplier, offset, node.place, leader_axis=int(axis == "axis2"))


def check_followers(
    own: Mapping[str, tuple[JointSpec, str]], joints: Mapping[str, tuple[JointSpec, str]], nodes: Mapping[str, Node]
) -> None:
    """Report the joints that cannot follow their leaders.

    own: those whose leaders are to be checked, {full name: (JointSpec, prefix of its model)}; joints: the same of all
    joints; nodes: {full name: node} of all, sound or not.
    """
    followers = {}
    mimics = {}
    for name, (joint, prefix) in own.items():
        if joint.axes and joint.axes[0].mimic is not None:
            mimics[name] = joint.axes[0].mimic
            followers[name] = (prefix + mimics[name].leader, _mimic_node(nodes[name]))

    def mismatch(name: str, leader_name: str) -> str | None:
        if leader_name not in joints:  # it has errors of its own
            return None
        leader = joints[leader_name][0]
        if mimics[name].leader_axis < leader.kind.num_axes and not leader.kind.axis_is_normal:
            return None
        return f'joint "{name}" cannot mimic "{leader_name}", which is {leader.type} and has no such axis'

    for cycle in check_mimics(followers, nodes, mismatch):
        arrows = " -> ".join(quoted(name) for name in (*cycle, cycle[0]))
        message = f"joints follow each other in a cycle: {arrows}"
        nodes[cycle[0]].diagnostics.error("JOINT_AXIS_MIMIC_INVALID", message, nodes[cycle[0]])


def _mimic_node(joint: Node) -> Any:
    return joint.child("drake:mimic") or descendant(joint, "axis", "mimic")

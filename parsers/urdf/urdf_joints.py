"""Joints of URDF files: types, axes, limits, damping, mimicry."""

from __future__ import annotations

from math import hypot, inf
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.joint_kinds import JOINT_KINDS, stated_by
from mbcli.parsers.mimics import check_mimics
from mbcli.parsers.spec import IDENTITY, AxisSpec, JointSpec, MimicSpec, pose
from mbcli.parsers.urdf.urdf_values import read_link_name, read_origin, read_pose, read_unsigned
from mbcli.parsers.xml_document import MAX_RELATED
from mbcli.parsers.xml_node import quoted

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from mbcli.parsers.joint_kinds import JointKind
    from mbcli.parsers.spec import LinkSpec
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix3, Matrix4

    AxesAndDamping: TypeAlias = tuple[tuple[AxisSpec, ...], tuple[float, ...]]

AXIS_TOLERANCE = 1e-6  # deviation of an axis from length 1 that is not worth a word

_FORMS = stated_by("urdf")
# element: {type in it: kind}
_KINDS_OF_TAG: dict[str, dict[str, str]] = {
    tag: {word: name for name, form in _FORMS.items() for own, word in form.elements if own == tag}
    for tag in ("joint", "drake:joint", "loop_joint")
}
_OTHER_TAG = {"joint": "drake:joint", "drake:joint": "joint"}  # the element for types that this one does not have
# attribute of <limit>: what of AxisSpec it bounds
_BOUNDS = {
    "acceleration": "acceleration",  # URDF 1.2; that of Drake counts more
    "velocity": "velocity",
    "drake:acceleration": "acceleration",
    "deceleration": "deceleration",
    "jerk": "jerk",
    "effort": "effort",
}


def read_joints(nodes: Mapping[str, Node], links: Mapping[str, LinkSpec]) -> dict[str, JointSpec]:
    """{name: JointSpec} of the joints without errors; each <loop_joint> comes last, so that the loop is cut there."""
    in_order = sorted(nodes.items(), key=lambda item: item[1].tag == "loop_joint")
    read = {name: _read_joint(name, node, links) for name, node in in_order}
    joints = {name: joint for name, joint in read.items() if joint is not None}
    _report_unlimited(joints, nodes)
    return joints


def _report_unlimited(joints: Mapping[str, JointSpec], nodes: Mapping[str, Node]) -> None:
    """URDF wants limits for these types, be they infinite; one finding for all."""
    found = [
        nodes[name]
        for name, joint in joints.items()
        if "lower" in _FORMS[joint.type].fields
        and not joint.kind.endless
        and (joint.axes[0].lower, joint.axes[0].upper) == (-inf, inf)
        and not _states_limits(nodes[name])
    ]
    if found:
        count = "1 joint has" if len(found) == 1 else f"{len(found)} joints have"
        found[0].diagnostics.warning(
            "JOINT_LIMIT_MISSING",
            f"{count} no position limits although of type revolute or prismatic: taken as unlimited",
            found[0],
            related=[node.place for node in found[1 : 1 + MAX_RELATED]],
        )


def _states_limits(node: Node) -> bool:
    limit = node.peek("limit")
    return limit is not None and not limit.attribute_names.isdisjoint(("lower", "upper"))


def _read_joint(name: str, node: Node, links: Mapping[str, LinkSpec]) -> JointSpec | None:
    type_ = _read_type(node)
    kind = None if type_ is None else JOINT_KINDS[type_]
    if node.tag == "loop_joint":
        (parent, X_PF), (child, X_CM) = (_read_loop_end(node, tag, links) for tag in ("link1", "link2"))
    else:
        parent = _read_end(node, "parent", links, "JOINT_PARENT_LINK_INVALID")
        child = _read_end(node, "child", links, "JOINT_CHILD_LINK_INVALID")
        X_PF, X_CM = read_origin(node), IDENTITY
    mimic = None if kind is not None and kind.is_fixed else _read_mimic(node)
    if type_ is None or kind is None:
        node.ignore("settled")
        return None
    axes, damping = _read_axes(node, type_, mimic)
    if kind.axis_is_normal:  # z of the frames F and M is the normal of the plane
        X_CM = pose(rotation_from_z(_read_axis(node)))
        X_PF = pose(X_PF[:3, :3] @ X_CM[:3, :3], X_PF[:3, 3])
    pitch = _read_pitch(node) if kind.has_pitch else 0.0
    if parent is None or child is None:
        return None
    if parent == child:
        node.diagnostics.error("JOINT_PARENT_SAME_AS_CHILD", f'joint "{name}" connects link "{parent}" to itself', node)
        return None
    return JointSpec(
        name=name,
        type=type_,
        parent=parent,
        child=child,
        X_PF=X_PF,
        X_CM=X_CM,
        place=node.place,
        axes=axes,
        screw_pitch=pitch,
        damping=damping,
    )


def _read_type(node: Node) -> str | None:
    """The kind of joint, or None after an error."""
    file_type = node.attribute("type", required=True)
    if file_type is None:
        return None
    allowed, other_tag = _KINDS_OF_TAG[node.tag], _OTHER_TAG.get(node.tag)
    if file_type in allowed:
        return allowed[file_type]
    if other_tag is not None and file_type in _KINDS_OF_TAG[other_tag]:
        problem, hint = f"a joint of type {file_type} is written as <{other_tag}>", None
    elif node.tag == "drake:joint" and file_type == "curvilinear":
        problem, hint = "joints of type curvilinear cannot be read", None
    else:
        problem, hint = f"there is no joint type {quoted(file_type)}", did_you_mean(file_type, allowed)
    node.refuse("type", problem, value=file_type, hint=hint)
    return None


def _read_end(node: Node, tag: str, links: Mapping[str, LinkSpec], code: str) -> str | None:
    end = node.child(tag, required=True)
    return None if end is None else read_link_name(end, "link", links, code)


def _read_loop_end(node: Node, tag: str, links: Mapping[str, LinkSpec]) -> tuple[str | None, Matrix4]:
    """(link, pose of the joint's frame in it) of <link1> or <link2> of a <loop_joint>."""
    end = node.child(tag, required=True)
    return (
        (None, IDENTITY) if end is None else (read_link_name(end, "link", links, "ATTRIBUTE_INVALID"), read_pose(end))
    )


def _read_axes(node: Node, type_: str, mimic: MimicSpec | None) -> AxesAndDamping:
    """The axes and the damping of a joint of a kind that has no axes."""
    kind, form = JOINT_KINDS[type_], _FORMS[type_]
    if kind.is_fixed:
        return _read_no_axes(node)
    if kind.has_one_coordinate:
        return _read_one_axis(node, type_, mimic)
    if kind.num_axes > 1:
        return _read_two_axes(node, kind)
    if kind.axis_is_normal:
        return _read_plane(node)
    if form.dampings == 1:
        return (), (_read_dynamics(node, with_friction=False)[0],)
    return _read_floating(node)


def _read_no_axes(node: Node) -> AxesAndDamping:
    """fixed: elements on the motion of a joint have no meaning."""
    for child in node.children("axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"):
        child.ignore("meaningless", "the joint is fixed")
    return (), ()


def _read_one_axis(node: Node, type_: str, mimic: MimicSpec | None) -> AxesAndDamping:
    """revolute, continuous, prismatic, screw; Drake reads limits for the first three only."""
    limits = _read_limits(node, JOINT_KINDS[type_]) if "lower" in _FORMS[type_].fields else {}
    damping, friction = _read_dynamics(node)
    axis = AxisSpec(xyz=_read_axis(node), place=node.place, damping=damping, friction=friction, mimic=mimic, **limits)
    return (axis,), ()


def _read_two_axes(node: Node, kind: JointKind) -> AxesAndDamping:
    """universal: the axes are x and y of the joint frame, both with the same damping."""
    damping, _ = _read_dynamics(node, with_friction=False)
    directions = (motion.direction for motion in kind.motions)
    return tuple(AxisSpec(xyz, node.place, damping=damping) for xyz in directions if xyz is not None), ()


def _read_plane(node: Node) -> AxesAndDamping:
    """The axis is the normal of the plane, turned to z by the joint's frames."""
    dynamics = node.child("dynamics")
    damping = dynamics.vector("damping", 3, (0.0, 0.0, 0.0)) if dynamics is not None else (0.0, 0.0, 0.0)
    if dynamics is not None and min(damping) < 0:
        message = f"damping must not be negative, found {damping}: it is taken as 0"
        dynamics.diagnostics.warning("ATTRIBUTE_INVALID", message, dynamics, attribute="damping")
        damping = (0.0, 0.0, 0.0)
    return (AxisSpec(xyz=(0.0, 0.0, 1.0), place=node.place),), damping


def _read_floating(node: Node) -> AxesAndDamping:
    for child in node.children("axis", "limit"):
        child.ignore("meaningless", "the joint is free")
    return (), (0.0, 0.0)


def _read_axis(node: Node) -> tuple[float, float, float]:
    """The unit vector of <axis>; x without one."""
    axis = node.child("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)
    xyz = axis.vector("xyz", 3, (1.0, 0.0, 0.0))
    length = hypot(*xyz)
    if length == 0:
        axis.refuse("xyz", "the axis of a joint must not be zero")
        return (1.0, 0.0, 0.0)
    if abs(length - 1) > AXIS_TOLERANCE:
        axis.diagnostics.warning(
            "AXIS_NOT_UNIT", f"the axis has length {length:.6g}: normalised", axis, attribute="xyz"
        )
    return tuple(c / length for c in xyz)


def rotation_from_z(axis: tuple[float, float, float]) -> Matrix3:
    """The smallest rotation (3, 3) that takes z to a unit vector; about x by half a turn for -z."""
    x, y, z = axis
    s2 = x * x + y * y
    if s2 == 0:
        return np.diag([1.0, z, z])
    k = 1 / (1 + z) if z > 0 else (1 - z) / s2
    return np.array([[1 - k * x * x, -k * x * y, x], [-k * x * y, 1 - k * y * y, y], [-x, -y, z]])


def _read_limits(node: Node, kind: JointKind) -> dict[str, Any]:
    """The limits of an axis by their names in AxisSpec; missing ones are infinite."""
    limit = node.child("limit")
    if limit is None:
        return {}
    lower, upper = limit.number("lower", -inf, allow_inf=True), limit.number("upper", inf, allow_inf=True)
    _check_position_limits(limit, kind, lower, upper)
    stated = limit.attribute_names
    limits: dict[str, Any] = {"lower": lower, "upper": upper}
    if kind.endless:
        limits = {} if (lower, upper) == (-inf, inf) else {"drakes_limits": (lower, upper)}
    for name, bounded in _BOUNDS.items():
        if name in stated:
            limits[bounded] = _read_bound(limit, name)
    return limits


def _read_bound(limit: Node, name: str) -> float:
    """A bound on a magnitude; a negative one, most often -1, means that there is none."""
    bound = limit.number(name, inf, allow_inf=True)
    if bound >= 0:
        return bound
    report = limit.diagnostics.note if bound == -1 else limit.diagnostics.warning
    message = f'attribute "{name}" of <limit> is negative, {bound!r}: taken as no limit'
    report("JOINT_LIMIT_NEGATIVE", message, limit, attribute=name, value=repr(bound))
    return inf


def _check_position_limits(limit: Node, kind: JointKind, lower: float, upper: float) -> None:
    diagnostics = limit.diagnostics
    if lower > upper:
        diagnostics.error("JOINT_LIMIT_INVALID", f"the lower limit {lower!r} is above the upper limit {upper!r}", limit)
    if kind.endless and (lower, upper) != (-inf, inf):
        # exporters of CAD programs write two zeros
        report = diagnostics.warning if diagnostics.thorough and lower != upper else diagnostics.note
        message = f"a continuous joint turns without end: its limits [{lower:.6g}, {upper:.6g}] do not act"
        hint = 'state type="revolute" for stops; plant_config.continuous_joint_limits=true has them act, as in Drake'
        report("JOINT_LIMIT_INVALID", message, limit, hint=hint)
    one_sided = limit.attribute_names & {"lower", "upper"}
    if not kind.endless and len(one_sided) == 1:
        missing = "upper" if "lower" in one_sided else "lower"
        message = f"<limit> has no {missing}: the joint has none there, where URDF's default is 0"
        diagnostics.warning("JOINT_LIMIT_MISSING", message, limit, hint=f"state {missing}, inf for none")


def _read_dynamics(node: Node, *, with_friction: bool = True) -> tuple[float, float]:
    """(viscous damping, Coulomb friction), 0 if missing or invalid."""
    dynamics = node.child("dynamics")
    if dynamics is None:
        return 0.0, 0.0
    if dynamics.raw("spring_stiffness") in ("0", "0.0"):  # an element of SDFormat
        dynamics.attribute("spring_stiffness")
        dynamics.attribute("spring_reference")
    with dynamics.diagnostics.leaving_out(dynamics, "it is taken as 0"):
        friction = read_unsigned(dynamics, "friction", 0.0) if with_friction else 0.0
        return read_unsigned(dynamics, "damping", 0.0), friction


def _read_pitch(node: Node) -> float:
    pitch = node.child("drake:screw_thread_pitch", required=True)
    return pitch.number("value", 0.0, required=True) if pitch is not None else 0.0


# ---------------------------------------------------------------------------------------------- mimic


def _read_mimic(node: Node) -> MimicSpec | None:
    mimic = node.child("mimic")
    if mimic is None:
        return None
    leader = mimic.attribute("joint", required=True)
    multiplier, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    return None if leader is None else MimicSpec(leader, multiplier, offset, mimic.place)


def check_followers(joints: Mapping[str, JointSpec], nodes: Mapping[str, Node]) -> None:
    """Each leader exists, has as many coordinates as its follower, and does not follow it in turn.

    joints: {name: JointSpec}; nodes: {name: XML node} of all joints of the file.
    """
    counts = {name: joint.kind.num_velocities for name, joint in joints.items()}
    followers = {}
    for name in joints:
        node = nodes[name].child("mimic") if not joints[name].kind.is_fixed else None
        leader = node.attribute("joint") if node is not None else None
        if node is None or leader is None:
            continue
        if counts[name] != 1 and leader != name and counts.get(leader) == counts[name]:
            node.unsupported("only a joint with one coordinate can follow another")
        else:
            followers[name] = leader, node

    def mismatch(name: str, leader: str) -> str | None:
        if leader not in joints or counts[name] == counts[leader]:  # the missing has errors of its own
            return None
        return f'joint "{name}" with {counts[name]} coordinates cannot mimic "{leader}" with {counts[leader]}'

    for cycle in check_mimics(followers, nodes, mismatch):
        chain = " -> ".join([*cycle, cycle[0]])
        _, node = followers[cycle[0]]
        node.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", f"joints mimic each other: {chain}", node)

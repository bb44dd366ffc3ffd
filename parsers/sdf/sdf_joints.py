"""Joints of SDFormat files: types, axes, limits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.frame_names import MODEL, WORLD
from mbcli.parsers.joint_kinds import JOINT_KINDS, STOPS, stated_by
from mbcli.parsers.poses import compose, unit_vector
from mbcli.parsers.sdf.sdf_actuators import read_mimic
from mbcli.parsers.sdf.sdf_values import child_number, child_vector
from mbcli.parsers.sdf.sdf_versions import report_older
from mbcli.parsers.spec import AxisSpec, JointSpec, pose
from mbcli.parsers.xml_node import quoted

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mbcli.parsers.sdf.sdf_values import ModelElement
    from mbcli.parsers.xml_node import Node

ORTHOGONAL_TOLERANCE = 1e-9  # between the unit axes of a universal joint
LAST_WITH_INITIAL_POSITION = 8  # minor version
JOINTS_BETWEEN_FRAMES = ("drake:joint", "mbcli:joint")  # of types that Drake has in SDFormat, and of others
OWN_POSITION = "mbcli:initial_position"  # in files of any version: Drake refuses the other element in all of them
SMALLEST_THREAD_PITCH = 1e-100  # [rad/m]; its inverse is finite

LIMIT = {
    "lower": "lower",
    "upper": "upper",
    "effort": "effort",
    "velocity": "velocity",
    "drake:acceleration": "acceleration",
    "stiffness": "stop_stiffness",
    "dissipation": "stop_dissipation",
}
DYNAMICS = {
    "damping": "damping",
    "friction": "friction",
    "spring_reference": "spring_reference",
    "spring_stiffness": "spring_stiffness",
}
RIGID = 1e8  # [N m/rad or N/m] the default of the format: limits that are as stiff as the program has them
DISSIPATION = 1.0  # [s/rad or s/m] the default of the format, beside a stiffness
_MOTION_LIMITS = ("lower", "upper", "velocity", "acceleration")
_FORMS = stated_by("sdf")
_KINDS = {form.word: name for name, form in _FORMS.items() if form.tag == "joint"}  # by the type in the file
_KINDS_BETWEEN_FRAMES = {form.word: name for name, form in _FORMS.items() if form.tag in JOINTS_BETWEEN_FRAMES}
_OLDER_TYPES = {"revolute2": "universal"}
_UNSUPPORTED_JOINT_TYPES = ("gearbox", "curvilinear")
AXES = ("axis", "axis2")  # the elements
# kind: the fields of AxisSpec that an axis of a <joint> states in <limit> and <dynamics>
FIELDS = {
    name: form.fields
    & {*LIMIT.values(), *DYNAMICS.values()} - ({"lower", "upper", *STOPS} if JOINT_KINDS[name].endless else set())
    for name, form in _FORMS.items()
}


def read_joint_ends(joint: Node) -> tuple[str | None, ...]:
    """Names of the parent and the child frame, None if the file lacks it."""
    prefix = joint.tag.removesuffix("joint")
    ends = []
    for tag in ("parent", "child"):
        node = joint.child(prefix + tag, required=True)
        ends.append(node.text(required=True) if node is not None else None)
    return tuple(ends)


def read_joints(elements: Sequence[ModelElement]) -> tuple[JointSpec, ...]:
    """The joints among the elements of a model, a tuple of `JointSpec`; Drake's own come last."""
    joints = [_read_joint(element) for element in elements if element.tag == "joint"]
    joints += [_read_joint_between_frames(element) for element in elements if element.tag in JOINTS_BETWEEN_FRAMES]
    return tuple(joint for joint in joints if joint is not None)


def _read_joint(element: ModelElement) -> JointSpec | None:
    node, name, frames = element.node, element.name, element.frames
    stated = node.attribute("type", required=True)
    type_ = _KINDS.get(_OLDER_TYPES.get(stated, stated))
    if type_ is None:
        if stated is not None:
            _report_joint_type(node, stated, _KINDS)
        return None
    kind = JOINT_KINDS[type_]
    if kind.is_fixed:
        for unused in node.children("axis", "axis2", "drake:mimic"):
            unused.ignore("meaningless", "the joint is fixed")
    links = find_joint_links(element)
    axes = _read_axes(element, type_)
    if links is None or axes is None:
        node.ignore("settled")
        return None
    parent, child = links
    joint = JointSpec(
        name=name,
        type=type_,
        parent=parent,
        child=child,
        X_PF=frames.X_AB(parent, name),
        X_CM=frames.X_AB(child, name),
        place=node.place,
        axes=axes,
        screw_pitch=_read_screw_pitch(element) if kind.has_pitch else 0.0,
        damping=_read_ball_damping(node, type_) if kind.is_ball else (),
    )
    return _align_universal(joint, node) if len(axes) == 2 else joint


def _report_joint_type(node: Node, kind: str, types: Collection[str]) -> None:
    message = f"<{node.tag}> has the unknown type {quoted(kind)}"
    code, hint = "ATTRIBUTE_INVALID", did_you_mean(kind, types)
    if kind in _UNSUPPORTED_JOINT_TYPES:
        code, message, hint = "ATTRIBUTE_UNSUPPORTED", f"joints of type {quoted(kind)} are not supported", None
    node.diagnostics.error(code, message, node, attribute="type", value=kind, hint=hint)
    node.ignore("settled")


def find_joint_links(element: ModelElement) -> tuple[str, str] | None:
    """(parent link, child link), or None with an error."""
    parent_frame, child_frame = element.joint_ends
    if parent_frame is None or child_frame is None:
        return None
    frames = element.frames
    error = partial(_joint_error, element.node, element.name)
    if parent_frame not in frames:
        hint = did_you_mean(parent_frame, frames.names)
        return error("JOINT_PARENT_LINK_INVALID", "parent", f"{quoted(parent_frame)} is not in the model", hint)
    parent, child = frames.link_of(parent_frame), frames.link_of(child_frame)
    if parent is None or child is None:
        return None  # a fault of the frames, reported
    if child == WORLD:
        return error("JOINT_CHILD_LINK_INVALID", "child", "must not be fixed to the world")
    if parent == child:
        return error("JOINT_PARENT_SAME_AS_CHILD", "child", f"is fixed to the same link {quoted(child)} as the parent")
    return parent, child


def _joint_error(node: Node, name: str, code: str, end: str, problem: str, hint: str | None = None) -> None:
    end_node = node.child(node.tag.removesuffix("joint") + end)
    node.diagnostics.error(code, f"the {end} of joint {quoted(name)} {problem}", end_node, hint=hint)


def _read_axes(element: ModelElement, type_: str) -> tuple[AxisSpec, ...] | None:
    """AxisSpecs of the axes that the type needs, or None with an error."""
    joint, kind = element.node, JOINT_KINDS[type_]
    axes = []
    for tag in AXES[: kind.num_axes]:
        node = joint.child(tag)
        if node is None:
            message = f"joint {quoted(element.name)} of type {type_} must have an <{tag}>"
            joint.diagnostics.error("ELEMENT_MISSING", message, joint)
            return None
        axes.append(
            AxisSpec(
                xyz=_read_direction(node, element),
                place=node.place,
                mimic=read_mimic(joint, node, kind.has_one_coordinate),
                default_position=_read_initial_position(node, element.file.minor),
                **_read_axis_values(node, type_),
            )
        )
    return tuple(axes)


def _read_initial_position(axis: Node, minor: int) -> float:
    """[rad or m]; later versions have no element for it, and that of earlier ones is reported."""
    tag = "initial_position" if minor <= LAST_WITH_INITIAL_POSITION and axis.child("initial_position") else OWN_POSITION
    return child_number(axis, tag, 0.0)


def _read_direction(axis: Node, element: ModelElement) -> tuple[float, float, float]:
    """Unit vector of an axis in the joint frame."""
    node = axis.child("xyz")
    xyz = unit_vector(child_vector(axis, "xyz", 3, (0.0, 0.0, 1.0)))
    if xyz is None:
        message = f"the axis of joint {quoted(element.name)} must not be the zero vector"
        axis.diagnostics.error("ELEMENT_INVALID", message, node)
        return (0.0, 0.0, 1.0)
    frame = _read_expressed_in(axis, node, element.file.minor)
    if frame is not None:
        frames = element.frames
        if frame not in frames:
            message = (
                f"the axis of joint {quoted(element.name)} is expressed in {quoted(frame)}, which is not in the model"
            )
            hint = did_you_mean(frame, frames.names)
            axis.diagnostics.error(
                "JOINT_AXIS_EXPRESSED_IN_INVALID", message, node, attribute="expressed_in", value=frame, hint=hint
            )
        xyz = frames.X_AB(element.name, frame)[:3, :3] @ xyz
    return tuple(xyz.tolist())


def _read_expressed_in(axis: Node, xyz: Node | None, minor: int) -> str | None:
    """The frame that an axis is given in, or None for the joint frame."""
    frame = (xyz.attribute("expressed_in") if xyz is not None else None) or None
    old = report_older(axis, "use_parent_model_frame", minor, gone=7, instead='<xyz expressed_in="__model__">')
    if minor > 6:
        return frame
    # 1.4 has no such element, and its axes are always in the model frame
    in_model = minor == 4 or (old is not None and old.text_boolean(False))
    return frame or (MODEL if in_model else None)


def _read_axis_values(axis: Node, type_: str) -> dict[str, Any]:
    """The numbers of <limit> and <dynamics> by the names of AxisSpec."""
    values, read = {}, FIELDS[type_]
    for group, fields in (("limit", LIMIT), ("dynamics", DYNAMICS)):
        owner = axis.child(group)
        for tag, field in fields.items():
            node = owner.child(tag) if owner is not None else None
            if node is None:
                continue
            value = node.text_number(allow_inf=group == "limit")
            if field in read:
                if value is not None:
                    values[field] = _check_axis_value(node, field, value)
            elif field in STOPS:
                node.ignore("foreign")
            elif JOINT_KINDS[type_].endless:
                node.ignore("meaningless", "a continuous joint turns without end")
            elif value or field in _MOTION_LIMITS:  # any other 0 has no meaning
                node.unsupported(f"of a {type_} joint")
    if values.get("lower", -inf) > values.get("upper", inf):
        message = f"the lower limit {values['lower']!r} is greater than the upper {values['upper']!r}"
        axis.diagnostics.error("ELEMENT_INVALID", message, axis.child("limit"))
    if values.get("stop_stiffness", RIGID) >= RIGID:
        return {field: value for field, value in values.items() if field not in STOPS}
    if values.get("stop_dissipation", inf) == inf:
        values["stop_dissipation"] = DISSIPATION
    return values


def _check_axis_value(node: Node, field: str, value: float) -> float:
    if field in ("velocity", "effort"):
        return inf if value < 0 else value  # negative: no limit
    if field in STOPS and (value < 0 or (value == 0 and field == "stop_stiffness")):
        what = "positive" if field == "stop_stiffness" else "not negative"
        message = f"<{node.tag}> must be {what}, found {value!r}: it is not used"
        node.diagnostics.warning("ELEMENT_INVALID", message, node)
        return inf
    if field in ("acceleration", "damping", "friction", "spring_stiffness") and value < 0:
        instead = "no limit" if field == "acceleration" else "0"
        message = f"<{node.tag}> must not be negative, found {value!r}: it is taken as {instead}"
        node.diagnostics.warning("ELEMENT_INVALID", message, node)
        return inf if field == "acceleration" else 0.0
    return value


def _read_ball_damping(joint: Node, type_: str) -> tuple[float]:
    """The one damping of a ball joint stands in an axis whose direction means nothing."""
    axis = joint.child("axis")
    if axis is None:
        return (0.0,)
    for direction in axis.children("xyz"):
        direction.ignore("meaningless", "a ball joint has no direction")
    return (_read_axis_values(axis, type_).get("damping", 0.0),)


def _read_screw_pitch(element: ModelElement) -> float:
    """[m] per revolution. The older <thread_pitch> is in radians per metre, and left-handed."""
    joint = element.node
    new, old = joint.child("screw_thread_pitch"), joint.child("thread_pitch")
    if new is not None:
        if old is not None:
            old.unsupported("<screw_thread_pitch> is there, too")
        return new.text_number(1.0)
    if old is None:
        return 1.0
    if element.file.minor >= 10:
        message = "<thread_pitch> is deprecated since SDFormat 1.10 in favour of <screw_thread_pitch>"
        joint.diagnostics.warning("ELEMENT_DEPRECATED", message, old)
    radians_per_metre = old.text_number(-2 * pi)
    if abs(radians_per_metre) < SMALLEST_THREAD_PITCH:
        old.diagnostics.error("ELEMENT_INVALID", "<thread_pitch> must not be zero", old)
        return 0.0
    return -2 * pi / radians_per_metre


def _align_universal(joint: JointSpec, node: Node) -> JointSpec:
    """Turn F and M so that the axes are x and y, as the universal joint has them."""
    first, second = joint.axes
    x, y = np.array(first.xyz), np.array(second.xyz)
    if abs(x @ y) > ORTHOGONAL_TOLERANCE:
        message = f"the axes of universal joint {quoted(joint.name)} must be orthogonal"
        node.diagnostics.error("ELEMENT_INVALID", message, node)
        return joint
    if second.damping != first.damping:
        message = (
            f"universal joint {quoted(joint.name)} has one damping: {first.damping!r} of <axis> is used,"
            f" {second.damping!r} of <axis2> is not"
        )
        node.diagnostics.warning("ELEMENT_UNSUPPORTED", message, node.child("axis2"))
    z = np.cross(x, y)
    z /= np.linalg.norm(z)
    X_JI = pose(np.column_stack([x, np.cross(z, x), z]))
    return replace(
        joint,
        X_PF=compose(joint.X_PF, X_JI),
        X_CM=compose(joint.X_CM, X_JI),
        axes=(
            replace(first, xyz=(1.0, 0.0, 0.0)),
            replace(second, xyz=(0.0, 1.0, 0.0), damping=first.damping),
        ),
    )


def _read_joint_between_frames(element: ModelElement) -> JointSpec | None:
    """Drake's own joint types: F is the parent frame and M the child frame as they stand."""
    node, frames = element.node, element.frames
    stated = node.attribute("type", required=True)
    if stated not in _KINDS_BETWEEN_FRAMES:
        if stated is not None:
            _report_joint_type(node, stated, _KINDS_BETWEEN_FRAMES)
        return None
    type_ = _KINDS_BETWEEN_FRAMES[stated]
    kind = JOINT_KINDS[type_]
    for tag in ("pose", "drake:pose"):
        unused = node.child(tag)
        if unused is not None:
            node.diagnostics.error("ELEMENT_UNSUPPORTED", f"<{node.tag}> has no <{tag}>", unused)
            unused.ignore("settled")
    damping = _read_drake_damping(node, kind.num_dampings, required=not kind.is_floating)
    links = find_joint_links(element)
    if links is None:
        return None
    parent_frame, child_frame = element.joint_ends
    assert parent_frame is not None and child_frame is not None
    parent, child = links
    return JointSpec(
        name=element.name,
        type=type_,
        parent=parent,
        child=child,
        X_PF=frames.X_AB(parent, parent_frame),
        X_CM=frames.X_AB(child, child_frame),
        place=node.place,
        axes=(AxisSpec((0.0, 0.0, 1.0), node.place),) * kind.num_axes,
        damping=damping,
    )


def _read_drake_damping(joint: Node, count: int, *, required: bool) -> tuple[float, ...]:
    tag = joint.tag.removesuffix("joint") + "damping"
    node = joint.child(tag, required=required)
    damping = node.text_vector(count, required=True) if node is not None else None
    damping = damping or (0.0,) * count
    if min(damping) < 0:
        joint.diagnostics.error("ELEMENT_INVALID", f"<{tag}> must not be negative", node)
    return damping

"""What stands between bodies and joints in an MJCF document: tendons, equalities, joints that follow others."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

from lxml import etree
from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spec import (
    IDENTITY,
    BallConstraintSpec,
    DistanceConstraintSpec,
    SpringDamperSpec,
    TendonConstraintSpec,
    WeldConstraintSpec,
    pose,
)
from mbcli.parsers.writing.arrange_mjcf import is_closed
from mbcli.parsers.writing.write_xml import add, numbers, tidy

from mbcli.math.rotation_array import quaternion_from_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.spec import ConstraintSpec, FrameSpec, ModelSpec
    from mbcli.parsers.writing.simple_joints import Part
    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix


def add_relations(root: XmlElement, spec: ModelSpec, parts: Mapping[str, tuple[Part, ...]]) -> list[ConstraintSpec]:
    """Adds <tendon> and <equality> of a ModelSpec, whose joints are these Parts; returns the constraints as they are
    read."""
    tendon, equality = etree.SubElement(root, "tendon"), etree.SubElement(root, "equality")
    poses = {WORLD: IDENTITY} | {link.name: link.X_ModelL for link in spec.links}
    frames = list(spec.frames)
    _add_followers(equality, spec, parts)
    for spring in spec.force_elements:
        if not isinstance(spring, SpringDamperSpec):
            raise TypeError(f"MJCF has no {type(spring).__name__}")
        ends = [_frame_at(frames, link, p) for link, p in ((spring.link_A, spring.p_AP), (spring.link_B, spring.p_BQ))]
        node = add(tendon, "spatial", springlength=spring.free_length)
        for name, value in (("stiffness", spring.stiffness), ("damping", spring.damping)):
            if value:
                node.set(name, numbers(value))
        for end in ends:
            add(node, "site", site=end)
    acting: list[Any] = []
    equal: list[Any] = []
    named: set[str] = set()
    for constraint in spec.constraints:
        own: str | None = None
        if constraint.name:
            own = generated_name(constraint.name, named)
            named.add(own)
        if isinstance(constraint, TendonConstraintSpec):
            own = own or generated_name(f"sum_{len(named) + 1}", named)
            named.add(own)
            read = _add_sum(tendon, equality, constraint, own, spec)
            (equal if constraint.lower == constraint.upper and constraint.stiffness == inf else acting).append(read)
            continue
        if isinstance(constraint, DistanceConstraintSpec):
            acting.append(constraint)
            _add_slack(tendon, constraint, own, frames)
            continue
        equal.append(constraint)
        if isinstance(constraint, WeldConstraintSpec):
            _add_weld(equality, constraint, own, poses, frames)
        elif isinstance(constraint, BallConstraintSpec):
            _add_point(equality, constraint, own, poses, frames)
        else:
            raise TypeError(f"MJCF has no {type(constraint).__name__}")
    for section in (tendon, equality):
        if len(section) == 0:
            root.remove(section)
    return [*acting, *equal]


def _add_slack(tendon: XmlElement, spec: DistanceConstraintSpec, name: str | None, frames: Sequence[FrameSpec]) -> None:
    """A DistanceConstraintSpec with two lengths as a spatial tendon."""
    node = add(tendon, "spatial", name=name)
    node.set("range" if spec.stiffness == inf else "springlength", numbers(spec.least or 0.0, spec.distance))
    if spec.stiffness != inf:
        node.set("stiffness", numbers(spec.stiffness))
    for link, p in ((spec.link_A, spec.p_AP), (spec.link_B, spec.p_BQ)):
        add(node, "site", site=_frame_at(frames, link, p))


def _add_followers(equality: XmlElement, spec: ModelSpec, parts: Mapping[str, tuple[Part, ...]]) -> None:
    joints = {joint.name: joint for joint in spec.joints}
    for joint in spec.joints:
        for k, part in enumerate(parts[joint.name]):
            if part.follows is not None:
                leader, ratio = part.follows
                _follow(equality, part, joint.axes[0].default_position, leader, ratio, 0.0)
                continue
            mimic = joint.axes[k].mimic if k < len(joint.axes) else None
            if mimic is not None:
                lead = parts[mimic.leader][mimic.leader_axis]
                start = joints[mimic.leader].axes[mimic.leader_axis].default_position
                _follow(equality, part, start, lead.name, mimic.multiplier, mimic.offset)


def _follow(
    equality: XmlElement, part: Part, leader_start: float, leader: str, multiplier: float, offset: float
) -> None:
    """q - q0 = c0 + c1 (leader - leader0)."""
    own_start = 0.0 if part.axis is None else part.axis.default_position
    constant = offset - own_start + multiplier * leader_start if own_start or leader_start else offset
    add(equality, "joint", joint1=part.name, joint2=leader, polycoef=(constant, multiplier, 0.0, 0.0, 0.0))


def _frame_at(frames: Sequence[FrameSpec], link: str, p: Sequence[float]) -> str | None:
    """The name of the last frame of a link that is at a point."""
    return next(
        frame.name for frame in reversed(frames) if frame.link == link and tuple(frame.X_LF[:3, 3].tolist()) == tuple(p)
    )


def _add_point(
    equality: XmlElement,
    spec: BallConstraintSpec,
    name: str | None,
    poses: Mapping[str, Matrix],
    frames: Sequence[FrameSpec],
) -> None:
    if is_closed(spec, poses):
        body2 = None if spec.link_B == WORLD else spec.link_B
        add(equality, "connect", name=name, body1=spec.link_A, body2=body2, anchor=tidy(spec.p_AP))
        return
    ends = [_frame_at(frames, link, p) for link, p in ((spec.link_A, spec.p_AP), (spec.link_B, spec.p_BQ))]
    add(equality, "connect", name=name, site1=ends[0], site2=ends[1])


def _add_weld(
    equality: XmlElement,
    spec: WeldConstraintSpec,
    name: str | None,
    poses: Mapping[str, Matrix],
    frames: Sequence[FrameSpec],
) -> None:
    p_BQ = spec.X_BQ[:3, 3]
    X_AP = compose(spec.X_AP, compose(inverse(spec.X_BQ), pose(None, p_BQ)))  # Q with the axes of B
    relative = (*tidy(X_AP[:3, 3]), *tidy(quaternion_from_matrix(X_AP[:3, :3])))
    add(
        equality,
        "weld",
        name=name,
        body1=spec.link_A,
        body2=None if spec.link_B == WORLD else spec.link_B,
        anchor=tidy(p_BQ) if p_BQ.any() else None,
        relpose=relative,
    )


def _add_sum(
    tendon: XmlElement, equality: XmlElement, spec: TendonConstraintSpec, name: str, model: ModelSpec
) -> TendonConstraintSpec:
    """A TendonConstraintSpec as a fixed tendon; returns it as it is read."""
    starts = {joint.name: joint.axes[0].default_position for joint in model.joints if joint.axes}
    lower, upper = spec.lower - spec.offset, spec.upper - spec.offset
    read = replace(spec, offset=0.0, lower=lower, upper=upper)
    if lower == upper and spec.stiffness == inf and len(spec.joints) == 1:
        (joint,), (a,) = spec.joints, spec.a
        value = lower / a
        add(equality, "joint", name=name, joint1=joint, polycoef=(value - starts[joint], 0.0, 0.0, 0.0, 0.0))
        return replace(read, a=(1.0,), lower=value, upper=value)
    node = add(tendon, "fixed", name=name)
    for joint, a in zip(spec.joints, spec.a, strict=True):
        add(node, "joint", joint=joint, coef=a)
    if spec.stiffness != inf:
        if spec.stiffness:
            node.set("springlength", numbers(lower) if lower == upper else numbers(lower, upper))
            node.set("stiffness", numbers(spec.stiffness))
        if spec.damping:
            node.set("damping", numbers(spec.damping))
    elif lower == upper:
        reference = sum(a * starts[joint] for joint, a in zip(spec.joints, spec.a, strict=True))
        add(equality, "tendon", tendon1=name, polycoef=(lower - reference, 0.0, 0.0, 0.0, 0.0))
    else:
        node.set("range", numbers(lower, upper))
    return read

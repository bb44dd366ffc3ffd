"""A flat model in the form of USD: bodies where they stand at the start, names that are identifiers, loops excluded."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import numbered_name
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.joint_kinds import stated_by
from mbcli.parsers.spanning_tree import spanning_tree
from mbcli.parsers.spec import IDENTITY, BallConstraintSpec, InertialSpec, WeldConstraintSpec
from mbcli.parsers.writing.arrange_mjcf import (
    floating_faults,
    kept_apart,
    principal_moments,
    with_armatures,
    with_poses,
)
from mbcli.parsers.writing.format_capabilities import without_joints
from mbcli.parsers.writing.simple_joints import parts_of
from mbcli.parsers.writing.target import Arranged

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mbcli.parsers.spec import GeometrySpec, JointSpec, LinkSpec, ModelSpec
    from mbcli.parsers.writing.losses import Losses

_IMPOSSIBLE = 1e-6  # relative, that a moment is larger than the sum of the others; USD has single precision
LEAST_MASS = 1e-12  # [kg] of what is 0, for which USD would take water
LEAST_MOMENT = 2e-10  # [kg m^2] of what is less than 1e-12, which is 0 in single precision; Newton reads it as it is
_ZERO = 1e-12  # [kg m^2]
# Newton 1.8.0 raises the moments of a body by 1e-6 kg m^2 if one is below the first [kg m^2], or the second times the
# largest one (`inertia_absolute_tolerance` and `inertia_relative_tolerance` of its ModelBuilder).
_RAISED, _RAISED_SHARE = 1e-10, 1e-6
_FORMS = stated_by("usd")


def is_raised_by_newton(moments: Sequence[float]) -> bool:
    """Whether Newton has larger ones instead of ascending principal moments [kg m^2]."""
    least, _, largest = moments
    return least < 1.001 * max(_RAISED, _RAISED_SHARE * largest)  # what rounding decides counts as raised


def identifier(name: str) -> str:
    """A name as a prim can have it."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{name}" if name[:1].isdigit() or not name else name


def reduced_for_usd(model: ModelSpec, losses: Losses) -> ModelSpec:
    """A flat ModelSpec without what USD has no combination for; what is left out goes to `losses`."""
    model = replace(model, joints=tuple(_with_even_axes(joint, losses) for joint in model.joints))
    return _with_plain_drives(_with_plain_leaders(model, losses), losses)


def arranged_for_usd(model: ModelSpec, losses: Losses) -> Arranged:
    """`Arranged` for write_usd. Changes of form go to `losses`."""
    branches, loops = spanning_tree(model)
    faults = [(joint.name, why) for joint in model.joints if (why := _fault(joint, loops))]
    if faults:
        return Arranged(model, frozenset(loops), {}, tuple(faults))
    turned = [joint for joint in model.joints if joint.kind.is_compound]
    for joint in turned:
        parts = [f"'{part.name}'" for part in parts_of([joint])[joint.name]]
        between = " and ".join(f"'{joint.child}_{k}'" for k in range(len(parts) - 1))
        message = f"{joint.type} joint '{joint.name}' is a joint of which some axes are locked"
        message = f"{message}, read as the joints {', '.join(parts)} with {between} between them"
        losses.add("changed", "JOINT", message, joint.place)
    closing = [joint for joint in model.joints if joint.name in loops and _FORMS[joint.type].loops == "constraint"]
    apart = kept_apart(
        replace(model, joints=tuple(joint for joint in (*turned, *closing) if not joint.collides_with_parent))
    )
    model = replace(model, filter_groups=(*model.filter_groups, *apart))
    model = _with_constraints(with_poses(model, branches, {WORLD: IDENTITY}), closing, losses)
    model = with_armatures(model, losses, has_gears=False)
    drives = tuple(replace(actuator, rotor_inertia=0.0, gear_ratio=1.0) for actuator in model.actuators)
    model = replace(model, actuators=drives)
    given = {link.name: found for link in model.links if (found := _given_inertial(link, losses)) is not None}
    links = (replace(link, inertial=given.get(link.name, link.inertial)) for link in model.links)
    model = replace(model, links=tuple(_with_names(link, losses) for link in links))
    _tell_of_extensions(model, losses)
    message = "masses, centres, frames and numbers of joints are of single precision: 6e-8 of their size"
    losses.add("changed", "PRECISION", message, model.place)
    return Arranged(model, frozenset(loops - {joint.name for joint in closing}), given=given)


def _fault(joint: JointSpec, loops: Collection[str]) -> str | None:
    if joint.kind.is_floating:
        found = floating_faults(joint)
        if not found and (joint.reflected_inertia or joint.name in loops):
            return "a body that floats has no joint, and no inertia of a drive"
        return found[0][1] if found else None
    if joint.name in loops and not _FORMS[joint.type].loops:
        return f"a {joint.type} joint cannot close a loop"
    if joint.name in loops and joint.kind.is_ball and (joint.reflected_inertia or any(joint.damping)):
        return "it closes a loop, where it has no damping and no drive"
    return None


def _with_constraints(model: ModelSpec, closing: Sequence[JointSpec], losses: Losses) -> ModelSpec:
    """Fixed and ball joints that close loops as constraints."""
    constraints = list(model.constraints)
    for joint in closing:
        ends = joint.parent, joint.child
        if joint.kind.is_fixed:
            constraints.append(WeldConstraintSpec(ends[0], joint.X_PF, ends[1], joint.X_CM, joint.place, joint.name))
        else:
            p_AP, p_BQ = (tuple(X[:3, 3].tolist()) for X in (joint.X_PF, joint.X_CM))
            constraints.append(BallConstraintSpec(ends[0], p_AP, ends[1], p_BQ, joint.place, joint.name))
        message = f"{joint.type} joint '{joint.name}' closes a loop: it is excluded from the articulation"
        losses.add("changed", "LOOP", message, joint.place)
    names = {joint.name for joint in closing}
    return replace(without_joints(model, names), constraints=tuple(constraints)) if names else model


def _with_plain_leaders(model: ModelSpec, losses: Losses) -> ModelSpec:
    """Joints of one axis that follow such joints, by radians and metres; Newton's schema has no others."""
    joints = {joint.name: joint for joint in model.joints}
    changed = []
    for joint in model.joints:
        axes = []
        for axis in joint.axes:
            leader = None if axis.mimic is None else joints.get(axis.mimic.leader)
            if leader is not None and not (_has_plain_axis(leader) and _has_plain_axis(joint)):
                message = f"that {joint.type} joint '{joint.name}' follows {leader.type} joint '{leader.name}'"
                losses.add("motion", "JOINT_MIMIC", message, axis.place)
                axis = replace(axis, mimic=None)
            axes.append(axis)
        changed.append(replace(joint, axes=tuple(axes)))
    return replace(model, joints=tuple(changed))


def _with_even_axes(joint: JointSpec, losses: Losses) -> JointSpec:
    """A joint of several axes with one damping and one friction; Newton's schema has one number for all."""
    are_even = len({(axis.damping, axis.friction) for axis in joint.axes}) < 2
    if are_even and not (joint.kind.is_compound and any(joint.damping)):
        return joint
    losses.add("motion", "JOINT_DAMPING", f"the dampings of {joint.type} joint '{joint.name}'", joint.place)
    axes = tuple(replace(axis, damping=0.0, friction=0.0) for axis in joint.axes)
    return replace(joint, axes=axes, damping=())


def _has_plain_axis(joint: JointSpec) -> bool:
    return joint.kind.turns or joint.kind.slides


def _with_plain_drives(model: ModelSpec, losses: Losses) -> ModelSpec:
    """Drives of joints of one axis, which no loop excludes."""
    joints = {joint.name: joint for joint in model.joints}
    kept = []
    for actuator in model.actuators:
        joint = joints.get(actuator.joint)
        if joint is not None and _has_plain_axis(joint):
            kept.append(actuator)
        elif joint is not None:
            message = f"actuator '{actuator.name}' of {joint.type} joint '{actuator.joint}'"
            losses.add("motion", "ACTUATOR", message, actuator.place)
    return replace(model, actuators=tuple(kept))


def _given_inertial(link: LinkSpec, losses: Losses) -> InertialSpec | None:
    """A little of what UsdPhysics takes for not stated where it is 0: the mass of a link with shapes, the inertia."""
    if link.name == WORLD:
        return None
    moments = (LEAST_MOMENT,) * 3 + (0.0,) * 3
    if link.inertial is None or not link.inertial.mass:
        if not link.collisions:
            return None
        message = f"link '{link.name}' has no mass: it has {LEAST_MASS:g} kg, or USD would weigh its shapes"
        given = InertialSpec(LEAST_MASS, IDENTITY, moments, link.place)
    elif max(map(abs, link.inertial.inertia)) < _ZERO:  # also 2e-35, which is 0 in single precision
        message = f"link '{link.name}' has no inertia: it has {LEAST_MOMENT:g} kg m^2, or USD would take that of a ball"
        given = replace(link.inertial, inertia=moments)
    else:
        a, b, c = principal_moments(link.inertial)
        if max(c - a - b, -a) > _IMPOSSIBLE * abs(c):
            message = f"link '{link.name}' has an inertia that no body has: it is written, and Newton reads another"
            losses.add("changed", "INERTIA", message, link.place)
        elif is_raised_by_newton((a, b, c)):
            message = f"link '{link.name}' has a principal moment of {a:.3g} kg m^2: Newton raises all three by 1e-6"
            losses.add("changed", "INERTIA", message, link.place)
        return None
    losses.add("changed", "INERTIA", message, link.place)
    return given


def _with_names(link: LinkSpec, losses: Losses) -> LinkSpec:
    """Geometries whose names are identifiers, each once among those that are seen, or touch."""

    def named(geometries: Sequence[GeometrySpec], tag: str) -> tuple[GeometrySpec, ...]:
        taken: set[str] = set()
        found = []
        for geometry in geometries:
            name = numbered_name(identifier(geometry.name or tag), taken)
            taken.add(name)
            if geometry.name and name != geometry.name:
                message = f"{tag} '{geometry.name}' of link '{link.name}' is called '{name}'"
                losses.add("changed", "NAME", message, geometry.place)
            found.append(replace(geometry, name=name))
        return tuple(found)

    return replace(link, visuals=named(link.visuals, "visual"), collisions=named(link.collisions, "collision"))


def _tell_of_extensions(model: ModelSpec, losses: Losses) -> None:
    """What only MuJoCo's or PhysX's schemas have."""
    springs = [j.name for j in model.joints for axis in j.axes if axis.spring_stiffness]
    efforts = [j.name for j in model.joints for axis in j.axes if np.isfinite(axis.effort)]
    weightless = [link.name for link in model.links if not link.gravity]
    for names, what in (
        (springs, "mjc:stiffness: the springs of joints, which MuJoCo's schema has"),
        (efforts, "mjc:actuatorfrcrange: effort limits of joints without drive, which MuJoCo's schema has"),
        (weightless, "physxRigidBody:disableGravity: links out of gravity, which PhysX's schema has"),
    ):
        if names:
            losses.add("extension", "EXTENSION", f"{what} ({len(names)} times)", model.place)

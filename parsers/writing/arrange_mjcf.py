"""A flat model in the form of MJCF: a tree whose joints stand in the frames of their bodies, loops as equalities."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import numbered_name
from mbcli.parsers.formats import FORMATS
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.joint_kinds import SLIDE, stated_by
from mbcli.parsers.poses import compose, inverse, rotation_about
from mbcli.parsers.spanning_tree import spanning_tree
from mbcli.parsers.spec import (
    IDENTITY,
    BallConstraintSpec,
    CollisionFilterGroupSpec,
    DistanceConstraintSpec,
    FrameSpec,
    InertialSpec,
    SpringDamperSpec,
    WeldConstraintSpec,
    pose,
)
from mbcli.parsers.writing.arrange_sdf import CLOSED
from mbcli.parsers.writing.arrange_urdf import can_be_swapped, swapped
from mbcli.parsers.writing.mjcf_chains import carried_through, names_as_read
from mbcli.parsers.writing.mjcf_sensors import with_sensor_forms
from mbcli.parsers.writing.mjcf_transmissions import with_transmission_sites
from mbcli.parsers.writing.moved_links import with_moved_links
from mbcli.parsers.writing.simple_joints import parts_of
from mbcli.parsers.writing.target import Arranged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.spanning_tree import Branch
    from mbcli.parsers.spec import GeometrySpec, JointSpec, LinkSpec, ModelSpec, SourceLocation
    from mbcli.parsers.writing.losses import Losses

    from mbcli.math.array_types import Matrix

_FORMS = stated_by("mjcf")
LEAST_MASS = 1e-12  # [kg], [kg m^2] of a body that moves, in place of none, which MuJoCo refuses
REFUSED_MASS = 1e-15  # [kg], [kg m^2] up to which it does
NARROW = 5e-10  # [rad or m], half of what the proof of a conversion allows
ARM = 0.1  # [m] between the points by which two bodies turn about an axis


def arranged_for_mjcf(model: ModelSpec, losses: Losses) -> Arranged:
    """`Arranged` for write_mjcf. Changes of form go to `losses`."""
    model = with_sensor_forms(model, losses)
    branches, loops = spanning_tree(model)
    joints, faults, moves = {joint.name: joint for joint in model.joints}, [], {}
    poses = {WORLD: IDENTITY}
    for branch in branches:
        joint = branch.joint
        if joint is None:
            continue
        if branch.reversed and can_be_swapped(joint):
            joint = swapped(joint)
            losses.add("changed", "JOINT_REVERSED", f"joint '{joint.name}' leads from '{joint.parent}' on", joint.place)
        elif branch.reversed:
            faults.append((joint.name, "its child is on the side of the world"))
        elif joint.kind.is_floating:
            faults += floating_faults(joint)
        elif joint.kind.is_fixed:
            message = f"fixed joint '{joint.name}' has no name: a body without joints is fixed"
            losses.add("changed", "NAME", message, joint.place)
        elif joint.kind.is_compound:
            parts = [f"'{part.name}'" for part in parts_of([joint])[joint.name]]
            between = " and ".join(f"'{joint.child}{k}'" for k in range(len(parts) - 1))
            message = f"{joint.type} joint '{joint.name}' is the joints {', '.join(parts)} of one body"
            message = f"{message}, read with {between} between them"
            losses.add("changed", "JOINT", message, joint.place)
        joint = _with_wide_limits(joint, losses)
        if (joint.kind.is_ball or joint.kind.is_floating) and _is_turned(joint):
            moves[joint.child] = pose(joint.X_CM[:3, :3].T) if joint.kind.is_ball else inverse(joint.X_CM)
            message = f"the frame of link '{joint.child}' is moved to joint '{joint.name}'"
            losses.add("changed", "LINK_FRAME", message, joint.place)
        joints[joint.name] = joint
    closing = [joint.name for joint in model.joints if joint.name in loops]
    faults += [(name, why) for name in closing if (why := _open_loop(joints[name]))]
    if faults:
        return Arranged(model, frozenset(loops), {}, tuple(faults))
    groups = (*model.filter_groups, *kept_apart(model))
    model = with_moved_links(replace(model, joints=tuple(joints.values()), filter_groups=groups), moves)
    model = _with_geom_names(with_armatures(with_poses(model, branches, poses), losses, has_gears=True), losses)
    model = _with_loops(model, loops, poses, losses)
    model = with_transmission_sites(_with_sites(model, poses, losses), losses)
    through = carried_through(model)
    for link, name in names_as_read(model, through).items():
        if link != name:
            message = f"link '{link}' is none, of which two joints stand on one body; it is read as '{name}'"
            losses.add("changed", "LINK", message, next(item.place for item in model.links if item.name == link))
    given = _given_inertials(model, through, losses)
    links = tuple(replace(link, inertial=given.get(link.name, link.inertial)) for link in model.links)
    return Arranged(replace(model, links=links), frozenset(), moves, given=given)


def _with_wide_limits(joint: JointSpec, losses: Losses) -> JointSpec:
    """Limits that are one number become a little around it: MuJoCo takes a range without width for none."""
    if not any(axis.lower == axis.upper for axis in joint.axes):
        return joint
    message = f"the limits of {joint.type} joint '{joint.name}' are one number, for MuJoCo none: {NARROW:g} around it"
    losses.add("changed", "JOINT_LIMITS", message, joint.place)
    axes = (
        replace(axis, lower=axis.lower - NARROW, upper=axis.upper + NARROW) if axis.lower == axis.upper else axis
        for axis in joint.axes
    )
    return replace(joint, axes=tuple(axes))


def kept_apart(model: ModelSpec) -> list[CollisionFilterGroupSpec]:
    """Filter groups of the two links of each joint, which plants keep apart."""
    solid, groups = {link.name for link in model.links if link.collisions}, []
    for joint in model.joints:
        ends = joint.parent, joint.child
        if joint.parent == WORLD or joint.collides_with_parent or joint.kind.is_floating or not solid.issuperset(ends):
            continue
        first, second = (f"joint/{joint.name}/{end}" for end in ends)
        groups.append(CollisionFilterGroupSpec(first, ends[:1], (second,), joint.place))
        groups.append(CollisionFilterGroupSpec(second, ends[1:], (), joint.place))
    return groups


def _is_turned(joint: JointSpec) -> bool:
    if joint.kind.is_ball:
        return not np.array_equal(joint.X_CM[:3, :3], np.eye(3))
    return not np.array_equal(joint.X_CM, IDENTITY)


def floating_faults(joint: JointSpec) -> list[tuple[str, str]]:
    if joint.parent != WORLD:
        return [(joint.name, "a free joint is between the world and a body")]
    if not np.array_equal(joint.X_PF, IDENTITY):
        return [(joint.name, "a free joint has its coordinates in the world")]
    return []


def _open_loop(joint: JointSpec) -> str | None:
    """Why a joint cannot close a loop, or None."""
    if not _FORMS[joint.type].loops:
        return f"a {joint.type} joint cannot close a loop"
    acts = joint.reflected_inertia or joint.stiffness or any(joint.damping)
    acts = acts or joint.friction or joint.turn_limit < np.inf
    for axis in joint.axes:
        acts = acts or axis.damping or axis.friction or axis.spring_stiffness or axis.mimic is not None
        if (axis.lower, axis.upper) != (-np.inf, np.inf):
            acts = True
    return "it closes a loop, where it has no limits, damping, friction, spring or leader" if acts else None


# ------------------------------------------------------------------------------------- the reference configuration


def with_poses(model: ModelSpec, branches: Sequence[Branch], poses: dict[str, Matrix]) -> ModelSpec:
    """The model with X_ModelL of all links in World, where the joints are at their default positions; fills poses."""
    joints = {joint.name: joint for joint in model.joints}
    stated = {link.name: link for link in model.links}
    for branch in branches:
        if branch.joint is None:
            poses[branch.link] = compose(model.X_WModel, stated[branch.link].X_ModelL)
            continue
        joint = joints[branch.joint.name]
        if joint.kind.is_floating:
            link = compose(model.X_WModel, stated[branch.link].X_ModelL)
            poses[branch.link] = link if joint.default_pose is None else joint.default_pose
            continue
        X_PC = compose(compose(joint.X_PF, reference_motion(joint)), inverse(joint.X_CM))
        poses[branch.link] = compose(poses[branch.inboard], X_PC if joint.parent == branch.inboard else inverse(X_PC))
    links = tuple(replace(link, X_ModelL=poses.get(link.name, IDENTITY)) for link in model.links)
    return replace(model, links=links, X_WModel=IDENTITY)


def reference_motion(joint: JointSpec) -> Matrix:
    """X_FM of a joint at its default position."""
    if joint.kind.num_axes != joint.kind.num_velocities:
        return IDENTITY  # such joints have no default position
    if len(joint.axes) == 1 and not joint.axes[0].default_position:
        return IDENTITY
    X_FM = IDENTITY
    for motion, axis in zip(joint.kind.motions, joint.axes, strict=False):
        q, direction = axis.default_position, np.array(motion.direction or axis.xyz)
        if motion.kind == SLIDE:
            step = pose(None, q * direction)
        else:
            travel = joint.screw_pitch / (2.0 * np.pi) * q if joint.kind.has_pitch else 0.0
            step = pose(rotation_about(direction, q), travel * direction)
        X_FM = compose(X_FM, step)
    return X_FM


def with_armatures(model: ModelSpec, losses: Losses, *, has_gears: bool) -> ModelSpec:
    """Rotors as inertias of their joints, where MuJoCo and USD have them. has_gears: whether the format has gears."""
    inertias: dict[str, float] = defaultdict(float)
    gears_stay = has_gears and FORMATS[model.format].MIXES_DRIVES  # of motors, whose controls they scale
    for actuator in model.actuators:
        is_plain = not actuator.rotor_inertia and actuator.gear_ratio == 1.0
        if not is_plain and not (gears_stay and actuator.controller_gains is None):
            message = f"rotor and gear of actuator '{actuator.name}' are the armature of joint '{actuator.joint}'"
            losses.add("changed", "REFLECTED_INERTIA", message, actuator.place)
        inertias[actuator.joint] += actuator.rotor_inertia * actuator.gear_ratio**2
    joints = tuple(
        replace(joint, reflected_inertia=joint.reflected_inertia + inertias[joint.name])
        if inertias[joint.name]
        else joint
        for joint in model.joints
    )
    return replace(model, joints=joints)


def _with_geom_names(model: ModelSpec, losses: Losses) -> ModelSpec:
    """Geometries whose names differ in the whole model; a visual and a collision that are alike have one name."""
    taken: set[str] = set()
    links = []
    for link in model.links:
        renamed: dict[str, str] = {}

        def named(
            geometry: GeometrySpec, tag: str, link: LinkSpec = link, renamed: dict[str, str] = renamed
        ) -> GeometrySpec:
            if tag == "collision" and geometry.name in renamed and _are_alike(geometry, link.visuals):
                return replace(geometry, name=renamed[geometry.name])
            name = geometry.name
            if not name or name in taken:
                name = f"{link.name}_{geometry.name or tag}"
                if name in taken:
                    name = numbered_name(f"{name}_{tag}", taken)
                message = f"{tag} '{geometry.name}' of link '{link.name}' is called '{name}'"
                losses.add("changed", "NAME", message, geometry.place)
            taken.add(name)
            if tag == "visual":
                renamed[geometry.name] = name
            return replace(geometry, name=name)

        visuals = tuple(named(geometry, "visual") for geometry in link.visuals)
        collisions = tuple(named(geometry, "collision") for geometry in link.collisions)
        links.append(replace(link, visuals=visuals, collisions=collisions))
    return replace(model, links=tuple(links))


def _are_alike(collision: GeometrySpec, visuals: tuple[GeometrySpec, ...]) -> bool:
    return any(
        visual.name == collision.name
        and visual.shape == collision.shape
        and np.array_equal(visual.X_LG, collision.X_LG)
        for visual in visuals
    )


# -------------------------------------------------------------------------------------------- loops


def _with_loops(model: ModelSpec, loops: set[str], poses: Mapping[str, Matrix], losses: Losses) -> ModelSpec:
    """Joints that close loops as constraints: a weld, a point in common, or two of them on the axis."""
    constraints, actuated = list(model.constraints), {actuator.joint: actuator for actuator in model.actuators}
    for joint in model.joints:
        if joint.name not in loops:
            continue
        ends = joint.parent, joint.child
        if joint.kind.is_fixed:
            constraints.append(WeldConstraintSpec(ends[0], joint.X_PF, ends[1], joint.X_CM, joint.place, joint.name))
            form = "a weld"
        else:
            offsets: list[tuple[float, ...]] = [(0.0, 0.0, 0.0)]
            if not joint.kind.is_ball:
                offsets = [tuple(sign * ARM / 2.0 * c for c in joint.axes[0].xyz) for sign in (-1.0, 1.0)]
            for number, offset in enumerate(offsets, start=1):
                points = [(X @ np.array([*offset, 1.0]))[:3] for X in (joint.X_PF, joint.X_CM)]
                name = joint.name if len(offsets) == 1 else f"{joint.name}_{number}"
                p_AP, p_BQ = (tuple(point.tolist()) for point in points)
                constraints.append(BallConstraintSpec(ends[0], p_AP, ends[1], p_BQ, joint.place, name))
            form = "a point in common" if len(offsets) == 1 else "two points in common on its axis"
        message = f"joint '{joint.name}' closes a loop: it is an equality, {form}"
        losses.add("changed", "LOOP", message, joint.place)
        if joint.name in actuated:
            actuator = actuated[joint.name]
            message = f"actuator '{actuator.name}' of joint '{joint.name}', which closes a loop"
            losses.add("motion", "ACTUATOR", message, actuator.place)
    return replace(
        model,
        joints=tuple(joint for joint in model.joints if joint.name not in loops),
        actuators=tuple(actuator for actuator in model.actuators if actuator.joint not in loops),
        constraints=tuple(constraints),
    )


def _with_sites(model: ModelSpec, poses: Mapping[str, Matrix], losses: Losses) -> ModelSpec:
    """Frames for points that equalities and springs name: where a point in common is apart in the reference
    configuration, from which MuJoCo would take it."""
    frames = list(model.frames)
    taken = {frame.name for frame in model.frames} | {link.name for link in model.links}

    def site(name: str, link: str, point: Sequence[float], place: SourceLocation) -> None:
        name = numbered_name(name, taken)
        taken.add(name)
        frames.append(FrameSpec(name, link, pose(None, point), place))
        losses.add("changed", "FRAME", f"frame '{name}' is added on '{link}'", place)

    for number, spec in enumerate(model.constraints, start=1):
        if isinstance(spec, BallConstraintSpec) and not is_closed(spec, poses):
            for link, point, end in ((spec.link_A, spec.p_AP, "P"), (spec.link_B, spec.p_BQ, "Q")):
                site(f"{spec.name or f'point_{number}'}_{end}", link, point, spec.place)
    springs: list[SpringDamperSpec | DistanceConstraintSpec] = [
        element for element in model.force_elements if isinstance(element, SpringDamperSpec)
    ]
    springs += [constraint for constraint in model.constraints if isinstance(constraint, DistanceConstraintSpec)]
    for number, spring in enumerate(springs, start=1):
        for link, point, end in ((spring.link_A, spring.p_AP, "P"), (spring.link_B, spring.p_BQ, "Q")):
            site(f"spring_{number}_{end}", link, point, spring.place)
    return replace(model, frames=tuple(frames))


def is_closed(spec: BallConstraintSpec, poses: Mapping[str, Matrix]) -> bool:
    """Whether the points of a BallConstraintSpec coincide where links are at poses {link: X_WL}."""
    ends = [(poses[link] @ np.array([*p, 1.0]))[:3] for link, p in ((spec.link_A, spec.p_AP), (spec.link_B, spec.p_BQ))]
    return np.abs(ends[0] - ends[1]).max() <= CLOSED * max(1.0, np.abs(ends[0]).max())


# ------------------------------------------------------------------------------------------- masses


def welded_groups(model: ModelSpec) -> dict[str, str]:
    """{link: the outermost of the links that it is welded to}, WORLD among them; joints do not close loops."""
    holder = {joint.child: joint for joint in model.joints}
    groups = {WORLD: WORLD}

    def group(link: str) -> str:
        chain = []
        while link not in groups:
            chain.append(link)
            joint = holder.get(link)
            if joint is None or not joint.kind.is_fixed:
                groups[link] = link
                break
            link = joint.parent
        for each in chain:
            groups[each] = groups[link]
        return groups[link]

    for link in model.links:
        group(link.name)
    return groups


def _given_inertials(model: ModelSpec, through: Mapping[str, str], losses: Losses) -> dict[str, InertialSpec]:
    """A little mass and inertia for the links that move without, which MuJoCo refuses."""
    groups = welded_groups(model)
    members = defaultdict(list)
    for link in model.links:
        members[groups[link.name]].append(link)
    given = {}
    for group, links in members.items():
        if group == WORLD or group in through or any(map(_has_mass, links)):
            continue
        link = next(link for link in links if link.name == group)
        inertial = link.inertial
        if inertial is None or not inertial.mass:  # plants pass over the inertia of what has no mass
            inertial = InertialSpec(0.0, IDENTITY, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), link.place)
        xx, yy, zz = (max(value, LEAST_MASS) for value in inertial.inertia[:3])
        xy, xz, yz = (0.0,) * 3 if min(inertial.inertia[:3]) < LEAST_MASS else inertial.inertia[3:]
        mass = max(inertial.mass, LEAST_MASS)
        given[group] = replace(inertial, mass=mass, inertia=(xx, yy, zz, xy, xz, yz))
        what = "inertia" if mass == inertial.mass else "mass"
        message = f"link '{group}' moves without {what}, which MuJoCo refuses: it has {LEAST_MASS:g} of it"
        losses.add("changed", "INERTIA", message, link.place)
    return given


def _has_mass(link: LinkSpec) -> bool:
    if link.inertial is None:
        return False
    return link.inertial.mass > REFUSED_MASS and min(principal_moments(link.inertial)) > REFUSED_MASS


def principal_moments(inertial: InertialSpec) -> list[float]:
    """The three principal moments [kg m^2] of an InertialSpec, the smallest first."""
    xx, yy, zz, xy, xz, yz = inertial.inertia
    if not (xy or xz or yz):
        return sorted((xx, yy, zz))
    return np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).tolist()

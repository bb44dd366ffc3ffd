"""A flat model in the form of URDF: the frame of each link is that of the joint that holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.frame_names import MODEL, WORLD
from mbcli.parsers.joint_kinds import stated_by
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spanning_tree import spanning_tree
from mbcli.parsers.spec import IDENTITY, BushingSpec, FrameSpec, JointSpec, pose
from mbcli.parsers.urdf.urdf_joints import rotation_from_z
from mbcli.parsers.writing.moved_links import with_moved_links
from mbcli.parsers.writing.target import Arranged
from mbcli.parsers.writing.world_link import with_link_for_elements

if TYPE_CHECKING:
    from mbcli.parsers.spec import ModelSpec
    from mbcli.parsers.writing.losses import Losses

    from mbcli.math.array_types import Matrix4

STRAIGHT = 1e-12  # relative deviation from a line that rounding explains
_LINK_ENDS = ("link_A", "link_B", "frame_A", "frame_C")
_FORMS = stated_by("urdf")


def arranged_for_urdf(model: ModelSpec, losses: Losses) -> Arranged:
    """`Arranged` for write_urdf. Changes of form go to `losses`."""
    model = _with_model_frame(model)
    branches, loops = spanning_tree(model)
    joints, moves = {joint.name: joint for joint in model.joints}, {}
    stated = {link.name: link.X_ModelL for link in model.links}
    for branch in branches:
        joint = branch.joint
        if joint is None:
            X_WL = compose(model.X_WModel, stated[branch.link])
            _tell_pose(branch.link, X_WL, model, losses)
            continue
        if branch.reversed and can_be_swapped(joint):
            joint = swapped(joint)
            losses.add("changed", "JOINT_REVERSED", f"joint '{joint.name}' leads from '{joint.parent}' on", joint.place)
        fitted = _fitted(joint)
        if fitted is None and branch.link == joint.child:
            moves[branch.link] = inverse(joint.X_CM)
            message = f"the frame of link '{branch.link}' is moved to joint '{joint.name}'"
            losses.add("changed", "LINK_FRAME", message, joint.place)
        joints[joint.name] = fitted or joint
    in_order = sorted(joints.values(), key=lambda joint: joint.name in loops)
    moved = with_moved_links(replace(model, joints=tuple(in_order)), moves)
    holders = {branch.joint.name for branch in branches if branch.joint is not None and branch.link in moves}
    final, faults = [], []
    for joint in moved.joints:
        if joint.name in holders:
            joint = replace(joint, X_CM=IDENTITY)  # without rounding
        fitted = joint if joint.name in loops and _FORMS[joint.type].loops else _fitted(joint)
        if fitted is None:
            faults.append((joint.name, "it is not in the frame of its child, which another joint holds"))
        final.append(fitted or joint)
    arranged, added = with_link_for_elements(replace(moved, joints=tuple(final)), losses)
    return Arranged(arranged, frozenset(loops), moves, tuple(faults), added=added)


def with_one_root(model: ModelSpec, losses: Losses) -> ModelSpec:
    """A flat ModelSpec whose links are one tree, as urdfdom, which ROS and Pinocchio read with, asks for.

    Of several trees, those that float hang on World by floating joints, which plants would add under the same names.
    """
    held = {branch.link for branch in spanning_tree(model)[0] if branch.joint is not None}
    bases = [link for link in model.links if link.name != WORLD and link.name not in held]
    ends: list[Any] = [end for joint in model.joints for end in (joint.parent, joint.child)]
    ends += [frame.link for frame in model.frames] + [name for group in model.filter_groups for name in group.members]
    ends += [getattr(item, end, None) for item in (*model.force_elements, *model.constraints) for end in _LINK_ENDS]
    world = next((link for link in model.links if link.name == WORLD), None)
    has_world = WORLD in ends or (world is not None and bool(world.visuals or world.collisions))
    if len(bases) + has_world < 2 or not bases:
        return model
    taken, floating = {joint.name for joint in model.joints}, []
    for link in bases:
        name = link.name
        while name in taken:
            name += "_"
        taken.add(name)
        floating.append(JointSpec(name, "quaternion_floating", WORLD, link.name, IDENTITY, IDENTITY, link.place))
        message = f"link '{link.name}', which floats, hangs on the world by floating joint '{name}'"
        losses.add("changed", "JOINT", message, link.place)
    return replace(model, joints=(*model.joints, *floating))


def _with_model_frame(model: ModelSpec) -> ModelSpec:
    """The model's own frame is one more frame, if something is between it and another."""
    named = {
        end for spec in model.force_elements if isinstance(spec, BushingSpec) for end in (spec.frame_A, spec.frame_C)
    }
    if MODEL not in named or model.X_LinkModel is None:
        return model
    link, X_LinkModel = model.X_LinkModel
    return replace(model, frames=(*model.frames, FrameSpec(MODEL, link, X_LinkModel, model.place)))


def _tell_pose(link: str, X_WL: Matrix4, model: ModelSpec, losses: Losses) -> None:
    if not np.array_equal(X_WL, IDENTITY):
        losses.add("lost", "DEFAULT_POSE", f"the pose of '{link}' in the world, in which it floats", model.place)


def can_be_swapped(joint: JointSpec) -> bool:
    """Whether `swapped` gives the same joint."""
    return joint.kind.is_fixed or joint.kind.has_one_coordinate


def swapped(joint: JointSpec) -> JointSpec:
    """The same joint of one axis, or none, with parent and child exchanged; its coordinate keeps its sign."""
    axes = tuple(replace(axis, xyz=(-axis.xyz[0], -axis.xyz[1], -axis.xyz[2])) for axis in joint.axes)
    return replace(joint, parent=joint.child, child=joint.parent, X_PF=joint.X_CM, X_CM=joint.X_PF, axes=axes)


def _fitted(joint: JointSpec) -> JointSpec | None:
    """The joint stated in its child's frame, or None if the child's frame is elsewhere."""
    if np.array_equal(joint.X_CM, IDENTITY):
        return joint
    R_CM, p = joint.X_CM[:3, :3], joint.X_CM[:3, 3]
    X_PC = compose(joint.X_PF, inverse(joint.X_CM))
    if joint.kind.is_fixed:
        return replace(joint, X_PF=X_PC, X_CM=IDENTITY)
    if joint.kind.has_one_coordinate:
        axis = joint.axes[0]
        direction = R_CM @ axis.xyz
        off = np.abs(np.cross(p, direction)).max()
        if joint.kind.slides or off <= STRAIGHT * np.abs(p).max():
            turned = replace(axis, xyz=tuple(direction.tolist()))
            return replace(joint, X_PF=X_PC, X_CM=IDENTITY, axes=(turned,))
    if joint.kind.axis_is_normal and not p.any():
        R = rotation_from_z(tuple(R_CM[:, 2]))
        if np.abs(R - R_CM).max() <= STRAIGHT:
            return replace(joint, X_CM=pose(R))
    return None

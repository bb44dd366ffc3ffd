"""A flat model in the form of SDFormat: its links are at the places of its joints at zero, which defines the joints."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import numbered_name
from mbcli.parsers.frame_names import SEPARATOR, WORLD
from mbcli.parsers.joint_kinds import stated_by
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spanning_tree import spanning_tree
from mbcli.parsers.spec import IDENTITY, FrameSpec, JointSpec, LinkSpec, WeldConstraintSpec
from mbcli.parsers.writing.arrange_urdf import can_be_swapped, swapped
from mbcli.parsers.writing.target import Arranged
from mbcli.parsers.writing.world_link import elements_on_world, name_of_link, with_elements_on

from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mbcli.parsers.spanning_tree import Branch
    from mbcli.parsers.spec import GeometrySpec, ModelSpec, SourceLocation
    from mbcli.parsers.writing.losses import Losses

    from mbcli.math.array_types import Matrix4

_FORMS = stated_by("sdf")
NO_LINK = "a model of SDFormat has a link: this one has none"
CLOSED = 1e-12  # [m or 1], relative to the size of the loop: how far the ends of a joint may be apart


def arranged_for_sdf(model: ModelSpec, losses: Losses) -> Arranged:
    """`Arranged` for write_sdf. Changes of form go to `losses`."""
    branches, loops = spanning_tree(model)
    faults: list[tuple[str, str]] = []
    joints = [_turned(joint, faults, losses) for joint in model.joints]
    poses = _zero_poses(model, branches)
    for joint in joints:
        if joint.name in loops and _FORMS[joint.type].tag == "joint" and not _is_closed(joint, poses):
            faults.append((joint.name, "it closes a loop that is open if all joints are at zero"))
    model = replace(
        model,
        links=tuple(replace(link, X_ModelL=poses[link.name]) for link in model.links),
        joints=tuple(joints),
        deformables=tuple(  # Drake does not read the pose of their collision
            replace(body, geometry=replace(body.geometry, X_LG=IDENTITY)) for body in model.deformables
        ),
    )
    model = replace(model, links=tuple(_with_geometry_names(link, losses) for link in model.links))
    model, of_world = _with_link_of_world(_with_frames(model, losses), losses)
    return Arranged(model, frozenset(loops), {}, tuple(faults), of_world)


def _turned(joint: JointSpec, faults: list[tuple[str, str]], losses: Losses) -> JointSpec:
    """A joint of SDFormat must not end at the world."""
    if joint.child != WORLD:
        return joint
    if can_be_swapped(joint):
        losses.add("changed", "JOINT_REVERSED", f"joint '{joint.name}' leads from '{joint.child}' on", joint.place)
        return swapped(joint)
    faults.append((joint.name, "its child is the world"))
    return joint


def _zero_poses(model: ModelSpec, branches: Sequence[Branch]) -> dict[str, Matrix4]:
    """{link: its pose in the model if all joints are at zero}; links that float stay."""
    stated = {link.name: link.X_ModelL for link in model.links}
    poses = {WORLD: inverse(model.X_WModel)}
    for branch in branches:
        joint = branch.joint
        if joint is None:
            poses[branch.link] = stated[branch.link]
            continue
        X_inboard, X_outboard = (joint.X_CM, joint.X_PF) if branch.reversed else (joint.X_PF, joint.X_CM)
        poses[branch.link] = compose(compose(poses[branch.inboard], X_inboard), inverse(X_outboard))
    return poses


def _is_closed(joint: JointSpec, poses: Mapping[str, Matrix4]) -> bool:
    X_ModelF, X_ModelM = compose(poses[joint.parent], joint.X_PF), compose(poses[joint.child], joint.X_CM)
    return np.abs(X_ModelF - X_ModelM).max() <= CLOSED * max(1.0, np.abs(X_ModelF).max())


def _names(model: ModelSpec) -> set[str]:
    named = (model.frames, model.links, model.deformables, model.joints, model.filter_groups)
    return {item.name for items in named for item in items}


def _with_link_of_world(model: ModelSpec, losses: Losses) -> tuple[ModelSpec, str]:
    """(model, link): a model of SDFormat has no geometry and no frames of the world, but of a link welded to it."""
    if not model.links and not model.deformables:
        raise ModelError(f"{model.place}: error: {NO_LINK}")
    world = next((link for link in model.links if link.name == WORLD), None)
    if world is None or not (world.visuals or world.collisions):  # a group with it filters nothing
        groups = tuple(replace(g, members=tuple(m for m in g.members if m != WORLD)) for g in model.filter_groups)
        model = replace(model, filter_groups=groups)
    links = tuple(link for link in model.links if link is not world)
    on_world = [frame for frame in model.frames if frame.link == WORLD]
    elements = elements_on_world(model)
    if not on_world and not elements and (world is None or not (world.visuals or world.collisions)):
        if not links and not model.deformables:
            raise ModelError(f"{model.place}: error: {NO_LINK}")
        return replace(model, links=links), WORLD
    if world is None:
        world = LinkSpec(WORLD, (*on_world, *elements)[0].place)
    name = name_of_link(_names(model))
    for tag, geometries in (("visual", world.visuals), ("collision", world.collisions)):
        for geometry in geometries:
            message = f"{tag} '{geometry.name}' of the world is on link '{name}', which '{name}_weld' welds to it"
            losses.add("changed", "WORLD", message, geometry.place)
    for frame in on_world:
        message = f"frame '{frame.name}' of the world is on link '{name}', which '{name}_weld' welds to it"
        losses.add("changed", "WORLD", message, frame.place)
    frames = tuple(replace(frame, link=name) if frame.link == WORLD else frame for frame in model.frames)
    link = replace(world, name=name, X_ModelL=inverse(model.X_WModel))
    weld = JointSpec(f"{name}_weld", "fixed", WORLD, name, IDENTITY, IDENTITY, world.place)
    model = with_elements_on(model, name, losses)
    return replace(model, links=(*links, link), joints=(*model.joints, weld), frames=frames), name


def _with_geometry_names(link: LinkSpec, losses: Losses) -> LinkSpec:
    """Names of visuals and collisions without the `::` of scopes."""

    def renamed(tag: str, geometries: Sequence[GeometrySpec]) -> tuple[GeometrySpec, ...]:
        taken, found = {geometry.name for geometry in geometries}, []
        for geometry in geometries:
            name = geometry.name.replace(SEPARATOR, "__")
            if name != geometry.name:
                name = numbered_name(name, taken)
            if name != geometry.name:
                taken.add(name)
                message = f"{tag} '{geometry.name}' of link '{link.name}' is called '{name}'"
                losses.add("changed", "NAME", message, geometry.place)
            found.append(replace(geometry, name=name))
        return tuple(found)

    return replace(link, visuals=renamed("visual", link.visuals), collisions=renamed("collision", link.collisions))


def _with_frames(model: ModelSpec, losses: Losses) -> ModelSpec:
    """Frames for elements between frames, not links: Drake's own joints, and weld constraints."""
    frames = list(model.frames)
    taken, of_link = _names(model), defaultdict(list)
    for each in model.frames:
        of_link[each.link].append(each)

    def frame(name: str, link: str, X: Matrix4, place: SourceLocation) -> str:
        if np.array_equal(X, IDENTITY) and link != WORLD:  # which joints between frames must not name
            return link
        for known in of_link[link]:
            if np.array_equal(known.X_LF, X):
                return known.name
        while name in taken:
            name += "_"
        taken.add(name)
        frames.append(FrameSpec(name, link, X, place))
        losses.add("changed", "FRAME", f"frame '{name}' is added on '{link}'", place)
        return name

    def of_joint(joint: JointSpec) -> JointSpec:
        if _FORMS[joint.type].tag == "joint":
            return joint
        return replace(
            joint,
            parent=frame(f"{joint.name}_F", joint.parent, joint.X_PF, joint.place),
            child=frame(f"{joint.name}_M", joint.child, joint.X_CM, joint.place),
        )

    def of_weld(number: int, spec: Any) -> Any:
        if not isinstance(spec, WeldConstraintSpec):
            return spec
        ends = (("P", spec.link_A, spec.X_AP), ("Q", spec.link_B, spec.X_BQ))
        A, B = (frame(f"weld_{number}_{end}", link, X, spec.place) for end, link, X in ends)
        return replace(spec, link_A=A, link_B=B)

    joints = tuple(map(of_joint, model.joints))
    constraints = tuple(of_weld(number, spec) for number, spec in enumerate(model.constraints, start=1))
    return replace(model, joints=joints, constraints=constraints, frames=tuple(frames))

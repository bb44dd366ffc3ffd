"""A model as the text of a file of another format: flat, with a list of the changes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mbcli.parsers.formats import FORMATS
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mesh_files import relocated
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spec import IDENTITY, Mesh
from mbcli.parsers.writing.flatten import flattened
from mbcli.parsers.writing.format_capabilities import reduced_to_format, refused_joints, without_joints
from mbcli.parsers.writing.losses import Losses
from mbcli.parsers.writing.target_names import with_target_names
from mbcli.parsers.writing.write_xml import finish, numbers_of_elements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.spec import GeometrySpec, JointSpec, LinkSpec, ModelSpec
    from mbcli.parsers.writing.losses import Loss
    from mbcli.parsers.writing.simple_joints import Part
    from mbcli.parsers.writing.target import Arranged, Target

    from mbcli.math.array_types import Matrix4


@dataclass(frozen=True)
class Conversion:
    """The text of a converted model, and how its parts correspond to those of the model."""

    target: str  # of TARGETS
    text: bytes
    kept: ModelSpec  # flat: the part of the model that the text has, under the model's names
    written: ModelSpec  # as the text has it
    losses: tuple[Loss, ...]
    # name in `kept`: name in the text, of World the link that has its geometry; in the order of `kept`
    links: dict[str, str]
    joints: dict[str, str]
    moved: dict[str, Matrix4]  # link in `kept`: X_NL, its frame in that of the link in the text
    # joint in `kept`: the Parts (simple_joints) that it is in the text; of one joint, its own, none
    parts: dict[str, tuple[Part, ...]]
    # joint in `kept` that has no name in the text, or not its own: the link in the text that it holds
    unnamed: dict[str, str]
    tolerance: float  # relative, to which the text has the numbers of the model
    num_added: int  # links of the text that `kept` does not have, beside that of World
    limits: tuple[str, ...]  # of "position", "velocity", "acceleration": the limits that the format has

    @property
    def moves_otherwise(self) -> bool:
        """Whether `kept` is another mechanism than the model, be it by as little as 1e-12 kg."""
        return any(loss.kind == "motion" or loss.code == "INERTIA" for loss in self.losses)


def converted(
    model: ModelSpec,
    target_name: str,
    *,
    packages: PackageMap,
    folder: str,
    copies: Mapping[str, str] | None = None,
    losses: Losses | None = None,
) -> Conversion:
    """The `Conversion` of a ModelSpec to a target format, of TARGETS.

    packages: PackageMap by which meshes are found; folder: that of the text. copies: {path of a mesh file: name of its
    copy, relative to the folder}, if meshes are copied. losses: those that there are already.
    """
    losses, target = losses or Losses(), FORMATS[target_name].target()
    kept = target.reduced(reduced_to_format(flattened(model), target, losses, frozenset(copies or {})), losses)
    kept = _without(kept, refused_joints(kept, target), losses)
    arranged = target.arranged(kept, losses)
    if arranged.unsupported_joints:
        kept = _without(kept, arranged.unsupported_joints, losses)
        arranged = target.arranged(kept, losses)
    kept = _with_given(kept, arranged)
    named = with_target_names(arranged.model, target, losses)
    links = _pairs(arranged.model.links, named.links)
    for name in arranged.added:
        del links[name]
    if arranged.of_world in links:
        links[WORLD] = links.pop(arranged.of_world)
    joints, moved = _pairs(arranged.model.joints, named.joints), dict(arranged.moved)
    if not target.embeds_meshes:
        named = _with_meshes(named, target, packages, folder, copies or {}, losses)
    document = target.document(named, {joints[name] for name in arranged.loops})
    root = document.root
    for old, new in list(links.items()):
        if new in document.renamed:
            links[old], moved[old] = document.renamed[new]
    counts = {} if root is None else numbers_of_elements(root, target.own_tags)
    for tag, known in target.extensions(root, counts).items():
        times = f" ({counts[tag]} times)" if counts[tag] > 1 else ""
        losses.add("extension", "EXTENSION", f"<{tag}>{times}: {known}", model.place)
    return Conversion(
        target=target_name,
        text=document.text if root is None else finish(root),
        kept=kept,
        written=document.expected,
        losses=tuple(losses.all()),
        links=links,
        joints=joints,
        moved=moved,
        parts={old: document.parts[new] for old, new in joints.items() if new in document.parts},
        unnamed={old: document.unnamed[new] for old, new in joints.items() if new in document.unnamed},
        num_added=len(arranged.added),
        limits=target.limits,
        tolerance=target.tolerance,
    )


def _without(model: ModelSpec, refused: Sequence[tuple[str, str]], losses: Losses) -> ModelSpec:
    """The model without joints that the format does not have: (name, why)."""
    for name, why in refused:
        place, child = next((joint.place, joint.child) for joint in model.joints if joint.name == name)
        losses.add("motion", "JOINT", f"joint '{name}' of link '{child}': {why}", place)
    return without_joints(model, {name for name, _ in refused}) if refused else model


def _with_given(model: ModelSpec, arranged: Arranged) -> ModelSpec:
    """The model with the inertials that the format needs, in the frames of its own links."""

    def of(link: LinkSpec) -> LinkSpec:
        given = arranged.given.get(link.name)
        if given is None:
            return link
        X_LN = inverse(arranged.moved.get(link.name, IDENTITY))
        return replace(link, inertial=replace(given, X_LI=compose(X_LN, given.X_LI)))

    return replace(model, links=tuple(map(of, model.links)))


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _pairs(before: tuple[JointSpec | LinkSpec, ...], after: tuple[JointSpec | LinkSpec, ...]) -> dict[str, str]:
    return {old.name: new.name for old, new in zip(before, after, strict=True)}


def mesh_paths(model: ModelSpec) -> list[str]:
    """The paths of the mesh files of a ModelSpec that were found, each once."""
    flat = flattened(model)
    shapes = [geometry.shape for link in flat.links for geometry in (*link.visuals, *link.collisions)]
    shapes += [body.geometry.shape for body in flat.deformables]
    paths = (shape.path for shape in shapes if isinstance(shape, Mesh))
    return list(dict.fromkeys(path for path in paths if path is not None))


def _with_meshes(
    model: ModelSpec, target: Target, packages: PackageMap, folder: str, copies: Mapping[str, str], losses: Losses
) -> ModelSpec:
    """The model with URIs of meshes that lead to the same files, or to copies of them, from a folder."""

    def moved(geometry: GeometrySpec) -> GeometrySpec:
        mesh = geometry.shape
        if not isinstance(mesh, Mesh):
            return geometry
        copy = copies.get(os.path.abspath(mesh.path)) if mesh.path is not None else None
        problem: str | None
        if copy is not None:
            uri, problem = copy, None
        else:
            uri, problem = relocated(mesh, packages, folder, keeps_package=target.package_uris)
        named = f"the mesh {mesh.uri} is named" + (" so" if uri == mesh.uri else f" as {uri}")
        if problem is not None:
            message = f"{named}, and not read there: {problem}; --bundle copies it"
            losses.add("changed", "MESH", message, geometry.place)
        elif copy is not None and mesh.path is not None and _suffix(copy) != _suffix(mesh.path):
            message = f"the mesh {mesh.uri} of '{geometry.name}' is converted to {uri}"
            losses.add("changed", "MESH", message, geometry.place)
        elif uri != mesh.uri:
            losses.add("changed", "MESH", named, geometry.place)
        return replace(geometry, shape=replace(mesh, uri=uri))

    return replace(
        model,
        links=tuple(
            replace(link, visuals=tuple(map(moved, link.visuals)), collisions=tuple(map(moved, link.collisions)))
            for link in model.links
        ),
        deformables=tuple(replace(body, geometry=moved(body.geometry)) for body in model.deformables),
    )

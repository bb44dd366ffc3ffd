"""Colours inside the files of visual meshes, or of OBJ files beside them, for formats that have them no longer."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.kept_meshes import written
from mbcli.parsers.spec import Mesh

from mbcli.common.kept_files import ready_to_keep
from mbcli.common.user_cache import user_cache
from mbcli.errors import MbcliError
from mbcli.meshes.obj_text import obj_lines
from mbcli.meshes.triangles import load_colored_triangles, read_mesh_file

if TYPE_CHECKING:
    from mbcli.parsers.spec import GeometrySpec, ModelSpec
    from mbcli.parsers.writing.losses import Losses
    from mbcli.parsers.writing.target import Target

    from mbcli.meshes.triangles import ColoredTriangles

FOLDER = "colored_parts"  # of the user's cache
MOST_COLORS = 50  # of one mesh, each of which becomes a visual
HAVE_COLORS = (".dae", ".gltf", ".glb", ".obj")  # of these the colours are read


def with_mesh_colors(model: ModelSpec, target: Target, bundle: bool, losses: Losses) -> ModelSpec:
    """A flat ModelSpec in which visuals have the colours of their mesh files, if the target has them no other way.

    A visual that states a colour keeps it. A mesh of several colours becomes one visual for each, whose part is an OBJ
    file in the user's cache; the part of an image, or of no material, has none.
    """
    known: dict[str, list[ColoredTriangles]] = {}
    links = []
    for link in model.links:
        taken = {geometry.name for geometry in (*link.visuals, *link.collisions)}
        visuals: list[GeometrySpec] = []
        for visual in link.visuals:
            mesh = visual.shape
            if visual.color is None and isinstance(mesh, Mesh) and _changes(mesh, target, bundle):
                assert mesh.path is not None
                if mesh.path not in known:
                    known[mesh.path] = _colors_of(mesh.path)
                splits = bundle or target.embeds_meshes
                visuals += _colored(visual, mesh, known[mesh.path], taken, link.name, losses, splits)
            else:
                visuals.append(visual)
        links.append(replace(link, visuals=tuple(visuals)))
    return replace(model, links=tuple(links))


def _changes(mesh: Mesh, target: Target, bundle: bool) -> bool:
    """Whether the target gets another file, or none, in place of one that may have colours, or passes over them."""
    suffix = "" if mesh.path is None else os.path.splitext(mesh.path)[1].lower()
    if mesh.path is None or suffix not in HAVE_COLORS:
        return False
    if suffix == ".obj":
        return not target.reads_materials
    return target.embeds_meshes or (bundle and target.copied_suffix(mesh.path) is not None)


def _colors_of(path: str) -> list[ColoredTriangles]:
    try:
        if path.lower().endswith(".obj") and b"usemtl" not in read_mesh_file(path):
            return []
        return load_colored_triangles(path)
    except MbcliError:
        return []  # whoever needs the triangles tells of it


def _colored(
    visual: GeometrySpec,
    mesh: Mesh,
    parts: list[ColoredTriangles],
    taken: set[str],
    link: str,
    losses: Losses,
    splits: bool,
) -> list[GeometrySpec]:
    """splits: whether parts of the mesh may become files."""
    colors = [color for color, _, _ in parts]
    if not any(color is not None for color in colors):
        return [visual]
    if len(parts) == 1:
        return [replace(visual, color=colors[0])]
    folder = user_cache() / FOLDER
    if not splits or len(parts) > MOST_COLORS or mesh.submesh is not None or mesh.center or not ready_to_keep(folder):
        losses.add("lost", "MESH", f"the {len(parts)} colours in the mesh of visual '{visual.name}'", visual.place)
        return [visual]
    assert mesh.path is not None
    stem = os.path.splitext(os.path.basename(mesh.path))[0]
    found = []
    for number, (color, vertices, triangles) in enumerate(parts, start=1):
        content = obj_lines(vertices, triangles)
        path = written(folder / f"{stem}_{number}_{hashlib.sha256(content).hexdigest()[:8]}.obj", content)
        name = generated_name(f"{visual.name}_{number}", taken)
        taken.add(name)
        part = Mesh(os.path.basename(path), scale=mesh.scale, convex=mesh.convex, path=path)
        found.append(replace(visual, name=name, shape=part, color=color))
    names = ", ".join(f"'{geometry.name}'" for geometry in found)
    message = f"visual '{visual.name}' of link '{link}' is several, one for each colour in its mesh: {names}"
    losses.add("changed", "MESH", message, visual.place)
    return found

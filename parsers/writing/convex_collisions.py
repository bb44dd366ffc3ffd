"""Collision meshes that are not convex as convex parts, for engines that collide by the hull of a mesh."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from mbcli.parsers.kept_meshes import written
from mbcli.parsers.spec import Mesh

from mbcli.common.kept_files import ready_to_keep
from mbcli.common.user_cache import user_cache
from mbcli.errors import OutputError
from mbcli.meshes.collision_hulls import hulls_of_file

if TYPE_CHECKING:
    from mbcli.parsers.spec import GeometrySpec, ModelSpec

    from mbcli.meshes.hull import Hull

FOLDER = "convex_parts"  # of the user's cache


def with_convex_collisions(model: ModelSpec) -> ModelSpec:
    """A flat ModelSpec whose collision meshes are convex, each part an OBJ file in the user's cache.

    A mesh that is convex, is declared so or was not found stays. Raises as hulls_of_file(), and OutputError if no file
    can be kept.
    """
    return replace(
        model,
        links=tuple(
            replace(link, collisions=tuple(part for solid in link.collisions for part in _parts(solid)))
            for link in model.links
        ),
    )


def _parts(geometry: GeometrySpec) -> list[GeometrySpec]:
    mesh = geometry.shape
    if not isinstance(mesh, Mesh) or mesh.convex or mesh.path is None:
        return [geometry]
    hulls = hulls_of_file(mesh.path, mesh.scale, True, submesh=mesh.submesh, center=mesh.center).hulls
    if len(hulls) == 1:
        return [geometry]
    stem = os.path.splitext(os.path.basename(mesh.path))[0]
    found = []
    for number, hull in enumerate(hulls, start=1):
        path = _kept(hull, stem, number)
        part = Mesh(os.path.basename(path), convex=True, path=path)
        found.append(replace(geometry, name=f"{geometry.name}_{number}", shape=part))
    return found


def _kept(hull: Hull, stem: str, number: int) -> str:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in hull.vertices.tolist()]
    faces = zip(hull.corner_start[:-1].tolist(), hull.corner_start[1:].tolist(), strict=True)
    lines += ["f " + " ".join(str(corner + 1) for corner in hull.corners[start:end].tolist()) for start, end in faces]
    content = ("\n".join(lines) + "\n").encode()
    folder = user_cache() / FOLDER
    if not ready_to_keep(folder):
        raise OutputError(f"{folder}: error: convex parts cannot be kept in it (MBCLI_CACHE_DIR names another folder)")
    return written(folder / f"{stem}_{number}_{hashlib.sha256(content).hexdigest()[:8]}.obj", content)

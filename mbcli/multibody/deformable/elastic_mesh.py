"""The tetrahedra of a shape, as an elastic body takes them."""

import numpy as np

from mbcli.errors import ModelError
from mbcli.geometry.shapes import Box, Capsule, Convex, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from mbcli.geometry.tetrahedral_shapes import VolumeMesh, volume_mesh_of
from mbcli.meshes.triangles import load_tetrahedra
from mbcli.meshes.volume_mesh import signed_volumes


def elastic_mesh(shape: Shape, resolution_hint: float | None) -> VolumeMesh:
    """The tetrahedra of a shape for an elastic body.

    resolution_hint: about the length of edges [m]; None takes a quarter of the least width of a shape, and closed
    surfaces as they are.

    Raises ModelError as volume_mesh_of(), and for tetrahedra of a file that are inside out and vertices of none.
    """
    if resolution_hint is None:
        resolution_hint = hint_of(shape)
    mesh = volume_mesh_of(shape, resolution_hint)
    if isinstance(shape, Mesh) and not isinstance(shape, Convex) and shape.extension() == ".vtk":
        vertices, tetrahedra = load_tetrahedra(shape.filename(), shape.scale3(), center=shape.center)
        inverted = np.flatnonzero(signed_volumes(vertices, tetrahedra) < 0.0)
        if inverted.size:
            raise ModelError(
                f"{shape!r}: {inverted.size} tetrahedra are inside out, number {inverted[0]} first: turn the order "
                "of two of their vertices"
            )
        used = np.zeros(len(vertices), dtype=bool)
        used[tetrahedra] = True
        if not used.all():
            raise ModelError(
                f"{shape!r}: {int((~used).sum())} vertices belong to no tetrahedron, number "
                f"{int(np.flatnonzero(~used)[0])} first: they have no mass"
            )
    return mesh


def hint_of(shape: Shape) -> float | None:
    """A quarter of the least width of a shape [m]; None for what has tetrahedra or triangles already."""
    if isinstance(shape, Box):
        return float(shape.size().min()) / 4.0
    if isinstance(shape, Ellipsoid):
        return min(shape.a(), shape.b(), shape.c()) / 2.0
    if isinstance(shape, Cylinder):
        return min(2.0 * shape.radius(), shape.length()) / 4.0
    if isinstance(shape, (Sphere, Capsule)):
        return shape.radius() / 2.0 or None
    return None

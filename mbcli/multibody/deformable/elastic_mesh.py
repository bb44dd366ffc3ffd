"""The tetrahedra of a shape, as an elastic body takes them."""

import numpy as np

from mbcli.errors import ModelError
from mbcli.geometry.shapes import Convex, Mesh, Shape
from mbcli.geometry.tetrahedral_shapes import VolumeMesh, volume_mesh_of
from mbcli.meshes.triangles import load_tetrahedra
from mbcli.meshes.volume_mesh import signed_volumes


def elastic_mesh(shape: Shape, resolution_hint: float) -> VolumeMesh:
    """The tetrahedra of a shape for an elastic body.

    Raises ModelError as volume_mesh_of(), and for tetrahedra of a file that are inside out and vertices of none.
    """
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

"""Solids as meshes of tetrahedra: their volume, their surface, their quality, and whether they hold together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # of a tetrahedron, outwards; face k has not corner k
EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
SMALLEST_HEIGHT = 1e-12  # of the longest edge: flatter tetrahedra count as without volume


class Quality(NamedTuple):
    """How well tetrahedra are shaped, the worst of them.

    Attributes:
        smallest_angle, largest_angle: between two faces [rad]; 1.2310 both in a regular tetrahedron.
        smallest_ratio: three times the radius of the ball inside over that around it: 1 if regular, 0 if flat.
    """

    smallest_angle: float
    largest_angle: float
    smallest_ratio: float


@dataclass(frozen=True)
class VolumeMesh:
    """Tetrahedra of a solid.

    Attributes:
        vertices: (n, 3) [m]
        tetrahedra: (m, 4) indices of vertices v0, v1, v2, v3 with ((v1 - v0) x (v2 - v0)) . (v3 - v0) > 0.
    """

    vertices: FloatArray
    tetrahedra: IntArray

    @cached_property
    def volumes(self) -> FloatArray:
        """(m,) [m^3]"""
        return signed_volumes(self.vertices, self.tetrahedra)

    @property
    def volume(self) -> float:
        """[m^3]"""
        return float(self.volumes.sum())

    @cached_property
    def outer_triangles(self) -> IntArray:
        """(k, 3) the faces of one tetrahedron alone, counterclockwise seen from outside."""
        return outer_triangles(self.tetrahedra)

    @cached_property
    def quality(self) -> Quality:
        """Of the worst tetrahedra."""
        angles = dihedral_angles(self.vertices, self.tetrahedra)
        ratios = radius_ratios(self.vertices, self.tetrahedra)
        return Quality(float(angles.min()), float(angles.max()), float(ratios.min()))


def checked_mesh(vertices: FloatArray, tetrahedra: IntArray, name: str) -> VolumeMesh:
    """The VolumeMesh of vertices (n, 3) and tetrahedra (m, 4), those that are turned inside out turned back.

    Raises ModelError, with the name, for numbers that are not finite, vertices that are not there, tetrahedra without
    volume, a face of more than two tetrahedra, and tetrahedra on the same side of a face.
    """
    vertices = np.array(vertices, dtype=float)
    tetrahedra = np.array(tetrahedra, dtype=np.int64)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or tetrahedra.ndim != 2 or tetrahedra.shape[1] != 4:
        raise ModelError(f"{name}: vertices are (n, 3) and tetrahedra (m, 4)")
    if not len(tetrahedra):
        raise ModelError(f"{name}: there are no tetrahedra in it")
    if not 0 <= tetrahedra.min() <= tetrahedra.max() < len(vertices):
        raise ModelError(f"{name}: a tetrahedron has a vertex that is not there")
    finite = np.isfinite(vertices).all(axis=1)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise ModelError(f"{name}: vertex {row} is not finite: {vertices[row].tolist()}")
    volumes = signed_volumes(vertices, tetrahedra)
    flat = np.abs(volumes) <= _least_volumes(vertices, tetrahedra)
    if flat.any():
        raise ModelError(
            f"{name}: {int(flat.sum())} tetrahedra have no volume, number {int(np.flatnonzero(flat)[0])} first"
        )
    tetrahedra[volumes < 0.0] = tetrahedra[volumes < 0.0][:, [0, 2, 1, 3]]
    _check_faces(tetrahedra, name)
    return VolumeMesh(vertices, tetrahedra)


def signed_volumes(vertices: FloatArray, tetrahedra: IntArray) -> FloatArray:
    """(m,) [m^3], negative for tetrahedra that are turned inside out."""
    a, b, c, d = (vertices[tetrahedra[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0


def outer_triangles(tetrahedra: IntArray) -> IntArray:
    """(k, 3) the faces of tetrahedra (m, 4) that no other tetrahedron has, outwards."""
    faces = tetrahedra[:, FACES].reshape(-1, 3)
    _, first, counts = _same_faces(faces)
    return faces[np.sort(first[counts == 1])]


def dihedral_angles(vertices: FloatArray, tetrahedra: IntArray) -> FloatArray:
    """(m, 6) [rad] between the two faces at each edge."""
    corners = vertices[tetrahedra]
    normals = np.stack([np.cross(corners[:, j] - corners[:, i], corners[:, k] - corners[:, i]) for i, j, k in FACES], 1)
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    return np.stack([np.pi - np.arccos(np.clip(_dot(normals[:, i], normals[:, j]), -1.0, 1.0)) for i, j in EDGES], 1)


def radius_ratios(vertices: FloatArray, tetrahedra: IntArray) -> FloatArray:
    """(m,) three times the radius of the inner ball over that of the outer one."""
    p = vertices[tetrahedra]
    a, b, c = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0], p[:, 3] - p[:, 0]
    volume6 = np.abs(_dot(np.cross(a, b), c))
    areas = sum(np.linalg.norm(np.cross(p[:, j] - p[:, i], p[:, k] - p[:, i]), axis=1) for i, j, k in FACES) / 2.0
    # The centre of the ball around lies at (|a|^2 b x c + |b|^2 c x a + |c|^2 a x b) / (2 a . b x c) from the corner.
    to_centre = _dot(a, a)[:, None] * np.cross(b, c) + _dot(b, b)[:, None] * np.cross(c, a)
    to_centre = np.linalg.norm(to_centre + _dot(c, c)[:, None] * np.cross(a, b), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = 3.0 * (volume6 / 2.0 / areas) * 2.0 * volume6 / to_centre
    return np.where(volume6 > 0.0, ratios, 0.0)


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->i", a, b)


def _least_volumes(vertices: FloatArray, tetrahedra: IntArray) -> FloatArray:
    """(m,) of tetrahedra as flat as rounding can make them."""
    p = vertices[tetrahedra]
    areas = np.stack([np.linalg.norm(np.cross(p[:, j] - p[:, i], p[:, k] - p[:, i]), axis=1) for i, j, k in FACES], 1)
    longest = np.stack([np.linalg.norm(p[:, j] - p[:, i], axis=1) for i, j in EDGES], 1).max(axis=1)
    return SMALLEST_HEIGHT * longest * areas.max(axis=1) / 6.0


def _same_faces(faces: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For faces (k, 3): the number of the set of corners of each (k,), the first face of a set, how many it has."""
    a, b, c = np.sort(faces, axis=1).T
    count = int(faces.max()) + 1
    if count < 2_000_000:  # the cube of it is a 63-bit number
        keys = (a * count + b) * count + c
        _, first, number, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    else:
        rows = np.column_stack([a, b, c])
        _, first, number, counts = np.unique(rows, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return number.ravel(), first, counts


def _check_faces(tetrahedra: IntArray, name: str) -> None:
    faces = tetrahedra[:, FACES].reshape(-1, 3)
    number, _, counts = _same_faces(faces)
    if counts.max() > 2:
        raise ModelError(f"{name}: {int((counts > 2).sum())} faces belong to more than two tetrahedra")
    low = faces.argmin(axis=1)
    rows = np.arange(len(faces))
    turn = np.where(faces[rows, (low + 1) % 3] < faces[rows, (low + 2) % 3], 1, -1)
    overlaps = (counts == 2) & (np.bincount(number, turn) != 0.0)
    if overlaps.any():
        raise ModelError(f"{name}: {int(overlaps.sum())} faces have both their tetrahedra on the same side")

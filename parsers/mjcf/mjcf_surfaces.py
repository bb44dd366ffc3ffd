"""The triangles that MuJoCo takes for the inertia of a mesh file: STL, OBJ, MSH.

They are not always those that collide. Coordinates are rounded to single precision. Of an OBJ file only the faces of
its first object or group count (a line with `o` or `g` begins another), the vertices of all of them make the convex
hull. MSH is MuJoCo's own format. Other formats are read as everywhere here.

Format: https://mujoco.readthedocs.io/en/stable/XMLreference.html#asset-mesh
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError, ResourceError
from mbcli.meshes.read_msh import read_msh
from mbcli.meshes.triangles import MAX_TRIANGLES, load_triangles, read_mesh_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from mbcli.math.array_types import Array, IntArray, Matrix

    # vertices (n, 3), triangles (m, 3) of their indices or None, the polygon of each or None
    Surface: TypeAlias = tuple[Matrix, IntArray | None, IntArray | None]

_TRIANGLE_OF_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_STL_HEADER = 80  # bytes before the number of triangles
_TEXTURE_AND_NORMAL = re.compile(rb"/[^\s]*")  # of a corner, after the index of its vertex


def read_surface(path: str) -> Surface:
    """(vertices, triangles, polygons): vertices (n, 3) in the file's unit, triangles (m, 3) of their indices, None for
    the hull of the vertices, and the number (m,) of the flat polygon that a triangle is a part of, None if each is one.

    Parts of a polygon that is not convex may overlap, facing opposite sides. Raises ModelError or ResourceError.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in _READERS:
        return (*load_triangles(path), None)
    vertices, triangles, polygons = _READERS[suffix](read_mesh_file(path), path)
    if triangles is not None and len(triangles) > MAX_TRIANGLES:
        raise ResourceError(f"{path}: {len(triangles)} triangles, the most are {MAX_TRIANGLES}")
    if triangles is not None and not 0 <= triangles.min() <= triangles.max() < len(vertices):
        raise ModelError(f"{path}: a triangle has a vertex that is not there")
    if not np.isfinite(vertices).all():
        raise ModelError(f"{path}: a vertex is not finite")
    return vertices.astype(float), triangles, polygons


def in_single_precision(vertices: Matrix) -> Matrix:
    """Coordinates as MuJoCo keeps them."""
    with np.errstate(over="ignore"):
        return np.asarray(vertices, dtype=np.float32)


# ----------------------------------------------------------------------------------------------- STL


def _read_stl(content: bytes, path: str) -> Surface:
    count = int.from_bytes(content[_STL_HEADER : _STL_HEADER + 4], "little")
    start = _STL_HEADER + 4
    if len(content) < start or len(content) != start + count * _TRIANGLE_OF_STL.itemsize:
        vertices, triangles = load_triangles(path)  # as text, which MuJoCo does not read
        return in_single_precision(vertices), triangles, None
    if not count:
        raise ModelError(f"{path}: there are no triangles in it")
    corners = np.frombuffer(content, _TRIANGLE_OF_STL, offset=start)["corners"]
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), None


# ----------------------------------------------------------------------------------------------- OBJ


def _read_obj(content: bytes, path: str) -> Surface:
    """Vertices of the whole file and the polygons of its first object."""
    positions, faces, before, complete = [], [], [], False
    for line in content.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").splitlines():
        kind, _, rest = line.strip().replace(b"\t", b" ").partition(b" ")
        if kind == b"v":
            positions.append(rest)
        elif kind == b"f" and not complete:
            faces.append(_TEXTURE_AND_NORMAL.sub(b"", rest.partition(b"#")[0]))
            before.append(len(positions))
        elif kind in (b"o", b"g") and faces:
            complete = True
    if not positions:
        raise ModelError(f"{path}: there are no vertices in it")
    try:
        vertices = in_single_precision(_numbers([b" ".join(line.split()[:3]) for line in positions], float))
        if not faces and len(vertices) == 3 * len(positions):
            return vertices.reshape(-1, 3), None, None  # MuJoCo takes the hull
        counts = np.array([len(face.split()) for face in faces])
        corners = _numbers(faces, np.int64)
    except ValueError as error:
        raise ModelError(f"{path}: cannot read the mesh: {error}") from None
    first = np.repeat(before, counts)  # negative indices count from the last vertex before the face
    corners = np.where(corners > 0, corners - 1, np.where(corners < 0, first + corners, -1))
    if len(vertices) % 3 or counts.min() < 3 or not 0 <= corners.min() <= corners.max() < len(vertices) // 3:
        raise ModelError(f"{path}: a triangle has a vertex that is not there")
    return _cut(vertices.reshape(-1, 3), corners, counts)


def _numbers(lines: Iterable[bytes], kind: Any) -> Array:
    return np.array(b" ".join(lines).split() or [b"0"]).astype(kind)


def _cut(vertices: Matrix, corners: IntArray, counts: IntArray) -> Surface:
    """(vertices, triangles, polygon of each) of the corners of polygons one after the other.

    Quadrilaterals are cut along their shorter diagonal and count as two polygons; others are cut from their first
    corner.
    """
    starts = np.cumsum(counts) - counts
    triangles, polygons, used = [], [], 0
    for n in np.unique(counts).tolist():
        alike = corners[starts[counts == n][:, None] + np.arange(n)]
        if n == 4:
            a, b, c, d = (vertices[alike[:, k]] for k in range(4))
            along_bd = np.einsum("ij,ij->i", c - a, c - a) >= np.einsum("ij,ij->i", d - b, d - b)
            alike[along_bd] = np.roll(alike[along_bd], -1, axis=1)
            alike = np.concatenate([alike[:, :3], alike[:, [0, 2, 3]]])
        for k in range(1, alike.shape[1] - 1):
            triangles.append(alike[:, [0, k, k + 1]])
            polygons.append(used + np.arange(len(alike)))
        used += len(alike)
    return vertices, np.concatenate(triangles), np.concatenate(polygons)


# ----------------------------------------------------------------------------------------------- MSH


def _read_msh(content: bytes, path: str) -> Surface:
    try:
        return (*read_msh(content), None)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


_READERS = {".stl": _read_stl, ".obj": _read_obj, ".msh": _read_msh}

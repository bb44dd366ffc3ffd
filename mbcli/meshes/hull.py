"""Convex hulls as the search for contact climbs on them: vertices, edges, faces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

COPLANAR = 1e-6  # of the size: greatest distance of triangles of one face from the plane of the largest
MOST_FACE_CORNERS = 32  # of a face of many some that are spread evenly


@dataclass(frozen=True)
class Hull:
    """Vertices, what is beside them, and faces of a convex hull, each as one array after the other.

    Attributes:
        vertices: (n, 3) [m]
        edge_start, edges: (n + 1,), (e,) the vertices beside vertex i are edges[edge_start[i]:edge_start[i + 1]].
        face_normal: (f, 3) outwards.
        corner_start, corners: (f + 1,), (c,) the vertices about face i, counterclockwise seen from outside, are
            corners[corner_start[i]:corner_start[i + 1]].
    """

    vertices: FloatArray
    edge_start: IntArray
    edges: IntArray
    face_normal: FloatArray
    corner_start: IntArray
    corners: IntArray


def hull_of(vertices: FloatArray, triangles: IntArray) -> Hull:
    """The Hull of a closed convex surface: vertices (n, 3), triangles (m, 3) that face outwards.

    Triangles in one plane become one face. Vertices that are in no triangle go. Takes n log n steps, as long as no
    vertex is in more than some hundred triangles.
    """
    used, places = np.unique(triangles, return_inverse=True)
    vertices, triangles = np.array(vertices[used], dtype=float), places.reshape(-1, 3)
    edge_start, edges = _edges(triangles, len(used))
    normals, area = _normals(vertices, triangles)
    order = np.argsort(-area, kind="stable")  # small triangles have the normals of larger ones
    face_of = _merge(vertices, triangles, normals, order, edge_start, edges)
    seeds, face_of = np.unique(face_of, return_inverse=True)
    normals = normals[order[seeds]]
    corner_start, corners = _corners(vertices, triangles, normals, face_of)
    return Hull(vertices, edge_start, edges, normals, corner_start, corners)


def is_sound(hull: Hull) -> bool:
    """Whether one can walk about a Hull without leaving its arrays, and its numbers are finite."""
    n, f = len(hull.vertices), len(hull.face_normal)
    if hull.vertices.shape != (n, 3) or hull.face_normal.shape != (f, 3) or not n or not f:
        return False
    numbers = np.isfinite(hull.vertices).all() and np.isfinite(hull.face_normal).all()
    walks = _leads_to(hull.edge_start, hull.edges, n, n) and _leads_to(hull.corner_start, hull.corners, f, n)
    return bool(numbers and walks and np.diff(hull.corner_start).max() <= MOST_FACE_CORNERS)


def _leads_to(start: IntArray, indices: IntArray, rows: int, count: int) -> bool:
    """Whether rows are cut from an array of indices below a count, each of at least one."""
    if start.shape != (rows + 1,) or indices.ndim != 1 or start[0] != 0 or start[-1] != len(indices):
        return False
    return bool((np.diff(start) > 0).all() and 0 <= indices.min() <= indices.max() < count)


def _edges(triangles: IntArray, count: int) -> tuple[IntArray, IntArray]:
    i, j, k = triangles.T
    pairs = np.concatenate([i, j, j, k, k, i]) * count + np.concatenate([j, i, k, j, i, k])
    pairs = np.unique(pairs)
    return np.searchsorted(pairs, count * np.arange(count + 1)), pairs % count


def _normals(vertices: FloatArray, triangles: IntArray) -> tuple[FloatArray, FloatArray]:
    """Unit normals (m, 3), 0 for triangles without area, and twice the areas (m,)."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross, axis=1)
    return cross / np.maximum(area, 1e-300)[:, None], area


# --------------------------------------------------------------------------------------------- faces


def _merge(
    vertices: FloatArray,
    triangles: IntArray,
    normals: FloatArray,
    order: IntArray,
    edge_start: IntArray,
    edges: IntArray,
) -> IntArray:
    """For each triangle the place in `order` of the one that its face began with.

    A face has the triangles that no larger one took, that lie within `COPLANAR` of the plane of its first and face the
    same way. On a convex surface the vertices so near to a plane that touches it hang together by edges: they are
    found by walking from the first triangle.
    """
    slack = COPLANAR * float(np.ptp(vertices, axis=0).max())
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    face_of = place.copy()
    left = np.ones(len(order), dtype=bool)
    near = np.zeros(len(vertices), dtype=bool)
    around_start, around = _triangles_around(triangles, len(vertices))
    wide = _with_more_vertices_near(vertices, triangles, normals, slack, edge_start, edges)
    for t in order[wide[order]]:
        if not left[t]:
            continue
        n, origin = normals[t], vertices[triangles[t, 0]]
        reached = last = triangles[t]
        near[reached] = True
        while len(last):
            beside = np.unique(_rows(edge_start, edges, last))
            beside = beside[~near[beside]]
            last = beside[np.abs((vertices[beside] - origin) @ n) <= slack]
            near[last] = True
            reached = np.concatenate([reached, last])
        candidates = np.unique(_rows(around_start, around, reached))
        candidates = candidates[left[candidates]]
        together = candidates[near[triangles[candidates]].all(axis=1) & (normals[candidates] @ n > 0.0)]
        near[reached] = False
        left[together] = left[t] = False
        face_of[together] = face_of[t] = place[t]
    return face_of


def _triangles_around(triangles: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """(start, triangles): those around vertex i are triangles[start[i]:start[i + 1]]."""
    vertex = triangles.ravel()
    order = np.argsort(vertex, kind="stable")
    return np.searchsorted(vertex[order], np.arange(count + 1)), order // 3


def _rows(start: IntArray, values: IntArray, rows: IntArray) -> IntArray:
    """values[start[i]:start[i + 1]] of some rows i, one after another."""
    first, count = start[rows], start[rows + 1] - start[rows]
    ends = np.cumsum(count)
    return values[np.arange(ends[-1]) + np.repeat(first - (ends - count), count)]


def _with_more_vertices_near(
    vertices: FloatArray,
    triangles: IntArray,
    normals: FloatArray,
    slack: float,
    edge_start: IntArray,
    edges: IntArray,
) -> BoolArray:
    """Whether a vertex beside one of a triangle (m,) is as near to its plane as those of its face may be."""

    def near(t: IntArray, beside: IntArray) -> BoolArray:
        heights = np.einsum("ij,ij->i", vertices[beside] - vertices[triangles[t, 0]], normals[t])
        return (np.abs(heights) <= slack) & (beside[:, None] != triangles[t]).all(axis=1)

    wide = np.zeros(len(triangles), dtype=bool)
    flat = np.einsum("ij,ij->i", normals, normals) == 0.0  # without a plane
    t, beside = _across_edges(triangles, len(vertices))
    wide[t[near(t, beside)]] = True  # most of a vertex with many triangles, where the rest would take long
    for k in range(3):
        open_triangles = np.flatnonzero(~wide & ~flat)
        corner = triangles[open_triangles, k]
        count = edge_start[corner + 1] - edge_start[corner]
        for rows in _portions(count):
            t = np.repeat(open_triangles[rows], count[rows])
            wide[t[near(t, _rows(edge_start, edges, corner[rows]))]] = True
    return wide & ~flat


def _across_edges(triangles: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """(triangle, the third vertex of the one across an edge), both ways, for each edge of two triangles."""
    m = len(triangles)
    i, j, k = triangles.T
    sides = np.sort(np.column_stack([np.concatenate([i, j, k]), np.concatenate([j, k, i])]), axis=1)
    key = sides[:, 0] * count + sides[:, 1]
    order = np.argsort(key, kind="stable")
    pairs = np.flatnonzero(np.diff(key[order]) == 0)
    first, second = order[pairs], order[pairs + 1]
    third = np.concatenate([k, i, j])
    return np.concatenate([first % m, second % m]), np.concatenate([third[second], third[first]])


def _portions(count: IntArray, most: int = 1_000_000) -> list[IntArray]:
    """Indices of `count` in groups whose sums are at most `most`, but for single ones that are larger."""
    if not len(count):
        return []
    group = np.cumsum(count) // most
    return np.split(np.arange(len(count)), np.flatnonzero(np.diff(group)) + 1)


# ------------------------------------------------------------------------------------------- corners


def _corners(
    vertices: FloatArray, triangles: IntArray, normals: FloatArray, face_of: IntArray
) -> tuple[IntArray, IntArray]:
    """(start, corners): those of convex faces, counterclockwise about their normals.

    They are sorted by their angle about the middle of the face, seen from its farthest corner.
    """
    count = len(vertices)
    pairs = np.unique(np.repeat(face_of, 3) * count + triangles.ravel())
    face, corner = pairs // count, pairs % count
    start = np.searchsorted(face, np.arange(len(normals) + 1))
    size = np.diff(start)
    middles = np.add.reduceat(vertices[corner], start[:-1]) / size[:, None]
    points = vertices[corner] - middles[face]
    farthest = np.lexsort((-(points**2).sum(axis=1), face))[start[:-1]]
    x = points[farthest]
    y = np.cross(normals, x)
    angle = np.arctan2(np.einsum("ij,ij->i", points, y[face]), np.einsum("ij,ij->i", points, x[face]))
    corner = corner[np.lexsort((angle, face))]
    if size.max() <= MOST_FACE_CORNERS:
        return start, corner
    faces = [_spread(corner[a:b]) for a, b in zip(start[:-1], start[1:], strict=True)]
    return np.concatenate([[0], np.cumsum([len(f) for f in faces])]), np.concatenate(faces)


def _spread(corners: IntArray) -> IntArray:
    if len(corners) <= MOST_FACE_CORNERS:
        return corners
    return corners[np.linspace(0, len(corners), MOST_FACE_CORNERS, endpoint=False).astype(int)]

"""Convex hulls as closed surfaces with few triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.triangles import convex_hull

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

SAME_PLANE = 1e-9  # of unit normals and of distances over the size: triangles side by side are of one face


def hull_surface(points: FloatArray, name: str) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and triangles (m, 3), outwards, of the convex hull of points (k, 3).

    Points inside of a face or an edge are left out, and each face is a fan about one of its corners.

    Raises ModelError, with the name, for points in a plane.
    """
    points = np.asarray(points, dtype=float)
    size = float(np.ptp(points, axis=0).max())
    middle = points.mean(axis=0)
    if size > 0.0:
        points = (points - middle) / size  # Qhull has absolute tolerances
    triangles = _fans(points, name)
    if triangles is None or _thinnest(points, triangles) <= 0.0:
        triangles = convex_hull(points, name)
    used, places = np.unique(triangles, return_inverse=True)
    return middle + size * points[used], places.reshape(-1, 3)


def volume_and_centroid(vertices: FloatArray, triangles: IntArray) -> tuple[float, FloatArray]:
    """[m^3] and (3,) [m] of what a closed surface encloses."""
    origin = vertices[np.unique(triangles)].mean(axis=0)
    a, b, c = (vertices[triangles[:, k]] - origin for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = float(volumes.sum())
    if volume == 0.0:
        return 0.0, origin
    return volume, origin + volumes @ (a + b + c) / (4.0 * volume)


def area(vertices: FloatArray, triangles: IntArray) -> float:
    """[m^2] of a surface."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2.0


def _fans(points: FloatArray, name: str) -> IntArray | None:
    """The hull's triangles, a fan for each face; None where faces are not told apart well enough."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:
        raise ModelError(f"{name}: its vertices lie in one plane, so that their hull holds nothing") from None
    triangles = convex_hull(points, name)  # the same ones, turned outwards
    face_of = _faces(hull.equations, hull.neighbors)
    pairs = np.unique(np.column_stack([triangles.ravel(), np.repeat(face_of, 3)]), axis=0)
    is_corner = np.bincount(pairs[:, 0], minlength=len(points)) >= 3
    fans = []
    for face in np.split(np.argsort(face_of, kind="stable"), np.cumsum(np.bincount(face_of))[:-1]):
        if len(face) == 1:
            ring = list(triangles[face[0]])
        else:
            ring = _outline(triangles[face])
        ring = [v for v in ring if is_corner[v]]
        if len(ring) < 3:
            return None
        fans += [[ring[0], ring[k], ring[k + 1]] for k in range(1, len(ring) - 1)]
    edges = {(a, b) for t in fans for a, b in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))}
    closed = len(edges) == 3 * len(fans) and all((b, a) in edges for a, b in edges)
    return np.array(fans) if closed else None


def _faces(planes: FloatArray, neighbors: IntArray) -> IntArray:
    """(m,) the number of the face of each triangle: neighbors in one plane (m, 4) are of one face."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    here, beside = np.repeat(np.arange(len(planes)), 3), neighbors.ravel()
    same = np.abs(planes[here] - planes[beside]).max(axis=1) <= SAME_PLANE
    links = coo_array((np.ones(int(same.sum())), (here[same], beside[same])), shape=(len(planes), len(planes)))
    return connected_components(links, directed=False)[1]


def _outline(triangles: IntArray) -> list[int]:
    """The vertices about triangles that hang together, in order; empty if they have no outline or several."""
    sides = {(int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3)}
    following = {a: b for a, b in sides if (b, a) not in sides}
    if not following:
        return []
    ring = [next(iter(following))]
    while following[ring[-1]] != ring[0] and len(ring) <= len(following):
        ring.append(following[ring[-1]])
        if ring[-1] not in following:
            return []
    return ring if len(ring) == len(following) else []


def _thinnest(points: FloatArray, triangles: IntArray) -> float:
    """The least volume behind a triangle, as a share of the largest."""
    a, b, c = (points[triangles[:, k]] - points.mean(axis=0) for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    return float(volumes.min() / volumes.max())

"""Distances of points from surfaces of triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

MOST_PAIRS = 400_000  # of points and triangles looked at together


def nearest_triangles(points: FloatArray, vertices: FloatArray, triangles: IntArray) -> tuple[FloatArray, IntArray]:
    """Distances (n,) of points (n, 3) from a surface, and the nearest triangles (n,).

    The surface has vertices (k, 3) and triangles (m, 3). Triangles of one size are looked for together, by their
    middles, within the distance of the nearest middle.
    """
    from scipy.spatial import cKDTree

    if not len(points):
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    corners = vertices[triangles]
    middles = corners.mean(axis=1)
    radii = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
    _, nearest = cKDTree(middles).query(points)
    best = np.linalg.norm(points - nearest_on_triangles(points, corners[nearest]), axis=1)
    sizes = np.floor(np.log2(np.maximum(radii, radii.max() * 1e-6) / radii.max())).astype(np.int64)
    for size in np.unique(sizes):
        members = np.flatnonzero(sizes == size)
        tree = cKDTree(middles[members])
        reach = best + radii[members].max()
        counts = tree.query_ball_point(points, reach, return_length=True)
        for rows in _portions(counts):
            found = tree.query_ball_point(points[rows], reach[rows], return_sorted=False)
            t = members[np.concatenate([np.asarray(f, dtype=np.int64) for f in found])]
            p = np.repeat(rows, counts[rows])
            near = np.linalg.norm(points[p] - middles[t], axis=1) <= best[p] + radii[t]
            t, p = t[near], p[near]
            distance = np.linalg.norm(points[p] - nearest_on_triangles(points[p], corners[t]), axis=1)
            order = np.lexsort((distance, p))
            p, t, distance = p[order], t[order], distance[order]
            lead = np.flatnonzero(np.append(True, p[1:] != p[:-1])) if len(p) else p
            better = lead[distance[lead] < best[p[lead]]]
            best[p[better]], nearest[p[better]] = distance[better], t[better]
    return best, nearest


def _portions(counts: IntArray) -> list[IntArray]:
    """Rows with a count, in portions of MOST_PAIRS together or of one row."""
    rows = np.flatnonzero(counts)
    if not len(rows):
        return []
    number = np.cumsum(counts[rows]) // MOST_PAIRS
    return np.split(rows, np.flatnonzero(np.diff(number)) + 1)


def nearest_on_triangles(points: FloatArray, corners: FloatArray) -> FloatArray:
    """(n, 3) the point of each triangle, corners (n, 3, 3), that is nearest to each of the points (n, 3)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, ac, ap = b - a, c - a, points - a
    d00, d01, d11 = _dot(ab, ab), _dot(ab, ac), _dot(ac, ac)
    d20, d21 = _dot(ap, ab), _dot(ap, ac)
    area = d00 * d11 - d01 * d01
    with np.errstate(divide="ignore", invalid="ignore"):
        v, w = (d11 * d20 - d01 * d21) / area, (d00 * d21 - d01 * d20) / area
        inside = (area > 0.0) & (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
    result = np.empty_like(points)
    result[inside] = a[inside] + v[inside, None] * ab[inside] + w[inside, None] * ac[inside]
    rest = ~inside
    if rest.any():
        p = points[rest]
        candidates = np.stack([_on_segments(p, u[rest], v[rest]) for u, v in ((a, b), (b, c), (c, a))])
        squares = ((candidates - p) ** 2).sum(axis=2)
        result[rest] = np.take_along_axis(candidates, squares.argmin(axis=0)[None, :, None], axis=0)[0]
    return result


def _on_segments(points: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    along = b - a
    square = _dot(along, along)
    t = np.clip(_dot(points - a, along) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    return a + t[:, None] * along


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->i", a, b)

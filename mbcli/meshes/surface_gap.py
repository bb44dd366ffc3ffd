"""How far two surfaces of triangles are apart that should be one, whatever the order of their vertices."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

    Surface = tuple[FloatArray, IntArray]  # vertices (n, 3) [m], triangles (m, 3)


def surface_gap(one: Surface, other: Surface, largest: float) -> float:
    """The largest distance [m] of a vertex from the vertices of the other surface; infinite if triangles differ.

    Triangles are compared if the distance is at most `largest`. Vertices no farther apart than twice the distance are
    one, as they may have become it in a file of fewer digits; triangles that this makes lines are left out.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    (points, triangles), (others, other_triangles) = one, other
    tree = cKDTree(others)
    distances, nearest = tree.query(points)
    gap = float(max(distances.max(), cKDTree(points).query(others)[0].max()))
    if gap > largest:
        return gap
    pairs = tree.query_pairs(2.0 * gap, output_type="ndarray")
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(others),) * 2)
    label = connected_components(links, directed=False)[1]
    faces, other_faces = (_faces(label[t]) for t in (nearest[triangles], other_triangles))
    return gap if np.array_equal(faces, other_faces) else inf


def _faces(triangles: IntArray) -> IntArray:
    """Triangles whose corners differ, the least corner first, each once and sorted."""
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    first = triangles.argmin(axis=1)[:, None]
    return np.unique(np.take_along_axis(triangles, (first + np.arange(3)) % 3, axis=1), axis=0)

"""Tetrahedra of good shape in a solid that is known by its distance field.

Isosurface stuffing (Labelle and Shewchuk 2007): the tetrahedra of a body-centred cubic lattice, whose vertices near
the surface are moved onto it, and which are cut where it crosses their edges. Inside all are of one shape, with angles
of 60 and 90 degrees. Edges of the solid are bevelled by up to the lattice's width.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mbcli.meshes.soft_solid import prisms_cut
from mbcli.meshes.volume_mesh import EDGES, signed_volumes

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

NEAR_LONG, NEAR_SHORT = 0.25, 0.41  # of edges of the lattice: vertices so near to the surface are moved onto it


class Solid(Protocol):
    """What is asked of a solid; points are (n, 3)."""

    def is_inside(self, points: FloatArray) -> BoolArray:
        """(n,)"""

    def distance(self, points: FloatArray) -> FloatArray:
        """(n,) from the surface, not negative."""

    def on_surface(self, points: FloatArray) -> FloatArray:
        """(n, 3) points of the surface near points that are near it."""


def stuffed_lattice(solid: Solid, low: FloatArray, high: FloatArray, width: float) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and tetrahedra (m, 4) of what is inside of a solid between the corners low and high of a box.

    width: of a cube of the lattice; edges are as long, or 0.87 of it.
    """
    points, cells = _lattice(low, high, width)
    sign = np.where(solid.is_inside(points), 1, -1)
    cells = cells[(sign[cells] > 0).any(axis=1)]
    n = len(points)
    pairs = np.sort(cells[:, EDGES], axis=2).reshape(-1, 2)
    crossing = sign[pairs[:, 0]] != sign[pairs[:, 1]]
    keys = np.unique(pairs[crossing, 0] * n + pairs[crossing, 1])
    ends = np.column_stack([keys // n, keys % n])
    near = np.unique(ends)
    distance = np.zeros(n)
    distance[near] = solid.distance(points[near])
    share = distance[ends[:, 0]] / np.maximum(distance[ends].sum(axis=1), 1e-300)
    cuts = solid.on_surface(points[ends[:, 0]] + share[:, None] * (points[ends[:, 1]] - points[ends[:, 0]]))
    points, sign, stays = _moved_to_surface(points, sign, ends, cuts, width)
    keys, cuts = keys[stays], cuts[stays]
    tetrahedra = _stuffed(sign, cells, keys, n)
    vertices = np.concatenate([points, cuts])
    tetrahedra = tetrahedra[signed_volumes(vertices, tetrahedra) > 1e-9 * width**3]
    used, places = np.unique(tetrahedra, return_inverse=True)
    return vertices[used], places.reshape(-1, 4)


def _lattice(low: FloatArray, high: FloatArray, width: float) -> tuple[FloatArray, IntArray]:
    """Corners and middles of cubes around a box; between the middles of neighbors four tetrahedra about each face."""
    count = np.ceil((np.asarray(high) - low) / width).astype(np.int64) + 3
    start = (np.asarray(low) + high) / 2.0 - width * (count - 1) / 2.0
    shape = tuple(count)
    grid = np.stack(np.meshgrid(*[np.arange(k) for k in count], indexing="ij"), -1).reshape(-1, 3)
    points = np.concatenate([start + width * grid, start + width * (grid + 0.5)])
    middle = len(grid)
    cells = []
    for axis in range(3):
        e, u, v = (np.eye(3, dtype=np.int64)[(axis + k) % 3] for k in range(3))
        here = grid[(grid + e + u + v < count).all(axis=1)]
        first = middle + np.ravel_multi_index(tuple(here.T), shape)
        second = middle + np.ravel_multi_index(tuple((here + e).T), shape)
        ring = [np.ravel_multi_index(tuple((here + e + q).T), shape) for q in (0 * u, u, u + v, v)]
        cells += [np.column_stack([first, ring[k], ring[(k + 1) % 4], second]) for k in range(4)]
    return points, np.concatenate(cells)


def _moved_to_surface(
    points: FloatArray, sign: IntArray, ends: IntArray, cuts: FloatArray, width: float
) -> tuple[FloatArray, IntArray, BoolArray]:
    """Moves vertices with a cut near them onto it, the nearest first; the cuts of their edges go.

    Points, signs (0 for moved ones), and which cuts stay.
    """
    points, sign = points.copy(), sign.copy()
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    limit = np.where(lengths > 0.95 * width, NEAR_LONG, NEAR_SHORT) * lengths
    gaps = np.linalg.norm(points[ends] - cuts[:, None], axis=2)  # (cuts, 2)
    stays = np.ones(len(ends), dtype=bool)
    while True:
        close = (gaps < limit[:, None]) & stays[:, None]
        if not close.any():
            return points, sign, stays
        cut, side = np.nonzero(close)
        vertex = ends[cut, side]
        order = np.lexsort((gaps[cut, side] / lengths[cut], vertex))
        first = order[np.append(True, vertex[order][1:] != vertex[order][:-1])]
        cut, vertex = cut[first], vertex[first]
        rank = np.full(len(points), np.inf)
        rank[vertex] = gaps[cut, side[first]] / lengths[cut] + 1e-12 * np.arange(len(cut))
        # of two vertices of one edge the one that is nearer to its cut
        other = np.full(len(points), np.inf)
        np.minimum.at(other, ends[stays, 0], rank[ends[stays, 1]])
        np.minimum.at(other, ends[stays, 1], rank[ends[stays, 0]])
        now = rank[vertex] < other[vertex]
        points[vertex[now]] = cuts[cut[now]]
        sign[vertex[now]] = 0
        stays &= (sign[ends] != 0).all(axis=1)


def _stuffed(sign: IntArray, cells: IntArray, keys: IntArray, n: int) -> IntArray:
    """The parts (m, 4) of lattice tetrahedra on the inner side; cut k is vertex n + k, of the edge keys[k]."""
    inside = (sign[cells] > 0).sum(axis=1)
    whole = (sign[cells] >= 0).all(axis=1) & (inside > 0)
    parts = [cells[whole]]
    for count in (1, 2, 3):
        some = cells[(inside == count) & ~whole]
        order = _inside_first(sign[some] > 0)
        c = np.take_along_axis(some, order, axis=1)

        def cut(i: int, j: int, c: IntArray = c) -> IntArray:
            """Where the edge from corner i, inside, ends: at corner j on the surface, or at the cut before it."""
            key = np.minimum(c[:, i], c[:, j]) * n + np.maximum(c[:, i], c[:, j])
            return np.where(sign[c[:, j]] == 0, c[:, j], n + np.searchsorted(keys, key))

        if count == 1:
            parts.append(np.column_stack([c[:, 0], cut(0, 1), cut(0, 2), cut(0, 3)]))
        elif count == 2:
            parts.append(prisms_cut(np.column_stack([c[:, 0], cut(0, 2), cut(0, 3), c[:, 1], cut(1, 2), cut(1, 3)])))
        else:
            parts.append(prisms_cut(np.column_stack([c[:, 0], c[:, 1], c[:, 2], cut(0, 3), cut(1, 3), cut(2, 3)])))
    return np.concatenate(parts)


def _inside_first(inside: BoolArray) -> IntArray:
    """(k, 4) even orders of the corners of cells with those inside first."""
    even = [p for p in itertools.permutations(range(4)) if _is_even(p)]
    orders = np.array(even)
    after = np.stack([inside[:, order] for order in orders], 1)  # (k, 12, 4)
    good = (np.diff(after.astype(np.int64), axis=2) <= 0).all(axis=2)
    return orders[good.argmax(axis=1)]


def _is_even(order: tuple[int, ...]) -> bool:
    return sum(order[i] > order[j] for i, j in itertools.combinations(range(4), 2)) % 2 == 0

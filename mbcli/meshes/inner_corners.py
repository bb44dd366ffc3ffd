"""Tetrahedra cut where all their corners lie on the surface: a field that is 0 there would be flat inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.meshes.volume_mesh import EDGES, FACES, outer_triangles

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

# What remains of a tetrahedron on both sides of a cut through the middle of each edge: corners of it, 4 for the middle.
_HALVES = np.array([[[4 if c == b else c for c in range(4)], [4 if c == a else c for c in range(4)]] for a, b in EDGES])


def flat_inside(tetrahedra: IntArray) -> BoolArray:
    """(m,) whether all corners of tetrahedra (m, 4) lie on the surface of the whole."""
    outside = np.zeros(int(tetrahedra.max()) + 1, dtype=bool)
    outside[outer_triangles(tetrahedra)] = True
    return outside[tetrahedra].sum(axis=1) == 4


def with_inner_corners(vertices: FloatArray, tetrahedra: IntArray) -> tuple[FloatArray, IntArray]:
    """Vertices and tetrahedra, cut at the middles of edges inside, then of triangles inside, then of tetrahedra, whose
    corners all lie on the surface. Then each edge, triangle and tetrahedron inside has a corner off the surface.
    """
    surface = outer_triangles(tetrahedra)
    outside = np.zeros(len(vertices), dtype=bool)
    outside[surface] = True
    pairs = np.sort(np.concatenate([surface[:, [k, (k + 1) % 3]] for k in range(3)]), axis=1)
    at_surface = outside[tetrahedra].sum(axis=1) >= 2
    settled, cells = [tetrahedra[~at_surface]], tetrahedra[at_surface]
    while len(cells):
        n = len(vertices)
        outside = np.concatenate([outside, np.zeros(n - len(outside), dtype=bool)])
        edges = np.sort(cells[:, EDGES], axis=2)
        keys = edges[:, :, 0] * n + edges[:, :, 1]
        wanted = outside[edges].all(axis=2) & ~np.isin(keys, pairs[:, 0] * n + pairs[:, 1])
        settled.append(cells[~wanted.any(axis=1)])
        cells, keys, wanted = (row[wanted.any(axis=1)] for row in (cells, keys, wanted))
        if not len(cells):
            break
        chosen, number = _independent(vertices, keys, wanted, n)
        ends = np.column_stack([chosen // n, chosen % n])
        vertices = np.concatenate([vertices, vertices[ends].mean(axis=1)])
        cut, k = np.nonzero(number >= 0)
        corners = np.column_stack([cells[cut], n + number[cut, k]])
        parts = np.take_along_axis(corners[:, None], _HALVES[k], axis=2).reshape(-1, 4)
        whole = np.ones(len(cells), dtype=bool)
        whole[cut] = False
        cells = np.concatenate([cells[whole], parts])
    return _with_middles(vertices, np.concatenate(settled))


def _independent(vertices: FloatArray, keys: IntArray, wanted: BoolArray, n: int) -> tuple[IntArray, IntArray]:
    """Keys of some wanted edges of which no tetrahedron has two, the longest ones around; and for each edge of
    tetrahedra (m, 6) its number among these, or -1.
    """
    edges, number = np.unique(keys[wanted], return_inverse=True)
    lengths = np.linalg.norm(vertices[edges // n] - vertices[edges % n], axis=1)
    rank = np.empty(len(edges), dtype=np.int64)
    rank[np.argsort(lengths, kind="stable")] = np.arange(len(edges))
    ranks = np.full(keys.shape, -1)
    ranks[wanted] = rank[number]
    longest = ranks.max(axis=1)
    agreed = np.bincount(longest, minlength=len(edges)) == np.bincount(rank[number], minlength=len(edges))
    place = np.where(agreed, np.cumsum(agreed) - 1, -1)
    of_rank = np.empty(len(edges), dtype=np.int64)
    of_rank[rank] = edges
    return of_rank[agreed], np.where(ranks >= 0, place[ranks], -1)


def _with_middles(vertices: FloatArray, cells: IntArray) -> tuple[FloatArray, IntArray]:
    """Cuts triangles inside and then tetrahedra at their middles, where all their corners lie on the surface."""
    while True:
        surface = outer_triangles(cells)
        outside = np.zeros(len(vertices), dtype=bool)
        outside[surface] = True
        full = np.flatnonzero(outside[cells].sum(axis=1) >= 3)
        faces = np.sort(cells[full][:, FACES], axis=2)
        wanted = outside[faces].all(axis=2) & ~_rows_in(faces.reshape(-1, 3), np.sort(surface, axis=1)).reshape(-1, 4)
        if not wanted.any():
            break
        i, k = np.nonzero(wanted)
        _, first, number = np.unique(faces[i, k], axis=0, return_index=True, return_inverse=True)
        # of each tetrahedron the first of its triangles, of each triangle only if both sides have it first
        lowest = np.full(len(cells), len(first))
        np.minimum.at(lowest, full[i], number.ravel())
        agreed = np.bincount(number.ravel(), weights=lowest[full[i]] == number.ravel()) == 2
        place = np.where(agreed, len(vertices) + np.cumsum(agreed) - 1, -1)
        vertices = np.concatenate([vertices, vertices[faces[i, k][first[agreed]]].mean(axis=1)])
        now = agreed[number.ravel()]
        i, k, middle = full[i[now]], k[now], place[number.ravel()[now]]
        # the corner across from the triangle stays, each other one is replaced in turn
        parts = [np.where(np.arange(4) == (k + turn)[:, None] % 4, middle[:, None], cells[i]) for turn in (1, 2, 3)]
        cells = np.concatenate([np.delete(cells, i, axis=0), *parts])
    full = np.flatnonzero(outside[cells].all(axis=1))
    middle = len(vertices) + np.arange(len(full))
    parts = [np.where(np.arange(4) == turn, middle[:, None], cells[full]) for turn in range(4)]
    return np.concatenate([vertices, vertices[cells[full]].mean(axis=1)]), np.concatenate(
        [np.delete(cells, full, axis=0), *parts]
    )


def _rows_in(rows: IntArray, others: IntArray) -> BoolArray:
    """Whether each of rows (n, 3) is among others (m, 3)."""
    _, number = np.unique(np.concatenate([others, rows]), axis=0, return_inverse=True)
    known = np.zeros(number.max() + 1, dtype=bool)
    known[number.ravel()[: len(others)]] = True
    return known[number.ravel()[len(others) :]]

"""Tetrahedra that fill a closed surface and keep its triangles.

The Delaunay tetrahedra of the surface's vertices and of points inside (Qhull) have most of its edges and triangles.
An edge that is missing is cut in two, and so is the longest edge of a missing triangle, until none is missing: a
conforming Delaunay mesh (Shewchuk 1998, Tetrahedral mesh generation by Delaunay refinement). Edges at a corner of the
surface are cut at distances from it that are powers of two (Ruppert 1995), so that edges at a sharp corner do not cut
each other for ever. Two triangles in one plane may be replaced by the other two of their corners instead.

Points on a common sphere, as on grids, leave the tetrahedra undecided. Qhull is therefore given points that are moved
at random by a ten-millionth of the size: what is undecided becomes flat tetrahedra, which are taken out
(flat_cells.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.meshes.flat_cells import without_flat
from mbcli.meshes.volume_mesh import EDGES, FACES, signed_volumes

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

NOISE = 1e-7
MOST_ROUNDS = 25


def conforming_tetrahedra(
    vertices: FloatArray, triangles: IntArray, inner: FloatArray, most_points: int
) -> tuple[FloatArray, IntArray] | None:
    """Vertices (n, 3) and tetrahedra (k, 4) that fill a closed surface; None if that is not reached.

    The surface's vertices (p, 3) come first, inner points (q, 3) last; vertices cut into the surface are between.
    The size of the surface is 1. Triangles (m, 3) face outwards.
    """
    rng = np.random.default_rng(7)
    given = len(vertices)
    surface = _Surface(vertices, triangles, rng.normal(size=vertices.shape) * NOISE)
    inner_noise = rng.normal(size=inner.shape) * NOISE
    delaunay = _Delaunay()
    for _ in range(MOST_ROUNDS):
        points = np.concatenate([surface.vertices, inner])
        cells = delaunay.cells(surface.vertices + surface.noise, inner + inner_noise)
        if cells is None:
            return None
        edges = np.sort(_keys(cells[:, EDGES].reshape(-1, 2), len(points)))
        faces = np.sort(_triple_keys(cells[:, FACES].reshape(-1, 3), len(points)))
        surface.flip(edges, len(points))
        cut = surface.missing(edges, faces, len(points))
        if len(cut):
            surface.cut(cut, given, rng)
        else:
            kept = _inside(cells, surface.triangles, len(points))
            if kept is None:
                return None
            points, kept, crossings = without_flat(points, kept)
            if not len(crossings):
                return points, kept
            inner = np.concatenate([inner, crossings])
            inner_noise = np.concatenate([inner_noise, rng.normal(size=crossings.shape) * NOISE])
        if len(surface.vertices) + len(inner) > most_points:
            return None
    return None


class _Delaunay:
    """The Delaunay tetrahedra of points on a surface and inside, to which more are added."""

    def __init__(self) -> None:
        self._made: Any = None
        # of each point in the order in which Qhull has them
        self._is_inner, self._number = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64)

    def cells(self, surface: FloatArray, inner: FloatArray) -> IntArray | None:
        """(k, 4) of points (n, 3), of which some are known already, numbered with those inside last; None if flat."""
        from scipy.spatial import Delaunay, QhullError

        known_inner = int(self._is_inner.sum())
        known = len(self._is_inner) - known_inner
        new = np.concatenate([surface[known:], inner[known_inner:]])
        self._is_inner = np.append(self._is_inner, np.arange(len(new)) >= len(surface) - known)
        self._number = np.concatenate(
            [self._number, np.arange(known, len(surface)), np.arange(known_inner, len(inner))]
        )
        points = np.concatenate([surface, inner])
        index = self._number + np.where(self._is_inner, len(surface), 0)
        try:
            if self._made is None:
                self._made = Delaunay(new, incremental=True)
            else:
                try:
                    self._made.add_points(new)
                except QhullError:  # its rounding has piled up
                    self._made = Delaunay(points[index], incremental=True)
        except QhullError:
            return None
        cells = index[self._made.simplices]
        inside_out = signed_volumes(points, cells) < 0.0
        cells[inside_out] = cells[inside_out][:, [0, 2, 1, 3]]
        return cells


class _Surface:
    """The triangles that are to be kept, as they are cut."""

    def __init__(self, vertices: FloatArray, triangles: IntArray, noise: FloatArray) -> None:
        self.vertices, self.triangles, self.noise = vertices, triangles.copy(), noise

    def _sides(self, n: int) -> tuple[IntArray, IntArray]:
        """Keys of all edges, sorted; and for each triangle which are its sides (m, 3), from each corner to the next."""
        pairs = np.stack([self.triangles, np.roll(self.triangles, -1, axis=1)], axis=2)
        keys, number = np.unique(_keys(pairs.reshape(-1, 2), n), return_inverse=True)
        return keys, number.reshape(-1, 3)

    def flip(self, edges: IntArray, n: int) -> None:
        """Replaces a missing edge between two triangles in one plane by the other diagonal, where that is an edge."""
        for _ in range(10):
            keys, sides = self._sides(n)
            missing = ~_among(keys, edges)
            if not missing.any():
                return
            t, k = np.nonzero(missing[sides])
            order = np.argsort(sides[t, k], kind="stable")
            t, k, edge = t[order], k[order], sides[t, k][order]
            first = np.flatnonzero(np.append(edge[1:] == edge[:-1], False) & (np.bincount(sides.ravel())[edge] == 2))
            t0, k0, t1, k1 = t[first], k[first], t[first + 1], k[first + 1]
            a, b, c = (self.triangles[t0, (k0 + j) % 3] for j in range(3))
            d = self.triangles[t1, (k1 + 2) % 3]
            other = _keys(np.column_stack([c, d]), n)
            good = _among(other, edges) & ~_among(other, keys) & self._flat_and_convex(a, b, c, d)
            # one flip for a triangle at a time: the one with the smallest edge number
            rank = np.full(len(self.triangles), np.iinfo(np.int64).max)
            np.minimum.at(rank, t0[good], edge[first][good])
            np.minimum.at(rank, t1[good], edge[first][good])
            good &= (rank[t0] == edge[first]) & (rank[t1] == edge[first])
            if not good.any():
                return
            a, b, c, d, t0, t1 = (row[good] for row in (a, b, c, d, t0, t1))
            self.triangles[t0] = np.column_stack([a, d, c])
            self.triangles[t1] = np.column_stack([d, b, c])

    def _flat_and_convex(self, a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> BoolArray:
        """Whether triangles abc and bad lie in one plane, with corners that turn the same way."""
        A, B, C, D = (self.vertices[i] for i in (a, b, c, d))
        normals = np.cross(B - A, C - A), np.cross(D - A, B - A), np.cross(D - A, C - A), np.cross(B - D, C - D)
        sizes = [np.linalg.norm(normal, axis=1) for normal in normals]
        heights = np.abs(np.einsum("ij,ij->i", normals[0], D - A))
        flat = heights <= 1e-7 * np.maximum(sizes[0], sizes[1])
        area = np.maximum(sizes[0] + sizes[1], 1e-300)
        turns = [np.einsum("ij,ij->i", normals[0] + normals[1], normal) / area for normal in normals]
        return flat & np.logical_and.reduce([turn > 1e-3 * area for turn in turns])

    def missing(self, edges: IntArray, faces: IntArray, n: int) -> IntArray:
        """(k, 2) the ends of edges to be cut: missing ones, and the longest ones of missing triangles without such."""
        keys, sides = self._sides(n)
        cut = ~_among(keys, edges)
        without = ~cut[sides].any(axis=1) & ~_among(_triple_keys(self.triangles, n), faces)
        if without.any():
            corners = self.vertices[self.triangles[without]]
            lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
            cut[sides[without, lengths.argmax(axis=1)]] = True
        return np.column_stack([keys[cut] // n, keys[cut] % n])

    def cut(self, ends: IntArray, given: int, rng: np.random.Generator) -> None:
        """Cuts edges (k, 2), and the triangles at them. Of a vertex below `given` at distances of powers of two."""
        n = len(self.vertices)
        a, b = ends.T
        A, B = self.vertices[a], self.vertices[b]
        length = np.linalg.norm(B - A, axis=1)
        share = np.full(len(ends), 0.5)
        with np.errstate(divide="ignore", invalid="ignore"):  # edges without length, of surfaces that cross themselves
            power = np.clip(np.exp2(np.round(np.log2(length / 2.0))) / length, 0.3, 0.7)
        share = np.where((a < given) & (b >= given), power, share)
        share = np.where((b < given) & (a >= given), 1.0 - power, share)
        middles = A + share[:, None] * (B - A)
        # noise of the edge, so that what was in one plane stays so
        noise = self.noise[a] * (1.0 - share)[:, None] + self.noise[b] * share[:, None]
        keys, sides = self._sides(n)
        new = np.full(len(keys), -1)
        new[np.searchsorted(keys, _keys(ends, n))] = n + np.arange(len(ends))
        self.vertices = np.concatenate([self.vertices, middles])
        self.noise = np.concatenate([self.noise, noise + rng.normal(size=noise.shape) * NOISE * 0.1])
        self.triangles = _cut_triangles(self.triangles, new[sides])


def _cut_triangles(triangles: IntArray, middles: IntArray) -> IntArray:
    """Triangles (m, 3) cut at vertices on their sides (m, 3), -1 for none: into one more than there are."""
    count = (middles >= 0).sum(axis=1)
    # turned so that side 0 is cut, and with two cuts sides 0 and 1
    turn = np.where(count == 1, (middles >= 0).argmax(axis=1), 0)
    turn = np.where(count == 2, ((middles < 0).argmax(axis=1) + 1) % 3, turn)
    places = (turn[:, None] + np.arange(3)) % 3
    (a, b, c), (ab, bc, ca) = np.take_along_axis(triangles, places, 1).T, np.take_along_axis(middles, places, 1).T
    parts = [triangles[count == 0]]
    for number, rows in (
        (1, ((a, ab, c), (ab, b, c))),
        (2, ((ab, b, bc), (a, ab, bc), (a, bc, c))),
        (3, ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))),
    ):
        parts += [np.column_stack(row)[count == number] for row in rows]
    return np.concatenate(parts)


def _inside(cells: IntArray, triangles: IntArray, n: int) -> IntArray | None:
    """The cells (k, 4) inside of triangles, each a face of some; None if these do not tell inside from outside."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    faces = cells[:, FACES].reshape(-1, 3)
    keys, turns = _triple_keys(faces, n), _turns(faces)
    order = np.argsort(keys, kind="stable")
    pair = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    wall_keys, wall_turns = _triple_keys(triangles, n), _turns(triangles)
    first, second = order[pair], order[pair + 1]
    passable = ~_among(keys[first], np.sort(wall_keys))
    links = coo_array((np.ones(int(passable.sum())), (first[passable] // 4, second[passable] // 4)), (len(cells),) * 2)
    parts, part = connected_components(links, directed=False)
    sorted_walls = np.argsort(wall_keys)
    place = np.clip(np.searchsorted(wall_keys[sorted_walls], keys), 0, len(wall_keys) - 1)
    is_wall = wall_keys[sorted_walls][place] == keys
    same = turns == wall_turns[sorted_walls][place]
    inside = np.bincount(part[np.flatnonzero(is_wall & same) // 4], minlength=parts) > 0
    outside = np.bincount(part[np.flatnonzero(is_wall & ~same) // 4], minlength=parts) > 0
    if (inside & outside).any() or not inside.any():
        return None
    return cells[inside[part]]


def _keys(pairs: IntArray, n: int) -> IntArray:
    """A number for each set of two indices below n."""
    a, b = pairs.T
    return np.minimum(a, b) * n + np.maximum(a, b)


def _triple_keys(triples: IntArray, n: int) -> IntArray:
    """A number for each set of three indices below n < 2^21."""
    a, b, c = triples.T
    low, high = np.minimum(a, b), np.maximum(a, b)
    first, last = np.minimum(low, c), np.maximum(high, c)
    return (first * n + (a + b + c - first - last)) * n + last


def _among(keys: IntArray, ordered: IntArray) -> BoolArray:
    """Whether keys are in an ordered row of them."""
    if not len(ordered):
        return np.zeros(keys.shape, dtype=bool)
    place = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return ordered[place] == keys


def _turns(triples: IntArray) -> BoolArray:
    """Whether three indices ascend when they are read from the smallest one."""
    rows, low = np.arange(len(triples)), triples.argmin(axis=1)
    return triples[rows, (low + 1) % 3] < triples[rows, (low + 2) % 3]

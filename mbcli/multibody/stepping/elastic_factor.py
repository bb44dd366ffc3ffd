"""Factorization of the matrices of elastic bodies: symmetric, positive definite, sparse by blocks of 3x3.

Vertices are eliminated by nested dissection (George 1973): the mesh is cut in two by a layer of vertices, both sides
are cut again, and layers are eliminated after what they separate. The cuts are made by places, once for a mesh. The
vertices that take part in contact come last, so that what is left when all others are eliminated, the Schur complement,
is the mass matrix that contact sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf
from scipy.sparse import csr_array

from mbcli.errors import NumericalError

LEAF = 24  # vertices that are not cut further
NONE = np.zeros(0, dtype=np.int64)


def vertex_pairs(tets, count):
    """(pairs (k, 2) of vertices a <= b that share a tetrahedron, sorted; place of each pair of each tetrahedron).

    The vertices of a tetrahedron increase.
    """
    a, b = np.triu_indices(4)
    every = np.concatenate([(tets[:, a] * count + tets[:, b]).ravel(), np.arange(count) * (count + 1)])
    keys, places = np.unique(every, return_inverse=True)
    pairs = np.stack([keys // count, keys % count], axis=1)
    return pairs, np.ascontiguousarray(places[: 10 * len(tets)].reshape(len(tets), 10))


def dissect(points, neighbors):
    """Nested dissection: a list of (vertices, children), a node after its children; the children are indices."""
    nodes = []

    def cut(vertices):
        if len(vertices) <= LEAF:
            nodes.append((vertices, ()))
            return len(nodes) - 1
        at = points[vertices]
        along = at[:, np.argmax(np.ptp(at, axis=0))]
        low = along < np.median(along)
        if not low.any():
            low = along <= np.median(along)
        if low.all():
            nodes.append((vertices, ()))
            return len(nodes) - 1
        side = np.zeros(len(points), dtype=np.int8)
        side[vertices[~low]] = 1
        below = vertices[low]
        touches = neighbors[below] @ side > 0
        children = tuple(cut(part) for part in (below[~touches], vertices[~low]) if len(part))
        nodes.append((below[touches], children))
        return len(nodes) - 1

    cut(np.arange(len(points)))
    return nodes


@dataclass(frozen=True)
class Pattern:
    """The order of elimination for one set of vertices that come last, and what each front is made of."""

    order: np.ndarray
    fronts: np.ndarray
    rest: np.ndarray
    tables: list
    children: list
    size: int
    widest: int
    last: int


class BlockCholesky:
    """Factorizations of the matrices of one mesh.

    Args:
        kernels: of the engine.
        points (n, 3), tets (m, 4): the mesh; the vertices of a tetrahedron increase.
    """

    def __init__(self, kernels, points, tets):
        self.kernels, self.count = kernels, len(points)
        self.pairs, self.places = vertex_pairs(tets, self.count)
        a, b = self.pairs.T
        ones = np.ones(len(a), dtype=np.int32)
        graph = csr_array((ones, (a, b)), shape=(self.count, self.count))
        graph = (graph + graph.T).tocsr()
        graph.data[:] = 1
        self._neighbors = graph
        self._nodes = dissect(np.asarray(points), graph)
        self._patterns: dict[bytes, Pattern] = {}
        self.pattern: Pattern
        self.schur = np.zeros((0, 0))
        self.end_with(NONE)

    def end_with(self, last):
        """Chooses the vertices (sorted indices) that are eliminated last."""
        key = last.tobytes()
        if key not in self._patterns:
            if len(self._patterns) > 8:
                self._patterns.clear()
            self._patterns[key] = self._analyse(last)
        self.pattern = pattern = self._patterns[key]
        self._values = np.zeros(pattern.size)
        self._gathered = np.zeros(max(pattern.widest, 1))

    def _analyse(self, last):
        is_last = np.zeros(self.count, dtype=bool)
        is_last[last] = True
        groups, children = [], []  # of nodes that keep vertices
        kept: dict[int, list[int]] = {}  # node: groups that stand for it
        for k, (vertices, below) in enumerate(self._nodes):
            own = vertices[~is_last[vertices]]
            inner = [g for child in below for g in kept[child]]
            if len(own):
                groups.append(own)
                children.append(inner)
                kept[k] = [len(groups) - 1]
            else:
                kept[k] = inner
        if len(last):
            groups.append(last)
            children.append(kept[len(self._nodes) - 1])
        order = np.concatenate(groups)
        place = np.empty(self.count, dtype=np.int64)
        place[order] = np.arange(self.count)
        first = np.cumsum([0, *map(len, groups)])
        rests: list[np.ndarray] = []
        for g, own in enumerate(groups):
            near = place[np.unique(self._neighbors[own].indices)]
            near = np.unique(np.concatenate([near, *(rests[c] for c in children[g])]))
            rests.append(near[near >= first[g + 1]])
        fronts, values, start, lists = [], 0, 0, []
        tables = self._tables(place, first, groups, rests)
        for g, own in enumerate(groups):
            n, r = 3 * len(own), 3 * len(rests[g])
            fronts.append((n, r, values, values + n * n, start, 3 * first[g]))
            values, start = values + n * (n + r), start + len(rests[g])
            here = np.concatenate([np.arange(first[g], first[g + 1]), rests[g]])
            lists.append([(c, np.searchsorted(here, rests[c])) for c in children[g]])
        rest = np.concatenate([*rests, NONE])
        widest = max(3 * len(r) for r in rests)
        return Pattern(order, np.array(fronts), rest, tables, lists, values, widest, 3 * len(last))

    def _tables(self, place, first, groups, rests):
        """What scatter_blocks() takes, front by front."""
        p, q = place[self.pairs[:, 0]], place[self.pairs[:, 1]]
        turned = p > q
        low, high = np.where(turned, q, p), np.where(turned, p, q)
        front = np.searchsorted(first, low, side="right") - 1
        by_front = np.argsort(front, kind="stable")
        bounds = np.searchsorted(front[by_front], np.arange(len(groups) + 1))
        tables = []
        for g in range(len(groups)):
            n = by_front[bounds[g] : bounds[g + 1]]
            column = high[n] - first[g]
            outside = high[n] >= first[g + 1]
            column[outside] = len(groups[g]) + np.searchsorted(rests[g], high[n][outside])
            tables.append(np.ascontiguousarray(np.stack([n, low[n] - first[g], column, turned[n]], axis=1)))
        return tables

    def factorize(self, blocks):
        """blocks (k, 3, 3) of the pairs -> the factor, and `schur`, of which the upper triangle counts."""
        pattern, values = self.pattern, self._values
        left: dict[int, np.ndarray] = {}  # of fronts whose parents are to come
        scatter_blocks, add_front = self.kernels.scatter_blocks, self.kernels.add_front
        for f, (n, r, at, across, _, _) in enumerate(pattern.fronts.tolist()):
            own, other = values[at:across].reshape(n, n), values[across : across + n * r].reshape(n, r)
            own[:], other[:] = 0.0, 0.0
            rest = np.zeros((r, r))
            scatter_blocks(blocks, pattern.tables[f], own, other)
            for child, places in pattern.children[f]:
                if len(places):
                    add_front(left.pop(child), places, own, other, rest)
            if pattern.last and f == len(pattern.fronts) - 1:
                self.schur = own.copy()
            _, info = dpotrf(own.T, lower=1, clean=0, overwrite_a=1)
            if info != 0:
                raise NumericalError("the matrix of an elastic body is not positive definite")
            if r:
                dtrsm(1.0, own.T, other.T, side=1, lower=1, trans_a=1, overwrite_b=1)
                dsyrk(-1.0, other.T, beta=1.0, c=rest.T, lower=1, overwrite_c=1)
                left[f] = rest

    def solve(self, b):
        """A^-1 b for b (n, 3)."""
        x = self._ordered(b)
        self._down(x, len(self.pattern.fronts))
        self._up(x, len(self.pattern.fronts))
        return self._unordered(x)

    def follow(self, change):
        """The velocities of all vertices (n, 3) that go with a change (3 k,) of those that are last, without forces."""
        pattern = self.pattern
        x = np.zeros(3 * self.count)
        x[x.size - pattern.last :] = change
        self._up(x, len(pattern.fronts) - 1)
        return self._unordered(x)

    def _ordered(self, b):
        return b[self.pattern.order].ravel()

    def _unordered(self, x):
        result = np.empty((self.count, 3))
        result[self.pattern.order] = x.reshape(-1, 3)
        return result

    def _down(self, x, end):
        pattern = self.pattern
        self.kernels.solve_down(self._values, pattern.fronts, pattern.rest, x, self._gathered, end)

    def _up(self, x, end):
        pattern = self.pattern
        self.kernels.solve_up(self._values, pattern.fronts, pattern.rest, x, self._gathered, end)

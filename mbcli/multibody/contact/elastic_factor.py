"""Factorization of the matrices of elastic bodies: symmetric, positive definite, sparse by blocks of 3x3.

Vertices are eliminated by nested dissection (George 1973): the mesh is cut in two by a layer of vertices, both sides
are cut again, and layers are eliminated after what they separate. The cuts are made by places, once for a mesh. The
vertices that take part in contact come last, so that what is left when all others are eliminated, the Schur complement,
is the mass matrix that contact sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from mbcli.engine.fields.front_fields import (
    BLOCK_OF_SPOTS,
    FRONT_AT,
    FRONT_BLOCKS,
    FRONT_CHILDREN,
    FRONT_FIRST,
    FRONT_LEFT,
    FRONT_NUMBERS,
    FRONT_OWN,
    FRONT_REST,
    FRONT_REST_START,
    FRONT_REST_TILES,
    FRONT_TILES,
)
from mbcli.engine.runtime.lane_memory import WIDTH, aligned_zeros
from mbcli.errors import NumericalError
from mbcli.multibody.contact.elastic_threads import Threads

LEAF = 24  # vertices that are not cut further
MOST_SUBTREES = 12  # that two threads share out
ADDING = 40.0  # time to add a number to another front, in products
SHARED = 0.6  # time of a front that both threads factorize together, in those of one of them
NOT_DEFINITE = "the matrix of an elastic body is not positive definite"
NONE = np.zeros(0, dtype=np.int64)
NO_CUTS = np.zeros(4, dtype=np.int64)


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
    """The order of elimination for one set of vertices that come last, and what block_fronts.py takes.

    order: vertices; size: rows of values; widest: tiles of the largest front; last: numbers of the vertices that come
    last. cuts: fronts from cuts[0] = 0 to cuts[1], and from there to cuts[2], are two parts that have nothing to do
    with each other; those from there to cuts[3] come after both.
    """

    order: np.ndarray
    fronts: np.ndarray
    rest: np.ndarray
    spots: np.ndarray
    children: np.ndarray
    places: np.ndarray
    size: int
    widest: int
    last: int
    cuts: np.ndarray


def tiles_of(numbers):
    return -(-numbers // WIDTH)


def column_of_tiles(tiles, t):
    """As in block_fronts.py, of arrays of columns, for a front at 0."""
    return np.where(t < tiles, 4 * t * (t + 1), 4 * tiles * (tiles + 1) + 8 * tiles * (t - tiles))


def two_parts(children, work):
    """(order, cuts): fronts in an order in which two parts come first, that have nothing to do with each other, and
    about the same work; cuts as in Pattern. work: of each front.

    A part is made of whole subtrees. The largest one is divided, its root going to the fronts behind both parts, as
    long as that lets both threads end sooner.
    """
    count = len(children)
    below = np.array(work, dtype=float)
    first = np.arange(count)
    for f in range(count):
        for child in children[f]:
            below[f] += below[child]
            first[f] = min(first[f], first[child])
    inner = {child for f in range(count) for child in children[f]}
    roots, behind = [f for f in range(count) if f not in inner], 0.0
    best: tuple[float, list[int], list[int]] = (np.inf, [], [])
    if len(roots) == 1:  # it may be that of the vertices that come last
        behind, roots = work[roots[0]], list(children[roots[0]])
    while roots and len(roots) <= MOST_SUBTREES:
        shares: tuple[list[int], list[int]] = [], []
        loads = [0.0, 0.0]
        for root in sorted(roots, key=lambda f: -below[f]):
            less = int(loads[1] < loads[0])
            shares[less].append(root)
            loads[less] += below[root]
        best = min(best, (max(loads) + behind * SHARED, *shares))
        largest = max(roots, key=lambda f: below[f])
        behind += work[largest]
        roots = [f for f in roots if f != largest] + list(children[largest])
    part = np.full(count, 2)
    for number, chosen in enumerate(best[1:]):
        for root in chosen:
            part[first[root] : root + 1] = number
    order = np.argsort(part, kind="stable")
    return order, np.append(0, np.searchsorted(part[order], [0, 1, 2], side="right"))


class BlockCholesky:
    """Factorizations of the matrices of one mesh.

    Args:
        kernels: of the engine.
        points (n, 3), tets (m, 4): the mesh; the vertices of a tetrahedron increase.
        threads: Threads that work on it.
    """

    def __init__(self, kernels, points, tets, threads):
        self.kernels, self.count, self.threads = kernels, len(points), threads
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
        self.schur = np.zeros((0, 0))  # symmetric
        self._values = np.zeros(0)
        self.end_with(NONE)

    def end_with(self, last):
        """Chooses the vertices (sorted indices) that are eliminated last."""
        key = last.tobytes()
        if key not in self._patterns:
            if len(self._patterns) > 8:
                self._patterns.clear()
            self._patterns[key] = self._analyse(last)
        self.pattern = pattern = self._patterns[key]
        if len(self._values) < WIDTH * pattern.size:
            self._values = aligned_zeros(pattern.size + pattern.size // 8).ravel()
        self._work = np.zeros((2, WIDTH * (pattern.widest + 1)))

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
        rests = [order[rest] for rest in self._rests(groups, children)]
        own, rest = (np.array([3.0 * len(part) for part in parts]) for parts in (groups, rests))
        turn, cuts = two_parts(children, own**3 / 3.0 + own * rest * (own + rest) + ADDING * rest * rest)
        number = np.argsort(turn)
        groups, rests = [groups[g] for g in turn], [rests[g] for g in turn]
        children = [sorted(int(number[c]) for c in children[g]) for g in turn]
        order = np.concatenate(groups)
        place = np.empty(self.count, dtype=np.int64)
        place[order] = np.arange(self.count)
        first = np.cumsum([0, *map(len, groups)])
        rests = [np.sort(place[rest]) for rest in rests]
        fronts = np.zeros((len(groups) + 1, FRONT_NUMBERS), dtype=np.int64)
        own, rest = 3 * np.diff(first), 3 * np.array([len(r) for r in rests])
        tiles, rest_tiles = tiles_of(own), tiles_of(rest)
        fronts[:-1, FRONT_OWN], fronts[:-1, FRONT_TILES] = own, tiles
        fronts[:, FRONT_FIRST] = 3 * first
        fronts[:-1, FRONT_REST], fronts[:-1, FRONT_REST_TILES] = rest // 3, rest_tiles
        fronts[1:, FRONT_REST_START] = np.cumsum(rest // 3)
        fronts[1:, FRONT_AT] = np.cumsum(column_of_tiles(tiles, tiles + rest_tiles))
        size = self._place_rests(fronts, children, cuts)
        spots = self._spots(place, first, fronts, rests)
        lists: list[tuple[int, int]] = []
        places, start = [NONE], 0
        for g in range(len(groups)):
            fronts[g, FRONT_CHILDREN] = len(lists)
            for c in children[g]:
                if len(rests[c]):
                    lists.append((c, start))
                    places.append(self._numbers_in_front(rests[c], first[g], first[g + 1], tiles[g], rests[g]))
                    start += len(rests[c])
        fronts[-1, FRONT_CHILDREN] = len(lists)
        return Pattern(
            order,
            fronts,
            np.concatenate([*rests, NONE]),
            spots,
            np.array(lists, dtype=np.int64).reshape(-1, 2),
            np.concatenate(places),
            size,
            int((tiles + rest_tiles).max()),
            3 * len(last),
            cuts,
        )

    def _rests(self, groups, children):
        """Of each group the places, one group after the other, of the vertices behind it that it is connected with."""
        place = np.empty(self.count, dtype=np.int64)
        place[np.concatenate(groups)] = np.arange(self.count)
        ends = np.cumsum([len(own) for own in groups])
        rests: list[np.ndarray] = []
        for own, end, below in zip(groups, ends, children, strict=True):
            near = place[np.unique(self._neighbors[own].indices)]
            near = np.unique(np.concatenate([near, *(rests[c] for c in below)]))
            rests.append(near[near >= end])
        return rests

    @staticmethod
    def _numbers_in_front(vertices, first, end, tiles, rest):
        """Where the numbers of vertices, by their places in the order, start in a front."""
        return np.where(vertices < end, 3 * (vertices - first), WIDTH * tiles + 3 * np.searchsorted(rest, vertices))

    @staticmethod
    def _place_rests(fronts, children, cuts):
        """Chooses where in values the rests of fronts are, each until its parent has it; returns the rows of all.

        Fronts of even depth have one stack, those of odd depth another, so that a front finds its children's on top of
        theirs; each part has stacks of its own.
        """
        count = len(children)
        depth = np.zeros(count, dtype=int)
        for f in range(count - 1, -1, -1):
            depth[children[f]] = depth[f] + 1
        start = int(fronts[-1, FRONT_AT])
        for part in range(3):
            tops, most = [0, 0], [0, 0]
            inside = range(cuts[part], cuts[part + 1])
            at = np.zeros(count, dtype=np.int64)
            for f in inside:
                parity = depth[f] % 2
                at[f] = tops[parity]
                tops[parity] += 4 * fronts[f, FRONT_REST_TILES] * (fronts[f, FRONT_REST_TILES] + 1)
                most[parity] = max(most[parity], tops[parity])
                below = [c for c in children[f] if c >= cuts[part]]
                if below:
                    tops[1 - parity] = min(at[c] for c in below)
            for f in inside:
                fronts[f, FRONT_LEFT] = start + at[f] + (most[0] if depth[f] % 2 else 0)
            start += most[0] + most[1]
        return start

    def _spots(self, place, first, fronts, rests):
        """Where in values the elements of the blocks go, front by front; sets where those of a front start."""
        p, q = place[self.pairs[:, 0]], place[self.pairs[:, 1]]
        turned = p > q
        low, high = np.where(turned, q, p), np.where(turned, p, q)
        front = np.searchsorted(first, low, side="right") - 1
        order = np.argsort(front, kind="stable")
        bounds = np.searchsorted(front[order], np.arange(len(first)))
        fronts[:, FRONT_BLOCKS] = bounds
        spots = np.empty((len(order), BLOCK_OF_SPOTS + 1), dtype=np.int64)
        spots[:, BLOCK_OF_SPOTS] = order
        i, j = np.divmod(np.arange(9), 3)
        for g in range(len(first) - 1):
            at = slice(bounds[g], bounds[g + 1])
            n = order[at]
            tiles = fronts[g, FRONT_TILES]
            row = 3 * (low[n] - first[g])[:, None]
            column = self._numbers_in_front(high[n], first[g], first[g + 1], tiles, rests[g])[:, None]
            row, column = np.where(turned[n][:, None], (row + j, column + i), (row + i, column + j))
            values = WIDTH * (fronts[g, FRONT_AT] + column_of_tiles(tiles, column // WIDTH) + row) + column % WIDTH
            spots[at, :BLOCK_OF_SPOTS] = np.where(row <= column, values, -1)
        return spots

    def factorize(self, blocks):
        """blocks (k, 3, 3) of the pairs -> the factor, and `schur`."""
        pattern = self.pattern
        if len(self.schur) != pattern.last:
            self.schur = np.empty((pattern.last, pattern.last))
        arrays = self._values, pattern.fronts, pattern.spots, blocks, pattern.children, pattern.places, pattern.cuts
        barrier = self.threads.barrier()

        def part(number):
            return self.kernels.factorize_matrix(*arrays, self.schur, barrier, number)

        if max(self.threads.together(part)) >= 0:
            raise NumericalError(NOT_DEFINITE)

    def solve(self, b):
        """A^-1 b for b (n, 3)."""
        x = self.begin(b)
        return self.finish(x, x[x.size - self.pattern.last :])

    def begin(self, b):
        """The first half of solve(): numbers of which those of the last vertices, at the end, are those of A^-1 b."""
        pattern = self.pattern
        x = b[pattern.order].ravel()
        arrays = self._values, pattern.fronts, pattern.rest, x, np.zeros_like(x), self._work, pattern.cuts
        barrier = self.threads.barrier()
        self.threads.together(lambda part: self.kernels.solve_down(*arrays, barrier, part))
        if pattern.last:
            self._up(x, pattern.cuts[3] - 1, pattern.cuts[3], NO_CUTS, Threads())
        return x

    def finish(self, x, last):
        """The second half (n, 3), with numbers (3 k,) for the last vertices; overwrites x."""
        cuts = self.pattern.cuts
        x[x.size - self.pattern.last :] = last
        self._up(x, cuts[2], cuts[3] - (1 if self.pattern.last else 0), cuts, self.threads)
        result = np.empty((self.count, 3))
        result[self.pattern.order] = x.reshape(-1, 3)
        return result

    def follow(self, change):
        """The velocities of all vertices (n, 3) that go with a change (3 k,) of those that are last, without forces."""
        return self.finish(np.zeros(3 * self.count), change)

    def _up(self, x, begin, end, cuts, threads):
        """Solves on the fronts from begin to end, then on the two parts."""
        pattern, barrier = self.pattern, threads.barrier()
        arrays = self._values, pattern.fronts, pattern.rest, x, self._work, int(begin), int(end), cuts, barrier
        threads.together(lambda part: self.kernels.solve_up(*arrays, part))

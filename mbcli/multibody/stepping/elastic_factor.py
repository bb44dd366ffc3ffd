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

from mbcli.engine.deformable.block_fronts import PANEL
from mbcli.engine.fields.front_fields import (
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

LEAF = 24  # vertices that are not cut further
NOT_DEFINITE = "the matrix of an elastic body is not positive definite"
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
    """The order of elimination for one set of vertices that come last, and what block_fronts.py takes.

    order: vertices; size: rows of values; widest: tiles of the largest front; last: numbers of the vertices that come
    last. cuts: fronts from cuts[0] = 0 to cuts[1], and from there to cuts[2], are two parts that have nothing to do
    with each other; those from there to cuts[3] come after both. numbers: the first number of each of these.
    """

    order: np.ndarray
    fronts: np.ndarray
    rest: np.ndarray
    block_order: np.ndarray
    spots: np.ndarray
    children: np.ndarray
    places: np.ndarray
    size: int
    widest: int
    last: int
    cuts: tuple
    numbers: tuple


def tiles_of(numbers):
    return -(-numbers // WIDTH)


def column_of_tiles(tiles, t):
    """As in block_fronts.py, of arrays of columns, for a front at 0."""
    return np.where(t < tiles, 4 * t * (t + 1), 4 * tiles * (tiles + 1) + 8 * tiles * (t - tiles))


def two_parts(children, work):
    """Where the list of fronts is cut, as in Pattern; work: of each front."""
    count = len(children)
    below = np.array(work, dtype=float)
    first = np.arange(count)
    for f in range(count):
        for child in children[f]:
            below[f] += below[child]
            first[f] = min(first[f], first[child])
    top = count - 1
    while top >= 0 and len(children[top]) == 1:
        top = children[top][0]
    if top < 0 or not children[top]:
        return 0, 0, 0, count
    ends = np.array(children[top]) + 1
    done = np.cumsum(below[ends - 1])
    cut = int(ends[np.argmin(np.abs(done[:-1] - 0.5 * done[-1]))])
    return 0, cut, int(ends[-1]), count


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
        place = np.empty(self.count, dtype=np.int64)
        place[order] = np.arange(self.count)
        first = np.cumsum([0, *map(len, groups)])
        rests: list[np.ndarray] = []
        for g, own in enumerate(groups):
            near = place[np.unique(self._neighbors[own].indices)]
            near = np.unique(np.concatenate([near, *(rests[c] for c in children[g])]))
            rests.append(near[near >= first[g + 1]])
        fronts = np.zeros((len(groups) + 1, FRONT_NUMBERS), dtype=np.int64)
        own, rest = 3 * np.diff(first), 3 * np.array([len(r) for r in rests])
        tiles, rest_tiles = tiles_of(own), tiles_of(rest)
        fronts[:-1, FRONT_OWN], fronts[:-1, FRONT_TILES] = own, tiles
        fronts[:, FRONT_FIRST] = 3 * first
        fronts[:-1, FRONT_REST], fronts[:-1, FRONT_REST_TILES] = rest // 3, rest_tiles
        fronts[1:, FRONT_REST_START] = np.cumsum(rest // 3)
        fronts[1:, FRONT_AT] = np.cumsum(column_of_tiles(tiles, tiles + rest_tiles))
        work = own.astype(float) ** 3 / 3 + own * rest * (own + rest + 0.0)
        cuts = two_parts(children, work)
        size = self._place_rests(fronts, children, cuts)
        order_of_blocks, spots = self._spots(place, first, fronts, rests)
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
            order_of_blocks,
            spots,
            np.array(lists, dtype=np.int64).reshape(-1, 2),
            np.concatenate(places),
            size,
            int((tiles + rest_tiles).max()),
            3 * len(last),
            cuts,
            tuple(int(fronts[c, FRONT_FIRST]) for c in cuts),
        )

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
        """The blocks front by front, and where in values their elements go; sets where those of a front start."""
        p, q = place[self.pairs[:, 0]], place[self.pairs[:, 1]]
        turned = p > q
        low, high = np.where(turned, q, p), np.where(turned, p, q)
        front = np.searchsorted(first, low, side="right") - 1
        order = np.argsort(front, kind="stable")
        bounds = np.searchsorted(front[order], np.arange(len(first)))
        fronts[:, FRONT_BLOCKS] = bounds
        spots = np.empty((len(order), 9), dtype=np.int64)
        i, j = np.divmod(np.arange(9), 3)
        for g in range(len(first) - 1):
            at = slice(bounds[g], bounds[g + 1])
            n = order[at]
            tiles = fronts[g, FRONT_TILES]
            row = 3 * (low[n] - first[g])[:, None]
            column = self._numbers_in_front(high[n], first[g], first[g + 1], tiles, rests[g])[:, None]
            row, column = np.where(turned[n][:, None], (row + j, column + i), (row + i, column + j))
            values = WIDTH * (fronts[g, FRONT_AT] + column_of_tiles(tiles, column // WIDTH) + row) + column % WIDTH
            spots[at] = np.where(row <= column, values, -1)
        return order, spots

    def factorize(self, blocks):
        """blocks (k, 3, 3) of the pairs -> the factor, and `schur`."""
        pattern, kernels, cuts = self.pattern, self.kernels, self.pattern.cuts
        arrays = pattern.fronts, pattern.block_order, pattern.spots, blocks, pattern.children, pattern.places

        def part(begin, end):
            return kernels.factorize_fronts(self._values, *arrays, begin, end)

        failed = self.threads.both(lambda: part(cuts[0], cuts[1]), lambda: part(cuts[1], cuts[2]))
        if max(failed) >= 0:
            raise NumericalError(NOT_DEFINITE)
        for f in range(cuts[2], cuts[3]):
            kernels.assemble_front(self._values, *arrays, f)
            if pattern.last and f == cuts[3] - 1:
                self.schur = np.empty((pattern.last, pattern.last))
                kernels.copy_front(self._values, pattern.fronts, f, self.schur.ravel(), pattern.last)
            self._eliminate(f)

    def _eliminate(self, f):
        """A front of those that come after both parts."""
        fronts, values, kernels = self.pattern.fronts, self._values, self.kernels
        if not self.threads.are_two or fronts[f, FRONT_TILES] <= PANEL:
            if kernels.eliminate_front(values, fronts, f) < 0:
                raise NumericalError(NOT_DEFINITE)
            return
        for first in range(0, int(fronts[f, FRONT_TILES]), PANEL):
            if kernels.eliminate_panel(values, fronts, f, first) < 0:
                raise NumericalError(NOT_DEFINITE)

            for kernel in (kernels.solve_behind_panel, kernels.update_behind_panel):

                def half(part, kernel=kernel, first=first):
                    return kernel(values, fronts, f, first, part, 2)

                self.threads.both(lambda half=half: half(0), lambda half=half: half(1))

    def solve(self, b):
        """A^-1 b for b (n, 3)."""
        x = self.begin(b)
        return self.finish(x, x[x.size - self.pattern.last :])

    def begin(self, b):
        """The first half of solve(): numbers of which those of the last vertices, at the end, are those of A^-1 b."""
        cuts, numbers = self.pattern.cuts, self.pattern.numbers
        x = b[self.pattern.order].ravel()
        other = np.zeros_like(x)  # what the second part adds to the numbers behind it
        other[numbers[1] : numbers[2]] = x[numbers[1] : numbers[2]]
        self.threads.both(lambda: self._down(x, 0, cuts[:2]), lambda: self._down(other, 1, cuts[1:3]))
        x[numbers[1] : numbers[2]] = other[numbers[1] : numbers[2]]
        x[numbers[2] :] += other[numbers[2] :]
        self._down(x, 0, cuts[2:])
        if self.pattern.last:
            self._up(x, 0, (cuts[3] - 1, cuts[3]))
        return x

    def finish(self, x, last):
        """The second half (n, 3), with numbers (3 k,) for the last vertices; overwrites x."""
        cuts = self.pattern.cuts
        x[x.size - self.pattern.last :] = last
        self._up(x, 0, (cuts[2], cuts[3] - (1 if self.pattern.last else 0)))
        self.threads.both(lambda: self._up(x, 0, cuts[:2]), lambda: self._up(x, 1, cuts[1:3]))
        result = np.empty((self.count, 3))
        result[self.pattern.order] = x.reshape(-1, 3)
        return result

    def follow(self, change):
        """The velocities of all vertices (n, 3) that go with a change (3 k,) of those that are last, without forces."""
        return self.finish(np.zeros(3 * self.count), change)

    def _down(self, x, part, fronts):
        pattern = self.pattern
        self.kernels.solve_down(self._values, pattern.fronts, pattern.rest, x, self._work[part], *fronts)

    def _up(self, x, part, fronts):
        pattern = self.pattern
        self.kernels.solve_up(self._values, pattern.fronts, pattern.rest, x, self._work[part], *fronts)

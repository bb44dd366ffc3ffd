"""A multifrontal Cholesky factorization A = U^T U of symmetric matrices of 3x3 blocks (Duff and Reid 1983).

A front has the rows and columns of some vertices that are eliminated together, its own, and of those behind them that
they are connected with, its rest. Own numbers and numbers of the rest are each filled up to a multiple of eight, with
ones on the diagonal, and cut into tiles of eight: a row of a tile is one vector register. Of the symmetric matrix the
tiles on and above the diagonal are kept, column by column of tiles, the tiles of a column one below the other. The rows
of own numbers are the factor; those of the rest are added to the front of the parent. A diagonal element of U is kept
inverted.

fronts: a row for each front, FRONT_...; lengths and places in values are in rows of tiles. spots (k, 10): where the
nine elements of a block go, -1 for nowhere, and the block; front by front. children: front, and where its places start;
these are the numbers in the front of the parent that the vertices of its rest start at. The vectors of solutions are in
the order of elimination.

Two threads may work on a matrix, each by a call of its own, as parts 0 and 1 (barrier.py). Fronts are in two parts
that have nothing to do with each other, one for each thread, and behind these others, on which both work. Each number
is computed by one of them, from the same numbers in the same order as by one thread, so that results are the same.
"""

from mbcli.engine.deformable.barrier import barrier_wait, report_failure, reported_failure
from mbcli.engine.fields.front_fields import (
    BARRIER_PARTS,
    BLOCK_OF_SPOTS,
    FRONT_AT,
    FRONT_BLOCKS,
    FRONT_CHILDREN,
    FRONT_FIRST,
    FRONT_LEFT,
    FRONT_OWN,
    FRONT_REST,
    FRONT_REST_START,
    FRONT_REST_TILES,
    FRONT_TILES,
)
from mbcli.engine.runtime.kernel import Blocks, Indices, Int, Matrix, Table, Vector, kernel, unlocked
from mbcli.engine.runtime.lane_memory import (
    add_product,
    element,
    lanes_of,
    set_element,
    subtract_product,
    sum_of_lanes,
)
from mbcli.engine.runtime.tiles import set_tile, subtract_products
from mbcli.engine.smooth.trigonometry import square_root

BEHIND = 1 << 60  # behind all numbers
HALF_OF_TRIANGLE = 0.5**0.5  # the width of the part of a triangle that has half of its area
PANEL = 12  # tiles that are eliminated before the rows behind them are updated: they fit into a cache


@kernel
def column_of_tiles(at, tiles, t):
    """First row of column t of the own rows."""
    if t < tiles:
        return at + 4 * t * (t + 1)
    return at + 4 * tiles * (tiles + 1) + 8 * tiles * (t - tiles)


# ------------------------------------------------------------------------------------------------- both threads


@unlocked
def factorize_matrix(
    values: Vector,
    fronts: Table,
    spots: Table,
    blocks: Blocks,
    children: Table,
    places: Indices,
    cuts: Indices,
    schur: Matrix,
    barrier: Indices,
    part: Int,
):
    """The factor; -1, or a front that is not positive definite.

    cuts: as in Pattern (elastic_factor.py). schur: gets the last front before it is eliminated, unless it is empty.
    """
    parts = barrier[BARRIER_PARTS]
    for p in range(part, 2, parts):
        for f in range(cuts[p], cuts[p + 1]):
            clear_front(values, fronts, f, 0, 1)
            add_own_blocks(values, fronts, spots, blocks, f)
            add_children(values, fronts, children, places, f, 0, 1)
            if eliminate_front(values, fronts, f, barrier, 0, 1) < 0:
                break
    barrier_wait(barrier, part, parts)
    for f in range(cuts[2], cuts[3]):
        if reported_failure(barrier) >= 0:
            break
        clear_front(values, fronts, f, part, parts)
        barrier_wait(barrier, part, parts)
        if part == 0:
            add_own_blocks(values, fronts, spots, blocks, f)
        barrier_wait(barrier, part, parts)
        add_children(values, fronts, children, places, f, part, parts)
        barrier_wait(barrier, part, parts)
        if schur.shape[0] > 0 and f == cuts[3] - 1:
            copy_front(values, fronts, f, schur, part, parts)
            barrier_wait(barrier, part, parts)
        eliminate_front(values, fronts, f, barrier, part, parts)
    return reported_failure(barrier)


# ------------------------------------------------------------------------------------------------- assembly


@kernel
def add_own_blocks(values, fronts, spots, blocks, f):
    """Adds the blocks of a front to its own rows, and ones on the diagonal of the numbers that fill up a tile."""
    at, tiles = fronts[f, FRONT_AT], fronts[f, FRONT_TILES]
    for i in range(fronts[f, FRONT_OWN], 8 * tiles):
        values[8 * (column_of_tiles(at, tiles, i // 8) + i) + i % 8] = 1.0
    for n in range(fronts[f, FRONT_BLOCKS], fronts[f + 1, FRONT_BLOCKS]):
        b = spots[n, BLOCK_OF_SPOTS]
        for i in range(3):
            for j in range(3):
                spot = spots[n, 3 * i + j]
                if spot >= 0:
                    values[spot] += blocks[b, i, j]


@kernel
def add_children(values, fronts, children, places, f, part, parts):
    """Adds what the children left; of two parts the first has the columns up to one, the second those behind it."""
    first, end = fronts[f, FRONT_CHILDREN], fronts[f + 1, FRONT_CHILDREN]
    begin, bound = 0, column_bound(fronts, children, places, first, end) if parts == 2 else BEHIND
    if part == 1:
        begin, bound = bound, BEHIND
    for n in range(first, end):
        child, start = children[n, 0], children[n, 1]
        for q in range(fronts[child, FRONT_REST]):
            if begin <= places[start + q] < bound:
                add_column(values, fronts, places, f, child, start, q)


@kernel
def column_bound(fronts, children, places, first, end):
    """The number before which half of what the largest child left is, all columns being triangles."""
    most, bound = 0, BEHIND
    for n in range(first, end):
        count = fronts[children[n, 0], FRONT_REST]
        if count > most:
            most, bound = count, places[children[n, 1] + int(HALF_OF_TRIANGLE * count)]
    return bound


@kernel
def clear_front(values, fronts, f, part, parts):
    """Zeros; each part has a piece of the memory."""
    at, tiles, rest = fronts[f, FRONT_AT], fronts[f, FRONT_TILES], fronts[f, FRONT_REST_TILES]
    clear_piece(values, 8 * at, 8 * (column_of_tiles(at, tiles, tiles + rest) - at), part, parts)
    clear_piece(values, 8 * fronts[f, FRONT_LEFT], 32 * rest * (rest + 1), part, parts)


@kernel
def clear_piece(values, start, count, part, parts):
    for k in range(start + part * count // parts, start + (part + 1) * count // parts):
        set_element(values, k, 0.0)


@kernel
def add_column(values, fronts, places, f, child, start, q):
    """Adds what a child left in the columns of vertex q of its rest."""
    source = fronts[child, FRONT_LEFT]
    own = 8 * fronts[f, FRONT_TILES]
    to = element(places, start + q)
    s0, s1, s2 = left_column(source, 3 * q), left_column(source, 3 * q + 1), left_column(source, 3 * q + 2)
    t0, t1, t2 = own_column(fronts, f, to), own_column(fronts, f, to + 1), own_column(fronts, f, to + 2)
    p = 0
    while p < q and element(places, start + p) < own:
        add_nine(values, 24 * p, s0, s1, s2, 8 * element(places, start + p), t0, t1, t2)
        p += 1
    if to >= own:
        left = fronts[f, FRONT_LEFT]
        t0, t1, t2 = left_column(left, to - own), left_column(left, to - own + 1), left_column(left, to - own + 2)
        t0, t1, t2 = t0 - 8 * own, t1 - 8 * own, t2 - 8 * own
    while p < q:
        add_nine(values, 24 * p, s0, s1, s2, 8 * element(places, start + p), t0, t1, t2)
        p += 1
    row, to_row = 24 * q, 8 * to
    values[t0 + to_row] += values[s0 + row]
    values[t1 + to_row] += values[s1 + row]
    values[t1 + to_row + 8] += values[s1 + row + 8]
    values[t2 + to_row] += values[s2 + row]
    values[t2 + to_row + 8] += values[s2 + row + 8]
    values[t2 + to_row + 16] += values[s2 + row + 16]


@kernel
def own_column(fronts, f, j):
    """Where number j of the first own row of a front is in values."""
    return 8 * column_of_tiles(fronts[f, FRONT_AT], fronts[f, FRONT_TILES], j // 8) + j % 8


@kernel
def left_column(left, j):
    """Where number j of the first row of a rest is in values."""
    t = j // 8
    return 8 * (left + 4 * t * (t + 1)) + j % 8


@kernel
def add_nine(values, row, s0, s1, s2, to_row, t0, t1, t2):
    """Adds three rows of three columns to others."""
    for _ in range(3):
        set_element(values, t0 + to_row, element(values, t0 + to_row) + element(values, s0 + row))
        set_element(values, t1 + to_row, element(values, t1 + to_row) + element(values, s1 + row))
        set_element(values, t2 + to_row, element(values, t2 + to_row) + element(values, s2 + row))
        row, to_row = row + 8, to_row + 8


# ------------------------------------------------------------------------------------------------- elimination


@kernel
def eliminate_front(values, fronts, f, barrier, part, parts):
    """Own rows -> those of U, the rest without them; -1 if the front is not positive definite, else 0."""
    for first in range(0, fronts[f, FRONT_TILES], PANEL):
        if part == 0 and eliminate_panel(values, fronts, f, first) < 0:
            report_failure(barrier, part, f)
        barrier_wait(barrier, part, parts)
        if reported_failure(barrier) >= 0:
            return -1
        solve_behind_panel(values, fronts, f, first, part, parts)
        barrier_wait(barrier, part, parts)
        update_behind_panel(values, fronts, f, first, part, parts)
        barrier_wait(barrier, part, parts)
    return 0


@kernel
def eliminate_panel(values, fronts, f, first):
    """The triangle of PANEL tiles, all that comes from earlier ones being subtracted; -1 if it has no root, else 0."""
    lanes = lanes_of(values)
    at, tiles = fronts[f, FRONT_AT], fronts[f, FRONT_TILES]
    end = min(first + PANEL, tiles)
    for k in range(first, end):
        above, count = column_of_tiles(at, tiles, k) + 8 * first, 8 * (k - first)
        diagonal = above + count
        subtract_products(values, lanes, diagonal, 1, above, above, 1, count)
        if not factorize_tile(values, lanes, diagonal):
            return -1
        for t in range(k + 1, end):
            beside = column_of_tiles(at, tiles, t) + 8 * first
            subtract_products(values, lanes, beside + count, 1, above, beside, 1, count)
            solve_tile(values, lanes, diagonal, beside + count)
    return 0


@kernel
def solve_behind_panel(values, fronts, f, first, part, parts):
    """The rows of a panel beside its triangle; of the columns of tiles each parts-th one."""
    lanes = lanes_of(values)
    at, tiles = fronts[f, FRONT_AT], fronts[f, FRONT_TILES]
    end = min(first + PANEL, tiles)
    for t in range(end + part, tiles + fronts[f, FRONT_REST_TILES], parts):
        beside = column_of_tiles(at, tiles, t) + 8 * first
        for k in range(first, end):
            above, count = column_of_tiles(at, tiles, k) + 8 * first, 8 * (k - first)
            subtract_products(values, lanes, beside + count, 1, above, beside, 1, count)
            solve_tile(values, lanes, above + count, beside + count)


@kernel
def update_behind_panel(values, fronts, f, first, part, parts):
    """Subtracts what the rows of a panel have to do with those behind; of the columns of tiles each parts-th one."""
    lanes = lanes_of(values)
    at, tiles, left = fronts[f, FRONT_AT], fronts[f, FRONT_TILES], fronts[f, FRONT_LEFT]
    end = min(first + PANEL, tiles)
    count = 8 * (end - first)
    for t in range(end + part, tiles + fronts[f, FRONT_REST_TILES], parts):
        column = column_of_tiles(at, tiles, t)
        beside = column + 8 * first
        for i in range(end, min(t + 1, tiles)):
            above = column_of_tiles(at, tiles, i) + 8 * first
            subtract_products(values, lanes, column + 8 * i, 1, above, beside, 1, count)
        column = left + 4 * (t - tiles) * (t - tiles + 1)
        for i in range(tiles, t + 1):
            above = column_of_tiles(at, tiles, i) + 8 * first
            subtract_products(values, lanes, column + 8 * (i - tiles), 1, above, beside, 1, count)


@kernel
def factorize_tile(values, lanes, d):
    """The tile on the diagonal -> U, its diagonal inverted; False if it has no root. What is below is of no matter."""
    for i in range(8):
        pivot = values[8 * (d + i) + i]
        if not pivot > 0.0:
            return False
        s = 1.0 / square_root(pivot)
        row = s * element(lanes, d + i)
        set_element(lanes, d + i, row)
        values[8 * (d + i) + i] = s
        for k in range(i + 1, 8):
            set_element(lanes, d + k, subtract_product(element(lanes, d + k), row, values[8 * (d + i) + k]))
    return True


@kernel
def solve_tile(values, lanes, d, b):
    """The tile at b -> U^-T times it, U being the tile at d."""
    u = 8 * d
    r0 = element(values, u) * element(lanes, b)
    r1 = subtract_product(element(lanes, b + 1), r0, element(values, u + 1))
    r2 = subtract_product(element(lanes, b + 2), r0, element(values, u + 2))
    r3 = subtract_product(element(lanes, b + 3), r0, element(values, u + 3))
    r4 = subtract_product(element(lanes, b + 4), r0, element(values, u + 4))
    r5 = subtract_product(element(lanes, b + 5), r0, element(values, u + 5))
    r6 = subtract_product(element(lanes, b + 6), r0, element(values, u + 6))
    r7 = subtract_product(element(lanes, b + 7), r0, element(values, u + 7))
    r1 = element(values, u + 9) * r1
    r2 = subtract_product(r2, r1, element(values, u + 10))
    r3 = subtract_product(r3, r1, element(values, u + 11))
    r4 = subtract_product(r4, r1, element(values, u + 12))
    r5 = subtract_product(r5, r1, element(values, u + 13))
    r6 = subtract_product(r6, r1, element(values, u + 14))
    r7 = subtract_product(r7, r1, element(values, u + 15))
    r2 = element(values, u + 18) * r2
    r3 = subtract_product(r3, r2, element(values, u + 19))
    r4 = subtract_product(r4, r2, element(values, u + 20))
    r5 = subtract_product(r5, r2, element(values, u + 21))
    r6 = subtract_product(r6, r2, element(values, u + 22))
    r7 = subtract_product(r7, r2, element(values, u + 23))
    r3 = element(values, u + 27) * r3
    r4 = subtract_product(r4, r3, element(values, u + 28))
    r5 = subtract_product(r5, r3, element(values, u + 29))
    r6 = subtract_product(r6, r3, element(values, u + 30))
    r7 = subtract_product(r7, r3, element(values, u + 31))
    r4 = element(values, u + 36) * r4
    r5 = subtract_product(r5, r4, element(values, u + 37))
    r6 = subtract_product(r6, r4, element(values, u + 38))
    r7 = subtract_product(r7, r4, element(values, u + 39))
    r5 = element(values, u + 45) * r5
    r6 = subtract_product(r6, r5, element(values, u + 46))
    r7 = subtract_product(r7, r5, element(values, u + 47))
    r6 = element(values, u + 54) * r6
    r7 = subtract_product(r7, r6, element(values, u + 55))
    r7 = element(values, u + 63) * r7
    set_tile(lanes, b, 1, (r0, r1, r2, r3, r4, r5, r6, r7))


# ------------------------------------------------------------------------------------------------- solutions


@unlocked
def solve_down(
    values: Vector,
    fronts: Table,
    rest: Indices,
    x: Vector,
    other: Vector,
    work: Matrix,
    cuts: Indices,
    barrier: Indices,
    part: Int,
):
    """x -> U^-T x, by calls as of factorize_matrix(). other: zeros, in which the second part adds up.

    work: two rows of a tile more than the largest front has.
    """
    parts = barrier[BARRIER_PARTS]
    for p in range(part, 2, parts):
        y = x if p == 0 else other
        if p == 1:
            for i in range(fronts[cuts[1], FRONT_FIRST], fronts[cuts[2], FRONT_FIRST]):
                other[i] = x[i]
        for f in range(cuts[p], cuts[p + 1]):
            take_own(fronts, f, y, work[p])
            solve_front_down(values, fronts, f, work[p], barrier, 0, 1)
            give_own(fronts, f, y, work[p])
            add_rest(fronts, rest, f, y, work[p])
    barrier_wait(barrier, part, parts)
    if part == 0:
        for i in range(fronts[cuts[1], FRONT_FIRST], fronts[cuts[2], FRONT_FIRST]):
            x[i] = other[i]
        for i in range(fronts[cuts[2], FRONT_FIRST], x.shape[0]):
            x[i] += other[i]
    for f in range(cuts[2], cuts[3]):
        if part == 0:
            take_own(fronts, f, x, work[0])
        solve_front_down(values, fronts, f, work[0], barrier, part, parts)
        if part == 0:
            give_own(fronts, f, x, work[0])
            add_rest(fronts, rest, f, x, work[0])


@unlocked
def solve_up(
    values: Vector,
    fronts: Table,
    rest: Indices,
    x: Vector,
    work: Matrix,
    begin: Int,
    end: Int,
    cuts: Indices,
    barrier: Indices,
    part: Int,
):
    """x -> U^-1 x on the fronts from begin to end, those behind being solved, then on both parts; as solve_down()."""
    parts = barrier[BARRIER_PARTS]
    for f in range(end - 1, begin - 1, -1):
        if part == 0:
            take_own(fronts, f, x, work[0])
            take_rest(fronts, rest, f, x, work[0])
        solve_front_up(values, fronts, f, work[0], barrier, part, parts)
        if part == 0:
            give_own(fronts, f, x, work[0])
    barrier_wait(barrier, part, parts)
    for p in range(part, 2, parts):
        for f in range(cuts[p + 1] - 1, cuts[p] - 1, -1):
            take_own(fronts, f, x, work[p])
            take_rest(fronts, rest, f, x, work[p])
            solve_front_up(values, fronts, f, work[p], barrier, 0, 1)
            give_own(fronts, f, x, work[p])


@kernel
def take_own(fronts, f, x, work):
    """work: the numbers of a front in x, then zeros."""
    own, first = fronts[f, FRONT_OWN], fronts[f, FRONT_FIRST]
    for i in range(8 * (fronts[f, FRONT_TILES] + fronts[f, FRONT_REST_TILES])):
        work[i] = x[first + i] if i < own else 0.0


@kernel
def give_own(fronts, f, x, work):
    for i in range(fronts[f, FRONT_OWN]):
        x[fronts[f, FRONT_FIRST] + i] = work[i]


@kernel
def add_rest(fronts, rest, f, x, work):
    behind, start = 8 * fronts[f, FRONT_TILES], fronts[f, FRONT_REST_START]
    for k in range(fronts[f, FRONT_REST]):
        for i in range(3):
            x[3 * rest[start + k] + i] += work[behind + 3 * k + i]


@kernel
def take_rest(fronts, rest, f, x, work):
    behind, start = 8 * fronts[f, FRONT_TILES], fronts[f, FRONT_REST_START]
    for k in range(fronts[f, FRONT_REST]):
        for i in range(3):
            work[behind + 3 * k + i] = x[3 * rest[start + k] + i]


@kernel
def solve_front_down(values, fronts, f, work, barrier, part, parts):
    """Own numbers -> U^-T times them, the rest loses what they have to do with it."""
    at, tiles, others = fronts[f, FRONT_AT], fronts[f, FRONT_TILES], fronts[f, FRONT_REST_TILES]
    for first in range(0, tiles, PANEL):
        end = min(first + PANEL, tiles)
        if part == 0:
            for t in range(first, end):
                column = column_of_tiles(at, tiles, t)
                take_rows(values, work, column, 8 * first, 8 * t, t)
                for i in range(8):
                    y = work[8 * t + i]
                    for m in range(i):
                        y -= values[8 * (column + 8 * t + m) + i] * work[8 * t + m]
                    work[8 * t + i] = y * values[8 * (column + 8 * t + i) + i]
        barrier_wait(barrier, part, parts)
        for t in range(end + part, tiles + others, parts):
            take_rows(values, work, column_of_tiles(at, tiles, t), 8 * first, 8 * end, t)
        barrier_wait(barrier, part, parts)


@kernel
def take_rows(values, work, column, begin, end, t):
    """Tile t of work loses the rows from begin to end of a column of tiles times the numbers of these rows."""
    lanes, tile = lanes_of(values), lanes_of(work)
    zero = 0.0 * element(tile, t)
    a, b, c, d = 1.0 * element(tile, t), zero, zero, zero
    for k in range(begin, end, 4):
        a = subtract_product(a, element(lanes, column + k), element(work, k))
        b = subtract_product(b, element(lanes, column + k + 1), element(work, k + 1))
        c = subtract_product(c, element(lanes, column + k + 2), element(work, k + 2))
        d = subtract_product(d, element(lanes, column + k + 3), element(work, k + 3))
    set_element(tile, t, (a + b) + (c + d))


@kernel
def solve_front_up(values, fronts, f, work, barrier, part, parts):
    """Own numbers -> U^-1 times what is left of them without the rest, which is known."""
    at, tiles, others = fronts[f, FRONT_AT], fronts[f, FRONT_TILES], fronts[f, FRONT_REST_TILES]
    barrier_wait(barrier, part, parts)
    for first in range((tiles - 1) // PANEL * PANEL, -1, -PANEL):
        end = min(first + PANEL, tiles)
        for k in range(first + part, end, parts):
            take_columns(values, work, at, tiles, end, tiles + others, k)
        barrier_wait(barrier, part, parts)
        if part == 0:
            for k in range(end - 1, first - 1, -1):
                take_columns(values, work, at, tiles, k + 1, end, k)
                diagonal = column_of_tiles(at, tiles, k) + 8 * k
                for i in range(7, -1, -1):
                    y = work[8 * k + i]
                    for m in range(i + 1, 8):
                        y -= values[8 * (diagonal + i) + m] * work[8 * k + m]
                    work[8 * k + i] = y * values[8 * (diagonal + i) + i]
        barrier_wait(barrier, part, parts)


@kernel
def take_columns(values, work, at, tiles, begin, end, k):
    """Tile k of work loses its rows of the columns of tiles from begin to end times the numbers there."""
    lanes, tile = lanes_of(values), lanes_of(work)
    zero = 0.0 * element(tile, k)
    s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
    for t in range(begin, end):
        row, y = column_of_tiles(at, tiles, t) + 8 * k, element(tile, t)
        s0 = add_product(s0, element(lanes, row), y)
        s1 = add_product(s1, element(lanes, row + 1), y)
        s2 = add_product(s2, element(lanes, row + 2), y)
        s3 = add_product(s3, element(lanes, row + 3), y)
        s4 = add_product(s4, element(lanes, row + 4), y)
        s5 = add_product(s5, element(lanes, row + 5), y)
        s6 = add_product(s6, element(lanes, row + 6), y)
        s7 = add_product(s7, element(lanes, row + 7), y)
    work[8 * k] -= sum_of_lanes(s0)
    work[8 * k + 1] -= sum_of_lanes(s1)
    work[8 * k + 2] -= sum_of_lanes(s2)
    work[8 * k + 3] -= sum_of_lanes(s3)
    work[8 * k + 4] -= sum_of_lanes(s4)
    work[8 * k + 5] -= sum_of_lanes(s5)
    work[8 * k + 6] -= sum_of_lanes(s6)
    work[8 * k + 7] -= sum_of_lanes(s7)


@kernel
def copy_front(values, fronts, f, matrix, part, parts):
    """The own numbers of a front that is assembled, as a symmetric matrix; of its columns each parts-th one."""
    at, tiles, own = fronts[f, FRONT_AT], fronts[f, FRONT_TILES], fronts[f, FRONT_OWN]
    for t in range(part, tiles, parts):
        for i in range(min(8 * t + 8, own)):
            for j in range(max(8 * t, i), min(8 * t + 8, own)):
                x = values[8 * (column_of_tiles(at, tiles, t) + i) + j % 8]
                matrix[i, j] = x
                matrix[j, i] = x

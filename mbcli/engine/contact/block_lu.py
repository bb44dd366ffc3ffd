"""TAMSI's matrix by blocks of trees, which is not symmetric but has a symmetric pattern, and its solution.

The panels of block_cholesky.py in two halves of `values`. The upper half has the rows of a tree; the lower one, from
COUNT_VALUES on, the columns below its block, transposed. Elimination leaves D^-1 H_pq in the upper half and H_qp as it
is in the lower one. The block D of the tree itself, whose velocities are eliminated from the last to the first, becomes
a triangle as L of block_cholesky.py in the upper half; the lower one has the factors by which rows were subtracted.
Rows are exchanged within a tree only.
"""

from mbcli.engine.contact.block_cholesky import (
    clear_above,
    solve_triangle,
    subtract_block,
    subtract_block_of_six,
    subtract_row,
    take_from_later,
    take_later,
)
from mbcli.engine.fields.contact_fields import COUNT_STATUS, COUNT_VALUES, PROBLEM_SINGULAR
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH, element, set_element, subtract_product

SAFE_PIVOT = 1e-3  # of the diagonal before elimination; rows are exchanged for a smaller one


@kernel
def factorize_halves(solver, first, end):
    """values: the matrix of the trees at these places in two halves -> its factors."""
    for p in range(first, end):
        eliminate_own_block(solver, p)
        if solver.counts[COUNT_STATUS] == PROBLEM_SINGULAR:
            return
        divide_by_own_block(solver, p)
        update_later_halves(solver, p)


@kernel
def eliminate_own_block(solver, p):
    """The block of the tree at place p by rows that are exchanged; -> pivot (inverse), exchange."""
    lanes, values = solver.values8, solver.values
    t = solver.order[p]
    v0, size = solver.tree_v[t], solver.tree_v[t + 1] - solver.tree_v[t]
    start, width = solver.panel_start[p], solver.panel_width[p]
    step, lower, own = width // WIDTH, start + solver.counts[COUNT_VALUES], (size + WIDTH - 1) // WIDTH
    for k in range(size):
        solver.pivot[v0 + k] = abs(values[start + k * width + k])
    for k in range(size - 1, -1, -1):
        best, most = k, abs(values[start + k * width + k])
        if not most > SAFE_PIVOT * solver.pivot[v0 + k]:
            for i in range(k):
                there = abs(values[start + i * width + k])
                if there > most:
                    best, most = i, there
            if not most > 0.0:
                solver.counts[COUNT_STATUS] = PROBLEM_SINGULAR
                return
        solver.exchange[v0 + k] = best
        row = start // WIDTH + k * step
        if best != k:
            exchange_rows(lanes, row, start // WIDTH + best * step, step)
        first, inverse = 1.0 * element(lanes, row), 1.0 / values[start + k * width + k]
        solver.pivot[v0 + k] = inverse
        for i in range(k - 1, -1, -1):
            factor = inverse * values[start + i * width + k]
            values[lower + k * width + i] = factor
            if factor != 0.0:
                subtract_row(lanes, row, first, start // WIDTH + i * step, factor, k // WIDTH + 1, own, step)
    clear_above(solver, p)


@kernel
def exchange_rows(lanes, a, b, count):
    for c in range(count):
        kept = 1.0 * element(lanes, a + c)  # a copy, also if kernels are interpreted
        set_element(lanes, a + c, element(lanes, b + c))
        set_element(lanes, b + c, kept)


@kernel
def divide_by_own_block(solver, p):
    """The later columns of panel p, which rows were subtracted from already -> D^-1 H_pq."""
    lanes, values = solver.values8, solver.values
    t = solver.order[p]
    v0, size = solver.tree_v[t], solver.tree_v[t + 1] - solver.tree_v[t]
    start, step = solver.panel_start[p] // WIDTH, solver.panel_width[p] // WIDTH
    own = (size + WIDTH - 1) // WIDTH
    for i in range(size):
        row = start + i * step
        for c in range(own, step):
            kept = 1.0 * element(lanes, row + c)
            for j in range(i):
                kept = subtract_product(kept, element(lanes, start + j * step + c), values[row * WIDTH + j])
            set_element(lanes, row + c, solver.pivot[v0 + i] * kept)


@kernel
def update_later_halves(solver, p):
    """Subtracts H_rp D^-1 H_pq from the blocks (r, q) for all later trees r and q of panel p."""
    block_place, block_column, block_size = solver.block_place, solver.block_column, solver.block_size
    first, end = solver.panel_block[p], solver.panel_block[p + 1]
    start, size, lower = solver.panel_start[p], block_size[first], solver.counts[COUNT_VALUES]
    for a in range(first + 1, end):
        r = block_place[a]
        c = solver.panel_block[r]
        for b in range(a, end):
            place = element(block_place, b)
            while element(block_place, c) != place:
                c += 1
            into = solver.panel_start[r] + element(block_column, c)
            rows, columns = start + block_column[a], start + block_column[b]
            subtract_product_of_panels(solver, p, r, into, rows + lower, columns, block_size[a], block_size[b], size)
            if b > a:
                into += lower
                subtract_product_of_panels(
                    solver, p, r, into, rows, columns + lower, block_size[a], block_size[b], size
                )


@kernel
def subtract_product_of_panels(solver, p, r, into, factors, source, rows, columns, inner):
    """The block at `into` of panel r loses the product of two blocks of panel p, the first one transposed."""
    lanes, values, width = solver.values8, solver.values, solver.panel_width[p]
    target, step = into // WIDTH, solver.panel_width[r] // WIDTH
    if inner == 6 and rows == 6 and columns <= WIDTH:
        subtract_block_of_six(lanes, values, target, step, factors, width, source // WIDTH)
    else:
        count = (columns + WIDTH - 1) // WIDTH
        subtract_block(lanes, values, target, step, count, factors, width, source // WIDTH, rows, inner)


@kernel
def solve_halves(solver, x, first, end):
    """Row x of vectors = H^-1 x on the velocities of the trees at these places."""
    for p in range(first, end):
        solve_own_block(solver, x, p)
        take_from_later(solver, x, p, solver.panel_start[p] + solver.counts[COUNT_VALUES])
    for p in range(end - 1, first - 1, -1):
        take_later(solver, x, p)


@kernel
def solve_own_block(solver, x, p):
    """D z = y for the rows of one tree, in place."""
    lanes, y, y8 = solver.values8, solver.vectors, solver.vectors8
    t = solver.order[p]
    v0, size, slot = solver.tree_v[t], solver.tree_v[t + 1] - solver.tree_v[t], solver.tree_slot[t]
    start, step = solver.panel_start[p] // WIDTH, solver.panel_width[p] // WIDTH
    lower = start + solver.counts[COUNT_VALUES] // WIDTH
    for k in range(size - 1, -1, -1):
        best = solver.exchange[v0 + k]
        z = y[x, slot + best]
        y[x, slot + best] = y[x, slot + k]
        y[x, slot + k] = z
        if size <= WIDTH:
            for i in range(k):
                y[x, slot + i] -= z * solver.values[(lower + k * step) * WIDTH + i]
        else:
            for c in range(k // WIDTH + 1):
                kept = subtract_product(y8[x, slot // WIDTH + c], element(lanes, lower + k * step + c), z)
                y8[x, slot // WIDTH + c] = kept
    solve_triangle(solver, x, p)

"""The Hessian by blocks of trees, H = U^T U, and its solution. Panels hold one tree's rows."""

from mbcli.engine.contact.problem import SINGULAR, STATUS
from mbcli.engine.jit import kernel
from mbcli.engine.lane_memory import WIDTH, sum_of_lanes
from mbcli.engine.trigonometry import square_root


@kernel
def subtract_product(lanes, values, target, target_step, count, factors, width, source, rows, inner):
    """`rows` rows of count vectors from target on lose the product of inner rows of factors and of vectors.

    Row i of the target loses the sum over k of number factors + i + k width times the vectors from source + k step on,
    width numbers or step vectors being what the rows of the source are apart.
    """
    step = width // WIDTH
    for i in range(rows):
        for c in range(count):
            kept = lanes[target + i * target_step + c]
            for k in range(inner):
                kept = kept - values[factors + i + k * width] * lanes[source + k * step + c]
            lanes[target + i * target_step + c] = kept


@kernel
def subtract_product_of_six(lanes, values, target, target_step, factors, width, source):
    """The same for 6 rows of one vector and 6 inner rows, two free bodies: the compiler writes the loops out."""
    step = width // WIDTH
    r0, r1, r2 = lanes[source], lanes[source + step], lanes[source + 2 * step]
    r3, r4, r5 = lanes[source + 3 * step], lanes[source + 4 * step], lanes[source + 5 * step]
    for i in range(6):
        f = factors + i
        lower = values[f] * r0 + values[f + width] * r1 + values[f + 2 * width] * r2
        upper = values[f + 3 * width] * r3 + values[f + 4 * width] * r4 + values[f + 5 * width] * r5
        t = target + i * target_step
        lanes[t] = lanes[t] - (lower + upper)


@kernel
def factorize_places(solver, first, end):
    """values: H of the trees at these places -> U."""
    for p in range(first, end):
        factorize_panel(solver, p)
        if solver.counts[STATUS] == SINGULAR:
            return
        update_later_panels(solver, p)


@kernel
def factorize_panel(solver, p):
    """The rows of one tree, all that comes from earlier trees being subtracted."""
    lanes, values = solver.values8, solver.values
    t = solver.order[p]
    size = solver.tree_v[t + 1] - solver.tree_v[t]
    start, width = solver.panel_start[p], solver.panel_width[p]
    for i in range(size):
        row = start + i * width
        for j in range(i // WIDTH * WIDTH, i):
            values[row + j] = 0.0  # what whole vectors left below the diagonal
        pivot = values[row + i]
        if not pivot > 0.0:
            solver.counts[STATUS] = SINGULAR
            return
        s = 1.0 / square_root(pivot)
        for j in range(i, width):
            values[row + j] *= s
        for k in range(i + 1, size):
            skipped = k // WIDTH
            target, source = (start + k * width) // WIDTH + skipped, row // WIDTH + skipped
            subtract_product(lanes, values, target, 0, width // WIDTH - skipped, row + k, width, source, 1, 1)


@kernel
def update_later_panels(solver, p):
    """Subtracts U_pr^T U_pq from the block (r, q) for all blocks r <= q behind the diagonal one of panel p."""
    lanes, values, block_place, block_column = solver.values8, solver.values, solver.block_place, solver.block_column
    t = solver.order[p]
    size = solver.tree_v[t + 1] - solver.tree_v[t]
    start, width = solver.panel_start[p], solver.panel_width[p]
    end = solver.panel_block[p + 1]
    for a in range(solver.panel_block[p] + 1, end):
        r = block_place[a]
        u = solver.order[r]
        rows = solver.tree_v[u + 1] - solver.tree_v[u]
        target, target_width = solver.panel_start[r], solver.panel_width[r]
        c = solver.panel_block[r]
        for b in range(a, end):
            while block_place[c] != block_place[b]:
                c += 1
            w = solver.order[block_place[b]]
            columns = solver.tree_v[w + 1] - solver.tree_v[w]
            into = (target + block_column[c]) // WIDTH
            factors, source = start + block_column[a], (start + block_column[b]) // WIDTH
            step = target_width // WIDTH
            if size == 6 and rows == 6 and columns == 6:
                subtract_product_of_six(lanes, values, into, step, factors, width, source)
            else:
                count = (columns + WIDTH - 1) // WIDTH
                subtract_product(lanes, values, into, step, count, factors, width, source, rows, size)


@kernel
def solve_places(solver, x, first, end):
    """Row x of vectors = H^-1 x on the velocities of the trees at these places."""
    values, lanes, block_place, block_column = solver.values, solver.values8, solver.block_place, solver.block_column
    y, y8 = solver.vectors, solver.vectors8
    for p in range(first, end):  # U^T z = y
        t = solver.order[p]
        size, slot, width = solver.tree_v[t + 1] - solver.tree_v[t], solver.tree_slot[t], solver.panel_width[p]
        start = solver.panel_start[p]
        for i in range(size):
            row = start + i * width
            z = y[x, slot + i] / values[row + i]
            y[x, slot + i] = z
            for j in range(i + 1, size):
                y[x, slot + j] -= z * values[row + j]
        for b in range(solver.panel_block[p] + 1, solver.panel_block[p + 1]):
            u = solver.order[block_place[b]]
            target, source = solver.tree_slot[u] // WIDTH, (start + block_column[b]) // WIDTH
            for c in range((solver.tree_slot[u + 1] - solver.tree_slot[u]) // WIDTH):
                kept = y8[x, target + c]
                for i in range(size):
                    kept = kept - y[x, slot + i] * lanes[source + i * (width // WIDTH) + c]
                y8[x, target + c] = kept
    for p in range(end - 1, first - 1, -1):  # U x = z
        t = solver.order[p]
        width = solver.panel_width[p]
        for i in range(solver.tree_v[t + 1] - solver.tree_v[t] - 1, -1, -1):
            row, own = solver.panel_start[p] + i * width, solver.tree_slot[t] + i
            z = y[x, own]
            y[x, own] = 0.0
            skipped = i // WIDTH
            total = 0.0 * lanes[row // WIDTH]
            for b in range(solver.panel_block[p], solver.panel_block[p + 1]):
                u = solver.order[block_place[b]]
                target, source = solver.tree_slot[u] // WIDTH, (row + block_column[b]) // WIDTH
                for c in range(skipped, (solver.tree_slot[u + 1] - solver.tree_slot[u]) // WIDTH):
                    total = total + lanes[source + c] * y8[x, target + c]
                skipped = 0
            y[x, own] = (z - sum_of_lanes(total)) / values[row + i]

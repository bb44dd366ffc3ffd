"""The Hessian by blocks of trees, H = L^T L, and its solution. Panels hold one tree's rows.

Within a tree velocities are eliminated from the last to the first, so that branches that no constraint connects do not
fill (Featherstone 2005, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees").
"""

from mbcli.engine.fields.contact_fields import COUNT_STATUS, PROBLEM_SINGULAR
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH, add_product, element, set_element, subtract_product, sum_of_lanes
from mbcli.engine.runtime.tiles import subtract_products
from mbcli.engine.smooth.trigonometry import square_root

BLOCK = 16  # rows of a large tree that are eliminated before those above lose them, by tiles
LARGE_TREE = 64  # velocities of a tree from which on that is faster


@kernel
def add_row(J, values, number, target, gx, gy, gz):
    """Adds column `number` of a Jacobian's piece, times the rows of G J, to vector `target` of a matrix."""
    total = add_product(element(values, target), gx, element(J, number))
    total = add_product(total, gy, element(J, number + WIDTH))
    set_element(values, target, add_product(total, gz, element(J, number + 2 * WIDTH)))


@kernel
def subtract_block(lanes, values, target, target_step, count, factors, width, source, rows, inner):
    """`rows` rows of count vectors from target on lose the product of inner rows of factors and of vectors.

    Row i of the target loses the sum over k of number factors + i + k width times the vectors from source + k step on,
    width numbers or step vectors being what the rows of the source are apart.
    """
    step = width // WIDTH
    for i in range(rows):
        for c in range(count):
            kept = lanes[target + i * target_step + c]
            for k in range(inner):
                kept = subtract_product(kept, lanes[source + k * step + c], values[factors + i + k * width])
            lanes[target + i * target_step + c] = kept


@kernel
def subtract_block_of_six(lanes, values, target, target_step, factors, width, source):
    """The same for 6 rows of one vector and 6 inner rows, two free bodies: the compiler writes the loops out."""
    step = width // WIDTH
    r0, r1, r2 = element(lanes, source), element(lanes, source + step), element(lanes, source + 2 * step)
    source += 3 * step
    r3, r4, r5 = element(lanes, source), element(lanes, source + step), element(lanes, source + 2 * step)
    for i in range(6):
        f = factors + i
        t = target + i * target_step
        kept = subtract_product(element(lanes, t), r0, element(values, f))
        kept = subtract_product(kept, r1, element(values, f + width))
        kept = subtract_product(kept, r2, element(values, f + 2 * width))
        kept = subtract_product(kept, r3, element(values, f + 3 * width))
        kept = subtract_product(kept, r4, element(values, f + 4 * width))
        set_element(lanes, t, subtract_product(kept, r5, element(values, f + 5 * width)))


@kernel
def factorize_places(solver, first, end):
    """values: H of the trees at these places -> L."""
    for p in range(first, end):
        factorize_panel(solver, p)
        if solver.counts[COUNT_STATUS] == PROBLEM_SINGULAR:
            return
        update_later_panels(solver, p)


@kernel
def factorize_panel(solver, p):
    """The rows of one tree, all that comes from earlier trees being subtracted. The diagonal of L, inverted: pivot."""
    lanes, values = solver.values8, solver.values
    t = solver.order[p]
    v0, size = solver.tree_v[t], solver.tree_v[t + 1] - solver.tree_v[t]
    start, step = solver.panel_start[p] // WIDTH, solver.panel_width[p] // WIDTH
    own = (size + WIDTH - 1) // WIDTH
    end = size
    while end > 0:
        begin = (end - 1) // BLOCK * BLOCK if size > LARGE_TREE else 0
        for i in range(end - 1, begin - 1, -1):
            row = start + i * step
            pivot = values[row * WIDTH + i]
            if not pivot > 0.0:
                solver.counts[COUNT_STATUS] = PROBLEM_SINGULAR
                return
            inverse = 1.0 / pivot
            first = 1.0 * element(lanes, row)
            for k in range(i - 1, begin - 1, -1):
                factor = values[row * WIDTH + k]
                if factor != 0.0:
                    subtract_row(lanes, row, first, start + k * step, inverse * factor, k // WIDTH + 1, own, step)
            s = square_root(inverse)  # last: no other row waits for it
            solver.pivot[v0 + i] = s
            for c in range(row, row + i // WIDTH + 1):
                set_element(lanes, c, s * element(lanes, c))
            for c in range(row + own, row + step):
                set_element(lanes, c, s * element(lanes, c))
        for k in range(0, begin, WIDTH):
            subtract_rows(values, lanes, start, step, begin, end, k, own)
        end = begin
    clear_above(solver, p)


@kernel
def subtract_row(lanes, row, first, target, factor, count, own, step):
    """The first count vectors of a row, and those from own to step, times a factor, from the row at target.

    first: the first vector of the row, in a register.
    """
    set_element(lanes, target, subtract_product(element(lanes, target), first, factor))
    shift = target - row
    for c in range(row + 1, row + count):
        set_element(lanes, c + shift, subtract_product(element(lanes, c + shift), element(lanes, c), factor))
    for c in range(row + own, row + step):
        set_element(lanes, c + shift, subtract_product(element(lanes, c + shift), element(lanes, c), factor))


@kernel
def subtract_rows(values, lanes, start, step, begin, end, k, own):
    """As subtract_row() from rows begin to end, from the eight rows from k on."""
    first, target = start + begin * step, start + k * step
    for c in range(k // WIDTH + 1):
        subtract_products(values, lanes, target + c, step, first + k // WIDTH, first + c, step, end - begin)
    for c in range(own, step):
        subtract_products(values, lanes, target + c, step, first + k // WIDTH, first + c, step, end - begin)


@kernel
def clear_above(solver, p):
    """Zeros from the diagonal of the block of a tree on, in the registers that reach below it.

    Only after elimination: a register that is read soon after one of its numbers was written waits.
    """
    values, start, width = solver.values, solver.panel_start[p], solver.panel_width[p]
    t = solver.order[p]
    for i in range(solver.tree_v[t + 1] - solver.tree_v[t]):
        for j in range(i, i // WIDTH * WIDTH + WIDTH):
            values[start + i * width + j] = 0.0


@kernel
def update_later_panels(solver, p):
    """Subtracts L_pr^T L_pq from the block (r, q) for all blocks r <= q behind the diagonal one of panel p."""
    lanes, values, block_place, block_column = solver.values8, solver.values, solver.block_place, solver.block_column
    block_size = solver.block_size
    first, end = solver.panel_block[p], solver.panel_block[p + 1]
    size, start, width = block_size[first], solver.panel_start[p], solver.panel_width[p]
    for a in range(first + 1, end):
        r, rows = block_place[a], block_size[a]
        target, step = solver.panel_start[r] // WIDTH, solver.panel_width[r] // WIDTH
        factors = start + block_column[a]
        c = solver.panel_block[r]
        for b in range(a, end):
            place = element(block_place, b)
            while element(block_place, c) != place:
                c += 1
            into = target + element(block_column, c) // WIDTH
            source = (start + element(block_column, b)) // WIDTH
            columns = element(block_size, b)
            if size == 6 and rows == 6 and columns <= WIDTH:
                subtract_block_of_six(lanes, values, into, step, factors, width, source)
            else:
                count = (columns + WIDTH - 1) // WIDTH
                subtract_block(lanes, values, into, step, count, factors, width, source, rows, size)


@kernel
def solve_places(solver, x, first, end):
    """Row x of vectors = H^-1 x on the velocities of the trees at these places."""
    for p in range(first, end):
        solve_forward(solver, x, p)
    for p in range(end - 1, first - 1, -1):
        solve_back(solver, x, p)


@kernel
def solve_forward(solver, x, p):
    """L^T z = y for the rows of one tree, taken out of the later rows.

    Number by number among eight rows, by registers from these to others: a register that is read soon after one of its
    numbers was written waits.
    """
    values, lanes, y, y8 = solver.values, solver.values8, solver.vectors, solver.vectors8
    t = solver.order[p]
    v0, size, slot = solver.tree_v[t], solver.tree_v[t + 1] - solver.tree_v[t], solver.tree_slot[t]
    start, width = solver.panel_start[p], solver.panel_width[p]
    for low in range((size - 1) // WIDTH * WIDTH, -1, -WIDTH):
        high = min(low + WIDTH, size)
        for i in range(high - 1, low - 1, -1):
            row = start + i * width
            z = y[x, slot + i] * solver.pivot[v0 + i]
            y[x, slot + i] = z
            for j in range(low, i):
                y[x, slot + j] -= z * values[row + j]
        for c in range(low // WIDTH):
            kept = y8[x, slot // WIDTH + c]
            for i in range(low, high):
                kept = subtract_product(kept, element(lanes, (start + i * width) // WIDTH + c), y[x, slot + i])
            y8[x, slot // WIDTH + c] = kept
    take_from_later(solver, x, p, start)


@kernel
def take_from_later(solver, x, p, start):
    """The later rows of x lose the product of the transposed panel of place p, which begins at start, and its rows."""
    lanes, y, y8 = solver.values8, solver.vectors, solver.vectors8
    own, step = solver.panel_block[p], solver.panel_width[p] // WIDTH
    size, slot = solver.block_size[own], solver.block_slot[own]
    for b in range(own + 1, solver.panel_block[p + 1]):
        target, source = solver.block_slot[b] // WIDTH, (start + solver.block_column[b]) // WIDTH
        for c in range((solver.block_size[b] + WIDTH - 1) // WIDTH):
            kept = y8[x, target + c]
            for i in range(size):
                kept = subtract_product(kept, lanes[source + i * step + c], y[x, slot + i])
            y8[x, target + c] = kept


@kernel
def solve_back(solver, x, p):
    """L x = z for the rows of one tree, the later ones being known."""
    take_later(solver, x, p)
    solve_triangle(solver, x, p)


@kernel
def solve_triangle(solver, x, p):
    """L x = z of the triangle of one tree, whose diagonal stands in pivot; eight rows at a time, as solve_forward()."""
    values, lanes, y, y8 = solver.values, solver.values8, solver.vectors, solver.vectors8
    t = solver.order[p]
    v0, size, slot = solver.tree_v[t], solver.tree_v[t + 1] - solver.tree_v[t], solver.tree_slot[t]
    start, width = solver.panel_start[p], solver.panel_width[p]
    for low in range(0, size, WIDTH):
        high = min(low + WIDTH, size)
        for i in range(low, high if low > 0 else low):
            row = (start + i * width) // WIDTH
            total = 0.0 * element(lanes, row)
            for c in range(low // WIDTH):
                total = add_product(total, element(lanes, row + c), y8[x, slot // WIDTH + c])
            y[x, slot + i] -= sum_of_lanes(total)
        for i in range(low, high):
            row, z = start + i * width, y[x, slot + i]
            for j in range(low, i):
                z -= values[row + j] * y[x, slot + j]
            y[x, slot + i] = z * solver.pivot[v0 + i]


@kernel
def take_later(solver, x, p):
    """The rows of one tree of x lose the product of its panel and the later rows."""
    lanes, y, y8, later = solver.values8, solver.vectors, solver.vectors8, solver.gathered8
    own = solver.panel_block[p]
    if own + 1 == solver.panel_block[p + 1]:
        return
    size, slot = solver.block_size[own], solver.block_slot[own]
    own_vectors = (size + WIDTH - 1) // WIDTH
    n = own_vectors
    for b in range(own + 1, solver.panel_block[p + 1]):
        for c in range((solver.block_size[b] + WIDTH - 1) // WIDTH):
            later[n] = y8[x, solver.block_slot[b] // WIDTH + c]
            n += 1
    for i in range(size):
        row = (solver.panel_start[p] + i * solver.panel_width[p]) // WIDTH
        total = 0.0 * lanes[row]
        for c in range(own_vectors, n):
            total = add_product(total, element(lanes, row + c), element(later, c))
        y[x, slot + i] -= sum_of_lanes(total)

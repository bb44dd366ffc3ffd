"""Newton's method for the TAMSI approximation, whose balance of momentum is not the minimum of a function.

Castro et al. 2020 (arXiv:1909.05700), section IV: the Jacobian is not symmetric, and no contact's slip may turn by
more than a given angle in one iteration, nor jump across the zone of stiction. There may be no solution of the whole
step: then it is solved in parts, see substeps.py.
"""

from mbcli.engine.contact.block_lu import factorize_halves, solve_halves
from mbcli.engine.contact.hessian import add_rows, add_to_diagonal, column_of, fill_masses
from mbcli.engine.contact.laws.registry import response_of
from mbcli.engine.contact.patches import patch_jacobian
from mbcli.engine.contact.torsional import slip_size, torsional_jacobian
from mbcli.engine.fields.contact_fields import (
    COUNT_STATUS,
    COUNT_VALUES,
    HAS_TORSIONAL,
    HUNT_CROSSLEY_FRICTION,
    HUNT_CROSSLEY_MU,
    HUNT_CROSSLEY_V_S,
    LAGGED,
    PROBLEM_SOLVED,
    TAMSI,
    VECTOR_DIRECTION,
    VECTOR_GRADIENT,
)
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.runtime.lane_memory import WIDTH, add_product
from mbcli.engine.smooth.spatial import row3
from mbcli.engine.smooth.trigonometry import square_root

COSINE_OF_LARGEST_TURN = 0.5


@slot(plain="contact.plain.tamsi_direction")
def tamsi_direction(solver, k, keep):
    """vectors[DIRECTION] of island k: the step of Newton's method from con_v; keep: by the matrix of the last one."""
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    if not keep:
        fill_matrix(solver, k)
        factorize_halves(solver, first, end)
        if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
            return
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            solver.vectors8[VECTOR_DIRECTION, c] = -solver.vectors8[VECTOR_GRADIENT, c]
    solve_halves(solver, VECTOR_DIRECTION, first, end)


@kernel
def fill_matrix(solver, k):
    """values: A + J^T K J of island k in two halves, see block_lu.py."""
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    fill_masses(solver, first, end, True)
    lower = solver.counts[COUNT_VALUES]
    nothing = 0.0 * solver.mass8[0]
    for s in range((lower + solver.panel_start[first]) // WIDTH, (lower + solver.panel_start[end]) // WIDTH):
        solver.values8[s] = nothing
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_slot[i] >= 0:
            add_to_diagonal(solver, i)
        elif solver.con_patch_size[i] == 0:
            add_blocks(solver, i, contact_jacobian(solver, i), 1)
        elif solver.con_patch_size[i] > HAS_TORSIONAL:
            add_blocks(solver, i, patch_jacobian(solver, i), 2)
        elif solver.con_patch_size[i] == HAS_TORSIONAL:
            add_blocks(solver, i, torsional_jacobian(solver, i), 2)


@kernel
def contact_jacobian(solver, i):
    """As patch_jacobian(), of constraint i alone, which has the block vv only."""
    v = solver.con_v
    _, _, _, xx, yy, zz, xy, xz, yz = response_of(solver, i, v[i, 0], v[i, 1], v[i, 2])
    nothing = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return ((xx, xy, xz), (xy, yy, yz), (0.0, 0.0, zz)), nothing, nothing, nothing


@kernel
def add_blocks(solver, i, K, pieces):
    """Adds J^T K J of constraint i, K by rows of the blocks vv, vw, wv, ww; pieces stand alone or in pairs."""
    first, split, end = solver.con_first[i], solver.con_split[i], solver.con_first[i + 1]
    p = solver.tree_position[solver.con_tree[i, 0]]
    for a in range(first, split, pieces):
        for b in range(first, split, pieces):
            add_block(solver, K, pieces, a, b, p, p, solver.panel_start[p])
    if split == end:
        return
    q = solver.tree_position[solver.con_tree[i, 1]]
    for a in range(split, end, pieces):
        for b in range(split, end, pieces):
            add_block(solver, K, pieces, a, b, q, q, solver.panel_start[q])
    upper, lower = solver.con_block[i], solver.con_block[i] + solver.counts[COUNT_VALUES]
    vv, vw, wv, ww = K
    T = transposed(vv), transposed(wv), transposed(vw), transposed(ww)
    for a in range(first, split, pieces):
        for b in range(split, end, pieces):
            if p < q:
                add_block(solver, K, pieces, a, b, p, q, upper)
                add_block(solver, T, pieces, a, b, p, q, lower)
            else:
                add_block(solver, K, pieces, b, a, q, p, upper)
                add_block(solver, T, pieces, b, a, q, p, lower)


@kernel
def transposed(A):
    """The transpose of a matrix as three rows."""
    return (A[0][0], A[1][0], A[2][0]), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2])


@kernel
def add_block(solver, K, pieces, a, b, p, q, block):
    """Adds J_a^T K J_b to the block of places p (rows) and q (columns), which starts at `block` in values."""
    J = solver.jacobian8
    vv, vw, wv, ww = K
    v = J[3 * b], J[3 * b + 1], J[3 * b + 2]
    column = column_of(solver, b, q)
    if pieces == 1:
        add_rows(solver, a, block, p, column, (times(vv[0], v), times(vv[1], v), times(vv[2], v)))
        return
    w = J[3 * b + 3], J[3 * b + 4], J[3 * b + 5]
    linear = times_two(vv[0], v, vw[0], w), times_two(vv[1], v, vw[1], w), times_two(vv[2], v, vw[2], w)
    add_rows(solver, a, block, p, column, linear)
    angular = times_two(wv[0], v, ww[0], w), times_two(wv[1], v, ww[1], w), times_two(wv[2], v, ww[2], w)
    add_rows(solver, a + 1, block, p, column, angular)


@kernel
def times(a, x):
    """a x of rows of three numbers and three registers."""
    return add_product(add_product(a[0] * x[0], x[1], a[1]), x[2], a[2])


@kernel
def times_two(a, x, b, y):
    """a x + b y."""
    return add_product(add_product(add_product(times(a, x), y[0], b[0]), y[1], b[1]), y[2], b[2])


@slot(plain="contact.plain.tamsi_share")
def tamsi_share(solver, k):
    """How much of the direction may be taken: no slip turns too far or jumps across the zone of stiction."""
    step_length = 1.0
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] == HAS_TORSIONAL:
            step_length = min(step_length, step_length_of_torsional(solver, i))
        elif solver.con_kind[i] == TAMSI:
            v_s = solver.con_law[i, HUNT_CROSSLEY_V_S]
            v, dv = solver.con_v, solver.con_dv
            step_length = min(step_length, step_length_of_slip(v[i, 0], v[i, 1], dv[i, 0], dv[i, 1], v_s))
    return step_length


@kernel
def step_length_of_torsional(solver, i):
    """The largest step length of contact i, by its slip in the plane of slip and direction."""
    v, w = row3(solver.con_v, i, 0), row3(solver.con_v, i + 1, 0)
    d, e = row3(solver.con_dv, i, 0), row3(solver.con_dv, i + 1, 0)
    size = slip_size(v, w)
    if size == 0.0:
        return 1.0
    along = (v[0] * d[0] + v[1] * d[1] + w[0] * e[0] + w[1] * e[1] + w[2] * e[2]) / size
    length = slip_size(d, e)
    across = square_root(max(0.0, length * length - along * along))
    return step_length_of_slip(size, 0.0, along, across, solver.con_law[i, HUNT_CROSSLEY_V_S])


@slot(plain="contact.plain.freeze_friction")
def freeze_friction(solver, k, held):
    """Contacts of island k: with friction of the normal impulses that are there, as a convex problem, or of their own.

    The solution of the convex problem is a new start if Newton's method does not come closer.
    """
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if held and solver.con_kind[i] == TAMSI:
            solver.con_kind[i] = LAGGED
            solver.con_law[i, HUNT_CROSSLEY_FRICTION] = solver.con_law[i, HUNT_CROSSLEY_MU] * solver.con_impulse[i, 2]
        elif not held and solver.con_kind[i] == LAGGED:
            solver.con_kind[i] = TAMSI


@kernel
def step_length_of_slip(x, y, dx, dy, v_s):
    """The largest step length s up to 1 at which the slip (x, y) + s (dx, dy) does not turn too far."""
    a = x * x + y * y
    c = dx * dx + dy * dy
    end_x, end_y = x + dx, y + dy
    e = end_x * end_x + end_y * end_y
    if a <= v_s * v_s or e <= 1e-6 * v_s * v_s or c == 0.0:  # out of stiction all is allowed, and coming to rest
        return 1.0
    b = x * dx + y * dy
    nearest = -b / c
    if nearest > 0.0 and nearest < 1.0:
        nx, ny = x + nearest * dx, y + nearest * dy
        if nx * nx + ny * ny < v_s * v_s:  # across the zone of stiction: stay in it
            return nearest if nearest > 1e-3 else 1e-3
    cosine = (x * end_x + y * end_y) / square_root(a * e)
    if cosine >= COSINE_OF_LARGEST_TURN:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        mx, my = x + middle * dx, y + middle * dy
        if x * mx + y * my >= COSINE_OF_LARGEST_TURN * square_root(a * (mx * mx + my * my)):
            low = middle
        else:
            high = middle
    return max(low, 1e-3)

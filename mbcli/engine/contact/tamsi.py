"""Newton's method for the TAMSI approximation, whose balance of momentum is not the minimum of a function.

Castro et al. 2020 (arXiv:1909.05700), section IV: the Jacobian is not symmetric, and no contact's slip may turn by
more than a given angle in one iteration, nor jump across the zone of stiction. There may be no solution of the whole
step: then it is solved in parts, see substeps.py. Islands are factorized densely.
"""

from mbcli.engine.contact.block_cholesky import add_row
from mbcli.engine.contact.dense_elimination import eliminate_dense, solve_upper
from mbcli.engine.contact.patches import patch_jacobian
from mbcli.engine.contact.problem import response_of
from mbcli.engine.contact.turning import slip_size
from mbcli.engine.fields.contact_fields import (
    COUNT_STATUS,
    HUNT_CROSSLEY_FRICTION,
    HUNT_CROSSLEY_MU,
    HUNT_CROSSLEY_V_S,
    LAGGED,
    PROBLEM_SINGULAR,
    TAMSI,
    TURNS,
    VECTOR_DIRECTION,
    VECTOR_GRADIENT,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH, add_product
from mbcli.engine.smooth.spatial import row3, scale
from mbcli.engine.smooth.trigonometry import square_root

COSINE_OF_LARGEST_TURN = 0.5


@kernel
def tamsi_direction(solver, k):
    """vectors[DIRECTION] of island k: the step of Newton's method from con_v, by a dense factorization."""
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    n, width = 0, 0
    for p in range(first, end):
        t = solver.order[p]
        solver.tree_row[t], solver.tree_column[t] = n, width
        n += solver.tree_v[t + 1] - solver.tree_v[t]
        width += solver.tree_slot[t + 1] - solver.tree_slot[t]
    step = width // WIDTH
    H8, x = solver.dense8, solver.dense_vector
    nothing = 0.0 * solver.vectors8[VECTOR_GRADIENT, 0]
    for c in range(n * step):
        H8[c] = nothing
    for p in range(first, end):
        t = solver.order[p]
        v0, row, column = solver.tree_v[t], solver.tree_row[t], solver.tree_column[t] // WIDTH
        for d in range(v0, solver.tree_v[t + 1]):
            at, source = row + d - v0, (solver.dof_row[d] + v0) // WIDTH
            solver.dense_column[at] = solver.tree_column[t] + d - v0
            x[at] = -solver.vectors[VECTOR_GRADIENT, solver.dof_slot[d]]
            for c in range((solver.tree_slot[t + 1] - solver.tree_slot[t]) // WIDTH):
                H8[at * step + column + c] = solver.mass8[source + c]
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_members[i] == 0:
            add_to_dense(solver, i, step)
        elif solver.con_members[i] > TURNS:
            add_patch_to_dense(solver, i, step)
        elif solver.con_members[i] == TURNS:
            add_turning_to_dense(solver, i, step)
    if not eliminate_dense(solver.dense, H8, x, solver.dense_column, n, step):
        solver.counts[COUNT_STATUS] = PROBLEM_SINGULAR
        return
    solution, solution8 = solver.gathered, solver.gathered8
    for c in range(step):
        solution8[c] = nothing
    solve_upper(solver.dense, H8, x, solution, solution8, solver.dense_column, n, step)
    for p in range(first, end):
        t = solver.order[p]
        slot, column = solver.tree_slot[t] // WIDTH, solver.tree_column[t] // WIDTH
        for c in range((solver.tree_slot[t + 1] - solver.tree_slot[t]) // WIDTH):
            solver.vectors8[VECTOR_DIRECTION, slot + c] = solution8[column + c]


@kernel
def add_to_dense(solver, i, step):
    """Adds J^T G J of constraint i to the dense matrix of its island, whose rows have so many vectors."""
    v = solver.con_v
    _, _, _, xx, yy, zz, xy, xz, yz = response_of(solver, i, v[i, 0], v[i, 1], v[i, 2])
    J, J8 = solver.jacobian, solver.jacobian8
    for b in range(solver.con_first[i], solver.con_first[i + 1]):
        jx, jy, jz = J8[3 * b], J8[3 * b + 1], J8[3 * b + 2]
        gx, gy, gz = xx * jx + xy * jy + xz * jz, xy * jx + yy * jy + yz * jz, zz * jz
        u = tree_of_piece(solver, i, b)
        column = (solver.tree_column[u] - solver.tree_slot[u]) // WIDTH + solver.piece_vector[b]
        for a in range(solver.con_first[i], solver.con_first[i + 1]):
            t = tree_of_piece(solver, i, a)
            skipped = WIDTH * solver.piece_vector[a] - solver.tree_slot[t]
            target = (solver.tree_row[t] + skipped) * step + column
            for r in range(min(WIDTH, solver.tree_v[t + 1] - solver.tree_v[t] - skipped)):
                add_row(J, solver.dense8, 3 * WIDTH * a + r, target + r * step, gx, gy, gz)


@kernel
def add_patch_to_dense(solver, i, step):
    """As add_to_dense(), of the contacts of patch i, whose pieces stand in pairs."""
    vv, vw, wv, ww = patch_jacobian(solver, i)
    J, J8 = solver.jacobian, solver.jacobian8
    for b in range(solver.con_first[i], solver.con_first[i + 1], 2):
        v = J8[3 * b], J8[3 * b + 1], J8[3 * b + 2]
        w = J8[3 * b + 3], J8[3 * b + 4], J8[3 * b + 5]
        px, py, pz = times_two(vv[0], v, vw[0], w), times_two(vv[1], v, vw[1], w), times_two(vv[2], v, vw[2], w)
        lx, ly, lz = times_two(wv[0], v, ww[0], w), times_two(wv[1], v, ww[1], w), times_two(wv[2], v, ww[2], w)
        u = tree_of_piece(solver, i, b)
        column = (solver.tree_column[u] - solver.tree_slot[u]) // WIDTH + solver.piece_vector[b]
        for a in range(solver.con_first[i], solver.con_first[i + 1], 2):
            t = tree_of_piece(solver, i, a)
            skipped = WIDTH * solver.piece_vector[a] - solver.tree_slot[t]
            target = (solver.tree_row[t] + skipped) * step + column
            for r in range(min(WIDTH, solver.tree_v[t + 1] - solver.tree_v[t] - skipped)):
                add_row(J, solver.dense8, 3 * WIDTH * a + r, target + r * step, px, py, pz)
                add_row(J, solver.dense8, 3 * WIDTH * (a + 1) + r, target + r * step, lx, ly, lz)


@kernel
def times_two(a, x, b, y):
    """a x + b y of rows of three numbers and three registers each."""
    total = add_product(add_product(a[0] * x[0], x[1], a[1]), x[2], a[2])
    return add_product(add_product(add_product(total, y[0], b[0]), y[1], b[1]), y[2], b[2])


@kernel
def add_turning_to_dense(solver, i, step):
    """The same for a contact that resists turning, whose pieces stand in pairs."""
    v, w = row3(solver.con_v, i, 0), row3(solver.con_v, i + 1, 0)
    size = slip_size(v, w)
    _, _, _, along, across, zz, _, xz, _ = response_of(solver, i, size, 0.0, v[2])
    inverse = 1.0 / size if size > 0.0 else 0.0
    t0, t1, t = inverse * v[0], inverse * v[1], scale(inverse, w)
    J, J8 = solver.jacobian, solver.jacobian8
    for b in range(solver.con_first[i], solver.con_first[i + 1], 2):
        x, y, z = J8[3 * b], J8[3 * b + 1], J8[3 * b + 2]
        d, e, f = J8[3 * b + 3], J8[3 * b + 4], J8[3 * b + 5]
        p = (along - across) * (t0 * x + t1 * y + t[0] * d + t[1] * e + t[2] * f) + xz * z
        gx, gy, gz = across * x + t0 * p, across * y + t1 * p, zz * z
        gd, ge, gf = across * d + t[0] * p, across * e + t[1] * p, across * f + t[2] * p
        u = tree_of_piece(solver, i, b)
        column = (solver.tree_column[u] - solver.tree_slot[u]) // WIDTH + solver.piece_vector[b]
        for a in range(solver.con_first[i], solver.con_first[i + 1], 2):
            s = tree_of_piece(solver, i, a)
            skipped = WIDTH * solver.piece_vector[a] - solver.tree_slot[s]
            target = (solver.tree_row[s] + skipped) * step + column
            for r in range(min(WIDTH, solver.tree_v[s + 1] - solver.tree_v[s] - skipped)):
                add_row(J, solver.dense8, 3 * WIDTH * a + r, target + r * step, gx, gy, gz)
                add_row(J, solver.dense8, 3 * WIDTH * (a + 1) + r, target + r * step, gd, ge, gf)


@kernel
def tree_of_piece(solver, i, a):
    return solver.con_tree[i, 0] if a < solver.con_split[i] else solver.con_tree[i, 1]


@kernel
def tamsi_share(solver, k):
    """How much of the direction may be taken: no slip turns too far or jumps across the zone of stiction."""
    share = 1.0
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_members[i] == TURNS:
            share = min(share, share_of_turning(solver, i))
        elif solver.con_kind[i] == TAMSI:
            v_s = solver.con_law[i, HUNT_CROSSLEY_V_S]
            share = min(
                share,
                share_of_slip(solver.con_v[i, 0], solver.con_v[i, 1], solver.con_dv[i, 0], solver.con_dv[i, 1], v_s),
            )
    return share


@kernel
def share_of_turning(solver, i):
    """The share of contact i, which resists turning: that of its slip in the plane of slip and direction."""
    v, w = row3(solver.con_v, i, 0), row3(solver.con_v, i + 1, 0)
    d, e = row3(solver.con_dv, i, 0), row3(solver.con_dv, i + 1, 0)
    size = slip_size(v, w)
    if size == 0.0:
        return 1.0
    along = (v[0] * d[0] + v[1] * d[1] + w[0] * e[0] + w[1] * e[1] + w[2] * e[2]) / size
    length = slip_size(d, e)
    across = square_root(max(0.0, length * length - along * along))
    return share_of_slip(size, 0.0, along, across, solver.con_law[i, HUNT_CROSSLEY_V_S])


@kernel
def hold_friction(solver, k, held):
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
def share_of_slip(x, y, dx, dy, v_s):
    """Largest share s up to 1 for which the slip (x, y) + s (dx, dy) neither reverses nor turns beyond the limit."""
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

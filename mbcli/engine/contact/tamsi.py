"""Newton's method for the TAMSI approximation, whose balance of momentum is no minimum of anything.

Castro et al. 2020 (arXiv:1909.05700), section IV: the Jacobian is not symmetric, and no contact's slip may turn by
more than a given angle in one iteration, nor jump across the zone of stiction. There may be no solution: then the
status says so. Islands are factorized densely.
"""

from mbcli.engine.contact.hunt_crossley import FRICTION, MU, V_S
from mbcli.engine.contact.problem import DIRECTION, GRADIENT, LAGGED, SINGULAR, STATUS, TAMSI, hessian_of
from mbcli.engine.contact.tamsi_law import tamsi_jacobian
from mbcli.engine.integrators import factorize, solve_factorized
from mbcli.engine.jit import kernel
from mbcli.engine.lane_memory import WIDTH
from mbcli.engine.trigonometry import square_root

COSINE_OF_LARGEST_TURN = 0.5


@kernel
def tamsi_direction(solver, k):
    """vectors[DIRECTION] of island k: the step of Newton's method from con_v, by a dense factorization."""
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    n = 0
    for p in range(first, end):
        t = solver.order[p]
        solver.tree_row[t] = n
        n += solver.tree_v[t + 1] - solver.tree_v[t]
    H, x = solver.dense[: n * n].reshape(n, n), solver.dense_vector[:n]
    for i in range(n):
        for j in range(n):
            H[i, j] = 0.0
    for p in range(first, end):
        t = solver.order[p]
        v0, v1, row = solver.tree_v[t], solver.tree_v[t + 1], solver.tree_row[t]
        for d in range(v0, v1):
            x[row + d - v0] = -solver.vectors[GRADIENT, solver.dof_slot[d]]
            for e in range(v0, v1):
                H[row + d - v0, row + e - v0] = solver.mass[solver.dof_row[d] + e]
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        add_to_dense(solver, solver.con_order[c], H)
    if not factorize(H, solver.dense_pivots[:n]):
        solver.counts[STATUS] = SINGULAR
        return
    solve_factorized(H, solver.dense_pivots[:n], x)
    for p in range(first, end):
        t = solver.order[p]
        for d in range(solver.tree_v[t], solver.tree_v[t + 1]):
            solver.vectors[DIRECTION, solver.dof_slot[d]] = x[solver.tree_row[t] + d - solver.tree_v[t]]


@kernel
def add_to_dense(solver, i, H):
    """Adds J^T G J of constraint i to the dense matrix of its island."""
    x, y, z = solver.con_v[i, 0], solver.con_v[i, 1], solver.con_v[i, 2]
    if solver.con_kind[i] == TAMSI:
        G = tamsi_jacobian(solver.con_law, i, x, y, z)
    else:
        xx, yy, zz, _, _, _ = hessian_of(solver, i, x, y, z)
        G = (xx, 0.0, 0.0, 0.0, yy, 0.0, zz)
    J = solver.jacobian
    for a in range(solver.con_first[i], solver.con_first[i + 1]):
        row, rows = place_of_piece(solver, i, a)
        for b in range(solver.con_first[i], solver.con_first[i + 1]):
            column, columns = place_of_piece(solver, i, b)
            for s in range(columns):
                c = 3 * WIDTH * b + s
                jx, jy, jz = J[c], J[c + WIDTH], J[c + 2 * WIDTH]
                gx = G[0] * jx + G[1] * jy + G[2] * jz
                gy = G[3] * jx + G[4] * jy + G[5] * jz
                gz = G[6] * jz
                for r in range(rows):
                    d = 3 * WIDTH * a + r
                    H[row + r, column + s] += J[d] * gx + J[d + WIDTH] * gy + J[d + 2 * WIDTH] * gz


@kernel
def place_of_piece(solver, i, a):
    """First row in the dense matrix of a piece of constraint i, and how many rows it has."""
    t = solver.con_tree[i, 0] if a < solver.con_split[i] else solver.con_tree[i, 1]
    skipped = WIDTH * solver.piece_vector[a] - solver.tree_slot[t]
    return solver.tree_row[t] + skipped, min(WIDTH, solver.tree_v[t + 1] - solver.tree_v[t] - skipped)


@kernel
def tamsi_share(solver, k):
    """How much of the direction may be taken: no slip turns too far or jumps across the zone of stiction."""
    share = 1.0
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_kind[i] == TAMSI:
            v_s = solver.con_law[i, V_S]
            share = min(
                share,
                share_of_slip(solver.con_v[i, 0], solver.con_v[i, 1], solver.con_dv[i, 0], solver.con_dv[i, 1], v_s),
            )
    return share


@kernel
def hold_friction(solver, k, held):
    """Contacts of island k: with friction of the normal impulses that are there, as a convex problem, or of their own.

    What solves the convex problem is a new start where Newton's method does not come closer.
    """
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if held and solver.con_kind[i] == TAMSI:
            solver.con_kind[i] = LAGGED
            solver.con_law[i, FRICTION] = solver.con_law[i, MU] * solver.con_impulse[i, 2]
        elif not held and solver.con_kind[i] == LAGGED:
            solver.con_kind[i] = TAMSI


@kernel
def share_of_slip(x, y, dx, dy, v_s):
    """Largest share s up to 1 for which the slip (x, y) + s (dx, dy) is no reversal and no turn beyond the limit."""
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

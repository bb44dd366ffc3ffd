"""A constraint as the solver has it: its law, and how its velocity depends on those of the trees.

Constraints are appended one after another: `begin_constraint`, columns of its Jacobian tree by tree, `end_constraint`.
The columns are kept in pieces of eight, those of one vector register of velocities. A row that is the velocity of a
joint, as those of limits and controllers are, needs none of that: `add_velocity_row`.
"""

from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    COUNT_ARRIVALS,
    COUNT_BOUNCES,
    COUNT_CONSTRAINTS,
    COUNT_ITERATIONS,
    COUNT_MOST_ITERATIONS_SEEN,
    COUNT_PIECES,
    COUNT_STATUS,
    COUNT_STRIKES,
    PROBLEM_SOLVED,
    PROBLEM_TOO_MANY_CONSTRAINTS,
    VECTOR_GRADIENT,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH, add_product, sum_of_lanes


@kernel
def clear_problem(solver):
    """An empty problem. The islands of the last one are kept for one of the same pattern."""
    counts = solver.counts
    counts[COUNT_CONSTRAINTS], counts[COUNT_PIECES], counts[COUNT_STATUS] = 0, 0, PROBLEM_SOLVED
    counts[COUNT_ITERATIONS], counts[COUNT_MOST_ITERATIONS_SEEN] = 0, 0
    counts[COUNT_BOUNCES], counts[COUNT_STRIKES], counts[COUNT_ARRIVALS] = 0, 0, 0
    solver.con_first[0] = 0


@kernel
def begin_constraint(solver, kind, source):
    """Index of a new constraint; -1 if there is no room, which is in the status."""
    i = solver.counts[COUNT_CONSTRAINTS]
    if i >= solver.con_kind.shape[0]:
        solver.counts[COUNT_STATUS] = PROBLEM_TOO_MANY_CONSTRAINTS
        return -1
    solver.con_kind[i] = kind
    solver.con_source[i] = source
    solver.con_patch_size[i] = 0
    solver.con_bounce[i] = 0.0
    solver.con_slot[i] = -1
    solver.con_tree[i, 0] = -1
    solver.con_tree[i, 1] = -1
    return i


@kernel
def add_velocity_row(solver, source, d):
    """Index of a new BOUNDED constraint whose row is velocity d; -1 if there is no room, which is in the status."""
    i = begin_constraint(solver, BOUNDED, source)
    if i >= 0:
        solver.con_slot[i], solver.con_tree[i, 0] = solver.dof_slot[d], solver.dof_tree[d]
        solver.con_split[i] = solver.con_first[i + 1] = solver.con_first[i]
        solver.counts[COUNT_CONSTRAINTS] = i + 1
    return i


@kernel
def add_entry(solver, i, d, x, y, z):
    """Column d of the Jacobian of constraint i, the last one begun; in each of its trees from the outermost inwards."""
    slot = solver.dof_slot[d]
    k = solver.counts[COUNT_PIECES] - 1
    if k < solver.con_first[i] or solver.piece_vector[k] != slot // WIDTH:
        k = begin_piece(solver, i, solver.dof_tree[d], slot // WIDTH)
        if k < 0:
            return
        for n in range(3 * WIDTH):
            solver.jacobian[3 * WIDTH * k + n] = 0.0
    column = 3 * WIDTH * k + slot % WIDTH
    solver.jacobian[column] = x
    solver.jacobian[column + WIDTH] = y
    solver.jacobian[column + 2 * WIDTH] = z


@kernel
def begin_piece(solver, i, tree, vector):
    """Index of a new piece of the Jacobian of constraint i, to be filled; -1 without room, which is in the status."""
    k = solver.counts[COUNT_PIECES]
    if k >= solver.piece_vector.shape[0]:
        solver.counts[COUNT_STATUS] = PROBLEM_TOO_MANY_CONSTRAINTS
        return -1
    if solver.con_tree[i, 0] == -1:
        solver.con_tree[i, 0] = tree
    elif solver.con_tree[i, 0] != tree and solver.con_tree[i, 1] == -1:
        solver.con_tree[i, 1] = tree
        solver.con_split[i] = k
    solver.piece_vector[k] = vector
    solver.counts[COUNT_PIECES] = k + 1
    return k


@kernel
def end_constraint(solver, i):
    """Keeps constraint i if it has a column."""
    k = solver.counts[COUNT_PIECES]
    if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED or k == solver.con_first[i]:
        return
    if solver.con_tree[i, 1] == -1:
        solver.con_split[i] = k
    solver.con_first[i + 1] = k
    solver.counts[COUNT_CONSTRAINTS] = i + 1


@kernel
def follow_in_patch(solver, first, i):
    """Keeps contact i, the last one begun, in the patch that begins with contact `first`: it has no columns."""
    solver.con_patch_size[first] += 1
    solver.con_patch_size[i] = first - i
    solver.con_first[i + 1] = solver.con_first[i]
    solver.con_split[i] = solver.con_first[i]
    solver.con_tree[i, 0], solver.con_tree[i, 1] = solver.con_tree[first, 0], solver.con_tree[first, 1]
    solver.counts[COUNT_CONSTRAINTS] = i + 1


@kernel
def first_of(solver, i):
    """The first contact of the patch of contact i, or that alone."""
    return i + min(0, solver.con_patch_size[i])


@kernel
def add_momentum(solver, i, x, y, z):
    """What the impulse (x, y, z) along the rows of constraint i, which is in no patch, does, to the gradient's row."""
    J, vectors, piece_vector = solver.jacobian8, solver.vectors8, solver.piece_vector
    for p in range(solver.con_first[i], solver.con_first[i + 1]):
        s = piece_vector[p]
        total = add_product(vectors[VECTOR_GRADIENT, s], J[3 * p], x)
        vectors[VECTOR_GRADIENT, s] = add_product(add_product(total, J[3 * p + 1], y), J[3 * p + 2], z)


@kernel
def row_velocity(solver, i, x, row):
    """Velocity along one row of constraint i, which is in no patch, at x, a row of vectors."""
    if solver.con_slot[i] >= 0:
        return solver.vectors[x, solver.con_slot[i]] if row == 0 else 0.0
    total = 0.0
    for k in range(solver.con_first[i], solver.con_first[i + 1]):
        total += sum_of_lanes(solver.jacobian8[3 * k + row] * solver.vectors8[x, solver.piece_vector[k]])
    return total


@kernel
def rows_velocity(solver, i, x):
    """(x, y, z): velocities along the three rows of constraint i, which is in no patch, at x, a row of vectors."""
    return row_velocity(solver, i, x, 0), row_velocity(solver, i, x, 1), row_velocity(solver, i, x, 2)

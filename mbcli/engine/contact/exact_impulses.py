"""Impulses that explain the velocities of a step to rounding: of a problem that is solved to a part of its momenta.

What rows of a run say has to obey Newton's equations, and a free axis carries nothing. So the impulses g of the solver
get the least change with which J^T g = A (v - v*) at the velocities v that the step took: the least one in the norm of
W^-1, with the weights W of rows. Those of a contact are in proportion to the derivatives of its law, so that impulses
are those of the law at velocities nearby: they stay on the friction cone and against the slip, and what does not press
gets nothing. Rows at a bound keep theirs. Impulses are off by no more than the tolerance then, as before.

With the matrix A + J^T W J and the rest r = A (v - v*) - J^T g, each round solves for x, changes g by W J x, and leaves
A x: about the part 1 / SHARP of what impulses can explain. What they cannot, since a search ended without a whole step
of Newton's method, is the momentum of x, a velocity of the size of the tolerance that belongs to no force: v_off.
"""

from mbcli.engine.contact.block_cholesky import factorize_places, solve_places
from mbcli.engine.contact.compliance import compliance
from mbcli.engine.contact.hessian import (
    add_constraint_hessian,
    add_patch_hessian,
    fill_masses,
    symmetric_rows,
)
from mbcli.engine.contact.laws.registry import is_convex_kind, response_of
from mbcli.engine.contact.newton import mul_jacobian, mul_mass
from mbcli.engine.contact.patches import (
    add_patch_impulses,
    add_wrench_of_patch,
    compliance_in_patch,
    fill_patch_response,
    sum_over_patch,
)
from mbcli.engine.contact.problem import add_momentum
from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    BOUNDED_HIGH,
    BOUNDED_LOW,
    BOUNDED_R,
    COUNT_ISLANDS,
    COUNT_STATUS,
    HAS_TORSIONAL,
    PROBLEM_SOLVED,
    VECTOR_DIRECTION,
    VECTOR_FREE,
    VECTOR_GRADIENT,
    VECTOR_INVERSE_DIAGONAL,
    VECTOR_MOMENTUM,
    VECTOR_VELOCITY,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH
from mbcli.engine.smooth.spatial import row3

SHARP = 1e4  # the largest weight of a constraint, times how much the bodies give way to it
ROUNDS = 4


@kernel
def make_impulses_exact(solver):
    """After solve_problem(): con_impulse of all islands; vectors[DIRECTION]: what of the velocities none explains."""
    for c in range(solver.vectors8.shape[1]):
        solver.vectors8[VECTOR_DIRECTION, c] = 0.0 * solver.vectors8[VECTOR_VELOCITY, c]
    for k in range(solver.counts[COUNT_ISLANDS]):
        make_island_exact(solver, k)


@kernel
def make_island_exact(solver, k):
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    weigh_rows(solver, k)
    fill_weighted(solver, k)
    factorize_places(solver, first, end)
    if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:  # the weights are none for these masses: impulses stay
        solver.counts[COUNT_STATUS] = PROBLEM_SOLVED
        return
    fill_momentum(solver, k)
    for _ in range(ROUNDS):
        fill_rest(solver, k)
        for p in range(first, end):
            t = solver.order[p]
            for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
                solver.vectors8[VECTOR_DIRECTION, c] = 1.0 * solver.vectors8[VECTOR_GRADIENT, c]
        solve_places(solver, VECTOR_DIRECTION, first, end)
        mul_jacobian(solver, k, VECTOR_DIRECTION, solver.con_dv)
        for c in range(solver.island_con[k], solver.island_con[k + 1]):
            change_impulses(solver, solver.con_order[c])


@kernel
def weigh_rows(solver, k):
    """con_hessian: the weights of each constraint of island k, xx, yy, zz, xy, xz, yz; 0 where impulses stay."""
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] < 0:
            continue  # it is weighed with the first of its patch
        if solver.con_patch_size[i] > 0:
            fill_patch_response(solver, i)
        if solver.con_patch_size[i] == HAS_TORSIONAL:
            pressed = solver.con_impulse[i, 2] > 0.0
            weight = weight_of(compliance_in_patch(solver, i, i)) if pressed else 0.0
            for n in range(i, i + 2):
                keep_weights(solver, n, 1.0, (weight, weight, weight, 0.0, 0.0, 0.0))
        elif solver.con_kind[i] < BOUNDED:
            for n in range(i, i + max(1, solver.con_patch_size[i])):
                weigh_contact(solver, i, n)
        else:
            weight = weight_of(give_of_row(solver, i)) if may_change(solver, i) else 0.0
            keep_weights(solver, i, 1.0, (weight, weight, weight, 0.0, 0.0, 0.0))


@kernel
def weigh_contact(solver, i, n):
    """Contact n, alone or of patch i: minus the derivatives of its impulse, scaled by how the bodies give way."""
    v = solver.con_v
    _, _, _, xx, yy, zz, xy, xz, yz = response_of(solver, n, v[n, 0], v[n, 1], v[n, 2])
    inverse = 1.0 / zz if zz > 0.0 else 0.0
    if is_convex_kind(solver.con_kind[n]):  # else its derivatives have not what friction takes from the normal impulse
        xx, yy, xy = xx - xz * xz * inverse, yy - yz * yz * inverse, xy - xz * yz * inverse
    xx, yy, xy = along_slip(v[n, 0], v[n, 1], xx, yy, xy)
    xx, yy, xy = xx + xz * xz * inverse, yy + yz * yz * inverse, xy + xz * yz * inverse
    give = compliance(solver, i) if solver.con_patch_size[i] == 0 else compliance_in_patch(solver, i, n)
    most = max(xx, max(yy, zz))
    keep_weights(solver, n, weight_of(give) / most if most > 0.0 else 0.0, (xx, yy, zz, xy, xz, yz))


@kernel
def along_slip(x, y, xx, yy, xy):
    """Derivatives of friction by the slip (x, y), without those across it, so that friction stays against the slip."""
    size = x * x + y * y
    if size == 0.0:
        return xx, yy, xy
    along = max(0.0, x * x * xx + 2.0 * x * y * xy + y * y * yy) / (size * size)
    return along * x * x, along * y * y, along * x * y


@kernel
def weight_of(give):
    return SHARP / give if give > 0.0 else 0.0


@kernel
def keep_weights(solver, n, scale, numbers):
    H = solver.con_hessian
    H[n, 0], H[n, 1], H[n, 2] = scale * numbers[0], scale * numbers[1], scale * numbers[2]
    H[n, 3], H[n, 4], H[n, 5] = scale * numbers[3], scale * numbers[4], scale * numbers[5]


@kernel
def give_of_row(solver, i):
    """How much the bodies give way to constraint i, which is no contact, and its law.

    Without the law a force element along which next to nothing moves would have any weight.
    """
    if solver.con_slot[i] >= 0:
        return solver.con_law[i, BOUNDED_R] + solver.vectors[VECTOR_INVERSE_DIAGONAL, solver.con_slot[i]]
    return solver.con_law[i, BOUNDED_R] + compliance(solver, i)


@kernel
def may_change(solver, i):
    """Whether constraint i, which is no contact, is not at a bound."""
    if solver.con_kind[i] != BOUNDED:
        return True
    return solver.con_law[i, BOUNDED_LOW] < solver.con_impulse[i, 0] < solver.con_law[i, BOUNDED_HIGH]


@kernel
def fill_weighted(solver, k):
    """As fill_hessian(), with the weights in place of the derivatives of the laws."""
    fill_masses(solver, solver.island_tree[k], solver.island_tree[k + 1], False)
    H, nothing = solver.con_hessian, (0.0, 0.0, 0.0)
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        weights = (H[i, 0], H[i, 1], H[i, 2], H[i, 3], H[i, 4], H[i, 5])
        if solver.con_patch_size[i] > HAS_TORSIONAL:
            add_patch_hessian(solver, i, sum_over_patch(solver, i, 0))
        elif solver.con_patch_size[i] == HAS_TORSIONAL:
            add_patch_hessian(solver, i, (weights, nothing, nothing, nothing, weights))
        elif solver.con_slot[i] >= 0:
            t = solver.con_tree[i, 0]
            p, d = solver.tree_position[t], solver.con_slot[i] - solver.tree_slot[t]
            solver.values[solver.panel_start[p] + d * solver.panel_width[p] + d] += H[i, 0]
        elif solver.con_patch_size[i] == 0:
            add_constraint_hessian(solver, i, weights)


@kernel
def fill_momentum(solver, k):
    """vectors[MOMENTUM] = A (v - v*)."""
    first, end, vectors = solver.island_tree[k], solver.island_tree[k + 1], solver.vectors8
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_DIRECTION, c] = vectors[VECTOR_VELOCITY, c] - vectors[VECTOR_FREE, c]
    mul_mass(solver, first, end, VECTOR_DIRECTION, VECTOR_MOMENTUM)


@kernel
def fill_rest(solver, k):
    """vectors[GRADIENT] = A (v - v*) - J^T g."""
    vectors = solver.vectors8
    for p in range(solver.island_tree[k], solver.island_tree[k + 1]):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_GRADIENT, c] = -vectors[VECTOR_MOMENTUM, c]
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] > HAS_TORSIONAL:
            add_patch_impulses(solver, i)
        elif solver.con_patch_size[i] == HAS_TORSIONAL:
            add_wrench_of_patch(solver, i, row3(solver.con_impulse, i, 0), row3(solver.con_impulse, i + 1, 0))
        elif solver.con_slot[i] >= 0:
            solver.vectors[VECTOR_GRADIENT, solver.con_slot[i]] += solver.con_impulse[i, 0]
        elif solver.con_patch_size[i] == 0:
            add_momentum(solver, i, solver.con_impulse[i, 0], solver.con_impulse[i, 1], solver.con_impulse[i, 2])
    for p in range(solver.island_tree[k], solver.island_tree[k + 1]):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_GRADIENT, c] = -vectors[VECTOR_GRADIENT, c]


@kernel
def change_impulses(solver, i):
    """con_impulse of constraint i, and of the patch that begins with it, by W con_dv."""
    if solver.con_patch_size[i] < 0:
        return
    count = 2 if solver.con_patch_size[i] == HAS_TORSIONAL else max(1, solver.con_patch_size[i])
    for n in range(i, i + count):
        H, impulse = solver.con_hessian, solver.con_impulse
        x, y, z = symmetric_rows(
            (H[n, 0], H[n, 1], H[n, 2], H[n, 3], H[n, 4], H[n, 5]),
            solver.con_dv[n, 0],
            solver.con_dv[n, 1],
            solver.con_dv[n, 2],
        )
        impulse[n, 0], impulse[n, 1], impulse[n, 2] = impulse[n, 0] + x, impulse[n, 1] + y, impulse[n, 2] + z

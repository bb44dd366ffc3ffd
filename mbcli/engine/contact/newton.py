"""Newton's method with a line search for the convex problem, island by island (Castro et al. 2022, section IV).

The search starts from the velocities of the step's start; sticking.py says where it goes first. An iteration that made
the residual much smaller, or so small that another like it would be the last, is followed by one with the same Hessian,
which costs a fraction and does nearly as well there. The search ends when the gradient of the cost, with each momentum
measured by the square root of its mass, is less than the tolerance times the larger of A v and J^T impulse. Both vanish
if impulses hold bodies at rest; the gradient is rounding then. If an iteration hardly makes it smaller, or none is
left, it is measured by the terms that cancel in it; so it is at the start of what is at rest, where an iteration would
follow rounding.
"""

from mbcli.engine.contact.block_cholesky import factorize_places, solve_places
from mbcli.engine.contact.dual_friction import begin_duals, move_duals
from mbcli.engine.contact.hessian import fill_hessian
from mbcli.engine.contact.islands import build_islands
from mbcli.engine.contact.laws.bounded import impulse_of_row
from mbcli.engine.contact.laws.registry import response_of
from mbcli.engine.contact.line_search import line_search
from mbcli.engine.contact.patches import (
    add_patch_impulses,
    evaluate_patch_law,
    patch_times_jacobian,
    terms_of_patch,
)
from mbcli.engine.contact.problem import add_momentum
from mbcli.engine.contact.sticking import assume_stiction, release_contacts
from mbcli.engine.contact.substeps import begin_substep, end_substep, end_substeps, halve_substeps, keep_start
from mbcli.engine.contact.tamsi import freeze_friction, tamsi_direction, tamsi_share
from mbcli.engine.contact.torsional import (
    add_turning_impulses,
    terms_of_turning,
    turning_times_jacobian,
)
from mbcli.engine.fields.contact_fields import (
    COUNT_ISLANDS,
    COUNT_ITERATIONS,
    COUNT_MOST_ITERATIONS_SEEN,
    COUNT_STATUS,
    COUNT_UNSOLVED,
    HAS_TORSIONAL,
    PROBLEM_NOT_CONVERGED,
    PROBLEM_SOLVED,
    SETTING_APPROXIMATION,
    SETTING_MOST_ITERATIONS,
    SETTING_RESIDUAL,
    SETTING_TOLERANCE,
    TAMSI,
    VECTOR_DIAGONAL,
    VECTOR_DIRECTION,
    VECTOR_FREE,
    VECTOR_GRADIENT,
    VECTOR_INVERSE_DIAGONAL,
    VECTOR_MOMENTUM,
    VECTOR_MOMENTUM_STEP,
    VECTOR_VELOCITY,
)
from mbcli.engine.runtime.handles import solver_at
from mbcli.engine.runtime.kernel import called, kernel
from mbcli.engine.runtime.lane_memory import WIDTH, add_product, sum_of_lanes

SMALLEST = 1e-30  # squared momentum that counts as nothing
MOST_PARTS = 64  # of a step with TAMSI
PATIENCE = 20  # iterations of TAMSI, which has no cost to search along, until friction is held for as many
ROUNDING = 1e-10  # of the terms of the gradient: a gradient so small that does not become smaller is rounding
AT_REST = 1e-20  # of the squared momenta without constraints
STILL = 1e-13  # of the terms: what is at rest and has no larger gradient stays at rest
STEADY = 1e-3  # the residual of a start near which the solution is: what slips there slips on
SLOW = 0.5  # reduction of the residual by an iteration from which on it may be rounding
FAST = 0.03  # reduction of the residual by an iteration after which its Hessian is used again


@kernel
def solve_problem(solver, again):
    """vectors[VELOCITY] a first guess -> that, con_v and con_impulse of the minimum; counts of the search.

    again: whether the problem solved last had the same rows, laws and masses, so that its Hessian may serve once more.
    """
    build_islands(solver)
    solver.settings[SETTING_RESIDUAL] = 0.0
    free_other_trees(solver)
    if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
        return
    for k in range(solver.counts[COUNT_ISLANDS]):
        solve_island(solver, k, again)
        if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
            return


@kernel
def free_other_trees(solver):
    """vectors[VELOCITY] of the trees that no constraint touches."""
    for t in range(solver.tree_island.shape[0]):
        if solver.tree_island[t] < 0:
            for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
                solver.vectors8[VECTOR_VELOCITY, c] = solver.vectors8[VECTOR_FREE, c]


@called
def solve_problem_called(model, data, points, solver, number):
    """solve_problem(), called by address."""
    solve_problem(solver_at(solver), False)
    return 0.0


@kernel
def solve_island(solver, k, again):
    """A whole step; with TAMSI, if no solution of that is found, in more and more parts (substeps.py)."""
    tamsi = int(solver.settings[SETTING_APPROXIMATION]) == TAMSI
    if tamsi:
        keep_start(solver, k)
    parts, part, residual = 1, 0, 0.0
    while True:
        if tamsi:
            begin_substep(solver, k, parts, part)
        converged, remaining, iterations = solve_newton(solver, k, tamsi, again)
        solver.counts[COUNT_ITERATIONS] += iterations
        solver.counts[COUNT_MOST_ITERATIONS_SEEN] = max(solver.counts[COUNT_MOST_ITERATIONS_SEEN], iterations)
        if converged:
            residual = max(residual, remaining)
            if tamsi:
                end_substep(solver, k, parts)
            part += 1
            if part == parts:
                break
        elif tamsi and parts < MOST_PARTS:
            solver.counts[COUNT_STATUS] = PROBLEM_SOLVED
            halve_substeps(solver, k)
            parts, part, residual = 2 * parts, 0, 0.0
        else:
            residual = remaining
            solver.counts[COUNT_UNSOLVED] = k
            if solver.counts[COUNT_STATUS] == PROBLEM_SOLVED:
                solver.counts[COUNT_STATUS] = PROBLEM_NOT_CONVERGED
            break
    if tamsi:
        end_substeps(solver, k, parts)
    solver.settings[SETTING_RESIDUAL] = max(solver.settings[SETTING_RESIDUAL], residual)


@kernel
def solve_newton(solver, k, tamsi, again):
    """The minimum from vectors[VELOCITY] on: whether it was found, the square of the residual there, iterations."""
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    mark = solver.tree_v[solver.order[first]]  # its pivot is positive once there is a Hessian of the island
    kept = again and solver.pivot[mark] > 0.0
    if not again:
        solver.pivot[mark] = 0.0
    enough = solver.settings[SETTING_TOLERANCE] * solver.settings[SETTING_TOLERANCE]
    start_search(solver, k)
    iterations, tries, residual, held = 0, 0, 0.0, False
    again_by_last, trusted = False, True  # of the last Hessian: whether it serves once more, and whether it may
    while True:
        before = residual
        residual = fill_gradient(solver, k)
        last = iterations >= solver.settings[SETTING_MOST_ITERATIONS]
        converged = residual <= enough
        if not converged and iterations > 0 and (residual > SLOW * SLOW * before or last):
            of_terms = residual_of_terms(solver, k)
            if of_terms <= (enough if last else min(enough, ROUNDING * ROUNDING)):
                converged, residual = True, of_terms
        elif not converged and iterations == 0 and starts_at_rest(solver, k):
            of_terms = residual_of_terms(solver, k)
            if of_terms <= STILL * STILL:
                converged, residual = True, of_terms
        if last or (converged and not held):
            break
        if tamsi and (converged or tries == PATIENCE):
            held, tries = not held, 0
            freeze_friction(solver, k, held)
            before = 0.0
            evaluate_law(solver, k)
            fill_gradient(solver, k)
        sticking = False
        if iterations == 0:
            begin_duals(solver, k, residual <= STEADY * STEADY)
        if iterations == 0 and residual > STEADY * STEADY and not tamsi and not kept:
            sticking = begin_with_stiction(solver, k)
        fast = residual < FAST * FAST * before
        last_one = residual < SLOW * SLOW * before and residual * residual <= enough * before  # if it does as well
        if again_by_last and residual > SLOW * SLOW * before:
            trusted = False  # a row that was at rest acts now, or the other way round: it would come back
        again_by_last = trusted and not (tamsi and not held) and (fast or last_one)
        if tamsi and not held:
            tamsi_direction(solver, k, last_one)
        else:
            newton_direction(solver, k, again_by_last or (iterations == 0 and kept))
        if sticking:
            release_contacts(solver, k)
            evaluate_law(solver, k)
            fill_gradient(solver, k)
        if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
            converged = False
            break
        mul_jacobian(solver, k, VECTOR_DIRECTION, solver.con_dv)
        mul_mass(solver, first, end, VECTOR_DIRECTION, VECTOR_MOMENTUM_STEP)
        if tamsi and not held:
            move(solver, k, tamsi_share(solver, k))
            evaluate_law(solver, k)
        else:
            move_duals(solver, k)
            move(solver, k, line_search(solver, k, sticking))
        iterations += 1
        tries += 1
    if held:
        freeze_friction(solver, k, False)
        converged = False
    return converged, residual, iterations


@kernel
def start_search(solver, k):
    """vectors[VELOCITY] of island k -> what the gradient there is made of."""
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    mul_jacobian(solver, k, VECTOR_VELOCITY, solver.con_v)
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            solver.vectors8[VECTOR_DIRECTION, c] = solver.vectors8[VECTOR_VELOCITY, c] - solver.vectors8[VECTOR_FREE, c]
    mul_mass(solver, first, end, VECTOR_DIRECTION, VECTOR_MOMENTUM)
    evaluate_law(solver, k)


@kernel
def begin_with_stiction(solver, k):
    """Makes vectors[GRADIENT] that of the problem in which contacts stick, if it is another one; whether it is."""
    mul_jacobian(solver, k, VECTOR_FREE, solver.con_dv)
    if not assume_stiction(solver, k):
        release_contacts(solver, k)
        return False
    evaluate_law(solver, k)
    fill_gradient(solver, k)
    return True


@kernel
def newton_direction(solver, k, keep):
    """vectors[DIRECTION] of island k: the step of Newton's method from con_v; keep: by the Hessian of the last one."""
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    if not keep:
        fill_hessian(solver, k)
        factorize_places(solver, first, end)
        if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
            return
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            solver.vectors8[VECTOR_DIRECTION, c] = -solver.vectors8[VECTOR_GRADIENT, c]
    solve_places(solver, VECTOR_DIRECTION, first, end)


@kernel
def mul_jacobian(solver, k, x, y):
    """y = J x for the constraints of island k, x a row of vectors; rows that a constraint has not are zero."""
    J, vectors, piece_vector = solver.jacobian8, solver.vectors8, solver.piece_vector
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] != 0:
            if solver.con_patch_size[i] > HAS_TORSIONAL:
                patch_times_jacobian(solver, i, x, y)
            elif solver.con_patch_size[i] == HAS_TORSIONAL:
                turning_times_jacobian(solver, i, x, y)
            continue
        if solver.con_slot[i] >= 0:
            y[i, 0], y[i, 1], y[i, 2] = solver.vectors[x, solver.con_slot[i]], 0.0, 0.0
            continue
        p = solver.con_first[i]
        s = vectors[x, piece_vector[p]]
        a, b, n = J[3 * p] * s, J[3 * p + 1] * s, J[3 * p + 2] * s
        for p in range(solver.con_first[i] + 1, solver.con_first[i + 1]):
            s = vectors[x, piece_vector[p]]
            a, b, n = add_product(a, J[3 * p], s), add_product(b, J[3 * p + 1], s), add_product(n, J[3 * p + 2], s)
        y[i, 0], y[i, 1], y[i, 2] = sum_of_lanes(a), sum_of_lanes(b), sum_of_lanes(n)


@kernel
def mul_mass(solver, first, end, x, y):
    """Row y of vectors = A times row x, for the trees at these places."""
    mass, vectors = solver.mass8, solver.vectors8
    for p in range(first, end):
        t = solver.order[p]
        v0, slot = solver.tree_v[t], solver.tree_slot[t]
        for c in range((solver.tree_slot[t + 1] - slot) // WIDTH):
            total = 0.0 * vectors[x, slot // WIDTH + c]
            for d in range(v0, solver.tree_v[t + 1]):  # A is symmetric: a sum of its rows
                row = (solver.dof_row[d] + v0) // WIDTH
                total = add_product(total, mass[row + c], solver.vectors[x, slot + d - v0])
            vectors[y, slot // WIDTH + c] = total


@kernel
def evaluate_law(solver, k):
    """con_v -> con_impulse, con_hessian of the patches of island k; a line search has done it."""
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] > HAS_TORSIONAL:
            evaluate_patch_law(solver, i)


@kernel
def fill_gradient(solver, k):
    """Gradient, and impulses at con_v, after evaluate_law() in patches.

    Returns the square of the gradient over that of the momenta it is made of.
    """
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    vectors = solver.vectors8
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_GRADIENT, c] = 0.0 * vectors[VECTOR_MOMENTUM, c]
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] != 0:
            if solver.con_patch_size[i] > HAS_TORSIONAL:
                add_patch_impulses(solver, i)
            elif solver.con_patch_size[i] == HAS_TORSIONAL:
                add_turning_impulses(solver, i)
            continue
        if solver.con_slot[i] >= 0:
            impulse, _ = impulse_of_row(solver.con_law, i, solver.con_v[i, 0])
            solver.con_impulse[i, 0], solver.con_impulse[i, 1], solver.con_impulse[i, 2] = impulse, 0.0, 0.0
            solver.vectors[VECTOR_GRADIENT, solver.con_slot[i]] += impulse
            continue
        x, y, z, _, _, _, _, _, _ = response_of(solver, i, solver.con_v[i, 0], solver.con_v[i, 1], solver.con_v[i, 2])
        solver.con_impulse[i, 0], solver.con_impulse[i, 1], solver.con_impulse[i, 2] = x, y, z
        add_momentum(solver, i, x, y, z)
    size = impulse = inertial = 0.0 * vectors[VECTOR_GRADIENT, 0]
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            j, v, inverse = (
                vectors[VECTOR_GRADIENT, c],
                vectors[VECTOR_VELOCITY, c],
                vectors[VECTOR_INVERSE_DIAGONAL, c],
            )
            g = vectors[VECTOR_MOMENTUM, c] - j
            size = add_product(size, g * g, inverse)
            impulse = add_product(impulse, j * j, inverse)
            inertial = add_product(inertial, v * v, vectors[VECTOR_DIAGONAL, c])
            vectors[VECTOR_GRADIENT, c] = g  # last: interpreted, j is a view of it
    return sum_of_lanes(size) / (max(sum_of_lanes(impulse), sum_of_lanes(inertial)) + SMALLEST)


@kernel
def starts_at_rest(solver, k):
    """Whether the momenta A v are nothing beside those of A v*."""
    vectors = solver.vectors8
    moving = free = 0.0 * vectors[VECTOR_VELOCITY, 0]
    for p in range(solver.island_tree[k], solver.island_tree[k + 1]):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            v, w, diagonal = vectors[VECTOR_VELOCITY, c], vectors[VECTOR_FREE, c], vectors[VECTOR_DIAGONAL, c]
            moving, free = add_product(moving, v * v, diagonal), add_product(free, w * w, diagonal)
    return sum_of_lanes(moving) <= AT_REST * sum_of_lanes(free)


@kernel
def residual_of_terms(solver, k):
    """After fill_gradient: the square of the gradient over that of its terms, the momenta of A v, A v* and each row."""
    J, vectors, piece_vector = solver.jacobian8, solver.vectors8, solver.piece_vector
    size = terms = 0.0 * vectors[VECTOR_GRADIENT, 0]
    of_rows = 0.0  # that are velocities
    for p in range(solver.island_tree[k], solver.island_tree[k + 1]):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            g, v, free = vectors[VECTOR_GRADIENT, c], vectors[VECTOR_VELOCITY, c], vectors[VECTOR_FREE, c]
            size = add_product(size, g * g, vectors[VECTOR_INVERSE_DIAGONAL, c])
            terms = add_product(terms, v * v + free * free, vectors[VECTOR_DIAGONAL, c])
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] != 0:
            if solver.con_patch_size[i] > HAS_TORSIONAL:
                terms = terms_of_patch(solver, i, terms)
            elif solver.con_patch_size[i] == HAS_TORSIONAL:
                terms = terms_of_turning(solver, i, terms)
            continue
        if solver.con_slot[i] >= 0:
            j = solver.con_impulse[i, 0]
            of_rows += j * j * solver.vectors[VECTOR_INVERSE_DIAGONAL, solver.con_slot[i]]
            continue
        for p in range(solver.con_first[i], solver.con_first[i + 1]):
            for r in range(3):
                j = solver.con_impulse[i, r] * J[3 * p + r]
                terms = add_product(terms, j * j, vectors[VECTOR_INVERSE_DIAGONAL, piece_vector[p]])
    return sum_of_lanes(size) / (sum_of_lanes(terms) + of_rows + SMALLEST)


@kernel
def move(solver, k, step_length):
    """From the point along the direction."""
    vectors = solver.vectors8
    for p in range(solver.island_tree[k], solver.island_tree[k + 1]):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_VELOCITY, c] = vectors[VECTOR_VELOCITY, c] + step_length * vectors[VECTOR_DIRECTION, c]
            vectors[VECTOR_MOMENTUM, c] = vectors[VECTOR_MOMENTUM, c] + step_length * vectors[VECTOR_MOMENTUM_STEP, c]
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        for r in range(3):
            solver.con_v[i, r] += step_length * solver.con_dv[i, r]

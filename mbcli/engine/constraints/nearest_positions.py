"""The positions nearest to wanted ones that satisfy equations: weighted least squares on a manifold.

First a feasible point, by Levenberg-Marquardt steps whose damping goes with the square of the error, so that dependent
equations do no harm (Yamashita and Fukushima 2001). Then Newton's method in the null space of the derivative, on the
curvature of the Lagrangian, each step followed by steps back to feasibility.

`evaluate_equations` is a slot: interpreted, the equations may be functions of Python. Then model is there, and
whatever of the other three handles that function wants.
"""

import math

from mbcli.engine.constraints.constraint_frames import CONTACT, separation
from mbcli.engine.constraints.constraint_stages import calc_constraint_positions
from mbcli.engine.constraints.dense_systems import (
    CLEAR,
    SOLUTION,
    clear_panel,
    registers_of_row,
    solve_upper,
    triangularize,
    turn_back,
)
from mbcli.engine.constraints.orthogonal_rows import complete_rows, orthogonalize_rows
from mbcli.engine.constraints.position_differences import move_positions, position_difference, pull_back_difference
from mbcli.engine.fields.assembly_fields import (
    ASSEMBLY_ATTEMPTS,
    ASSEMBLY_CONVERGED,
    ASSEMBLY_ERROR,
    ASSEMBLY_EVALUATIONS,
    ASSEMBLY_MINIMIZE,
    ASSEMBLY_MOST_STEPS,
    ASSEMBLY_RANK,
    ASSEMBLY_RESTARTS,
    ASSEMBLY_STATIONARITY,
    ASSEMBLY_STEPS,
    ASSEMBLY_TOLERANCE,
)
from mbcli.engine.runtime.handles import assembly_at, constraints_at, data_at, model_at, work_at
from mbcli.engine.runtime.kernel import INJECTED, Handle, Matrix, Vector, entry, kernel, slot, unlocked
from mbcli.engine.runtime.lane_memory import WIDTH
from mbcli.engine.smooth.spatial import dot, row3
from mbcli.engine.smooth.trigonometry import square_root

CLEAR_PIVOT = 1e-8  # squared sine of the angle between a row and others that are clearly independent
FEWEST_CLEAR_ROWS = 8  # of fewer the singular values take less time
RANK_TOLERANCE = 1e-9  # of singular values, relative to the largest
STATIONARY = 1e-8  # of the projected gradient, relative to the weights times the difference, and one
LARGEST_STEP = 1.0  # [rad or m] in one coordinate
DIFFERENCE_STEP = 1e-5  # [rad or m] for the curvature
LIGHTEST_WEIGHT = 1e-8  # a weight of zero in steps to feasibility, relative to the largest
FIRST_STEP_DAMPING, MOST_STEP_DAMPING = 1e-2, 1e10
STEPS_BACK = 30  # to feasibility, at most, after a step along the equations
MOST_SHORTER_STEPS = 12
FLATTEST = 1e-8  # least curvature that steps take for one, relative to the largest


@entry
@slot(python=INJECTED)
def evaluate_equations(model: Handle, data: Handle, cons: Handle, work: Handle, assembly: Handle, q: Vector):
    """q -> phi, phi_slope: position errors of constraints, and heights of contacts above those of the first q."""
    m, d, c, w, a = model_at(model), data_at(data), constraints_at(cons), work_at(work), assembly_at(assembly)
    copy_numbers(q, d.q)
    calc_constraint_positions(m, d, c, w, 1)
    for i in range(c.constraint_rows.shape[0]):
        for k in range(c.constraint_rows[i, 0], c.constraint_rows[i, 1]):
            if c.row_kind[k] == CONTACT:
                height = dot(row3(c.row_axis, k, 3), separation(m, d, c, i))
                if a.assembly_counts[ASSEMBLY_EVALUATIONS] == 0:
                    a.contact_height[k] = height
                w.err[k] = height - a.contact_height[k]
    a.assembly_counts[ASSEMBLY_EVALUATIONS] += 1
    take_equations(c, w, a)
    take_bounds(a, q)


@kernel
def take_equations(cons, work, assembly):
    """err, G -> phi, phi_slope, in the caller's order."""
    phi, slope = assembly.phi, assembly.phi_slope
    for i in range(cons.row_number.shape[0]):
        phi[cons.row_number[i]] = work.err[i]
        for k in range(slope.shape[1]):
            slope[i, k] = 0.0
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        place = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            for i in range(first, end):
                slope[cons.row_number[i], cons.support_dof[j]] = work.G[place + i - first]
            place += end - first


@kernel
def take_bounds(a, q):
    """How far positions are beyond their bounds -> the last of phi, phi_slope."""
    first = a.phi.shape[0] - a.bounds.shape[0]
    for i in range(a.bounds.shape[0]):
        x, row = q[a.bound_q[i]], first + i
        for k in range(a.phi_slope.shape[1]):
            a.phi_slope[row, k] = 0.0
        a.phi[row] = max(x - a.bounds[i, 1], 0.0) - max(a.bounds[i, 0] - x, 0.0)
        if a.phi[row] != 0.0:
            a.phi_slope[row, a.bound_dof[i]] = 1.0


@kernel
def copy_numbers(source, target):
    for i in range(target.shape[0]):
        target[i] = source[i]


@kernel
def length_of(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i]
    return square_root(total)


@entry
def find_nearest(model: Handle, data: Handle, cons: Handle, work: Handle, assembly: Handle):
    """q_wanted, weights and what is given in counts and numbers -> q_best and the rest of these.

    From its start and from as many others as are needed and allowed.
    """
    m, d, c, w, a = model_at(model), data_at(data), constraints_at(cons), work_at(work), assembly_at(assembly)
    counts, numbers = a.assembly_counts, a.assembly_numbers
    start_nearest(a)
    best, converged, steps = -1.0, False, 0
    for attempt in range(counts[ASSEMBLY_ATTEMPTS] + 1):
        if attempt == 0:
            copy_numbers(a.q_wanted, a.q_reached)
        else:
            for k in range(a.assembly_step.shape[0]):
                a.assembly_step[k] = a.restart_moves[attempt - 1, k]
            move_positions(m, a.q_wanted, a.assembly_step, a.q_reached)
        steps += find_feasible(m, d, c, w, a, counts[ASSEMBLY_MOST_STEPS])
        error = numbers[ASSEMBLY_ERROR]
        if best < 0.0 or error < best:
            best, converged = error, error <= numbers[ASSEMBLY_TOLERANCE]
            counts[ASSEMBLY_RESTARTS] = attempt
            copy_numbers(a.q_reached, a.q_best)
        if converged:
            break
    if converged and counts[ASSEMBLY_MINIMIZE] == 1:
        steps += minimize_difference(m, d, c, w, a)
    counts[ASSEMBLY_CONVERGED], counts[ASSEMBLY_STEPS] = 1 if converged else 0, steps
    describe_nearest(m, d, c, w, a)


@unlocked
def find_all_nearest(
    model: Handle, data: Handle, cons: Handle, work: Handle, assembly: Handle, starts: Matrix, results: Matrix
):
    """As find_nearest(), from each row of starts -> a row of results: q, then counts, then numbers."""
    a = assembly_at(assembly)
    nq = a.q_wanted.shape[0]
    for k in range(starts.shape[0]):
        for i in range(nq):
            a.q_wanted[i] = starts[k, i]
        find_nearest(model, data, cons, work, assembly)
        for i in range(nq):
            results[k, i] = a.q_best[i]
        for i in range(a.assembly_counts.shape[0]):
            results[k, nq + i] = a.assembly_counts[i]
        for i in range(a.assembly_numbers.shape[0]):
            results[k, nq + a.assembly_counts.shape[0] + i] = a.assembly_numbers[i]


@entry
def find_within_bounds(model: Handle, data: Handle, cons: Handle, work: Handle, assembly: Handle, starts: Matrix):
    """From one row of starts after the other until phi is zero -> q_best within bounds, and counts and numbers.

    If no start leads there, q_best is the best that was reached. Positions are moved to bounds that they pass by less
    than the tolerance; what remains counts up to ten times as much. The distance from q_wanted does not matter.
    """
    m, d, c, w, a = model_at(model), data_at(data), constraints_at(cons), work_at(work), assembly_at(assembly)
    counts, numbers = a.assembly_counts, a.assembly_numbers
    start_nearest(a)
    best, steps = -1.0, 0
    for attempt in range(starts.shape[0]):
        for i in range(a.q_reached.shape[0]):
            a.q_reached[i] = starts[attempt, i]
        steps += find_feasible(m, d, c, w, a, counts[ASSEMBLY_MOST_STEPS])
        for i in range(a.bounds.shape[0]):
            k = a.bound_q[i]
            a.q_reached[k] = min(max(a.q_reached[k], a.bounds[i, 0]), a.bounds[i, 1])
        evaluate_equations(m, d, c, w, a, a.q_reached)
        error = length_of(a.phi)
        if best < 0.0 or error < best:
            best, counts[ASSEMBLY_RESTARTS] = error, attempt
            copy_numbers(a.q_reached, a.q_best)
        if best <= 10.0 * numbers[ASSEMBLY_TOLERANCE]:
            break
    numbers[ASSEMBLY_ERROR], counts[ASSEMBLY_STEPS] = best, steps
    counts[ASSEMBLY_CONVERGED] = 1 if best <= 10.0 * numbers[ASSEMBLY_TOLERANCE] else 0


@kernel
def start_nearest(a):
    """assembly_weights -> step_scale; nothing is evaluated yet."""
    a.assembly_counts[ASSEMBLY_EVALUATIONS] = 0
    heaviest = 0.0
    for k in range(a.assembly_weights.shape[0]):
        if a.assembly_weights[k] < math.inf:
            heaviest = max(heaviest, a.assembly_weights[k])
    for k in range(a.assembly_weights.shape[0]):
        share = a.assembly_weights[k] / heaviest if heaviest > 0.0 else 0.0
        a.step_scale[k] = 1.0 / square_root(max(share, LIGHTEST_WEIGHT)) if share < math.inf else 0.0


@kernel
def find_feasible(m, d, c, w, a, most_steps):
    """q_reached -> the one that the steps from there lead to, and its ASSEMBLY_ERROR; returns the number of steps.

    It is most_steps if they get stuck or are too many.
    """
    evaluate_equations(m, d, c, w, a, a.q_reached)
    error, damping = length_of(a.phi), FIRST_STEP_DAMPING
    for step in range(most_steps):
        a.assembly_numbers[ASSEMBLY_ERROR] = error
        if error <= a.assembly_numbers[ASSEMBLY_TOLERANCE]:
            return step
        rising, longest = scale_rows(a)
        if rising <= 1e-12 * longest * error:
            return most_steps  # no direction makes the error smaller
        error_tried, largest = error, 0.0
        while damping < MOST_STEP_DAMPING:
            if largest > 0.0 or not set_clear_step(a, damping * error * error):
                if largest == 0.0:
                    largest = decompose_scaled(a)
                set_damped_step(a, damping * error * error, RANK_TOLERANCE * largest)
            move_positions(m, a.q_reached, a.assembly_step, a.q_tried)
            evaluate_equations(m, d, c, w, a, a.q_tried)
            error_tried = length_of(a.phi)
            if error_tried < (1.0 - 1e-4) * error:
                break
            damping = max(8.0 * damping, 1e-3)
        if not error_tried < (1.0 - 1e-4) * error:
            return most_steps
        damping *= 0.2
        copy_numbers(a.q_tried, a.q_reached)
        error = error_tried
    a.assembly_numbers[ASSEMBLY_ERROR] = error
    return most_steps


@kernel
def scale_rows(a):
    """phi_slope, step_scale -> turned_rows; phi -> phi_reached. Returns the slope of half the square of phi's length,
    and the longest row.
    """
    n, nv, longest = a.phi.shape[0], a.step_scale.shape[0], 0.0
    for k in range(nv):
        a.assembly_step[k] = 0.0
    for i in range(n):
        a.phi_reached[i], square = a.phi[i], 0.0
        for k in range(nv):
            scaled = a.phi_slope[i, k] * a.step_scale[k]
            a.turned_rows[i, k] = scaled
            a.assembly_step[k] += scaled * a.phi[i]
            square += scaled * scaled
        longest = max(longest, square)
    return length_of(a.assembly_step), square_root(longest)


@slot(python=INJECTED)
def set_clear_step(a, damping):
    """After scale_rows: as set_damped_step(), by a Cholesky decomposition; False if a row is nearly a combination."""
    rows, K, y = a.turned_rows, a.turned_by, a.turned_phi
    n, nv = y.shape[0], a.assembly_step.shape[0]
    if n < FEWEST_CLEAR_ROWS:
        return False
    for i in range(n):
        for j in range(i + 1):
            K[i, j] = 0.0
            for k in range(nv):
                K[i, j] += rows[i, k] * rows[j, k]
    for j in range(n):
        own = K[j, j]
        K[j, j] += damping
        for k in range(j):
            K[j, j] -= K[j, k] * K[j, k] * K[k, k]
        if not K[j, j] > CLEAR_PIVOT * own:
            return False
        for i in range(j + 1, n):
            for k in range(j):
                K[i, j] -= K[i, k] * K[j, k] * K[k, k]
            K[i, j] /= K[j, j]
    for i in range(n):
        y[i] = a.phi_reached[i]
        for k in range(i):
            y[i] -= K[i, k] * y[k]
    for i in range(n - 1, -1, -1):
        y[i] /= K[i, i]
        for k in range(i + 1, n):
            y[i] -= K[k, i] * y[k]
    for k in range(nv):
        a.assembly_step[k] = 0.0
    for i in range(n):
        for k in range(nv):
            a.assembly_step[k] -= a.step_scale[k] * rows[i, k] * y[i]
    limit_step(a)
    return True


@kernel
def decompose_scaled(a):
    """After scale_rows -> orthogonal rows and turned_phi; returns the largest singular value."""
    n, nv = a.phi.shape[0], a.step_scale.shape[0]
    orthogonalize_rows(a.turned_rows, a.turned_by, a.row_lengths, n, nv)
    for i in range(n):
        a.turned_phi[i] = 0.0
        for k in range(n):
            a.turned_phi[i] += a.turned_by[i, k] * a.phi_reached[k]
    return largest_of(a.row_lengths, n)


@kernel
def largest_of(x, n):
    """The largest of the first n numbers and zero."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, x[i])
    return largest


@kernel
def set_damped_step(a, damping, least):
    """After decompose_scaled -> assembly_step, along the rows that are longer than `least`."""
    for k in range(a.assembly_step.shape[0]):
        a.assembly_step[k] = 0.0
    for i in range(a.turned_phi.shape[0]):
        length = a.row_lengths[i]
        if length > least:
            factor = a.turned_phi[i] / (length * length + damping)
            for k in range(a.assembly_step.shape[0]):
                a.assembly_step[k] -= a.step_scale[k] * a.turned_rows[i, k] * factor
    limit_step(a)


@kernel
def limit_step(a):
    """Shortens assembly_step where a coordinate goes farther than LARGEST_STEP."""
    largest = 0.0
    for k in range(a.assembly_step.shape[0]):
        largest = max(largest, abs(a.assembly_step[k]))
    scale_step(a, LARGEST_STEP / max(largest, LARGEST_STEP))


@kernel
def scale_step(a, factor):
    for k in range(a.assembly_step.shape[0]):
        a.assembly_step[k] *= factor


@kernel
def minimize_difference(m, d, c, w, a):
    """From a feasible q_best to the least weighted difference on the equations, if the steps get there.

    Returns the number of steps.
    """
    cost, steps = weighted_cost(m, a, a.q_best), 0
    for _ in range(a.assembly_counts[ASSEMBLY_MOST_STEPS]):
        free = project_gradient(m, d, c, w, a, a.q_best)
        position_difference(m, a.q_best, a.q_wanted, a.difference)
        if free == 0 or a.assembly_numbers[ASSEMBLY_STATIONARITY] <= STATIONARY * (1.0 + weighted_length(a)):
            break
        find_curvature(m, d, c, w, a, free)
        slope = set_newton_step(a, free)
        steps += 1
        for _ in range(MOST_SHORTER_STEPS):
            move_positions(m, a.q_best, a.assembly_step, a.q_reached)
            accepted = is_lower(m, d, c, w, a, cost + 1e-4 * slope + 1e-13 * cost)
            if accepted:
                break
            scale_step(a, 0.3)
            slope *= 0.3
        if not accepted:
            break
        copy_numbers(a.q_reached, a.q_best)
        cost = weighted_cost(m, a, a.q_best)
    return steps


@kernel
def is_lower(m, d, c, w, a, highest_cost):
    """q_reached -> a feasible one, and whether it is there and costs no more than highest_cost."""
    copy_numbers(a.assembly_step, a.step_along)
    find_feasible(m, d, c, w, a, STEPS_BACK)
    copy_numbers(a.step_along, a.assembly_step)
    if not a.assembly_numbers[ASSEMBLY_ERROR] <= a.assembly_numbers[ASSEMBLY_TOLERANCE]:
        return False
    return weighted_cost(m, a, a.q_reached) <= highest_cost


@kernel
def weighted_cost(m, a, q):
    """Half the weighted square of the difference of q from q_wanted."""
    position_difference(m, q, a.q_wanted, a.difference)
    total = 0.0
    for k in range(a.difference.shape[0]):
        total += a.assembly_weights[k] * a.difference[k] * a.difference[k]
    return 0.5 * total


@kernel
def weighted_length(a):
    """Of the weights times the difference."""
    total = 0.0
    for k in range(a.difference.shape[0]):
        total += (a.assembly_weights[k] * a.difference[k]) * (a.assembly_weights[k] * a.difference[k])
    return square_root(total)


@kernel
def set_distance_slope(m, a, q):
    """-> difference, distance_slope at q."""
    position_difference(m, q, a.q_wanted, a.difference)
    for k in range(a.difference.shape[0]):
        a.distance_slope[k] = a.assembly_weights[k] * a.difference[k]
    pull_back_difference(m, a.difference, a.distance_slope)


@kernel
def project_gradient(m, d, c, w, a, q):
    """-> `along`, its number of directions that the equations leave, which is returned; the gradient along these.

    Also equation_forces, which balance the rest of it, and ASSEMBLY_STATIONARITY.
    """
    evaluate_equations(m, d, c, w, a, q)
    set_distance_slope(m, a, q)
    free = project_on_clear_rows(a)
    if free >= 0:
        return free
    nv, n = a.distance_slope.shape[0], a.phi.shape[0]
    for i in range(n):
        a.equation_forces[i] = 0.0
        for k in range(nv):
            a.turned_rows[i, k] = a.phi_slope[i, k]
    orthogonalize_rows(a.turned_rows, a.turned_by, a.row_lengths, n, nv)
    least, rank = RANK_TOLERANCE * largest_of(a.row_lengths, n), 0
    for i in range(n):
        length = a.row_lengths[i]
        if length > least and rank < nv:
            bound = 0.0
            for k in range(nv):
                bound += a.turned_rows[i, k] * a.distance_slope[k]
                a.along[rank, k] = a.turned_rows[i, k] / length
            for k in range(n):
                a.equation_forces[k] -= a.turned_by[i, k] * bound / (length * length)
            rank += 1
    complete_rows(a.along, rank, nv)
    total = 0.0
    for j in range(nv - rank):
        a.slope_along[j] = 0.0
        for k in range(nv):
            a.slope_along[j] += a.along[rank + j, k] * a.distance_slope[k]
        total += a.slope_along[j] * a.slope_along[j]
    a.assembly_numbers[ASSEMBLY_STATIONARITY] = square_root(total)
    return nv - rank


@slot(python=INJECTED)
def project_on_clear_rows(a):
    """What project_gradient() finds, by reflections; -1 if a row is nearly a combination of others."""
    n, nv, panel = a.phi.shape[0], a.distance_slope.shape[0], a.assembly_panel
    step = registers_of_row(n + 1)
    width = WIDTH * step
    if n < FEWEST_CLEAR_ROWS or n > nv:
        return -1
    clear_panel(panel, nv, step)
    for k in range(nv):
        for i in range(n):
            panel[k * width + i] = a.phi_slope[i, k]
        panel[k * width + n] = a.distance_slope[k]
    if not triangularize(panel, a.assembly_order, nv, n, step) > CLEAR:
        return -1
    total = 0.0
    for j in range(nv - n):
        a.slope_along[j] = panel[(n + j) * width + n]
        total += a.slope_along[j] * a.slope_along[j]
        for k in range(nv):
            a.assembly_step[k] = 0.0
        a.assembly_step[n + j] = 1.0
        turn_back(panel, nv, n, step, a.assembly_step)
        for k in range(nv):
            a.along[n + j, k] = a.assembly_step[k]
    a.assembly_numbers[ASSEMBLY_STATIONARITY] = square_root(total)
    solve_upper(panel, nv, n, step, n)
    for i in range(n):
        a.equation_forces[a.assembly_order[i]] = -panel[(nv + SOLUTION) * width + i]
    return nv - n


@kernel
def find_curvature(m, d, c, w, a, free):
    """After project_gradient at q_best -> curvature of the Lagrangian, by central differences of its gradient."""
    nv = a.distance_slope.shape[0]
    for j in range(free):
        lagrangian_slope(m, d, c, w, a, nv - free + j, -DIFFERENCE_STEP)
        copy_numbers(a.distance_slope, a.slope_before)
        lagrangian_slope(m, d, c, w, a, nv - free + j, DIFFERENCE_STEP)
        for i in range(free):
            a.curvature[j, i] = 0.0
            for k in range(nv):
                change = a.distance_slope[k] - a.slope_before[k]
                a.curvature[j, i] += a.along[nv - free + i, k] * change / (2.0 * DIFFERENCE_STEP)
    for j in range(free):
        for i in range(j):
            mean = 0.5 * (a.curvature[i, j] + a.curvature[j, i])
            a.curvature[i, j], a.curvature[j, i] = mean, mean


@kernel
def lagrangian_slope(m, d, c, w, a, j, length):
    """-> distance_slope and that of the equations with their forces, at q_best moved by a length along row j."""
    nv = a.distance_slope.shape[0]
    for k in range(nv):
        a.assembly_step[k] = length * a.along[j, k]
    move_positions(m, a.q_best, a.assembly_step, a.q_tried)
    evaluate_equations(m, d, c, w, a, a.q_tried)
    set_distance_slope(m, a, a.q_tried)
    for i in range(a.phi.shape[0]):
        for k in range(nv):
            a.distance_slope[k] += a.phi_slope[i, k] * a.equation_forces[i]


@kernel
def set_newton_step(a, free):
    """slope_along, curvature -> assembly_step, downhill: curvatures count by their size; returns the slope along it."""
    nv = a.assembly_step.shape[0]
    for i in range(free):
        for k in range(free):
            a.turned_rows[i, k] = a.curvature[i, k]
    orthogonalize_rows(a.turned_rows, a.turned_by, a.row_lengths, free, free)
    least, slope = FLATTEST * largest_of(a.row_lengths, free), 0.0
    if least == 0.0:
        least = 1.0  # flat: a step as long as the slope
    for k in range(nv):
        a.assembly_step[k] = 0.0
    for i in range(free):
        component = 0.0
        for k in range(free):
            component += a.turned_by[i, k] * a.slope_along[k]
        for j in range(free):
            part = component * a.turned_by[i, j] / max(a.row_lengths[i], least)
            for k in range(nv):
                a.assembly_step[k] -= part * a.along[nv - free + j, k]
    limit_step(a)
    for j in range(free):
        for k in range(nv):
            slope += a.slope_along[j] * a.along[nv - free + j, k] * a.assembly_step[k]
    return slope


@kernel
def describe_nearest(m, d, c, w, a):
    """q_best -> its error, rank and stationarity."""
    free = project_gradient(m, d, c, w, a, a.q_best)
    a.assembly_numbers[ASSEMBLY_ERROR] = length_of(a.phi)
    a.assembly_counts[ASSEMBLY_RANK] = a.distance_slope.shape[0] - free

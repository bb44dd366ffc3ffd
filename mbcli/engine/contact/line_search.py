"""How far to go along the direction of a step of Newton's method: about to the least cost."""

from mbcli.engine.contact.laws.bounded import impulse_of_row
from mbcli.engine.contact.laws.registry import response_of
from mbcli.engine.contact.patches import along_direction, slope_of_patch
from mbcli.engine.contact.torsional import slope_of_torsional
from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    HAS_TORSIONAL,
    VECTOR_DIRECTION,
    VECTOR_GRADIENT,
    VECTOR_MOMENTUM,
    VECTOR_MOMENTUM_STEP,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH, sum_of_lanes

INFINITE = float("inf")
LINE_SEARCH_STEPS = 60
LINE_SEARCH_ACCURACY = (
    1e-3  # of the slope, relative to that at the start: at 0.1 resting fingers take one iteration more
)


@kernel
def line_search(solver, k, guessed):
    """The step length of least cost along the direction, nearly: a zero of the slope by Newton's method in a bracket.

    guessed: whether the cost may grow along the direction, which is not the cost's own; the step length is 0 then.
    """
    first, end = solver.island_tree[k], solver.island_tree[k + 1]
    linear, quadratic, at_start = 0.0, 0.0, 0.0
    vectors = solver.vectors8
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            linear += sum_of_lanes(vectors[VECTOR_DIRECTION, c] * vectors[VECTOR_MOMENTUM, c])
            quadratic += sum_of_lanes(vectors[VECTOR_DIRECTION, c] * vectors[VECTOR_MOMENTUM_STEP, c])
            at_start += sum_of_lanes(vectors[VECTOR_DIRECTION, c] * vectors[VECTOR_GRADIENT, c])
    if guessed and at_start >= 0.0:
        return 0.0
    at_start = abs(at_start)
    low, high = 0.0, 0.0  # of the bracket; high is open at 0
    step_length, following, last_step = 1.0, 1.0, INFINITE
    for _ in range(LINE_SEARCH_STEPS):
        step_length = following
        slope, curvature = slope_of_constraints(solver, k, step_length)
        slope += linear + step_length * quadratic
        curvature += quadratic
        if abs(slope) <= LINE_SEARCH_ACCURACY * at_start:
            break
        if slope < 0.0:
            low = step_length
        else:
            high = step_length
        step = -slope / curvature
        following = step_length + step
        if high == 0.0:
            if not following > low:
                break
        else:
            inside = low < following and following < high
            if not inside or 2.0 * abs(step) > last_step:  # where the slope is steep, the method goes to and fro
                following = least_slip(solver, k, low, high, following if inside else 0.5 * (low + high))
        last_step = abs(following - step_length)
        if last_step == 0.0:
            break
    return step_length


@kernel
def least_slip(solver, k, low, high, otherwise):
    """The step length between two where a contact's slip is least, that nearest to the middle; `otherwise` without one.

    Where a slip reverses, so does its friction, and the slope changes most. An end of the bracket was tried before:
    rounding would give it again, and the search would end there.
    """
    v, dv, middle = solver.con_v, solver.con_dv, 0.5 * (low + high)
    best, distance = otherwise, 0.5 * (high - low)
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] == 0 and solver.con_kind[i] < BOUNDED:
            a, b = dv[i, 0], dv[i, 1]
            square = a * a + b * b
            step_length = -(v[i, 0] * a + v[i, 1] * b) / square if square > 0.0 else low
            if low < step_length and step_length < high and abs(step_length - middle) < distance:
                best, distance = step_length, abs(step_length - middle)
    return best


@kernel
def slope_of_constraints(solver, k, step_length):
    """First and second derivative along the direction of the costs of the constraints, in patches by their laws."""
    slope, curvature = 0.0, 0.0
    v, dv = solver.con_v, solver.con_dv
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_patch_size[i] != 0:
            if solver.con_patch_size[i] > 0:
                if solver.con_patch_size[i] == HAS_TORSIONAL:
                    first, second = slope_of_torsional(solver, i, step_length)
                else:
                    first, second = slope_of_patch(solver, i, step_length)
                slope += first
                curvature += second
            continue
        if solver.con_slot[i] >= 0:
            a = dv[i, 0]
            impulse, stiffness = impulse_of_row(solver.con_law, i, v[i, 0] + step_length * a)
            slope -= a * impulse
            curvature += a * a * stiffness
            continue
        a, b, n = dv[i, 0], dv[i, 1], dv[i, 2]
        response = response_of(
            solver, i, v[i, 0] + step_length * a, v[i, 1] + step_length * b, v[i, 2] + step_length * n
        )
        first, second = along_direction(response, a, b, n)
        slope += first
        curvature += second
    return slope, curvature

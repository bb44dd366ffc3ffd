"""Bounded rows: efforts on single velocities, linear in their acceleration within bounds, found with the accelerations.

Over a step h the effort on velocity d is clamp(a - k vdot_d, low, high): that of a controller, or of a limit. So vdot
solves

    M vdot = r + sum of clamp(a - k vdot_d, low, high),

the minimum of a strictly convex function that is quadratic in pieces. Newton's method assumes which efforts are at a
bound; each of its steps is a run of the articulated-body algorithm, with k on the diagonal where they are not. Where
the assumption was wrong, the exact minimum along the step is the next point: the function decreases every time, so that
no assumption comes back and the method ends. It ends too where rounding leaves no decrease along a step: rows that are
at a kink, as all limits of a robot that falls at its stops, could go on to change sides by the last bits. The point is
the answer then. M itself is not needed: M vdot - r is what the efforts were in that step, and mixes linearly along a
step.

The rows are those of controllers, then those of limits, then those of dry friction.
"""

from mbcli.engine.fields.model_fields import (
    ROW_ASSUMED,
    ROW_AT_POINT,
    ROW_HIGH,
    ROW_LOW,
    ROW_OFFSET,
    ROW_SLOPE,
)
from mbcli.engine.runtime.kernel import INJECTED, kernel, slot

MOST_NEWTON_STEPS = 100  # a handful is what it takes
AGREEMENT = 1e-12  # of efforts, relative to the terms that cancel in them
LEAST_STEP_LENGTH = 1e-15  # of a Newton step: a smaller one moves nothing


@kernel
def dof_of_row(model, i):
    """The velocity that row i acts on."""
    controllers, limits = model.pd_actuator.shape[0], model.limit_dof.shape[0]
    if i < controllers:
        return model.actuator_dof[model.pd_actuator[i]]
    if i < controllers + limits:
        return model.limit_dof[i - controllers]
    return model.friction_dof[i - controllers - limits]


@kernel
def side_of_row(data, i, x):
    """Where row i is at the acceleration x: -1 at its lower bound, 0 between them, 1 at the upper one."""
    free = (data.bounded_row[i, ROW_OFFSET] - data.bounded_row[i, ROW_SLOPE] * x).real
    if free > data.bounded_row[i, ROW_HIGH].real:
        return 1.0
    if free < data.bounded_row[i, ROW_LOW].real:
        return -1.0
    return 0.0


@kernel
def bound_of_row(data, i, side):
    """The effort of row i at its lower (-1) or upper bound (1)."""
    return data.bounded_row[i, ROW_HIGH] if side > 0.0 else data.bounded_row[i, ROW_LOW]


@slot(numbers=INJECTED)
def clamped_effort(data, i, x):
    side = side_of_row(data, i, x)
    if side == 0.0:
        return data.bounded_row[i, ROW_OFFSET] - data.bounded_row[i, ROW_SLOPE] * x
    return bound_of_row(data, i, side)


@slot(numbers=INJECTED)
def largest_disagreement(model, data):
    """By how much the last Newton step assumed an effort wrongly, where it ended, as part of the terms that cancel."""
    largest = 0.0
    for i in range(data.bounded_row.shape[0]):
        x = data.vdot[dof_of_row(model, i)]
        error = abs((clamped_effort(data, i, x) - effort_of_step(data, i, x)).real)
        scale = abs(data.bounded_row[i, ROW_OFFSET].real) + abs((data.bounded_row[i, ROW_SLOPE] * x).real)
        if not error <= largest * scale:
            largest = error / scale if scale > 0.0 else error
    return largest


@kernel
def assume_efforts(model, data):
    """Assumes every row to be where it is at the point: tau and diagonal for the next Newton step."""
    for i in range(data.bounded_row.shape[0]):
        side = side_of_row(data, i, data.vdot_point[dof_of_row(model, i)])
        if side == data.row_side[i].real:
            continue
        d = dof_of_row(model, i)
        if data.row_side[i].real == 0.0:
            data.diagonal[d] -= data.bounded_row[i, ROW_SLOPE]
        if side == 0.0:
            data.diagonal[d] += data.bounded_row[i, ROW_SLOPE]
            assumed = data.bounded_row[i, ROW_OFFSET]
        else:
            assumed = bound_of_row(data, i, side)
        data.tau[d] += assumed - data.bounded_row[i, ROW_ASSUMED]
        data.bounded_row[i, ROW_ASSUMED] = assumed
        data.row_side[i] = side


@kernel
def effort_of_step(data, i, x):
    """The effort of row i that the last Newton step assumed, where it ended."""
    if data.row_side[i].real == 0.0:
        return data.bounded_row[i, ROW_OFFSET] - data.bounded_row[i, ROW_SLOPE] * x
    return data.bounded_row[i, ROW_ASSUMED]


@kernel
def slope_along_step(model, data, s):
    """Derivative of the function at a step length s; increases with s."""
    slope = 0.0
    for i in range(data.bounded_row.shape[0]):
        d = dof_of_row(model, i)
        x, end = data.vdot_point[d].real, data.vdot[d].real
        mixed = (1.0 - s) * data.bounded_row[i, ROW_AT_POINT].real + s * effort_of_step(data, i, end).real
        slope += (end - x) * (mixed - clamped_effort(data, i, x + s * (end - x)).real)
    return slope


@kernel
def move_point(model, data, step):
    """From the point to the minimum along the Newton step: its end, or where the slope is zero before.

    Returns the step length; 0 if the function does not decrease along the step: the point is the minimum to rounding.
    The first step has no point before, and ends at it.
    """
    step_length = 1.0 if step == 0 else find_step_length(model, data)
    if step_length < LEAST_STEP_LENGTH:
        return 0.0
    for d in range(data.vdot.shape[0]):
        if step_length == 1.0:
            data.vdot_point[d] = data.vdot[d]
        else:
            data.vdot_point[d] += step_length * (data.vdot[d] - data.vdot_point[d])
    for i in range(data.bounded_row.shape[0]):
        effort = effort_of_step(data, i, data.vdot[dof_of_row(model, i)])
        if step_length == 1.0:
            data.bounded_row[i, ROW_AT_POINT] = effort
        else:
            data.bounded_row[i, ROW_AT_POINT] += step_length * (effort - data.bounded_row[i, ROW_AT_POINT])
    return step_length


@kernel
def remaining_change(model, data):
    """The largest change of an acceleration by the last Newton step, as part of the largest, which is at least 1."""
    change, largest = 0.0, 1.0
    for k in range(3):
        largest = max(largest, abs(model.gravity[k].real))
    for d in range(data.vdot.shape[0]):
        change = max(change, abs((data.vdot[d] - data.vdot_point[d]).real))
        largest = max(largest, abs(data.vdot_point[d].real))
    return change / largest


@kernel
def take_point(data):
    """The accelerations of the point: the best that was found."""
    for d in range(data.vdot.shape[0]):
        data.vdot[d] = data.vdot_point[d]


@kernel
def find_step_length(model, data):
    """Where along the Newton step the function is least: the slope is a line between the kinks of the efforts.

    0 where the slope is not below zero at the start, or at the end below that at the start: it is rounding then, which
    could go in circles.
    """
    at_low, at_high = slope_along_step(model, data, 0.0), slope_along_step(model, data, 1.0)
    if not (at_low < 0.0 and at_low <= at_high):
        return 0.0
    if at_high <= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for n in range(2 * data.bounded_row.shape[0]):
        s = kink_of_row(model, data, n // 2, n % 2)
        if not (low < s and s < high):
            continue
        slope = slope_along_step(model, data, s)
        if slope > 0.0:
            high, at_high = s, slope
        else:
            low, at_low = s, slope
    return low - (high - low) * at_low / (at_high - at_low)


@kernel
def kink_of_row(model, data, i, upper):
    """Where along the Newton step row i comes to its lower (0) or upper bound (1); -1 if it does not."""
    d = dof_of_row(model, i)
    x, end = data.vdot_point[d].real, data.vdot[d].real
    if x == end or data.bounded_row[i, ROW_SLOPE].real == 0.0:
        return -1.0
    bound = bound_of_row(data, i, 2.0 * upper - 1.0).real
    return ((data.bounded_row[i, ROW_OFFSET].real - bound) / data.bounded_row[i, ROW_SLOPE].real - x) / (end - x)

"""Efforts on single velocities that are clamped lines of their accelerations, found together with the accelerations.

Over a step h the effort on velocity d is clamp(a - k vdot_d, low, high): that of a controller, or of a limit. So vdot
solves

    M vdot = r + sum of clamp(a - k vdot_d, low, high),

the minimum of a strictly convex function that is quadratic in pieces. Newton's method assumes which efforts are at a
bound; each of its steps is a run of the articulated-body algorithm, with k on the diagonal where they are not. Where
the assumption was wrong, the exact minimum along the step is the next point: the function decreases every time, so that
no assumption comes back and the method ends. M itself is not needed: M vdot - r is what the efforts were in that step,
and mixes linearly along a step.

The lines are those of controllers, then those of limits, then those of dry friction.
"""

from mbcli.engine.fields.model_fields import (
    LINE_ASSUMED,
    LINE_AT_POINT,
    LINE_HIGH,
    LINE_LOW,
    LINE_OFFSET,
    LINE_POINT,
    LINE_SLOPE,
)
from mbcli.engine.runtime.kernel import CALLER, kernel, slot
from mbcli.engine.smooth.inertia import inertia_times
from mbcli.engine.smooth.mass_matrix import composite_inertias
from mbcli.engine.smooth.spatial import dot, row3

MOST_STEPS_OF_LINES = 100  # a handful is what it takes
AGREEMENT = 1e-12  # of efforts, relative to the terms that cancel in them
STEPS_BEFORE_SIZES = 4  # most lines agree sooner, and the sizes of these terms take as long as a step
STEPS_OF_ROUNDING = 20  # what does not agree after so many steps is rounding, if it is less than this:
AGREEMENT_OF_ROUNDING = 1e-9


@kernel
def dof_of_line(model, i):
    """The velocity that line i acts on."""
    controllers, limits = model.pd_actuator.shape[0], model.limit_dof.shape[0]
    if i < controllers:
        return model.actuator_dof[model.pd_actuator[i]]
    if i < controllers + limits:
        return model.limit_dof[i - controllers]
    return model.friction_dof[i - controllers - limits]


@kernel
def start_point(model, data):
    """The point is where the first step ends."""
    for i in range(data.line.shape[0]):
        x = data.vdot[dof_of_line(model, i)]
        data.line[i, LINE_POINT], data.line[i, LINE_AT_POINT] = x, effort_of_step(data, i, x)


@kernel
def side_of_line(data, i, x):
    """Where line i is at the acceleration x: -1 at its lower bound, 0 between them, 1 at the upper one."""
    free = (data.line[i, LINE_OFFSET] - data.line[i, LINE_SLOPE] * x).real
    if free > data.line[i, LINE_HIGH].real:
        return 1.0
    if free < data.line[i, LINE_LOW].real:
        return -1.0
    return 0.0


@kernel
def bound_of_line(data, i, side):
    """The effort of line i at its lower (-1) or upper bound (1)."""
    return data.line[i, LINE_HIGH] if side > 0.0 else data.line[i, LINE_LOW]


@slot(numbers=CALLER)
def clamped_effort(data, i, x):
    side = side_of_line(data, i, x)
    if side == 0.0:
        return data.line[i, LINE_OFFSET] - data.line[i, LINE_SLOPE] * x
    return bound_of_line(data, i, side)


@slot(numbers=CALLER)
def count_disagreements(model, data, step):
    """How many lines the last Newton step assumed to be where they are not at its end.

    Efforts are measured by the terms that cancel in them.
    """
    agreement = AGREEMENT if step < STEPS_OF_ROUNDING else AGREEMENT_OF_ROUNDING
    sizes_known, count = False, 0
    for i in range(data.line.shape[0]):
        d = dof_of_line(model, i)
        x = data.vdot[d]
        error = abs((clamped_effort(data, i, x) - effort_of_step(data, i, x)).real)
        scale = abs(data.line[i, LINE_OFFSET].real) + abs((data.line[i, LINE_SLOPE] * x).real)
        if error <= agreement * scale:
            continue
        if step >= STEPS_BEFORE_SIZES:
            if not sizes_known:
                size_accelerations(model, data)
                sizes_known = True
            scale += data.line[i, LINE_SLOPE].real * size_of_acceleration(model, data, d)
        if not error <= agreement * scale:
            count += 1
    return count


@kernel
def size_accelerations(model, data):
    """Composite inertias, and A_size of bodies: sizes of gravity and of the accelerations across all inboard joints.

    A joint at its stop in a robot that falls has the rounding of these for its own acceleration.
    """
    composite_inertias(model, data)
    for k in range(3):
        data.A_size[0, k] = 0.0
        data.A_size[0, 3 + k] = abs(model.gravity[k].real)
    for b in range(1, model.body_parent.shape[0]):
        for k in range(6):
            size = data.A_size[model.body_parent[b], k].real + abs(data.A_bias[b, k].real)
            for d in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
                size += abs((data.S[d, k] * data.vdot[d]).real)
            data.A_size[b, k] = size


@kernel
def size_of_acceleration(model, data, d):
    """Of the terms of vdot_d: the inertia of the body on those inboard of it, along d. After size_accelerations."""
    b = model.dof_body[d]
    w, u = row3(data.S, d, 0), row3(data.S, d, 3)
    torque, force = inertia_times(data.composite, b, w, u)
    inertia = (dot(w, torque) + dot(u, force) + model.dof_armature[d]).real
    terms = abs(data.tau[d].real)
    for k in range(3):
        terms += abs(torque[k].real) * data.A_size[b, k].real + abs(force[k].real) * data.A_size[b, 3 + k].real
    return abs(data.vdot[d].real) + terms / inertia


@kernel
def assume_efforts(model, data):
    """Assumes every line to be where it is at the point: tau and diagonal for the next Newton step."""
    for i in range(data.line.shape[0]):
        side = side_of_line(data, i, data.line[i, LINE_POINT])
        if side == data.line_side[i].real:
            continue
        d = dof_of_line(model, i)
        if data.line_side[i].real == 0.0:
            data.diagonal[d] -= data.line[i, LINE_SLOPE]
        if side == 0.0:
            data.diagonal[d] += data.line[i, LINE_SLOPE]
            assumed = data.line[i, LINE_OFFSET]
        else:
            assumed = bound_of_line(data, i, side)
        data.tau[d] += assumed - data.line[i, LINE_ASSUMED]
        data.line[i, LINE_ASSUMED] = assumed
        data.line_side[i] = side


@kernel
def effort_of_step(data, i, x):
    """The effort of line i that the last Newton step assumed, where it ended."""
    if data.line_side[i].real == 0.0:
        return data.line[i, LINE_OFFSET] - data.line[i, LINE_SLOPE] * x
    return data.line[i, LINE_ASSUMED]


@kernel
def slope_along_step(model, data, s):
    """Derivative of the function at the share s of the Newton step; increases with s."""
    slope = 0.0
    for i in range(data.line.shape[0]):
        x, end = data.line[i, LINE_POINT].real, data.vdot[dof_of_line(model, i)].real
        mixed = (1.0 - s) * data.line[i, LINE_AT_POINT].real + s * effort_of_step(data, i, end).real
        slope += (end - x) * (mixed - clamped_effort(data, i, x + s * (end - x)).real)
    return slope


@kernel
def move_point(model, data):
    """From the point to the minimum along the Newton step: its end, or where the slope is zero before."""
    share = share_of_step(model, data)
    for i in range(data.line.shape[0]):
        x = data.vdot[dof_of_line(model, i)]
        effort = effort_of_step(data, i, x)
        data.line[i, LINE_POINT] += share * (x - data.line[i, LINE_POINT])
        data.line[i, LINE_AT_POINT] += share * (effort - data.line[i, LINE_AT_POINT])


@kernel
def share_of_step(model, data):
    """Where along the Newton step the function is least: the slope is a line between the kinks of the efforts."""
    low, high, at_low, at_high = 0.0, 1.0, 0.0, 0.0
    for n in range(2 * data.line.shape[0] + 2):
        s = 1.0 - n if n < 2 else kink_of_line(model, data, n // 2 - 1, n % 2)  # both ends first
        if n >= 2 and not (low < s and s < high):
            continue
        slope = slope_along_step(model, data, s)
        if slope > 0.0:
            high, at_high = s, slope
        elif n == 0:
            return 1.0
        else:
            low, at_low = s, slope
    if at_high > at_low:
        low -= (high - low) * at_low / (at_high - at_low)
    return low


@kernel
def kink_of_line(model, data, i, upper):
    """Where along the Newton step line i comes to its lower (0) or upper bound (1); -1 if it does not."""
    x, end = data.line[i, LINE_POINT].real, data.vdot[dof_of_line(model, i)].real
    if x == end or data.line[i, LINE_SLOPE].real == 0.0:
        return -1.0
    bound = bound_of_line(data, i, 2.0 * upper - 1.0).real
    return ((data.line[i, LINE_OFFSET].real - bound) / data.line[i, LINE_SLOPE].real - x) / (end - x)

"""PD controllers of actuators in the step of a discrete plant, taken at its end, with limited effort.

The effort of a controlled actuator is u = clamp(-Kp (q' - q_d) - Kd (v' - v_d) + u_ff, -e, e) with q' = q + h v' and
v' = v + h vdot: a clamped line a - k vdot of its velocity's acceleration, k = h Kd + h^2 Kp. So vdot solves

    M vdot = r + clamp(a - k vdot, -e, e),

the minimum of a strictly convex function that is quadratic in pieces. Newton's method assumes which efforts are
limited; each of its steps is a run of the articulated-body algorithm, with k on the diagonal where they are not. Where
the assumption was wrong, the exact minimum along the step is the next point: the function decreases every time, so that
no assumption comes back and the method ends. M itself is not needed: M vdot - r is what the efforts were in that step,
and mixes linearly along a step.
"""

from mbcli.engine.forward_dynamics import accelerations
from mbcli.engine.jit import kernel

GAIN_P, GAIN_D, LIMIT = 0, 1, 2
OFFSET, SLOPE, POINT, AT_POINT, ASSUMED = 0, 1, 2, 3, 4  # a, k, vdot, M vdot - r there, constant part of the assumption
MOST_STEPS = 100  # a handful is what it takes
AGREEMENT = 1e-12  # of efforts, relative to the terms that they are the difference of
NOT_A_NUMBER = float("nan")


@kernel
def controlled_dynamics(model, data, h):
    """As accelerations() over a step h, with the controllers: q, v, tau, u, pd_desired -> vdot, pd_effort.

    tau holds u already, and gains what the controllers add to it; so does `diagonal`. Not a number where no solution
    was found.
    """
    start_controllers(model, data, h)
    for step in range(MOST_STEPS + 1):
        accelerations(model, data, h)  # at one place: the compiler copies it to wherever it is called
        if model.pd_actuator.shape[0] == 0:
            return
        if step == 0:
            start_point(model, data)
        else:
            move_point(model, data)
        if step == MOST_STEPS or count_disagreements(model, data) == 0:
            break
        assume_efforts(model, data)
    finish_controllers(model, data)


@kernel
def start_point(model, data):
    """The point is where the first step ends."""
    for i in range(model.pd_actuator.shape[0]):
        x = data.vdot[model.actuator_dof[model.pd_actuator[i]]]
        data.pd_work[i, POINT], data.pd_work[i, AT_POINT] = x, effort_of_step(data, i, x)


@kernel
def start_controllers(model, data, h):
    """The line of every controller; all of them are assumed to stay below their limits."""
    for i in range(model.pd_actuator.shape[0]):
        k = model.pd_actuator[i]
        d = model.actuator_dof[k]
        p, damping = model.pd_constants[i, GAIN_P], model.pd_constants[i, GAIN_D]
        stretch = data.q[model.dof_q[d]] + h * data.v[d] - data.pd_desired[i, 0]
        offset = data.u[k] - p * stretch - damping * (data.v[d] - data.pd_desired[i, 1])
        data.pd_work[i, OFFSET] = offset
        data.pd_work[i, SLOPE] = h * damping + h * h * p
        data.pd_work[i, ASSUMED] = offset
        data.pd_limited[i] = 0.0
        data.diagonal[d] += data.pd_work[i, SLOPE]
        data.tau[d] += offset - data.u[k]


@kernel
def side_of_limit(model, data, i, x):
    """Where controller i is at the acceleration x: -1 at its lower limit, 0 between them, 1 at the upper one."""
    free = (data.pd_work[i, OFFSET] - data.pd_work[i, SLOPE] * x).real
    limit = model.pd_constants[i, LIMIT].real
    if free > limit:
        return 1.0
    if free < -limit:
        return -1.0
    return 0.0


@kernel
def clamped_effort(model, data, i, x):
    side = side_of_limit(model, data, i, x)
    if side == 0.0:
        return data.pd_work[i, OFFSET] - data.pd_work[i, SLOPE] * x
    return side * model.pd_constants[i, LIMIT]


@kernel
def count_disagreements(model, data):
    """How many controllers the last Newton step assumed to be where they are not at its end."""
    count = 0
    for i in range(model.pd_actuator.shape[0]):
        x = data.vdot[model.actuator_dof[model.pd_actuator[i]]]
        error = abs((clamped_effort(model, data, i, x) - effort_of_step(data, i, x)).real)
        scale = abs(data.pd_work[i, OFFSET].real) + abs((data.pd_work[i, SLOPE] * x).real)
        if not error <= AGREEMENT * scale:
            count += 1
    return count


@kernel
def assume_efforts(model, data):
    """Assumes every controller to be where it is at the point: tau and diagonal for the next Newton step."""
    for i in range(model.pd_actuator.shape[0]):
        side = side_of_limit(model, data, i, data.pd_work[i, POINT])
        if side == data.pd_limited[i].real:
            continue
        d = model.actuator_dof[model.pd_actuator[i]]
        if data.pd_limited[i].real == 0.0:
            data.diagonal[d] -= data.pd_work[i, SLOPE]
        if side == 0.0:
            data.diagonal[d] += data.pd_work[i, SLOPE]
            assumed = data.pd_work[i, OFFSET]
        else:
            assumed = side * model.pd_constants[i, LIMIT]
        data.tau[d] += assumed - data.pd_work[i, ASSUMED]
        data.pd_work[i, ASSUMED] = assumed
        data.pd_limited[i] = side


@kernel
def effort_of_step(data, i, x):
    """The effort of controller i that the last Newton step assumed, where it ended."""
    if data.pd_limited[i].real == 0.0:
        return data.pd_work[i, OFFSET] - data.pd_work[i, SLOPE] * x
    return data.pd_work[i, ASSUMED]


@kernel
def slope_along_step(model, data, s):
    """Derivative of the function at the share s of the Newton step; increases with s."""
    slope = 0.0
    for i in range(model.pd_actuator.shape[0]):
        x, end = data.pd_work[i, POINT].real, data.vdot[model.actuator_dof[model.pd_actuator[i]]].real
        mixed = (1.0 - s) * data.pd_work[i, AT_POINT].real + s * effort_of_step(data, i, end).real
        slope += (end - x) * (mixed - clamped_effort(model, data, i, x + s * (end - x)).real)
    return slope


@kernel
def move_point(model, data):
    """From the point to the minimum along the Newton step: its end, or where the slope is zero before."""
    share = share_of_step(model, data)
    for i in range(model.pd_actuator.shape[0]):
        x = data.vdot[model.actuator_dof[model.pd_actuator[i]]]
        effort = effort_of_step(data, i, x)
        data.pd_work[i, POINT] += share * (x - data.pd_work[i, POINT])
        data.pd_work[i, AT_POINT] += share * (effort - data.pd_work[i, AT_POINT])


@kernel
def share_of_step(model, data):
    """Where along the Newton step the function is least: the slope is a line between the kinks of the controllers."""
    if slope_along_step(model, data, 1.0) <= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for i in range(model.pd_actuator.shape[0]):
        x, end = data.pd_work[i, POINT].real, data.vdot[model.actuator_dof[model.pd_actuator[i]]].real
        if x == end:
            continue
        for k in range(2):
            limit = (2.0 * k - 1.0) * model.pd_constants[i, LIMIT].real
            kink = ((data.pd_work[i, OFFSET].real - limit) / data.pd_work[i, SLOPE].real - x) / (end - x)
            if low < kink and kink < high:
                if slope_along_step(model, data, kink) > 0.0:
                    high = kink
                else:
                    low = kink
    at_low, at_high = slope_along_step(model, data, low), slope_along_step(model, data, high)
    if at_high > at_low:
        low -= (high - low) * at_low / (at_high - at_low)
    return low


@kernel
def finish_controllers(model, data):
    """What every controller gives at the end of the step, no more than its limit."""
    failed = count_disagreements(model, data)
    for i in range(model.pd_actuator.shape[0]):
        d = model.actuator_dof[model.pd_actuator[i]]
        data.pd_effort[i] = clamped_effort(model, data, i, data.vdot[d])
        if failed != 0:
            data.vdot[d] = NOT_A_NUMBER


@kernel
def release_controllers(model, data):
    """After controlled_dynamics(): takes from tau and `diagonal` what controllers and their actuation put there."""
    for i in range(model.pd_actuator.shape[0]):
        d = model.actuator_dof[model.pd_actuator[i]]
        data.tau[d] -= data.pd_work[i, ASSUMED]
        if data.pd_limited[i] == 0.0:
            data.diagonal[d] -= data.pd_work[i, SLOPE]

"""Forces and activations of actuators that act through transmissions, as MuJoCo computes them.

    force = clamp_to_bounds(gain x + bias),  x the control, or the activation where there is one

The forces of actuators on one joint or tendon whose sum is limited are scaled down to it, in rows of a step as
contact/transmission_rows.py says; a sum may bear weights, too, see weight_borne(). Gain and bias are affine in length
and rate, or those of a muscle; springs along paths, which path_springs.py has, count as none here. An activation is
the integral of the control, follows it with a time constant, or as that of a muscle does; one step later it is what the
rate gives, of DYNAMICS_FILTER_EXACT the exact solution. https://mujoco.readthedocs.io/en/stable/computation/index.html#actuation-model
"""

from mbcli.engine.fields.model_fields import (
    DYNAMICS_FILTER_EXACT,
    DYNAMICS_INTEGRATOR,
    DYNAMICS_MUSCLE,
    LAW_AFFINE,
    LAW_MUSCLE,
    NUMBERS_ACTIVATION,
    NUMBERS_BIAS,
    NUMBERS_CONTROL,
    NUMBERS_DYNAMICS,
    NUMBERS_FORCE,
    NUMBERS_GAIN,
    NUMBERS_GEAR,
    NUMBERS_LENGTHS,
    NUMBERS_SUM,
    TRANSMISSION_ACTIVATION,
    TRANSMISSION_BEARS,
    TRANSMISSION_BIAS,
    TRANSMISSION_DYNAMICS,
    TRANSMISSION_EARLY,
    TRANSMISSION_GAIN,
    TRANSMISSION_SUM,
)
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.inertia import gravity_vector
from mbcli.engine.smooth.kinematics import link_origin
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale
from mbcli.engine.smooth.transmissions import measure_transmissions
from mbcli.engine.smooth.trigonometry import hyperbolic_tangent

LEAST = 1e-15  # of what is divided by
# columns of the numbers of a muscle's gain and bias
RANGE_LOW, RANGE_HIGH, PEAK, _SCALE, SHORTEST, LONGEST, FASTEST, PASSIVE, STRETCHED = range(9)
# columns of the numbers of its dynamics
TIME_UP, TIME_DOWN, SMOOTHING = range(3)


@slot(plain="smooth.plain.add_transmission_forces", lanes="smooth.plain.add_transmission_forces")
def add_transmission_forces(model, data, h):
    """After position_kinematics: v, u, activation -> the forces of actuators in a step h, added to tau, and slopes."""
    if model.transmission_kinds.shape[0] == 0:
        return
    measure_transmissions(model, data)
    for i in range(model.transmission_kinds.shape[0]):
        force = unbounded_force(model, data, i, h)
        low, high = model.transmission_numbers[i, NUMBERS_FORCE], model.transmission_numbers[i, NUMBERS_FORCE + 1]
        data.transmission_force[i] = clamp_to_bounds(force, low, high)
        if model.transmission_kinds[i, TRANSMISSION_SUM] >= 0 and not low.real < force.real < high.real:
            data.transmission_slope[i, 0], data.transmission_slope[i, 1] = 0.0 * force, 0.0 * force
    limit_sums(model, data)
    for i in range(model.transmission_kinds.shape[0]):
        for d in range(data.v.shape[0]):
            data.tau[d] += data.transmission_moment[i, d] * data.transmission_force[i]


@kernel
def limit_sums(model, data):
    """transmission_force -> transmission_start, and scaled where a sum is beyond its limits."""
    kinds, count = model.transmission_kinds, model.transmission_kinds.shape[0]
    for i in range(count):
        data.transmission_start[i] = data.transmission_force[i]
    for i in range(count):
        if kinds[i, TRANSMISSION_SUM] != i:
            continue
        total, borne = sum_at_start(model, data, i), weight_borne(model, data, i)
        bound = borne + total
        bound = (
            clamp_to_bounds(
                bound, model.transmission_numbers[i, NUMBERS_SUM], model.transmission_numbers[i, NUMBERS_SUM + 1]
            )
            - borne
        )
        if bound.real == total.real:
            continue
        if kinds[i, TRANSMISSION_BEARS] >= 0:  # the forces themselves may be zero
            data.transmission_force[i] += (bound - total) / model.transmission_numbers[i, NUMBERS_GEAR]
            continue
        for k in range(i, count):
            if kinds[k, TRANSMISSION_SUM] == i:
                data.transmission_force[k] = data.transmission_start[k] * (bound / total)


@kernel
def sum_at_start(model, data, i):
    """Of the forces at the start, times gears, of the actuators whose sum is limited with that of i, the first."""
    total = 0.0 * data.transmission_start[i]
    for k in range(i, model.transmission_kinds.shape[0]):
        if model.transmission_kinds[k, TRANSMISSION_SUM] == i:
            total += model.transmission_numbers[k, NUMBERS_GEAR] * data.transmission_start[k]
    return total


@kernel
def weight_borne(model, data, i):
    """The force along a joint by which the sum of actuator i, the first of it, holds the links that have no gravity.

    These have none since the joint's drive holds them, whose limit is that of both: `actuatorgravcomp` of
    https://mujoco.readthedocs.io/en/stable/XMLreference.html#body-joint. After position_kinematics.
    """
    borne, d = 0.0 * data.transmission_start[i], model.transmission_kinds[i, TRANSMISSION_BEARS]
    if d < 0:
        return borne
    g = gravity_vector(model)
    for n in range(model.link_body.shape[0]):
        b = model.link_body[n]
        if model.link_weight[n].real == 0.0 and is_moved_by(model, b, d):
            arm = rotate(data.X_WB, b, rotate(model.link_X_BL, n, row3(model.link_inertia, n, 1)))
            weight = scale(model.link_inertia[n, 0], g)
            moment = cross(add(link_origin(model, data, n), arm), weight)
            borne -= dot(row3(data.S, d, 0), moment) + dot(row3(data.S, d, 3), weight)
    return borne


@kernel
def is_moved_by(model, b, d):
    """Whether velocity d moves body b."""
    k = model.body_v[b] + model.body_nv[b] - 1  # -1 for World
    while k > d:
        k = model.dof_parent[k]
    return k == d


@kernel
def clamp_to_bounds(x, low, high):
    if x.real < low.real:
        return low
    return high if x.real > high.real else x


@kernel
def control_of(model, data, i):
    """The control within its bounds; 0 of what has no input."""
    if model.actuator_dof.shape[0] + i >= data.u.shape[0]:
        return 0.0 * model.transmission_numbers[i, NUMBERS_GEAR]
    low, high = model.transmission_numbers[i, NUMBERS_CONTROL], model.transmission_numbers[i, NUMBERS_CONTROL + 1]
    return clamp_to_bounds(data.u[model.actuator_dof.shape[0] + i], low, high)


@kernel
def unbounded_force(model, data, i, h):
    """Force before its bounds; and transmission_slope: by how much it falls with the rate, and with the length."""
    numbers, kinds = model.transmission_numbers, model.transmission_kinds
    length, rate = data.transmission_length[i], data.transmission_rate[i]
    if kinds[i, TRANSMISSION_ACTIVATION] < 0:
        x = control_of(model, data, i)
    elif kinds[i, TRANSMISSION_EARLY] == 1:
        x = following_activation(model, data, i, h)
    else:
        x = data.activation[kinds[i, TRANSMISSION_ACTIVATION]]
    if kinds[i, TRANSMISSION_GAIN] == LAW_MUSCLE:
        gain, gain_slope = muscle_gain(numbers, i, length, rate)
        stiffness = 0.0 * gain
    else:
        k = NUMBERS_GAIN
        gain = numbers[i, k] + numbers[i, k + 1] * length + numbers[i, k + 2] * rate
        gain_slope, stiffness = numbers[i, k + 2], -numbers[i, k + 1] * x
    damping = -gain_slope * x
    bias = 0.0 * gain
    if kinds[i, TRANSMISSION_BIAS] == LAW_MUSCLE:
        bias = muscle_bias(numbers, i, length)
    elif kinds[i, TRANSMISSION_BIAS] == LAW_AFFINE:
        k = NUMBERS_BIAS
        bias = numbers[i, k] + numbers[i, k + 1] * length + numbers[i, k + 2] * rate
        damping, stiffness = damping - numbers[i, k + 2], stiffness - numbers[i, k + 1]
    data.transmission_slope[i, 0], data.transmission_slope[i, 1] = damping, stiffness
    return gain * x + bias


# ------------------------------------------------------------------------------------------- muscles


@kernel
def muscle_length(numbers, i, k, length):
    """(length, that of its fibre at rest) of a muscle, the first as part of the second."""
    shortest = numbers[i, NUMBERS_LENGTHS]
    span = numbers[i, k + RANGE_HIGH] - numbers[i, k + RANGE_LOW]
    rest = (numbers[i, NUMBERS_LENGTHS + 1] - shortest) / (span if span.real > LEAST else 0.0 * span + LEAST)
    return numbers[i, k + RANGE_LOW] + (length - shortest) / (rest if rest.real > LEAST else 0.0 * rest + LEAST), rest


@kernel
def muscle_gain(numbers, i, length, rate):
    """-(peak force) times the force by length, times that by rate; and the derivative by the rate."""
    k = NUMBERS_GAIN
    relative, rest = muscle_length(numbers, i, k, length)
    fastest = rest * numbers[i, k + FASTEST]
    fastest = fastest if fastest.real > LEAST else 0.0 * fastest + LEAST
    speed, most = rate / fastest, numbers[i, k + STRETCHED]
    by_length = force_by_length(relative, numbers[i, k + SHORTEST], numbers[i, k + LONGEST])
    bend = most - 1.0
    divisor = bend if bend.real > LEAST else 0.0 * bend + LEAST
    if speed.real <= -1.0:
        by_speed, slope = 0.0 * speed, 0.0 * speed
    elif speed.real <= 0.0:
        by_speed, slope = (speed + 1.0) * (speed + 1.0), 2.0 * (speed + 1.0)
    elif speed.real <= bend.real:
        by_speed, slope = most - (bend - speed) * (bend - speed) / divisor, 2.0 * (bend - speed) / divisor
    else:
        by_speed, slope = 0.0 * speed + most, 0.0 * speed
    peak = -numbers[i, k + PEAK] * by_length
    return peak * by_speed, peak * slope / fastest


@kernel
def force_by_length(x, shortest, longest):
    """Parabolas: 0 at the shortest and the longest length, 1 at rest."""
    rising, falling = 0.5 * (shortest + 1.0), 0.5 * (1.0 + longest)
    if x.real < shortest.real or x.real > longest.real:
        return 0.0 * x
    if x.real <= rising.real:
        part = (x - shortest) / at_least(rising - shortest)
        return 0.5 * part * part
    if x.real <= 1.0:
        part = (1.0 - x) / at_least(1.0 - rising)
        return 1.0 - 0.5 * part * part
    if x.real <= falling.real:
        part = (x - 1.0) / at_least(falling - 1.0)
        return 1.0 - 0.5 * part * part
    part = (longest - x) / at_least(longest - falling)
    return 0.5 * part * part


@kernel
def at_least(x):
    return x if x.real > LEAST else 0.0 * x + LEAST


@kernel
def muscle_bias(numbers, i, length):
    """The passive force of a muscle that is longer than at rest."""
    k = NUMBERS_BIAS
    x, _ = muscle_length(numbers, i, k, length)
    bend = 0.5 * (1.0 + numbers[i, k + LONGEST])
    if x.real <= 1.0:
        return 0.0 * x
    most = -numbers[i, k + PEAK] * numbers[i, k + PASSIVE]
    if x.real <= bend.real:
        part = (x - 1.0) / at_least(bend - 1.0)
        return most * 0.5 * part * part
    return most * (0.5 + (x - bend) / at_least(bend - 1.0))


# --------------------------------------------------------------------------------------- activations


@kernel
def activation_rate(model, data, i):
    """Of actuator i, which has an activation."""
    kind, k = model.transmission_kinds[i, TRANSMISSION_DYNAMICS], NUMBERS_DYNAMICS
    activation, control = (
        data.activation[model.transmission_kinds[i, TRANSMISSION_ACTIVATION]],
        control_of(model, data, i),
    )
    if kind == DYNAMICS_INTEGRATOR:
        return control
    if kind != DYNAMICS_MUSCLE:
        return (control - activation) / at_least(model.transmission_numbers[i, k])
    zero = 0.0 * control
    wanted = clamp_to_bounds(control, zero, zero + 1.0) - activation
    slower = 0.5 + 1.5 * clamp_to_bounds(activation, zero, zero + 1.0)
    up = model.transmission_numbers[i, k + TIME_UP] * slower
    down = model.transmission_numbers[i, k + TIME_DOWN] / slower
    smoothing = model.transmission_numbers[i, k + SMOOTHING]
    if smoothing.real < LEAST:
        time = up if wanted.real > 0.0 else down
    else:
        time = down + (up - down) * smooth_rise(wanted / smoothing + 0.5)
    return wanted / at_least(time)


@kernel
def smooth_rise(x):
    """From 0 to 1 between these, with two derivatives that are 0 there."""
    if x.real <= 0.0:
        return 0.0 * x
    if x.real >= 1.0:
        return 0.0 * x + 1.0
    return x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)


@kernel
def following_activation(model, data, i, h):
    """The activation of actuator i after a step h under the control that holds."""
    numbers, rate = model.transmission_numbers, activation_rate(model, data, i)
    time = h
    if model.transmission_kinds[i, TRANSMISSION_DYNAMICS] == DYNAMICS_FILTER_EXACT:
        constant = at_least(numbers[i, NUMBERS_DYNAMICS])
        half = hyperbolic_tangent(0.5 * h / constant)
        time = constant * 2.0 * half / (1.0 + half)  # constant (1 - exp(-h / constant))
    activation = data.activation[model.transmission_kinds[i, TRANSMISSION_ACTIVATION]] + time * rate
    return clamp_to_bounds(activation, numbers[i, NUMBERS_ACTIVATION], numbers[i, NUMBERS_ACTIVATION + 1])


@slot(plain="smooth.plain.advance_activations", lanes="smooth.plain.advance_activations")
def advance_activations(model, data, h):
    """After a step of length h that is kept, with u of it: the activations at its end."""
    for i in range(model.transmission_kinds.shape[0]):
        k = model.transmission_kinds[i, TRANSMISSION_ACTIVATION]
        if k >= 0:
            data.activation[k] = following_activation(model, data, i, h)

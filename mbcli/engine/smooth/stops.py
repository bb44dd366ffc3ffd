"""Compliant stops at position limits in a continuous plant, and brakes at limits of velocities.

With the depth x beyond a limit the joint feels k x max(0, 1 + c x'), along 1 at a lower limit and -1 at an upper one:
the law of Hunt and Crossley (1975) with a linear spring, as Simbody has it and SDFormat's `stiffness` and `dissipation`
mean it. The force is continuous where a stop is met and left, never pulls, and pushes a joint back at no more than
1 / c. The spring k x stores energy, the rest only takes some. A brake
takes energy alone: its force is in proportion to the velocity beyond the limit.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import sign_of


@kernel
def positive_part(x):
    """x, or 0 where it is negative."""
    return 0.5 * (x + sign_of(x) * x)


@kernel
def stop_gap(model, q, n):
    """How far stop n is at positions q [rad or m]; negative where it is met."""
    return model.stop_side[n] * (q[model.dof_q[model.stop_dof[n]]] - model.stop_value[n])


@kernel
def stop_spring(model, data, n):
    """k x: what stop n pushes a joint at rest with, along its side [N m or N]."""
    return model.stop_constants[n, 0] * positive_part(-stop_gap(model, data.q, n))


@kernel
def stop_closing(model, data, n):
    """1 + c x' of stop n."""
    return 1.0 - model.stop_constants[n, 1] * model.stop_side[n] * data.v[model.stop_dof[n]]


@kernel
def excess(model, data, n):
    """The velocity of brake n beyond its limits; 0 within them."""
    v = data.v[model.speed_dof[n]]
    return positive_part(v - model.speed_limits[n, 1]) - positive_part(model.speed_limits[n, 0] - v)


@kernel
def add_stop_forces(model, data, sign):
    """tau += sign * forces of stops and brakes."""
    for n in range(model.stop_dof.shape[0]):
        force = stop_spring(model, data, n) * positive_part(stop_closing(model, data, n))
        data.tau[model.stop_dof[n]] += sign * model.stop_side[n] * force
    for n in range(model.speed_dof.shape[0]):
        data.tau[model.speed_dof[n]] -= sign * model.speed_damping[n] * excess(model, data, n)


@kernel
def add_stop_derivatives(model, data, dtau_dq, dtau_dv):
    """Subtracts the derivatives of forces of stops and brakes from the diagonals: tau acts against them."""
    for n in range(model.stop_dof.shape[0]):
        d, k, c = model.stop_dof[n], model.stop_constants[n, 0], model.stop_constants[n, 1]
        met = 0.5 * (1.0 - sign_of(stop_gap(model, data.q, n)))
        closing = stop_closing(model, data, n)
        pushes = 0.5 * (1.0 + sign_of(closing))
        dtau_dq[d, d] += met * k * positive_part(closing)
        dtau_dv[d, d] += pushes * c * stop_spring(model, data, n)
    for n in range(model.speed_dof.shape[0]):
        d = model.speed_dof[n]
        v, low, high = data.v[d], model.speed_limits[n, 0], model.speed_limits[n, 1]
        dtau_dv[d, d] += model.speed_damping[n] * (1.0 + 0.5 * (sign_of(v - high) - sign_of(v - low)))


@kernel
def stop_energy(model, data):
    """Energy stored in stops [J]."""
    energy = data.V[0, 0]  # of World: zero, in the scalar type of the data
    for n in range(model.stop_dof.shape[0]):
        depth = positive_part(-stop_gap(model, data.q, n))
        energy = energy + 0.5 * model.stop_constants[n, 0] * depth * depth
    return energy


@kernel
def stop_spring_power(model, data):
    """Rate at which the springs of stops do work on the system [W]."""
    power = data.V[0, 0]
    for n in range(model.stop_dof.shape[0]):
        power = power + stop_spring(model, data, n) * model.stop_side[n] * data.v[model.stop_dof[n]]
    return power


@kernel
def stop_damping_power(model, data):
    """Rate at which stops do work beside their springs, and brakes, [W]: not positive."""
    power = data.V[0, 0]
    for n in range(model.stop_dof.shape[0]):
        rest = positive_part(stop_closing(model, data, n)) - 1.0
        power = power + stop_spring(model, data, n) * rest * model.stop_side[n] * data.v[model.stop_dof[n]]
    for n in range(model.speed_dof.shape[0]):
        power = power - model.speed_damping[n] * excess(model, data, n) * data.v[model.speed_dof[n]]
    return power

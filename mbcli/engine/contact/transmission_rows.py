"""Actuators whose force falls with length or rate as rows of the contact problem: they act at the end of the step.

With the moment J, the force at the start f and its slopes k by the length, d by the rate, the impulse of a row is

    h clamp_to_bounds(f - d (J v' - J v) - h k J v') = (v_hat - J v') / R within bounds,   1 / R = h (d + h k),

as that of a controller on one joint.
"""

from mbcli.engine.contact.problem import add_entry, begin_constraint, end_constraint
from mbcli.engine.fields.contact_fields import BOUNDED, BOUNDED_HIGH, BOUNDED_LOW, BOUNDED_R, BOUNDED_V_HAT
from mbcli.engine.fields.model_fields import NUMBERS_FORCE, TRANSMISSION_IMPLICIT
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.actuator_laws import unbounded_force

INFINITE = float("inf")
TRANSMISSION = (1 << 41) + (1 << 40)  # con_source: behind dry friction, before equations


@kernel
def has_transmission_rows(model):
    """Whether some actuator needs a row."""
    for i in range(model.transmission_kinds.shape[0]):
        if model.transmission_kinds[i, TRANSMISSION_IMPLICIT] == 1:
            return True
    return False


@kernel
def slope_in_step(data, i, h):
    """d + h k, which is not negative."""
    return max(data.transmission_slope[i, 0], 0.0) + h * max(data.transmission_slope[i, 1], 0.0)


@kernel
def has_row(model, data, i, h):
    """After add_transmission_forces: whether actuator i acts by a row in this step."""
    return model.transmission_kinds[i, TRANSMISSION_IMPLICIT] == 1 and slope_in_step(data, i, h) > 0.0


@kernel
def leave_to_transmission_rows(model, data, h):
    """Takes the forces of rows out of tau."""
    for i in range(model.transmission_kinds.shape[0]):
        if has_row(model, data, i, h):
            for d in range(data.v.shape[0]):
                data.tau[d] -= data.transmission_moment[i, d] * data.transmission_force[i]


@kernel
def add_transmission_rows(model, data, solver, h):
    """A row for each such actuator, with its law."""
    law, numbers = solver.con_law, model.transmission_numbers
    for n in range(model.transmission_kinds.shape[0]):
        if not has_row(model, data, n, h):
            continue
        i = begin_constraint(solver, BOUNDED, TRANSMISSION + n)
        if i < 0:
            return
        for k in range(data.v.shape[0]):
            d = data.v.shape[0] - 1 - k
            moment = data.transmission_moment[n, d]
            if moment != 0.0 and data.diagonal[d] < INFINITE:
                add_entry(solver, i, d, moment, 0.0, 0.0)
        slope = slope_in_step(data, n, h)
        force = unbounded_force(model, data, n, h)
        damping = max(data.transmission_slope[n, 0], 0.0)
        law[i, BOUNDED_R] = 1.0 / (h * slope)
        law[i, BOUNDED_V_HAT] = (force + damping * data.transmission_rate[n]) / slope
        law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH] = h * numbers[n, NUMBERS_FORCE], h * numbers[n, NUMBERS_FORCE + 1]
        end_constraint(solver, i)

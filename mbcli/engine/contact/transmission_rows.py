"""Actuators whose force falls with length or rate as rows of the contact problem: they act at the end of the step.

With the moment J, the force at the start f and its slopes k by the length, d by the rate, the impulse of a row is

    h clamp_to_bounds(f - d (J v' - J v) - h k J v') = (v_hat - J v') / R within bounds,   1 / R = h (d + h k),

as that of a controller on one joint. Actuators whose sum is limited share a row, of the length without gears, with the
sums of f, d and k: what the step changes in the sum is divided by the slopes.
"""

from mbcli.engine.contact.problem import add_entry, begin_constraint, end_constraint
from mbcli.engine.fields.contact_fields import BOUNDED, BOUNDED_HIGH, BOUNDED_LOW, BOUNDED_R, BOUNDED_V_HAT
from mbcli.engine.fields.model_fields import (
    NUMBERS_FORCE,
    NUMBERS_GEAR,
    NUMBERS_SUM,
    TRANSMISSION_BEARS,
    TRANSMISSION_IMPLICIT,
    TRANSMISSION_SUM,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.actuator_laws import sum_at_start, unbounded_force, weight_borne

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
def slope_of_sum(model, data, i, h):
    """The same of the actuators whose sum is limited with that of i, the first; h = 0: d alone."""
    total = 0.0
    for k in range(i, model.transmission_kinds.shape[0]):
        if (
            model.transmission_kinds[k, TRANSMISSION_SUM] == i
            and model.transmission_kinds[k, TRANSMISSION_IMPLICIT] == 1
        ):
            gear = model.transmission_numbers[k, NUMBERS_GEAR]
            total += gear * gear * slope_in_step(data, k, h)
    return total


@kernel
def has_row(model, data, i, h):
    """After add_transmission_forces: whether actuator i acts by a row in this step."""
    if model.transmission_kinds[i, TRANSMISSION_SUM] >= 0:
        return slope_of_sum(model, data, model.transmission_kinds[i, TRANSMISSION_SUM], h) > 0.0
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
    """A row for each such actuator, or sum, with its law."""
    for n in range(model.transmission_kinds.shape[0]):
        first = model.transmission_kinds[n, TRANSMISSION_SUM]
        if not has_row(model, data, n, h) or (first >= 0 and first != n):
            continue
        gear = model.transmission_numbers[n, NUMBERS_GEAR] if first >= 0 else 1.0
        i = begin_constraint(solver, BOUNDED, TRANSMISSION + n)
        if i < 0:
            return
        for k in range(data.v.shape[0]):
            d = data.v.shape[0] - 1 - k
            moment = data.transmission_moment[n, d]
            if moment != 0.0 and data.diagonal[d] < INFINITE:
                add_entry(solver, i, d, moment / gear, 0.0, 0.0)
        if first >= 0:
            set_law_of_sum(model, data, solver, i, n, h)
        else:
            set_law_of_actuator(model, data, solver, i, n, h)
        end_constraint(solver, i)


@kernel
def set_law_of_actuator(model, data, solver, i, n, h):
    """The law of row i, that of actuator n."""
    slope, force = slope_in_step(data, n, h), unbounded_force(model, data, n, h)
    damping = max(data.transmission_slope[n, 0], 0.0)
    set_bounded_law(model, solver, i, n, NUMBERS_FORCE, h, slope, force + damping * data.transmission_rate[n])


@kernel
def set_law_of_sum(model, data, solver, i, n, h):
    """The same of the sum of n, the first of it, and others; and their transmission_share."""
    slope, rate = (
        slope_of_sum(model, data, n, h),
        data.transmission_rate[n] / model.transmission_numbers[n, NUMBERS_GEAR],
    )
    aim = sum_at_start(model, data, n) + slope_of_sum(model, data, n, 0.0) * rate
    set_bounded_law(model, solver, i, n, NUMBERS_SUM, h, slope, aim)
    if model.transmission_kinds[n, TRANSMISSION_BEARS] >= 0:
        borne = h * weight_borne(model, data, n)
        solver.con_law[i, BOUNDED_LOW] -= borne
        solver.con_law[i, BOUNDED_HIGH] -= borne
    for k in range(n, model.transmission_kinds.shape[0]):
        data.transmission_share[k] = 0.0
        if (
            model.transmission_kinds[k, TRANSMISSION_SUM] == n
            and model.transmission_kinds[k, TRANSMISSION_IMPLICIT] == 1
        ):
            gear = model.transmission_numbers[k, NUMBERS_GEAR]
            data.transmission_share[k] = gear * slope_in_step(data, k, h) / slope


@kernel
def set_bounded_law(model, solver, i, n, bounds, h, slope, aim):
    """(aim - slope J v') within the bounds of actuator n that begin in that column."""
    law, numbers = solver.con_law, model.transmission_numbers
    law[i, BOUNDED_R] = 1.0 / (h * slope)
    law[i, BOUNDED_V_HAT] = aim / slope
    law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH] = h * numbers[n, bounds], h * numbers[n, bounds + 1]


@kernel
def take_transmission_force(model, data, n, force):
    """The force of the row of actuator n, or of the sum of which it is the first, to transmission_force."""
    if model.transmission_kinds[n, TRANSMISSION_SUM] != n:
        data.transmission_force[n] = force
        return
    change = force - sum_at_start(model, data, n)
    for k in range(n, model.transmission_kinds.shape[0]):
        if model.transmission_kinds[k, TRANSMISSION_SUM] == n:
            data.transmission_force[k] = data.transmission_start[k] + data.transmission_share[k] * change

"""Limits of joints with one velocity in the step of a discrete plant: nearly rigid stops.

Over a step h a stop gives the impulse max(0, (v_hat - s v') / R), along s = 1 at a lower limit and -1 at an upper one,
where v_hat = -gap / (2 h) closes a gap within about two steps, and R is as small as a step can resolve (Castro et al.
2022, section V.B, with the diagonal of the mass matrix). What steps pass of a limit is closed so too; a position that
starts far beyond it is brought back at no more than RETURN_SPEED, since a file may have it there: two steps would throw
the robot about. The effort of a stop is a bounded row, see bounded_rows.py.

Under the law of contact "mujoco" a limit is as soft as MuJoCo has it, and acts beyond it alone, see impedance.py and
contact/laws/mujoco.py.

A limit of a velocity is such a row too, of any velocity: s v' is not to be less than v_hat = minus the speed. A gap
that this speed closes in two steps says the same, so that all that asks for gaps holds for both.
"""

from mbcli.engine.fields.collision_fields import (
    SOFT_FIRST,
    SOFT_LAST,
    SOFT_MIDDLE,
    SOFT_POWER,
    SOFT_RATIO,
    SOFT_TIME,
    SOFT_WIDTH,
)
from mbcli.engine.fields.model_fields import (
    LIMIT_WEIGHT,
    ROW_ASSUMED,
    ROW_HIGH,
    ROW_LOW,
    ROW_OFFSET,
    ROW_OWN,
    ROW_SLOPE,
)
from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.impedance import impedance, reference_numbers
from mbcli.engine.smooth.mass_matrix import composite_inertias, inertia_along

INFINITE = float("inf")
PI = 3.141592653589793
RETURN_SPEED = 1e-3  # [rad/s or m/s] at most, of a position beyond its limit: its energy is next to nothing
STIFFNESS = 1e12  # [N m/rad or N/m] of a stop, and no more: what very heavy bodies feel
NEARLY_RIGID = 0.1 * 0.1 / (4.0 * PI * PI)  # R over what the row gives way to an impulse


@kernel
def limit_gap(model, q, k, h):
    """How far limit k is at positions q [rad or m]; negative where it is passed. Of a velocity: as far in a step h."""
    if model.limit_speed[k].real > 0.0:
        return 2.0 * h * model.limit_speed[k]
    return model.limit_side[k] * (q[model.dof_q[model.limit_dof[k]]] - model.limit_value[k])


@kernel
def is_soft(model, k):
    """Whether limit k has the softness of its file."""
    return model.limit_soft[k, LIMIT_WEIGHT].real > 0.0


@kernel
def law_at_limit(model, q, v, k, h, compliance):
    """v_hat of limit k along its side [rad/s or m/s], and R; compliance: what its velocity gives way to an impulse."""
    gap = limit_gap(model, q, k, h)
    if is_soft(model, k):
        soft, v_0 = model.limit_soft, model.limit_side[k] * v[model.limit_dof[k]]
        d = impedance(
            -gap,
            soft[k, SOFT_FIRST],
            soft[k, SOFT_LAST],
            soft[k, SOFT_WIDTH],
            soft[k, SOFT_MIDDLE],
            soft[k, SOFT_POWER],
        )
        stiffness, b = reference_numbers(soft[k, SOFT_TIME], soft[k, SOFT_RATIO], soft[k, SOFT_LAST], h)
        return (1.0 - h * b) * v_0 - h * stiffness * d * gap, (1.0 - d) / d * soft[k, LIMIT_WEIGHT]
    return law_of_gap(gap, h, compliance)


@kernel
def can_act(model, q, v, v_free, k, h):
    """Whether limit k can act in a step h that starts with the velocity v of its joint and ends with v_free, about."""
    gap = limit_gap(model, q, k, h)
    return gap.real < 0.0 if is_soft(model, k) else can_meet_limit(gap, v, v_free, h)


@kernel
def law_of_gap(gap, h, compliance):
    """The same of a stop at a gap [rad or m].

    Both are smaller by the same factor where the return to the limit would be too fast: the stop bears the same load at
    rest.
    """
    speed, R = -0.5 * gap / h, NEARLY_RIGID * compliance
    softest = 1.0 / (2.0 * h * h * STIFFNESS)
    if R.real < softest:
        R = 0.0 * R + softest
    if speed.real <= RETURN_SPEED:
        return speed, R
    return RETURN_SPEED + 0.0 * speed, R * RETURN_SPEED / speed


@kernel
def can_meet_limit(gap, v, v_free, h):
    """Whether a limit can act in a step h: two steps close its gap at the velocity v of its start or v_free of its end.

    At the limit it can at rest, too: forces of other stops may push against it, whatever rounding makes of v_free.
    """
    return gap.real <= 2.0 * h * max(abs(v.real), abs(v_free.real))


@kernel
def start_limits(model, data):
    """Before the other rows start: keeps `diagonal` as it is without rows."""
    first = model.pd_actuator.shape[0]
    for k in range(model.limit_dof.shape[0]):
        data.bounded_row[first + k, ROW_OWN] = data.diagonal[model.limit_dof[k]]


@slot(numbers=INJECTED)
def is_in_reach(model, data, h, k):
    """Whether limit k can act in the step that ends with the velocities v + h vdot without it."""
    d = model.limit_dof[k]
    if data.bounded_row[model.pd_actuator.shape[0] + k, ROW_OWN].real == INFINITE:
        return False
    v = data.v[d]
    return can_act(model, data.q, v, v + h * data.vdot[d], k, h)


@kernel
def reach_limits(model, data, h):
    """After world_inertias, vdot: the rows of limits; none of them acts yet. Returns how many can act in the step."""
    first, count = model.pd_actuator.shape[0], 0
    for k in range(model.limit_dof.shape[0]):
        count += int(is_in_reach(model, data, h, k))
    if count == 0 and first + model.friction_dof.shape[0] == 0:
        return 0
    if count > 0:
        composite_inertias(model, data)
    for k in range(model.limit_dof.shape[0]):
        i, d, side = first + k, model.limit_dof[k], model.limit_side[k]
        data.bounded_row[i, ROW_OFFSET] = data.bounded_row[i, ROW_SLOPE] = data.bounded_row[
            i, ROW_LOW
        ] = data.bounded_row[i, ROW_HIGH] = 0.0
        data.bounded_row[i, ROW_ASSUMED] = 0.0
        data.row_side[i] = -1.0 * side
        if not is_in_reach(model, data, h, k):
            continue
        inertia = inertia_along(model, data, d) + data.bounded_row[i, ROW_OWN]
        speed, R = law_at_limit(model, data.q, data.v, k, h, 1.0 / inertia)
        slope = 1.0 / R
        data.bounded_row[i, ROW_SLOPE] = slope
        data.bounded_row[i, ROW_OFFSET] = slope / h * (side * speed - data.v[d])
        data.bounded_row[i, ROW_HIGH if side > 0 else ROW_LOW] = side * INFINITE
    return count


@kernel
def leave_out_stops(model, data):
    """`diagonal` -> without the stops that act; whether some did.

    Rounding decides which stops act of a robot at rest at its limits. They bear nothing: nothing may depend on them.
    """
    first, found = model.pd_actuator.shape[0], False
    for k in range(model.limit_dof.shape[0]):
        if data.row_side[first + k].real == 0.0 and data.bounded_row[first + k, ROW_SLOPE].real > 0.0:
            data.diagonal[model.limit_dof[k]] -= data.bounded_row[first + k, ROW_SLOPE]
            data.row_side[first + k] = -1.0 * model.limit_side[k]
            found = True
    return found

"""Worlds (stepping/worlds.py) of plants without contact, constraints and dry friction, eight at once in one register.

Motion between limits is smooth: all lanes run the same instructions. Where a limit of a joint can act in the step, an
effort would pass its bound, or a number is not finite, the world leaves its lane for that step, which advance_worlds()
takes, called by address, with data for one state. Where that is so in half of the lanes, all of them leave for some.
"""

from mbcli.engine.fields.model_fields import PD_LIMIT, ROW_OFFSET, ROW_SLOPE, SCHEME_MIDDLE
from mbcli.engine.fields.run_fields import (
    WORLDS_AT_ADVANCE,
    WORLDS_AT_DATA,
    WORLDS_IMPLICIT_DAMPING,
    WORLDS_PAUSED_STEP,
    WORLDS_SAMPLED_STEP,
    WORLDS_STEP_LENGTH,
    WORLDS_STEPS_LEFT,
)
from mbcli.engine.limits.joint_limits import can_meet_limit
from mbcli.engine.limits.pd_control import start_controllers
from mbcli.engine.queries.batch import number_in, set_number_in, states_at_once, take
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import lanes_at, model_at, worlds_at
from mbcli.engine.runtime.kernel import called, kernel
from mbcli.engine.smooth.element_rows import resist_with_elements
from mbcli.engine.smooth.forward_dynamics import forward_dynamics
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.state import at_velocities
from mbcli.engine.stepping.loop import RUNNING, set_actuation
from mbcli.engine.stepping.step import end_between_limits, gather_forces, go_to_start, start_step
from mbcli.engine.stepping.velocity_terms import take_terms_in_middle

STEPS_ALONE = 8  # that all worlds of a register take one by one where half of them leave it


@called
def advance_worlds_in_lanes(model, data, worlds, first, end):
    """As advance_worlds(), for worlds that have all their steps to go, the same number, or that paused together.

    Returns end, or the first of those that pause.
    """
    m, d, w = model_at(model), lanes_at(data), worlds_at(worlds)
    for k in range(int(first), int(end), states_at_once(d.q)):
        advance_lanes(m, d, w, k, min(states_at_once(d.q), int(end) - k), model, worlds)
        if w.world_calls[WORLDS_PAUSED_STEP] > 0.0:
            return 1.0 * k
    return end


@kernel
def advance_lanes(m, d, w, first, lanes, model, worlds):
    """Advances so many worlds from `first` on; other lanes have what comes after these, and nothing of it is kept."""
    h, implicit_damping = w.world_settings[WORLDS_STEP_LENGTH], w.world_settings[WORLDS_IMPLICIT_DAMPING]
    sampled_step, last_input = w.world_counts[WORLDS_SAMPLED_STEP], w.world_u.shape[1] - 1
    until = w.world_until[first]
    step = int(w.world_calls[WORLDS_PAUSED_STEP])
    if step == 0:
        take(w.world_q, first, d.q)
        take(w.world_v, first, d.v)
        take_desired(w.world_desired, first, d.pd_desired)
    w.world_calls[WORLDS_PAUSED_STEP] = 0.0
    while step < until:
        if w.world_calls[WORLDS_STEPS_LEFT] <= 0.0 and step > 0:
            w.world_calls[WORLDS_PAUSED_STEP] = 1.0 * step
            break
        w.world_calls[WORLDS_STEPS_LEFT] -= 1.0
        if step == 0 or last_input > 0:
            take_inputs(w.world_u, first, min(step, last_input), d.u)
        set_actuation(m, d)
        clear_applied_forces(d)
        start_step(m, d, h)
        at_velocities(m, d)
        gather_forces(m, d, h, implicit_damping)
        go_to_start(d)
        start_controllers(m, d, h)
        forward_dynamics(m, d)
        resist_with_elements(m, d, h)
        leaving, count = 0, 0
        for lane in range(lanes):
            if leaves_smooth_motion(m, d, h, lane):
                leaving |= 1 << lane
                count += 1
        alone = 2 * count >= lanes
        ahead = min(step + STEPS_ALONE, until) if alone else step + 1
        if not alone and m.step_scheme[SCHEME_MIDDLE] == 1:
            take_terms_in_middle(m, d, h)
            for lane in range(lanes):
                if passes_bound(m, d, lane):
                    leaving |= 1 << lane
        for lane in range(lanes):
            if (alone or (leaving >> lane) & 1 != 0) and w.world_status[first + lane] == RUNNING:
                put_from(d.q, lane, w.world_q, first + lane)
                put_from(d.v, lane, w.world_v, first + lane)
        if not alone:
            end_between_limits(m, d, h)
        for lane in range(lanes):
            if alone or (leaving >> lane) & 1 != 0:
                advance_alone(w, first + lane, step, ahead, model, worlds)
                take_in(w.world_q, first + lane, lane, d.q)
                take_in(w.world_v, first + lane, lane, d.v)
        if not alone and ahead % sampled_step == 0:
            row = ahead // sampled_step - 1
            put_samples(d.q, w.world_samples, first, lanes, row, 0)
            put_samples(d.v, w.world_samples, first, lanes, row, d.q.shape[0])
        step = ahead
    for lane in range(lanes):
        k = first + lane
        if w.world_status[k] == RUNNING:
            put_from(d.q, lane, w.world_q, k)
            put_from(d.v, lane, w.world_v, k)
            w.world_steps[k] = step


@kernel
def advance_alone(w, k, step, until, model, worlds):
    """World k takes a few steps by itself, if it runs, from the one that is its next, without a pause."""
    if w.world_status[k] == RUNNING:
        goal, left = w.world_until[k], w.world_calls[WORLDS_STEPS_LEFT] - (until - step)
        w.world_steps[k], w.world_until[k] = step, until
        w.world_calls[WORLDS_STEPS_LEFT] = 1.0 * (until - step)
        call_by_address(
            w.world_calls[WORLDS_AT_ADVANCE], model, w.world_calls[WORLDS_AT_DATA], worlds, 1.0 * k, k + 1.0
        )
        w.world_until[k], w.world_calls[WORLDS_STEPS_LEFT] = goal, left


@kernel
def leaves_smooth_motion(m, d, h, lane):
    """After accelerations without limits: whether in a lane a limit or a bound can act, or a number is not finite."""
    total = 0.0
    for i in range(d.q.shape[0]):
        total += 0.0 * number_in(d.q, i, lane)
    for i in range(d.v.shape[0]):
        total += 0.0 * number_in(d.v, i, lane) + 0.0 * number_in(d.vdot, i, lane)
    if total != 0.0:
        return True
    for n in range(m.limit_dof.shape[0]):
        i = m.limit_dof[n]
        v = number_in(d.v, i, lane)
        gap = m.limit_side[n] * (number_in(d.q, m.dof_q[i], lane) - m.limit_value[n])
        if m.limit_speed[n] > 0.0:
            gap = 2.0 * h * m.limit_speed[n]
        if can_meet_limit(gap, v, v + h * number_in(d.vdot, i, lane), h):
            return True
    return passes_bound(m, d, lane)


@kernel
def passes_bound(m, d, lane):
    """Whether in a lane the effort of a controller passes its bound."""
    for n in range(m.pd_actuator.shape[0]):
        line, vdot = d.bounded_row[n], number_in(d.vdot, m.actuator_dof[m.pd_actuator[n]], lane)
        effort = number_in(line, ROW_OFFSET, lane) - number_in(line, ROW_SLOPE, lane) * vdot
        if not abs(effort) <= m.pd_constants[n, PD_LIMIT]:
            return True
    return False


# rows and lanes


@kernel
def take_in(rows, k, lane, x):
    """Row k -> one lane of x."""
    for i in range(rows.shape[1]):
        set_number_in(x, i, lane, rows[k, i])


@kernel
def put_from(x, lane, rows, k):
    """One lane of x -> row k."""
    for i in range(rows.shape[1]):
        rows[k, i] = number_in(x, i, lane)


@kernel
def take_inputs(values, first, row, x):
    """Row `row` of the tables of the worlds from `first` on -> the lanes of x; past the end, the last world again."""
    for lane in range(states_at_once(x)):
        k = min(first + lane, values.shape[0] - 1)
        for i in range(values.shape[2]):
            set_number_in(x, i, lane, values[k, row, i])


@kernel
def take_desired(values, first, x):
    """What controllers aim at in these worlds -> the lanes of x."""
    for lane in range(states_at_once(x)):
        k = min(first + lane, values.shape[0] - 1)
        for i in range(values.shape[1]):
            set_number_in(x[i], 0, lane, values[k, i, 0])
            set_number_in(x[i], 1, lane, values[k, i, 1])


@kernel
def put_samples(x, samples, first, lanes, row, column):
    """So many lanes of x -> row `row` of the tables of the worlds from `first` on, from a column on."""
    for lane in range(lanes):
        for i in range(x.shape[0]):
            samples[first + lane, row, column + i] = number_in(x, i, lane)

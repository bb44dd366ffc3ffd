"""Many states of one discrete plant that step together, each from its own state under its own actuation: worlds.

A world is a row of the arrays of WORLD_FIELDS. It goes through the data of whoever advances it, and back: q and v of a
world are always those after its last good step, whatever becomes of the next one. What data and contact remember from
one problem to the next has no effect on results but for two things, which are forgotten between worlds: the ranks of
constraints, and which elements of two meshes are near. queries/world_lanes.py advances eight at once.

A call pauses when it has taken WORLDS_STEPS_LEFT steps, so that Python sees signals. The next call goes on with the
data as they are, as if there had been no pause.
"""

from mbcli.engine.contact.contact_calls import sum_contacts
from mbcli.engine.fields.run_fields import (
    WORLDS_IMPLICIT_DAMPING,
    WORLDS_PAUSED_STEP,
    WORLDS_SAMPLED_STEP,
    WORLDS_STEP_LENGTH,
    WORLDS_STEPS_LEFT,
)
from mbcli.engine.limits.pd_control import carry_efforts
from mbcli.engine.runtime.handles import data_at, model_at, worlds_at
from mbcli.engine.runtime.kernel import called, kernel, slot
from mbcli.engine.smooth.actuator_laws import advance_activations
from mbcli.engine.smooth.forward_dynamics import stop_locked
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.state import at_velocities, restore_ranks
from mbcli.engine.stepping.balance import at_forces_of_step, keep_balance_of_world
from mbcli.engine.stepping.loop import GIMBAL_LOCK, RUNNING, STEP_FAULT, gimbal_lock, set_actuation, step_result
from mbcli.engine.stepping.pushes import add_pushes, note_forces_of_start
from mbcli.engine.stepping.step import discrete_step, rest_of_step, start_step
from mbcli.engine.stepping.step_loads import go_on_with_solved_forces, take_exact_forces


@called
def advance_worlds(model, data, worlds, first, end):
    """Advances those of the worlds `first` to `end` - 1 that are RUNNING to the step where each is to be.

    Returns end, or the world in whose step contact found no room or no solution, or that pauses: nothing is done after
    it. Who has got it back as RUNNING calls again from it on.
    """
    m, d, w = model_at(model), data_at(data), worlds_at(worlds)
    for k in range(int(first), int(end)):
        if w.world_status[k] == RUNNING:
            w.world_status[k] = advance_world(m, d, w, k)
            if w.world_status[k] == STEP_FAULT or w.world_calls[WORLDS_PAUSED_STEP] > 0.0:
                return 1.0 * k
    return end


@kernel
def advance_world(m, d, w, k):
    """Takes the steps that world k has not taken yet, or some of them. Returns RUNNING, or why it stopped."""
    h, implicit_damping = w.world_settings[WORLDS_STEP_LENGTH], w.world_settings[WORLDS_IMPLICIT_DAMPING]
    sampled_step, last_input = w.world_counts[WORLDS_SAMPLED_STEP], w.world_u.shape[1] - 1
    nq, nv = d.q.shape[0], d.v.shape[0]
    if w.world_calls[WORLDS_PAUSED_STEP] > 0.0:
        w.world_calls[WORLDS_PAUSED_STEP] = 0.0
    else:
        begin_world(d, w, k)
    for step in range(w.world_steps[k], w.world_until[k]):
        if w.world_calls[WORLDS_STEPS_LEFT] <= 0.0 and step > 0:
            w.world_calls[WORLDS_PAUSED_STEP] = 1.0 * step
            return RUNNING
        w.world_calls[WORLDS_STEPS_LEFT] -= 1.0
        for i in range(d.u.shape[0]):
            d.u[i] = w.world_u[k, min(step, last_input), i]
        set_actuation(m, d)
        if gimbal_lock(m, d.q) != 0:
            return GIMBAL_LOCK
        clear_applied_forces(d)
        t = (w.world_began[k] + step) * h
        if w.world_pushes.shape[0] == 0:
            discrete_step(m, d, h, implicit_damping)
        else:
            note_forces_of_start(d, w.world_push_times, w.world_pushes[k], w.world_pushes[k + 1])
            start_step(m, d, h)
            push_world(m, d, w, k, t, h)
            rest_of_step(m, d, h, implicit_damping)
        result = step_result(m, d)
        if result != RUNNING:
            return result
        if w.world_effort.shape[0] + w.world_wrench.shape[0] > 0:
            take_exact_forces(d, h)
            if w.world_wrench.shape[0] > 0 and sum_contacts(d, w.world_wrench[k]) != 0.0:
                return STEP_FAULT
            if w.world_effort.shape[0] > 0:
                keep_efforts(m, d, w, k)
                keep_place_of_forces(m, d, w, k, h)
            go_on_with_solved_forces(d, h)
        carry_efforts(m, d, h)
        advance_activations(m, d, h)
        if w.world_work.shape[0] > 0:
            keep_balance_of_world(d, w, k, t, h)
        for i in range(d.activation.shape[0]):
            w.world_activation[k, i] = d.activation[i]
        for i in range(d.pd_carried.shape[0]):
            w.world_carried[k, i] = d.pd_carried[i]
        for i in range(nq):
            w.world_q[k, i] = d.q[i]
        for i in range(nv):
            w.world_v[k, i] = d.v[i]
        w.world_steps[k] = step + 1
        if (step + 1) % sampled_step == 0:
            row = (step + 1) // sampled_step - 1
            for i in range(nq):
                w.world_samples[k, row, i] = d.q[i]
            for i in range(nv):
                w.world_samples[k, row, nq + i] = d.v[i]
    return RUNNING


@kernel
def keep_efforts(m, d, w, k):
    """The efforts of actuators in the step of world k, with those of controllers."""
    for i in range(d.u.shape[0]):
        w.world_effort[k, i] = d.u[i]
    for i in range(m.pd_actuator.shape[0]):
        w.world_effort[k, m.pd_actuator[i]] = d.pd_effort[i]
    for i in range(d.u.shape[0] - m.actuator_dof.shape[0]):
        w.world_effort[k, m.actuator_dof.shape[0] + i] = d.transmission_force[i]


@kernel
def keep_place_of_forces(m, d, w, k, h):
    """Where the step of world k took its forces, before its end becomes its state; q and v stay."""
    nq, nv = d.q.shape[0], d.v.shape[0]
    for i in range(nq):
        w.world_places[k, 1, i], d.q[i] = d.q[i], w.world_q[k, i]
    for i in range(nv):
        w.world_places[k, 1, nq + i], d.v[i] = d.v[i], w.world_v[k, i]
    stop_locked(m, d.v)
    at_velocities(m, d)
    at_forces_of_step(m, d, h)
    for i in range(nq):
        w.world_places[k, 0, i], d.q[i] = d.q[i], w.world_places[k, 1, i]
    for i in range(nv):
        w.world_places[k, 0, nq + i], d.v[i] = d.v[i], w.world_places[k, 1, nq + i]
        w.world_places[k, 1, nq + i] = d.v[i] - d.v_off[i]


@kernel
def push_world(m, d, w, k, t, h):
    """F_applied += the forces on world k as they act in a step from time t."""
    links, points, forces, times = w.world_push_link, w.world_push_point, w.world_push_force, w.world_push_times
    add_pushes(m, d, links, points, forces, times, w.world_pushes[k], w.world_pushes[k + 1], t, h)


@kernel
def begin_world(d, w, k):
    """Data take the state of world k, and what they know of another one is forgotten."""
    for i in range(d.q.shape[0]):
        d.q[i] = w.world_q[k, i]
    for i in range(d.v.shape[0]):
        d.v[i] = w.world_v[k, i]
    for i in range(d.pd_desired.shape[0]):
        d.pd_desired[i, 0], d.pd_desired[i, 1] = w.world_desired[k, i, 0], w.world_desired[k, i, 1]
        d.pd_carried[i] = w.world_carried[k, i]
    for i in range(d.activation.shape[0]):
        d.activation[i] = w.world_activation[k, i]
    forget_neighbors(d)
    restore_ranks(d)


@slot(contact="stepping.contact_step.forget_near_elements")
def forget_neighbors(data):
    """Before the state of another world: forgets what the search for contacts keeps of the state before."""

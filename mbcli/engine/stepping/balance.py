"""The energy balance of a run: work on a plant by causes, summed over steps. Called by address, if it is asked for.

Over a discrete step with the mass matrix M of where it takes its forces, at its start or in its middle, the kinetic
energy changes by (v + v')/2 . M (v' - v): a force f on the velocities does the work h f . (v + v')/2, exactly. What the
forces of all causes leave of M (v' - v) belongs to no cause; it is zero but for rounding, and where constraints act
without contact, it is theirs. A step of a
continuous plant is summed up by Gauss's formula with three points, of sixth order, over its dense output.

Gravity and springs are not among these: they change the potential energy. What is left of the change of energy is the
error of integration: M changes along the step, and positions follow the new velocities.
"""

from mbcli.engine.contact.contact_calls import friction_power_of_contact, lacks_room, set_contact_forces
from mbcli.engine.fields.model_fields import (
    BALANCE_AT_ARRAYS,
    BALANCE_AT_DATA,
    BALANCE_AT_MODEL,
    BALANCE_AT_MOTION_FUNCTION,
    BALANCE_AT_RUN,
    BALANCE_AT_STEP_FUNCTION,
    SCHEME_MIDDLE,
)
from mbcli.engine.fields.run_fields import (
    BALANCE_BEGUN,
    BALANCE_CONSTRAINED,
    BALANCE_END_PUSH,
    BALANCE_FIRST_PUSH,
    BALANCE_IMPLICIT,
    BALANCE_TIME,
    WORK_OF_ACTUATORS,
    WORK_OF_CONSTRAINTS,
    WORK_OF_CONTACT,
    WORK_OF_CONTACT_FRICTION,
    WORK_OF_FORCE_ELEMENTS,
    WORK_OF_JOINT_DAMPING,
    WORK_OF_JOINT_FRICTION,
    WORK_OF_LIMITS,
    WORK_OF_PLUGINS,
    WORK_OF_PUSHES,
    WORK_UNEXPLAINED,
)
from mbcli.engine.limits.joint_limits import can_meet_limit, limit_gap
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import actuation_at, balance_at, data_at, integration_at, model_at
from mbcli.engine.runtime.kernel import called, kernel, slot
from mbcli.engine.smooth.actuator_laws import add_transmission_forces
from mbcli.engine.smooth.coordinates import advance_positions, sines_of_rates
from mbcli.engine.smooth.element_rows import power_of_changes
from mbcli.engine.smooth.energy import total_energy
from mbcli.engine.smooth.force_elements import (
    add_forces_between,
    element_conservative_power,
    hinge_friction_torque,
    hinge_inertia,
    hinge_spring_torque,
)
from mbcli.engine.smooth.forward_dynamics import stop_locked
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces, inverse_dynamics
from mbcli.engine.smooth.joint_forces import spring_stretch
from mbcli.engine.smooth.kinematics import velocity_kinematics
from mbcli.engine.smooth.middle import damping_of_step, weigh_velocities
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import dot, row3
from mbcli.engine.smooth.state import at_velocities, set_state
from mbcli.engine.smooth.stops import stop_damping_power
from mbcli.engine.stepping.integrators import evaluate_dense
from mbcli.engine.stepping.pushes import FROM_EVER, push_about_root, share_of_step

# request to balance_motion() in place of the length of a step
BEFORE_PROJECTION, AFTER_PROJECTION = -1.0, -2.0
NODE = 0.3872983346207417  # half the square root of 3/5: Gauss's outer points from the middle of a step


@kernel
def keep_balance(data, previous, h, t):
    """After a step from previous = [q; v] at time t, if a run wants that: the work of each cause in it."""
    if data.balance[BALANCE_AT_STEP_FUNCTION] != 0.0:
        b, nq = balance_at(data.balance[BALANCE_AT_ARRAYS]), data.q.shape[0]
        for i in range(nq):
            b.q_before_step[i] = previous[i]
        for d in range(data.v.shape[0]):
            b.v_before_step[d] = previous[nq + d]
        add_work_of_step(data, b, h, t)


@kernel
def keep_balance_of_world(d, w, k, t, h):
    """As keep_balance(), of world k of many, whose q and v are those before the step still."""
    b = balance_at(d.balance[BALANCE_AT_ARRAYS])
    for i in range(b.work.shape[0]):
        b.work[i] = w.world_work[k, i]
    b.balance_settings[BALANCE_BEGUN] = w.world_kinetic[k, 0]
    b.kinetic_range[0], b.kinetic_range[1] = w.world_kinetic[k, 1], w.world_kinetic[k, 2]
    if w.world_pushes.shape[0] > 0:
        b.balance_settings[BALANCE_FIRST_PUSH] = w.world_pushes[k]
        b.balance_settings[BALANCE_END_PUSH] = w.world_pushes[k + 1]
    for i in range(d.q.shape[0]):
        b.q_before_step[i] = w.world_q[k, i]
    for i in range(d.v.shape[0]):
        b.v_before_step[i] = w.world_v[k, i]
    add_work_of_step(d, b, h, t)
    for i in range(b.work.shape[0]):
        w.world_work[k, i] = b.work[i]
    w.world_kinetic[k, 0] = b.balance_settings[BALANCE_BEGUN]
    w.world_kinetic[k, 1], w.world_kinetic[k, 2] = b.kinetic_range[0], b.kinetic_range[1]


@kernel
def add_work_of_step(data, b, h, t):
    """Adds the work in the step from q_before_step and v_before_step at time t to what data now have."""
    at = data.balance
    b.balance_settings[BALANCE_TIME] = t
    call_by_address(
        at[BALANCE_AT_STEP_FUNCTION],
        at[BALANCE_AT_MODEL],
        at[BALANCE_AT_DATA],
        at[BALANCE_AT_ARRAYS],
        at[BALANCE_AT_RUN],
        h,
    )


@kernel
def keeps_balance(data):
    """Whether a run of a continuous plant wants the balance."""
    return data.balance[BALANCE_AT_MOTION_FUNCTION] != 0.0


@kernel
def balance_of_motion(data, h):
    """As balance_motion(), if a run wants that."""
    at = data.balance
    if at[BALANCE_AT_MOTION_FUNCTION] != 0.0:
        call_by_address(
            at[BALANCE_AT_MOTION_FUNCTION],
            at[BALANCE_AT_MODEL],
            at[BALANCE_AT_DATA],
            at[BALANCE_AT_ARRAYS],
            at[BALANCE_AT_RUN],
            h,
        )


@called
def balance_step(model, data, balance, actuation, h):
    """After step_under_pushes() from q_before_step, v_before_step: adds to `work`. Called by address, returns 0."""
    m, d, b = model_at(model), data_at(data), balance_at(balance)
    stop_locked(m, b.v_before_step)
    for i in range(d.q.shape[0]):
        b.q_after_step[i] = d.q[i]
        d.q[i] = b.q_before_step[i]
    for k in range(d.v.shape[0]):
        b.v_after_step[k] = d.v[k]
        d.v[k] = b.v_before_step[k]
    at_velocities(m, d)
    total_energy(m, d)
    see_kinetic_energy(d, b)
    at_forces_of_step(m, d, h)
    for k in range(d.v.shape[0]):
        d.vdot[k] = (b.v_after_step[k] - b.v_before_step[k]) / h
    inverse_dynamics(m, d, 1.0)  # tau: the forces beside gravity and F_applied
    for k in range(d.v.shape[0]):
        d.v[k] = 0.5 * (b.v_before_step[k] + b.v_after_step[k])
    velocity_kinematics(m, d)
    exact, unexplained = m.step_scheme[SCHEME_MIDDLE], 0.0
    weigh_velocities(m, d)
    for k in range(d.v.shape[0]):
        damping = -m.dof_damping[k] * b.v_before_step[k]
        damping -= b.balance_settings[BALANCE_IMPLICIT] * damping_of_step(m, d, k, h) * d.vdot[k]
        ahead = 0.25 * h * h * exact * d.vdot[k] if m.dof_ball[k, 0] < 0 else 0.0
        stretch = spring_stretch(m, d.q, k) + ahead
        spring = -m.dof_stiffness[k] * stretch
        b.work[WORK_OF_JOINT_DAMPING] += h * damping * d.v[k]
        unexplained += h * (d.tau[k] - damping - spring) * d.v[k]
    for n in range(m.hinge_dof.shape[0]):
        k = m.hinge_dof[n]
        torque = hinge_spring_torque(m.hinge_constants, n, d.q[m.dof_q[k]])
        torque += hinge_friction_torque(m.hinge_constants, n, b.v_before_step[k])
        torque -= exact * hinge_inertia(m, d, n, b.v_before_step[k], h) * d.vdot[k]
        b.work[WORK_OF_FORCE_ELEMENTS] += h * torque * d.v[k]
        unexplained -= h * torque * d.v[k]
    of_pushes = book_pushes(m, d, b, actuation_at(actuation), h)
    power = power_of_applied_forces(d) - element_conservative_power(m, d)
    b.work[WORK_OF_FORCE_ELEMENTS] += h * power - of_pushes
    work = h * power_of_changes(m, d, d.v)
    b.work[WORK_OF_FORCE_ELEMENTS] += work
    unexplained -= work
    for n in range(m.friction_dof.shape[0]):
        work = h * d.friction_effort[n] * d.v[m.friction_dof[n]]
        b.work[WORK_OF_JOINT_FRICTION] += work
        unexplained -= work
    work = h * power_of_actuators(m, d)
    b.work[WORK_OF_ACTUATORS] += work
    unexplained -= work + work_of_rows(d, b)
    is_constrained = b.balance_settings[BALANCE_CONSTRAINED] != 0.0
    if m.limit_dof.shape[0] > 0 and not has_rows(d) and (not is_constrained or some_limit_acts(m, b, h)):
        b.work[WORK_OF_LIMITS] += unexplained
    elif has_rows(d) or not is_constrained:  # else it is that of equations, whose forces do no work
        b.work[WORK_UNEXPLAINED] += unexplained
    for i in range(d.q.shape[0]):
        d.q[i] = b.q_after_step[i]
    for k in range(d.v.shape[0]):
        d.v[k] = b.v_after_step[k]
        if is_asleep(d, m.dof_body[k]):
            d.vdot[k] = 0.0
    return 0.0


@kernel
def book_pushes(model, data, b, actuation, h):
    """At the velocities V: adds the work in a step of pushes, and of plugins, which begin at no time; their sum."""
    total, times = 0.0, actuation.push_times
    for i in range(int(b.balance_settings[BALANCE_FIRST_PUSH]), int(b.balance_settings[BALANCE_END_PUSH])):
        share = share_of_step(times, i, b.balance_settings[BALANCE_TIME], h)
        if share == 0.0:
            continue
        links, body = actuation.push_link, model.link_body[actuation.push_link[i]]
        moment, force = push_about_root(model, data, links, actuation.push_point, actuation.push_force, i, share)
        work = h * (dot(moment, row3(data.V, body, 0)) + dot(force, row3(data.V, body, 3)))
        b.work[WORK_OF_PUSHES if times[i, 0] > FROM_EVER else WORK_OF_PLUGINS] += work
        total += work
    return total


@slot(
    constrained="stepping.constrained_step.at_forces_under_constraints",
    contact="stepping.contact_work.at_forces_in_contact",
)
def at_forces_of_step(model, data, h):
    """q, v at the start of the last step -> where it took its forces, with the velocities of its velocity terms."""
    if model.step_scheme[SCHEME_MIDDLE] == 1:
        sines_of_rates(model, data)
        advance_positions(model, data, data.v, 0.5 * h)
        for k in range(data.v.shape[0]):
            data.v[k] = data.v_terms[k]
        at_velocities(model, data)


@kernel
def some_limit_acts(model, b, h):
    """Whether a limit was in reach in the step."""
    for k in range(model.limit_dof.shape[0]):
        d = model.limit_dof[k]
        gap = min(limit_gap(model, b.q_before_step, k, h), limit_gap(model, b.q_after_step, k, h))
        if can_meet_limit(gap, b.v_before_step[d], b.v_after_step[d], h):
            return True
    return False


@kernel
def see_kinetic_energy(data, b):
    """Widens the range of the kinetic energies that were seen."""
    T = data.energy[0]
    if b.balance_settings[BALANCE_BEGUN] == 0.0:
        b.balance_settings[BALANCE_BEGUN] = 1.0
        b.kinetic_range[0], b.kinetic_range[1] = T, T
    b.kinetic_range[0], b.kinetic_range[1] = min(T, b.kinetic_range[0]), max(T, b.kinetic_range[1])


@kernel
def power_of_applied_forces(data):
    """Of F_applied at the velocities V [W]."""
    power = 0.0
    for n in range(1, data.V.shape[0]):
        power += dot(row3(data.F_applied, n, 0), row3(data.V, n, 0))
        power += dot(row3(data.F_applied, n, 3), row3(data.V, n, 3))
    return power


@kernel
def power_of_actuators(model, data):
    """Of u at v, if an actuator has a controller of its effort in the step [W]."""
    power = 0.0
    for k in range(model.actuator_dof.shape[0]):
        power += data.u[k] * data.v[model.actuator_dof[k]]
    for i in range(model.pd_actuator.shape[0]):
        k = model.pd_actuator[i]
        power += (data.pd_effort[i] - data.u[k]) * data.v[model.actuator_dof[k]]
    return power + power_of_transmissions(model, data)


@kernel
def power_of_transmissions(model, data):
    """Of actuators that act through transmissions, whose forces and moments are known, at v [W]."""
    power = 0.0
    for i in range(model.transmission_kinds.shape[0]):
        for d in range(data.v.shape[0]):
            power += data.transmission_force[i] * data.transmission_moment[i, d] * data.v[d]
    return power


@slot(contact="stepping.contact_work.has_contact_rows")
def has_rows(data):
    """Whether the last step was a contact problem: contact/__init__.py says what stands in for these then."""
    return False


@slot(contact="stepping.contact_work.work_of_contact_rows")
def work_of_rows(data, balance):
    """Adds the work of contact, limits and constraints in a contact problem at the velocities v; their sum."""
    return 0.0


@called
def balance_motion(model, data, balance, integration, h):
    """With `dense` of a step of length h known: adds to `work`, if contact has room. Called by address, returns 0.

    h may ask for the energy of y_end instead, before and after it is projected: constraints get the difference.
    """
    m, d, b, run = model_at(model), data_at(data), balance_at(balance), integration_at(integration)
    if h < 0.0:
        set_state(d, run.y_end)
        at_velocities(m, d)
        total_energy(m, d)
        energy = d.energy[0] + d.energy[1]
        b.projection[0] = -energy if h == BEFORE_PROJECTION else b.projection[0] + energy
        return 0.0
    for k in range(b.step_work.shape[0]):
        b.step_work[k] = 0.0
    for node in range(3):
        evaluate_dense(run, 0.5 + (node - 1) * NODE)
        set_state(d, run.y_stage)
        at_velocities(m, d)
        total_energy(m, d)
        see_kinetic_energy(d, b)
        weight = h * (8.0 if node == 1 else 5.0) / 18.0
        add_powers(m, d, b, weight)
    b.step_work[WORK_OF_CONSTRAINTS] += b.projection[0]
    if not lacks_room(d):
        for k in range(b.step_work.shape[0]):
            b.work[k] += b.step_work[k]
    return 0.0


@kernel
def add_powers(model, data, b, weight):
    """step_work += the powers of all causes, times a time; after velocity_kinematics and world_inertias."""
    for k in range(data.v.shape[0]):
        b.step_work[WORK_OF_JOINT_DAMPING] -= weight * model.dof_damping[k] * data.v[k] * data.v[k]
    for k in range(model.actuator_dof.shape[0]):
        b.step_work[WORK_OF_ACTUATORS] += weight * data.u[k] * data.v[model.actuator_dof[k]]
    add_transmission_forces(model, data, 0.0)
    b.step_work[WORK_OF_ACTUATORS] += weight * power_of_transmissions(model, data)
    for n in range(model.hinge_dof.shape[0]):
        k = model.hinge_dof[n]
        torque = hinge_spring_torque(model.hinge_constants, n, data.q[model.dof_q[k]])
        torque += hinge_friction_torque(model.hinge_constants, n, data.v[k])
        b.step_work[WORK_OF_FORCE_ELEMENTS] += weight * torque * data.v[k]
    b.step_work[WORK_OF_LIMITS] += weight * stop_damping_power(model, data)
    clear_applied_forces(data)
    add_forces_between(model, data, data.F_applied, 0)
    power = power_of_applied_forces(data) - element_conservative_power(model, data)
    b.step_work[WORK_OF_FORCE_ELEMENTS] += weight * power
    clear_applied_forces(data)
    set_contact_forces(data)
    b.step_work[WORK_OF_CONTACT] += weight * power_of_applied_forces(data)
    b.step_work[WORK_OF_CONTACT_FRICTION] += weight * friction_power_of_contact(data)

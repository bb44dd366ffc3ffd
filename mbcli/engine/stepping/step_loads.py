"""Where a step of a discrete plant took its forces, and what acted on links there, for reactions and sensors of a row.

A step of second order takes them in its middle, one under constraints too, one in contact at its start. The velocity
terms may be of other velocities (v_terms): M vdot + C v_terms = tau holds there and nowhere else, so that is where the
forces in joints follow from vdot. Weights and contact are not in the loads: the state and the record of contacts have
them.
"""

from mbcli.engine.fields.run_fields import (
    LOAD_AT_ACTUATION,
    LOAD_AT_DATA,
    LOAD_AT_FUNCTION,
    LOAD_AT_MODEL,
    LOAD_AT_RECORDING,
)
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import actuation_at, data_at, model_at, recording_at
from mbcli.engine.runtime.kernel import INJECTED, Handle, Real, called, entry, kernel, slot
from mbcli.engine.smooth.element_rows import add_changes_on_links
from mbcli.engine.smooth.force_elements import add_element_forces
from mbcli.engine.smooth.forward_dynamics import stop_locked
from mbcli.engine.smooth.frame_motion import from_components
from mbcli.engine.smooth.kinematics import velocity_kinematics
from mbcli.engine.smooth.mass_properties import link_axes
from mbcli.engine.smooth.spatial import add, cross, row3, scale, set_row3
from mbcli.engine.smooth.state import at_velocities
from mbcli.engine.smooth.transmissions import add_transmissions_on_links
from mbcli.engine.stepping.balance import at_forces_of_step
from mbcli.engine.stepping.pushes import share_of_step


@slot(contact="stepping.exact_forces.exact_forces_in_contact", python=INJECTED)
def take_exact_forces(data, h):
    """After a step: forces that are exact at the velocities that it led to; those of steps without contact are."""


@slot(contact="stepping.exact_forces.solved_forces_in_contact", python=INJECTED)
def go_on_with_solved_forces(data, h):
    """After take_exact_forces() and what reports these: those by which the motion goes on."""


@kernel
def keeps_loads(recording):
    """Whether samples have the loads of the steps from them."""
    return recording.recorded_load_q.shape[0] > 0


@kernel
def keep_loads(data, before, h, t, recording):
    """After the step of length h from the state before at time t: its loads are those of the row that comes next."""
    row = recording.rows_written[0]
    for i in range(recording.load_start.shape[0]):
        recording.load_start[i] = before[i]
    recording.load_step[0] = h
    for n in range(recording.recorded_loads.shape[1]):
        for k in range(6):
            recording.recorded_loads[row, n, k] = 0.0
    at = recording.load_calls
    call_by_address(
        at[LOAD_AT_FUNCTION], at[LOAD_AT_MODEL], at[LOAD_AT_DATA], at[LOAD_AT_RECORDING], at[LOAD_AT_ACTUATION], t
    )


@called
def record_loads(model, data, recording, actuation, t):
    """After a step: q and v stay, and are its end. Called by address, returns 0."""
    m, d, r, nq = model_at(model), data_at(data), recording_at(recording), data_at(data).q.shape[0]
    for i in range(nq):
        r.load_end[i] = d.q[i]
        d.q[i] = r.load_start[i]
    for k in range(d.v.shape[0]):
        r.load_end[nq + k] = d.v[k]
        d.v[k] = r.load_start[nq + k]
    note_loads(m, d, r, actuation_at(actuation), t)
    for i in range(nq):
        d.q[i] = r.load_end[i]
    for k in range(d.v.shape[0]):
        d.v[k] = r.load_end[nq + k]
        r.recorded_vdot[r.rows_written[0], k] = (d.v[k] - d.v_off[k] - r.load_start[nq + k]) / r.load_step[0]
    return 0.0


@entry
def calc_loads(model: Handle, data: Handle, recording: Handle, actuation: Handle, t: Real):
    """After the accelerations of a step from q and v, which stay: its loads. What followed from q and v does not."""
    m, d, r, nq = model_at(model), data_at(data), recording_at(recording), data_at(data).q.shape[0]
    for i in range(nq):
        r.load_start[i] = d.q[i]
    for k in range(d.v.shape[0]):
        r.load_end[nq + k] = r.load_start[nq + k] = d.v[k]
    note_loads(m, d, r, actuation_at(actuation), t)
    for i in range(nq):
        d.q[i] = r.load_start[i]
    for k in range(d.v.shape[0]):
        d.v[k] = r.load_end[nq + k]


@kernel
def note_loads(model, data, recording, actuation, t):
    """q and v of the start of the last step -> where it took its forces; the row that comes next gets its loads."""
    row, nq = recording.rows_written[0], data.q.shape[0]
    stop_locked(model, data.v)
    for d in range(data.v.shape[0]):
        recording.load_start[nq + d] = data.v[d]
    at_velocities(model, data)
    at_forces_of_step(model, data, recording.load_step[0])
    for i in range(nq):
        recording.recorded_load_q[row, i] = data.q[i]
    for d in range(data.v.shape[0]):
        recording.recorded_load_v[row, d] = data.v[d]
        data.v[d] = recording.load_start[nq + d]
    velocity_kinematics(model, data)
    F = recording.recorded_loads[row]
    add_element_forces(model, data, F, 1)  # they act by the velocities of the start
    add_changes_on_links(model, data, F)
    add_transmissions_on_links(model, data, F)
    add_pushes_on_links(model, data, actuation, t, recording.load_step[0], F)
    wrenches_of_constraints(model, data, recording.recorded_wrench[row])


@kernel
def add_pushes_on_links(model, data, actuation, t, h, F_link):
    """F_link += the forces as they act in a step from time t, at the origins of their links."""
    for i in range(actuation.push_link.shape[0]):
        share = share_of_step(actuation.push_times, i, t, h)
        if share != 0.0:
            n = actuation.push_link[i]
            force = scale(share, row3(actuation.push_force, i, 3))
            offset = from_components(link_axes(model, data, n), row3(actuation.push_point, i, 0))
            moment = add(scale(share, row3(actuation.push_force, i, 0)), cross(offset, force))
            set_row3(F_link, n, 0, add(row3(F_link, n, 0), moment))
            set_row3(F_link, n, 3, add(row3(F_link, n, 3), force))


@slot(constrained="stepping.constrained_step.wrenches_in_last_step")
def wrenches_of_constraints(model, data, wrenches):
    """After position_kinematics: (nrow, 6) of the rows of constraints in the last step, on the successor at So in W."""

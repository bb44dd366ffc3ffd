"""The time loops: they step until a buffer of samples is full, a number of steps is done, or something is wrong.

Nothing here raises: the returned status is the reason why a loop stopped, and the caller decides.
"""

from mbcli.engine.contact.contact_calls import keep_contacts, keeps_contacts, lacks_room
from mbcli.engine.fields.run_fields import (
    CLOCK_DENSE_KNOWN,
    CLOCK_FOLLOWING,
    CLOCK_JACOBIAN_KNOWN,
    CLOCK_NEXT_STEP,
    CLOCK_PENDING,
    CLOCK_REFUSED,
    CLOCK_STEP_END,
    CLOCK_STEPS,
    CLOCK_TIME,
    EXPLICIT,
    IMPLICIT,
    SEMI_EXPLICIT,
)
from mbcli.engine.limits.pd_control import carry_efforts
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import actuation_at, data_at, integration_at, model_at, recording_at, stepping_at
from mbcli.engine.runtime.kernel import INJECTED, Handle, Int, entry, kernel, slot
from mbcli.engine.smooth.actuator_laws import advance_activations
from mbcli.engine.smooth.energy import total_energy
from mbcli.engine.smooth.force_elements import element_fault
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.joint_forces import add_actuation
from mbcli.engine.smooth.kinematics import position_kinematics
from mbcli.engine.smooth.rotations.registry import NO_ROTATION, rotation_locked
from mbcli.engine.smooth.state import (
    SINGULAR_STEP,
    UNMET,
    at_velocities,
    constraint_error,
    finish_step,
    note_ranks,
    restore_ranks,
    set_state,
)
from mbcli.engine.stepping.balance import (
    AFTER_PROJECTION,
    BEFORE_PROJECTION,
    balance_of_motion,
    keep_balance,
    keeps_balance,
)
from mbcli.engine.stepping.integrators import (
    derivative,
    evaluate_dense,
    explicit_step,
    implicit_step,
    jacobian_by_differences,
    join_ends,
    join_stages,
    rate_at_end,
    semi_explicit_step,
)
from mbcli.engine.stepping.pushes import step_under_pushes
from mbcli.engine.stepping.step import step_fault
from mbcli.engine.stepping.step_loads import (
    go_on_with_solved_forces,
    keep_loads,
    keeps_loads,
    take_exact_forces,
)
from mbcli.engine.stepping.stop_events import part_to_stop

RUNNING = 0  # the given number of steps is done
BUFFER_FULL = 1
FINISHED = 2
NOT_FINITE = 3
STEP_TOO_SMALL = 4
ELEMENT_FAULT = 5  # a force element has no force in the state from which the next step would go
GIMBAL_LOCK = 6  # in that state a joint with roll, pitch and yaw has no rates
STEP_FAULT = 7  # contact in the next step, or in the samples, found no room or no solution
CONSTRAINTS_UNMET = 8  # no step, however short, leads to a state that satisfies the constraints
SINGULAR_POSITION = 9  # the constraints lose rank in this state or right after it
ROWS_UNSOLVED = 10  # limits, controllers and dry friction of joints found no common solution in the next step
TICK_FAULT = 11  # the compiled controller gave a number that is not finite, or said that it cannot go on

UNSETTLED = 1e-9  # row_residual from which on a run does not go on

SAFETY = 0.9  # how much of the step that the error allows is taken
LARGEST_GROWTH = 5.0
LARGEST_SHRINK = 0.1
OTHER_STEP = 0.6  # of a step that ends or has a stage at which the constraints are not met or singular
SHORTEST_STEP = 1e-9  # of the largest step, for trying such shorter ones


@slot(python=INJECTED)
def record(model, data, t, u, recording):
    """Writes time, state, energies with the error of the constraints, actuation and aims to the row that comes next."""
    at_velocities(model, data)
    total_energy(model, data)
    row = recording.rows_written[0]
    recording.recorded_time[row] = t
    for i in range(data.q.shape[0]):
        recording.recorded_q[row, i] = data.q[i]
    for d in range(data.v.shape[0]):
        recording.recorded_v[row, d] = data.v[d]
    recording.recorded_energy[row, 0] = data.energy[0]
    recording.recorded_energy[row, 1] = data.energy[1]
    recording.recorded_energy[row, 2] = constraint_error(model, data)
    for k in range(u.shape[0]):
        recording.recorded_u[row, k] = u[k]
    for i in range(data.activation.shape[0]):
        recording.recorded_activation[row, i] = data.activation[i]
    for i in range(data.pd_desired.shape[0]):
        recording.recorded_desired[row, i, 0] = data.pd_desired[i, 0]
        recording.recorded_desired[row, i, 1] = data.pd_desired[i, 1]


@kernel
def keeps_accelerations(recording):
    """Whether samples have their accelerations."""
    return recording.recorded_vdot.shape[0] > 0


@kernel
def record_rates(model, data, y, u, recording):
    """The accelerations in the state y of a continuous plant are those of the row that comes next."""
    nq, row, rates = data.q.shape[0], recording.rows_written[0], recording.rates_at_sample
    note_ranks(data)
    derivative(model, data, y, u, rates)
    restore_ranks(data)
    for d in range(data.v.shape[0]):
        recording.recorded_vdot[row, d] = rates[nq + d]


@kernel
def take_sample(model, data, t, y, u, recording):
    """The row of a continuous plant in the state y, which data has; False if contact finds no room in it."""
    record(model, data, t, u, recording)
    if keep_contacts(data, recording.rows_written[0]) != 0.0:
        return False
    if keeps_accelerations(recording):
        record_rates(model, data, y, u, recording)
        if lacks_room(data):
            return False
    recording.rows_written[0] += 1
    recording.next_wanted[0] += 1
    return True


@kernel
def record_efforts(model, data, recording):
    """After a step: the efforts of actuators in it, to the row of the sample that it started from."""
    row = recording.rows_written[0]
    for k in range(data.u.shape[0]):
        recording.recorded_effort[row, k] = data.u[k]
    for i in range(model.pd_actuator.shape[0]):
        recording.recorded_effort[row, model.pd_actuator[i]] = data.pd_effort[i]
    for i in range(data.u.shape[0] - model.actuator_dof.shape[0]):
        recording.recorded_effort[row, model.actuator_dof.shape[0] + i] = data.transmission_force[i]


@kernel
def call_controller(run, step, t):
    """Calls the compiled controller of a run if it is due at a step; 0.0 if it is not, or has given its commands."""
    period = run.tick_steps[0]
    if period == 0 or step % period != 0 or run.tick_steps[1] == step:
        return 0.0
    run.tick_steps[1] = step
    return call_by_address(run.tick_calls[0], run.tick_calls[1], t, 0.0, 0.0, 0.0)


@slot(python=INJECTED)
def hold_input(t, actuation):
    """The actuation at time t, of a series whose values hold until the next time."""
    times, row = actuation.actuation_times, actuation.actuation_row[0]
    if times[row] > t:
        row = 0
    while row + 1 < times.shape[0] and times[row + 1] <= t:
        row += 1
    actuation.actuation_row[0] = row
    for k in range(actuation.actuation.shape[0]):
        actuation.actuation[k] = actuation.actuation_values[row, k] if times[row] <= t else 0.0


@entry
def run_discrete(model: Handle, data: Handle, stepping: Handle, actuation: Handle, recording: Handle, budget: Int):
    """Steps a discrete plant to at most the last step; time is the number of a step times its length.

    Samples each step that is a multiple of `sampled_step`, and the last one. `budget` bounds the steps of this call;
    `state_before` keeps the state before a step, to which q and v return if the step gives a number that is not
    finite. After ELEMENT_FAULT and GIMBAL_LOCK too they hold the state before the step. Contacts, accelerations and
    loads of a sample are those of the step from it, which is computed for that at the end too. Returns why it stopped.
    """
    m, d, run = model_at(model), data_at(data), stepping_at(stepping)
    series, recording = actuation_at(actuation), recording_at(recording)
    h, implicit_damping = run.step_length[0], run.implicit_damping[0]
    before, last_step, stop = run.state_before, run.last_step[0], run.next_step[0] + budget
    u, written, capacity = series.actuation, recording.rows_written, recording.recorded_time.shape[0]
    nq, nv = d.q.shape[0], d.v.shape[0]
    keeps_step = keeps_contacts(d) or keeps_loads(recording)
    while True:
        step = run.next_step[0]
        if step >= stop:  # before the sample of this step, which the next call takes
            return RUNNING
        t = step * h
        if call_controller(run, step, t) != 0.0:
            return TICK_FAULT
        hold_input(t, series)
        sampled = step % run.sampled_step[0] == 0 or step == last_step
        if sampled:
            if written[0] == capacity:
                return BUFFER_FULL
            record(m, d, t, u, recording)
            if step == last_step and not keeps_step and not wants_efforts(m, recording):
                written[0] += 1
                return FINISHED
        for i in range(nq):
            before[i] = d.q[i]
        for i in range(nv):
            before[nq + i] = d.v[i]
        for k in range(u.shape[0]):
            d.u[k] = u[k]
        set_actuation(m, d)
        if step != last_step and gimbal_lock(m, d.q) != 0:
            written[0] += sampled * (not keeps_step)
            return GIMBAL_LOCK
        clear_applied_forces(d)
        step_under_pushes(m, d, series, t, h, implicit_damping)
        if sampled:
            take_exact_forces(d, h)
            record_efforts(m, d, recording)
        if sampled and keep_contacts(d, written[0]) != 0.0:
            set_state(d, before)
            return STEP_FAULT
        if sampled and keeps_loads(recording):
            keep_loads(d, before, h, t, recording)
        if sampled:
            go_on_with_solved_forces(d, h)
        written[0] += sampled
        if step == last_step:
            set_state(d, before)
            return FINISHED
        result = step_result(m, d)
        if result in (SINGULAR_POSITION, STEP_FAULT, ROWS_UNSOLVED):
            set_state(d, before)
        if result != RUNNING:
            return result
        carry_efforts(m, d, h)
        advance_activations(m, d, h)
        keep_balance(d, before, h, t)
        run.next_step[0] += 1


@kernel
def wants_efforts(model, recording):
    """Whether the last sample too needs a step, for the efforts of controllers in it."""
    own = model.pd_actuator.shape[0] + model.transmission_kinds.shape[0]
    return recording.keeps_efforts[0] != 0 and own != 0


@kernel
def set_actuation(model, data):
    """tau = the actuation u alone."""
    for d in range(data.v.shape[0]):
        data.tau[d] = 0.0
    add_actuation(model, data)


@kernel
def step_result(model, data):
    """After discrete_step(): RUNNING, or why the state that it led to, or the one before, is none to go on from."""
    if element_fault(model, data) != 0:
        return ELEMENT_FAULT
    fault = step_fault(model, data)
    if fault != 0:
        return SINGULAR_POSITION if fault == SINGULAR_STEP else STEP_FAULT
    if data.row_residual[0] > UNSETTLED:
        return ROWS_UNSOLVED
    return RUNNING if all_finite(data.q, data.v) else NOT_FINITE


@kernel
def gimbal_lock(model, q):
    """The first body whose joint is at gimbal lock in positions q; 0: none."""
    for b in range(1, model.body_rotation.shape[0]):
        if model.body_rotation[b] != NO_ROTATION and rotation_locked(model.body_rotation[b], q, model.body_q[b]):
            return b
    return 0


@kernel
def all_finite(q, v):
    """Whether every number of q and v is finite."""
    total = 0.0
    for i in range(q.shape[0]):
        total += q[i] * 0.0
    for i in range(v.shape[0]):
        total += v[i] * 0.0
    return total == 0.0


@entry
def run_continuous(model: Handle, data: Handle, integration: Handle, actuation: Handle, recording: Handle, budget: Int):
    """Integrates y = [q; v] over the wanted times, which the last call of a run has with its end at their end.

    Steps end at the end of the run and where the actuation changes, exactly; samples between are from dense output,
    and change nothing. `budget` bounds the steps of this call. Returns why it stopped. y and the clock are those of the
    last good state; after NOT_FINITE and STEP_TOO_SMALL y_end holds what the refused step gave. ELEMENT_FAULT and
    GIMBAL_LOCK are about the state y itself. `kept` gets the state before the first step that is cut short, or
    stretched, for the end alone: from there a run that is to last longer goes on.
    """
    m, d, run = model_at(model), data_at(data), integration_at(integration)
    series, recording = actuation_at(actuation), recording_at(recording)
    clock = run.clock
    clock[CLOCK_JACOBIAN_KNOWN] = 0.0
    for _ in range(budget):
        if clock[CLOCK_PENDING] == 0.0:
            result = begin_step(m, d, run, series, recording)
            if result == RUNNING:
                result = try_step(m, d, run, series)
            if result != RUNNING:
                return result
            if clock[CLOCK_PENDING] == 0.0:  # refused, to be tried again with another length
                continue
        result = sample_within_step(m, d, run, series, recording)
        if result == RUNNING:
            result = accept_step(m, d, run, series)
        if result != RUNNING:
            return result
    return RUNNING


@kernel
def begin_step(model, data, run, series, recording):
    """Takes the samples that are due at the state y. RUNNING, or why no step begins there."""
    t, y, u = run.clock[CLOCK_TIME], run.y, series.actuation
    written, next_wanted = recording.rows_written, recording.next_wanted
    while True:
        if next_wanted[0] == recording.times_wanted[0]:
            return FINISHED
        hold_input(t, series)
        if t < recording.wanted_times[next_wanted[0]]:
            break
        if written[0] == recording.recorded_time.shape[0]:
            return BUFFER_FULL
        set_state(data, y)
        if not take_sample(model, data, t, y, u, recording):
            return STEP_FAULT
    if gimbal_lock(model, y) != 0:
        return GIMBAL_LOCK
    if model.spring_damper_link.shape[0] + model.bushing_link.shape[0] > 0:
        set_state(data, y)
        position_kinematics(model, data)
        if element_fault(model, data) != 0:
            return ELEMENT_FAULT
    return RUNNING


@kernel
def try_step(model, data, run, series):
    """y_end and the clock's end of step, if the step is accepted: CLOCK_PENDING says so; else the length to try next.

    RUNNING, or why there is no other length to try.
    """
    clock, t, u, nq = run.clock, run.clock[CLOCK_TIME], series.actuation, data.q.shape[0]
    scheme, largest_step, accuracy = run.scheme[0], run.largest_step[0], run.accuracy[0]
    target = next_input_change(t, run.end_time[0], series)
    longest = min(clock[CLOCK_NEXT_STEP], largest_step)
    h = longest
    meets_target = t + 1.000001 * h >= target
    if meets_target:
        h = target - t
        if target == run.end_time[0] and run.kept[0] == 0.0:
            keep_state(run)
    if scheme == SEMI_EXPLICIT:
        semi_explicit_step(model, data, run, u, h)
        error = 0.0
    elif scheme == EXPLICIT:
        error = explicit_step(model, data, run, u, h)
    else:
        if clock[CLOCK_JACOBIAN_KNOWN] == 0.0:
            jacobian_by_differences(model, data, run, u)
            clock[CLOCK_JACOBIAN_KNOWN] = 1.0
        error = implicit_step(model, data, run, u, h, accuracy)
        if error < 0.0:  # Newton's method wants a smaller step
            return refuse_step(clock, 0.25 * h, 1.0e-14 * max(1.0, abs(t)), STEP_TOO_SMALL)
    if lacks_room(data):
        return STEP_FAULT
    good = all_finite(run.y_end[:nq], run.y_end[nq:])
    following = largest_step
    if accuracy > 0.0 and run.error_order[0] > 0:
        ratio, order = error / accuracy, run.error_order[0] + 1.0
        if not good or not ratio <= 1.0:
            factor = LARGEST_SHRINK
            if good and ratio > 0.0 and ratio < 1.0e300:
                factor = max(LARGEST_SHRINK, SAFETY * ratio ** (-1.0 / order))
            reason = STEP_TOO_SMALL if good else NOT_FINITE
            return refuse_step(clock, factor * h, 1.0e-14 * max(1.0, abs(t)), reason)
        part = part_to_stop(model, run, h)
        if part < 1.0 and part * h > 1.0e-12 * max(1.0, abs(t)):
            clock[CLOCK_REFUSED] += 1.0
            clock[CLOCK_NEXT_STEP] = part * h
            return RUNNING
        factor = LARGEST_GROWTH
        if ratio > 0.0:
            factor = min(LARGEST_GROWTH, SAFETY * ratio ** (-1.0 / order))
        # a step cut short to meet a target says nothing against the longer one
        following = max(longest, factor * h) if meets_target else factor * h
    elif not good:
        return NOT_FINITE
    balance_of_motion(data, BEFORE_PROJECTION)
    fault = finish_step(model, data, run.y_end, run.constraint_tolerance[0])
    balance_of_motion(data, AFTER_PROJECTION)
    if fault != 0:
        reason = CONSTRAINTS_UNMET if fault == UNMET else SINGULAR_POSITION
        return refuse_step(clock, OTHER_STEP * h, SHORTEST_STEP * largest_step, reason)
    clock[CLOCK_FOLLOWING] = following
    clock[CLOCK_STEP_END] = target if meets_target else t + h
    clock[CLOCK_PENDING], clock[CLOCK_DENSE_KNOWN] = 1.0, 0.0
    return RUNNING


@kernel
def refuse_step(clock, length, shortest, reason):
    """The length of the next try: RUNNING, or the reason if it is too short."""
    clock[CLOCK_REFUSED] += 1.0
    clock[CLOCK_NEXT_STEP] = length
    return reason if length < shortest else RUNNING


@kernel
def sample_within_step(model, data, run, series, recording):
    """Takes the samples before the end of the step from its dense output. RUNNING, or why the run stops."""
    clock, next_wanted = run.clock, recording.next_wanted
    h = clock[CLOCK_STEP_END] - clock[CLOCK_TIME]
    while next_wanted[0] < recording.times_wanted[0] and recording.wanted_times[next_wanted[0]] < clock[CLOCK_STEP_END]:
        if recording.rows_written[0] == recording.recorded_time.shape[0]:
            return BUFFER_FULL
        if not need_dense_output(model, data, run, series.actuation):
            return STEP_FAULT
        t = recording.wanted_times[next_wanted[0]]
        hold_input(t, series)
        evaluate_dense(run, (t - clock[CLOCK_TIME]) / h)
        note_ranks(data)
        finish_step(model, data, run.y_stage, run.constraint_tolerance[0])  # where it cannot be, the row has its error
        restore_ranks(data)
        set_state(data, run.y_stage)
        if not take_sample(model, data, t, run.y_stage, series.actuation, recording):
            return STEP_FAULT
    # there may be more of them within this step, in another call
    return FINISHED if next_wanted[0] == recording.times_wanted[0] else RUNNING


@kernel
def accept_step(model, data, run, series):
    """y_end -> y, and the clock goes on. RUNNING, or STEP_FAULT."""
    clock, u = run.clock, series.actuation
    if keeps_balance(data):
        hold_input(clock[CLOCK_TIME], series)
        for k in range(u.shape[0]):
            data.u[k] = u[k]
        if clock[CLOCK_DENSE_KNOWN] == 0.0:
            build_dense_output(model, data, run, u)
        balance_of_motion(data, clock[CLOCK_STEP_END] - clock[CLOCK_TIME])
        if lacks_room(data):
            return STEP_FAULT
    for i in range(data.q.shape[0] + data.v.shape[0]):
        run.y[i] = run.y_end[i]
    clock[CLOCK_TIME], clock[CLOCK_NEXT_STEP] = clock[CLOCK_STEP_END], clock[CLOCK_FOLLOWING]
    clock[CLOCK_PENDING], clock[CLOCK_JACOBIAN_KNOWN] = 0.0, 0.0
    clock[CLOCK_STEPS] += 1.0
    return RUNNING


@kernel
def need_dense_output(model, data, run, u):
    """Makes `dense` unless it is known. Whether there was room for that."""
    if run.clock[CLOCK_DENSE_KNOWN] == 0.0:
        build_dense_output(model, data, run, u)
        if lacks_room(data):
            return False
        run.clock[CLOCK_DENSE_KNOWN] = 1.0
    return True


@kernel
def build_dense_output(model, data, run, u):
    """`dense` of the step that was taken last."""
    note_ranks(data)
    if run.scheme[0] == IMPLICIT:
        join_stages(run)
    else:
        rate_at_end(model, data, run.clock[CLOCK_STEP_END], run, u)
        join_ends(run, run.clock[CLOCK_STEP_END] - run.clock[CLOCK_TIME])
    restore_ranks(data)


@kernel
def next_input_change(t, end_time, actuation):
    """The first time after t at which the actuation changes, or the end of the run."""
    times, row = actuation.actuation_times, actuation.actuation_row[0]
    target = end_time
    if row + 1 < times.shape[0] and times[row + 1] < target:
        target = times[row + 1]
    if times[row] > t and times[row] < target:
        target = times[row]
    return target


@kernel
def keep_state(run):
    """kept = time, next step and state at the start of a step."""
    run.kept[0], run.kept[1], run.kept[2] = 1.0, run.clock[CLOCK_TIME], run.clock[CLOCK_NEXT_STEP]
    for i in range(run.y.shape[0]):
        run.kept[3 + i] = run.y[i]

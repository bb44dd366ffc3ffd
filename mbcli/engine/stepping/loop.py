"""The time loops: they step until a buffer of samples is full, a number of steps is done, or something is wrong.

Nothing here raises: the returned status says why a loop stopped, and the caller decides.
"""

from mbcli.engine.contact.contact_calls import keep_contacts, keeps_contacts, lacks_room
from mbcli.engine.fields.joint_types import BALL_RPY, RPY_FLOATING
from mbcli.engine.runtime.handles import data_at, integration_at, model_at
from mbcli.engine.runtime.kernel import CALLER, kernel, slot
from mbcli.engine.smooth.energy import total_energy
from mbcli.engine.smooth.force_elements import COSINE_AT_GIMBAL_LOCK, element_fault
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.kinematics import position_kinematics
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
from mbcli.engine.smooth.trigonometry import sine_cosine
from mbcli.engine.stepping.balance import (
    AFTER_PROJECTION,
    BEFORE_PROJECTION,
    balance_of_motion,
    keep_balance,
    keeps_balance,
)
from mbcli.engine.stepping.integrators import (
    DENSE_KNOWN,
    FOLLOWING,
    NEXT_STEP,
    PENDING,
    REFUSED,
    STEP_END,
    STEPS,
    TIME,
    evaluate_dense,
    explicit_step,
    implicit_step,
    jacobian_by_differences,
    join_ends,
    join_stages,
    rate_at_end,
    semi_explicit_step,
)
from mbcli.engine.stepping.step import discrete_step, step_fault

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

EXPLICIT = 0
SEMI_EXPLICIT = 1
IMPLICIT = 2

SAFETY = 0.9  # how much of the step that the error allows is taken
LARGEST_GROWTH = 5.0
LARGEST_SHRINK = 0.1
OTHER_STEP = 0.6  # of a step that ends or has a stage where the constraints are not met or singular
SHORTEST_STEP = 1e-9  # of the largest step, for trying such shorter ones


@slot(python=CALLER)
def record(model, data, row, t, u, times, positions, velocities, energies, inputs):
    """Writes time, state, energies with the error of the constraints, and inputs to one row of the sample buffers."""
    at_velocities(model, data)
    total_energy(model, data)
    times[row] = t
    for i in range(data.q.shape[0]):
        positions[row, i] = data.q[i]
    for d in range(data.v.shape[0]):
        velocities[row, d] = data.v[d]
    energies[row, 0] = data.energy[0]
    energies[row, 1] = data.energy[1]
    energies[row, 2] = constraint_error(model, data)
    for k in range(u.shape[0]):
        inputs[row, k] = u[k]


@slot(python=CALLER)
def hold_input(t, cursor, input_times, input_values, u):
    """u at time t of a series whose values hold until the next time; returns the cursor into the series."""
    while cursor + 1 < input_times.shape[0] and input_times[cursor + 1] <= t:
        cursor += 1
    for k in range(u.shape[0]):
        u[k] = input_values[cursor, k] if input_times[cursor] <= t else 0.0
    return cursor


@kernel
def run_discrete(
    model,
    data,
    start_time,
    h,
    implicit_damping,
    step,
    last_step,
    budget,
    sample_every,
    input_times,
    input_values,
    u,
    previous,
    times,
    positions,
    velocities,
    energies,
    inputs,
):
    """Steps a discrete plant from `step` to at most last_step; time is start_time + step * h, without accumulation.

    Samples every sample_every-th step, and the last one. `budget` bounds the steps of this call; `previous` (nq + nv)
    keeps the state before a step, to which q and v return where the step gives a number that is not finite.
    After ELEMENT_FAULT and GIMBAL_LOCK too they hold the state before the step. The contacts of a sample are those of
    the step from it, which is computed for that at the end too. Returns (status, step, number of samples written).
    """
    m, d = model_at(model), data_at(data)
    nq, nv = d.q.shape[0], d.v.shape[0]
    written = 0
    cursor = 0
    stop = step + budget
    while True:
        if step >= stop:  # before the sample of this step, which the next call takes
            return RUNNING, step, written
        t = start_time + step * h
        cursor = hold_input(t, cursor, input_times, input_values, u)
        sampled = step % sample_every == 0 or step == last_step
        if sampled:
            if written == times.shape[0]:
                return BUFFER_FULL, step, written
            record(m, d, written, t, u, times, positions, velocities, energies, inputs)
            if step == last_step and not keeps_contacts(d):
                return FINISHED, step, written + 1
        for i in range(nq):
            previous[i] = d.q[i]
        for i in range(nv):
            previous[nq + i] = d.v[i]
            d.tau[i] = 0.0
        for k in range(u.shape[0]):
            d.u[k] = u[k]
            d.tau[m.actuator_dof[k]] += u[k]
        if step != last_step and gimbal_lock(m, d.q) != 0:
            return GIMBAL_LOCK, step, written + sampled * (not keeps_contacts(d))
        clear_applied_forces(d)
        discrete_step(m, d, h, implicit_damping)
        if sampled and keep_contacts(d, written) != 0.0:
            set_state(d, previous)
            return STEP_FAULT, step, written
        written += sampled
        if step == last_step:
            set_state(d, previous)
            return FINISHED, step, written
        if element_fault(m, d) != 0:
            return ELEMENT_FAULT, step, written
        fault = step_fault(m, d)
        if fault != 0:
            set_state(d, previous)
            return (SINGULAR_POSITION if fault == SINGULAR_STEP else STEP_FAULT), step, written
        if not all_finite(d.q, d.v):
            return NOT_FINITE, step, written
        keep_balance(d, previous, h)
        step += 1


@kernel
def gimbal_lock(model, q):
    """The first body whose joint has roll, pitch and yaw and is at gimbal lock in positions q; 0: none."""
    for b in range(1, model.body_joint_type.shape[0]):
        if model.body_joint_type[b] == BALL_RPY or model.body_joint_type[b] == RPY_FLOATING:
            _, cosine = sine_cosine(q[model.body_q[b] + 1])
            if cosine * cosine < COSINE_AT_GIMBAL_LOCK * COSINE_AT_GIMBAL_LOCK:
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


@kernel
def run_continuous(
    model,
    data,
    integration,
    scheme,
    error_order,
    accuracy,
    constraint_tolerance,
    largest_step,
    end_time,
    sample_index,
    sample_times,
    budget,
    input_times,
    input_values,
    u,
    times,
    positions,
    velocities,
    energies,
    inputs,
):
    """Integrates y = [q; v] over the ordered sample_times, which the last call of a run has with end_time at their end.

    Steps end at end_time and where the input changes, exactly; samples between are from dense output, and change
    nothing. accuracy is 0 without error control. Returns (status, next sample index, number of samples written). y and
    the clock are those of the last good state; where the status is NOT_FINITE or STEP_TOO_SMALL, y_end holds what the
    refused step gave. ELEMENT_FAULT and GIMBAL_LOCK are about the state y itself. `kept` gets the state before the
    first step that is cut short, or stretched, for end_time alone: from there a run that is to last longer goes on.
    """
    m, d, run = model_at(model), data_at(data), integration_at(integration)
    clock, y = run.clock, run.y
    nq, nv = d.q.shape[0], d.v.shape[0]
    written = 0
    cursor = 0
    fresh_jacobian = False
    for _ in range(budget):
        if clock[PENDING] == 0.0:
            if sample_index == sample_times.shape[0]:
                return FINISHED, sample_index, written
            t = clock[TIME]
            cursor = hold_input(t, cursor, input_times, input_values, u)
            if t >= sample_times[sample_index]:
                if written == times.shape[0]:
                    return BUFFER_FULL, sample_index, written
                set_state(d, y)
                record(m, d, written, t, u, times, positions, velocities, energies, inputs)
                if keep_contacts(d, written) != 0.0:
                    return STEP_FAULT, sample_index, written
                written += 1
                sample_index += 1
                continue
            if gimbal_lock(m, y) != 0:
                return GIMBAL_LOCK, sample_index, written
            if m.spring_damper_link.shape[0] + m.bushing_link.shape[0] > 0:
                set_state(d, y)
                position_kinematics(m, d)
                if element_fault(m, d) != 0:
                    return ELEMENT_FAULT, sample_index, written
            target = next_input_change(t, end_time, cursor, input_times)
            wanted = min(clock[NEXT_STEP], largest_step)
            h = wanted
            meets_target = t + 1.000001 * h >= target
            if meets_target:
                h = target - t
                if target == end_time and run.kept[0] == 0.0:
                    keep_state(run)
            if scheme == SEMI_EXPLICIT:
                semi_explicit_step(m, d, run, u, h)
                error = 0.0
            elif scheme == EXPLICIT:
                error = explicit_step(m, d, run, u, h)
            else:
                if not fresh_jacobian:
                    jacobian_by_differences(m, d, run, u)
                    fresh_jacobian = True
                error = implicit_step(m, d, run, u, h, accuracy)
                if error < 0.0:  # Newton's method wants a smaller step
                    clock[REFUSED] += 1.0
                    clock[NEXT_STEP] = 0.25 * h
                    if clock[NEXT_STEP] < 1.0e-14 * max(1.0, abs(t)):
                        return STEP_TOO_SMALL, sample_index, written
                    continue
            if lacks_room(d):
                return STEP_FAULT, sample_index, written
            good = all_finite(run.y_end[:nq], run.y_end[nq:])
            if accuracy > 0.0 and error_order > 0:
                ratio = error / accuracy
                if not good or not ratio <= 1.0:
                    clock[REFUSED] += 1.0
                    factor = LARGEST_SHRINK
                    if good and ratio > 0.0 and ratio < 1.0e300:
                        factor = max(LARGEST_SHRINK, SAFETY * ratio ** (-1.0 / (error_order + 1.0)))
                    clock[NEXT_STEP] = factor * h
                    if clock[NEXT_STEP] < 1.0e-14 * max(1.0, abs(t)):
                        return (STEP_TOO_SMALL if good else NOT_FINITE), sample_index, written
                    continue
                factor = LARGEST_GROWTH
                if ratio > 0.0:
                    factor = min(LARGEST_GROWTH, SAFETY * ratio ** (-1.0 / (error_order + 1.0)))
                # a step cut short to meet a target says nothing against the longer one
                following = max(wanted, factor * h) if meets_target else factor * h
            elif not good:
                return NOT_FINITE, sample_index, written
            else:
                following = largest_step
            balance_of_motion(d, BEFORE_PROJECTION)
            fault = finish_step(m, d, run.y_end, constraint_tolerance)
            balance_of_motion(d, AFTER_PROJECTION)
            if fault != 0:
                clock[REFUSED] += 1.0
                clock[NEXT_STEP] = OTHER_STEP * h
                if clock[NEXT_STEP] < SHORTEST_STEP * largest_step:
                    return (CONSTRAINTS_UNMET if fault == UNMET else SINGULAR_POSITION), sample_index, written
                continue
            clock[FOLLOWING] = following
            clock[STEP_END] = target if meets_target else t + h
            clock[PENDING], clock[DENSE_KNOWN] = 1.0, 0.0
        h = clock[STEP_END] - clock[TIME]
        while sample_index < sample_times.shape[0] and sample_times[sample_index] < clock[STEP_END]:
            if written == times.shape[0]:
                return BUFFER_FULL, sample_index, written
            if clock[DENSE_KNOWN] == 0.0:
                know_dense(m, d, run, scheme, u)
                if lacks_room(d):
                    return STEP_FAULT, sample_index, written
                clock[DENSE_KNOWN] = 1.0
            t = sample_times[sample_index]
            cursor = hold_input(t, cursor, input_times, input_values, u)
            evaluate_dense(run, (t - clock[TIME]) / h)
            note_ranks(d)
            finish_step(m, d, run.y_stage, constraint_tolerance)  # where it cannot be, the row has its error
            restore_ranks(d)
            set_state(d, run.y_stage)
            record(m, d, written, t, u, times, positions, velocities, energies, inputs)
            if keep_contacts(d, written) != 0.0:
                return STEP_FAULT, sample_index, written
            written += 1
            sample_index += 1
        if sample_index == sample_times.shape[0]:  # there may be more of them within this step
            return FINISHED, sample_index, written
        if keeps_balance(d):
            hold_input(clock[TIME], 0, input_times, input_values, u)
            for k in range(u.shape[0]):
                d.u[k] = u[k]
            if clock[DENSE_KNOWN] == 0.0:
                know_dense(m, d, run, scheme, u)
            balance_of_motion(d, h)
            if lacks_room(d):
                return STEP_FAULT, sample_index, written
        for i in range(nq + nv):
            y[i] = run.y_end[i]
        clock[TIME], clock[NEXT_STEP] = clock[STEP_END], clock[FOLLOWING]
        clock[PENDING] = 0.0
        clock[STEPS] += 1.0
        fresh_jacobian = False
    return RUNNING, sample_index, written


@kernel
def know_dense(model, data, run, scheme, u):
    """`dense` of the step that was taken last."""
    note_ranks(data)
    if scheme == IMPLICIT:
        join_stages(run)
    else:
        rate_at_end(model, data, run.clock[STEP_END], run, u)
        join_ends(run, run.clock[STEP_END] - run.clock[TIME])
    restore_ranks(data)


@kernel
def next_input_change(t, end_time, cursor, input_times):
    """The first time after t at which the input changes, or the end of the run."""
    target = end_time
    if cursor + 1 < input_times.shape[0] and input_times[cursor + 1] < target:
        target = input_times[cursor + 1]
    if input_times[cursor] > t and input_times[cursor] < target:
        target = input_times[cursor]
    return target


@kernel
def keep_state(run):
    """kept = time, next step and state where a step starts."""
    run.kept[0], run.kept[1], run.kept[2] = 1.0, run.clock[TIME], run.clock[NEXT_STEP]
    for i in range(run.y.shape[0]):
        run.kept[3 + i] = run.y[i]

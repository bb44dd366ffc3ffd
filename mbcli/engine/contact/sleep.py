"""Islands that sleep: trees that contacts join, which lie still and are left out of steps until something touches them.

A tree rests in a step if no velocity at its end is above a limit. It has rested if it did so for some time, and no
velocity would be above the limit after another second of the mean acceleration in that time: what only turns back, or
begins to roll, has not rested. Trees that have rested fall asleep together with all that contacts join them to, if that
has rested too. Their velocities become zero, and the contact problem of this state at rest gives the forces that are
kept for the samples. What sleeps counts as fixed. A contact with something awake wakes the whole island before the
problem of the step is solved.

Which trees sleep, and since when and from which velocities the others rest, is all that a run has to remember: islands
and forces follow from the positions. A run that goes on finds them anew (RECALLED).
"""

from mbcli.engine.contact.islands import representative
from mbcli.engine.contact.samples import append_step_contact, copy_contact
from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    COUNT_CONSTRAINTS,
    COUNT_STATUS,
    EQUALITY,
    PROBLEM_TOO_MANY_POINTS,
    SAMPLES_LACKING,
)
from mbcli.engine.fields.model_fields import CONTACT_AT_KEPT, CONTACT_AT_SLEEP
from mbcli.engine.fields.sleep_fields import (
    ASLEEP,
    FALLING,
    RECALLED,
    SLEEP_LACKING,
    SLEEP_STEPS,
    VERDICT_RECALLED,
    VERDICT_RESTED,
    VERDICT_RESTLESS,
    VERDICT_TOUCHES,
    VERDICT_WOKEN,
)
from mbcli.engine.runtime.handles import samples_at, sleep_at
from mbcli.engine.runtime.kernel import kernel

FORESIGHT = 1.0  # [s] for which the mean acceleration of what rests is continued


@kernel
def body_sleeps(data, b):
    """As smooth.sleep.is_asleep(); World counts as asleep. Nothing sleeps before contact has its arrays."""
    at = data.contact[CONTACT_AT_SLEEP]
    return at != 0.0 and sleep_at(at).asleep[b] != 0


@kernel
def note_sleep(sleep):
    """Before a step, which may have to be done again."""
    for t in range(sleep.quiet.shape[0]):
        sleep.quiet_before[t] = sleep.quiet[t]


@kernel
def mark_bodies(sleep):
    """quiet -> asleep, which of bodies."""
    for b in range(1, sleep.asleep.shape[0]):
        sleep.asleep[b] = 1 if sleep.quiet[sleep.body_tree[b]] == ASLEEP else 0


@kernel
def leave_falling(sleep):
    """asleep = all bodies but those of trees that are FALLING."""
    for b in range(1, sleep.asleep.shape[0]):
        sleep.asleep[b] = 0 if sleep.quiet[sleep.body_tree[b]] == FALLING else 1


@kernel
def wake_touched(sleep, points):
    """Wakes the islands that something awake touches; whether there were any. Then there may be more contacts."""
    quiet, woken = sleep.quiet, False
    for n in range(points.count[0]):
        a, b = sleep.body_tree[points.body[n, 0]], sleep.body_tree[points.body[n, 1]]
        if a >= 0 and b >= 0 and (quiet[a] == ASLEEP) != (quiet[b] == ASLEEP):
            sleep.verdict[sleep.sleep_island[a if quiet[a] == ASLEEP else b]] = VERDICT_WOKEN
            woken = True
    if not woken:
        return False
    for t in range(quiet.shape[0]):
        if quiet[t] == ASLEEP and sleep.verdict[sleep.sleep_island[t]] == VERDICT_WOKEN:
            quiet[t] = 0
            sleep.first_kept[t] = -1
    for t in range(quiet.shape[0]):
        sleep.verdict[t] = 0
    mark_bodies(sleep)
    return True


@kernel
def judge_islands(sleep, points):
    """After wake_touched() found none: makes trees FALLING whose island may sleep; whether there are any."""
    quiet, verdict, root = sleep.quiet, sleep.verdict, sleep.sleep_island
    candidates = 0
    for t in range(quiet.shape[0]):
        if quiet[t] == ASLEEP:
            continue
        root[t], verdict[t] = t, VERDICT_RESTLESS
        if quiet[t] == RECALLED:
            verdict[t] = VERDICT_RECALLED
            candidates += 1
        elif quiet[t] >= sleep.sleep_counts[SLEEP_STEPS]:
            verdict[t] = VERDICT_RESTED
            candidates += 1
    if candidates == 0:
        return False
    for n in range(points.count[0]):
        a, b = sleep.body_tree[points.body[n, 0]], sleep.body_tree[points.body[n, 1]]
        verdict[max(a, b)] |= VERDICT_TOUCHES  # World is -1
        if a >= 0 and b >= 0:
            a, b = representative(root, a), representative(root, b)
            if a != b:
                root[max(a, b)] = min(a, b)
    for t in range(quiet.shape[0]):
        if quiet[t] != ASLEEP:
            verdict[representative(root, t)] |= verdict[t]
    falling = False
    for t in range(quiet.shape[0]):
        if quiet[t] != ASLEEP:
            root[t] = representative(root, t)
            of_island = verdict[root[t]]
            # one of those that were recalled would have been woken by another that has rested
            if of_island == VERDICT_TOUCHES | VERDICT_RESTED or of_island == VERDICT_TOUCHES | VERDICT_RECALLED:
                quiet[t], sleep.first_kept[t] = FALLING, -1
                falling = True
            elif quiet[t] == RECALLED:
                quiet[t] = 0
    for t in range(quiet.shape[0]):
        verdict[t] = 0
    return falling


@kernel
def stop_falling(data, solver, sleep):
    """The velocities of trees that are FALLING become zero, and the forces with them, which are damping."""
    for d in range(sleep.v_awake.shape[0]):
        if sleep.quiet[solver.dof_tree[d]] == FALLING:
            sleep.v_awake[d], sleep.tau_awake[d] = data.v[d], data.tau[d]
            data.v[d], data.vdot[d], data.tau[d] = 0.0, 0.0, 0.0


@kernel
def stay_awake(data, solver, sleep):
    """Instead of sleep after stop_falling(): trees that are FALLING go on and have rested for no time."""
    for d in range(sleep.v_awake.shape[0]):
        if sleep.quiet[solver.dof_tree[d]] == FALLING:
            data.v[d], data.tau[d] = sleep.v_awake[d], sleep.tau_awake[d]
    for t in range(sleep.quiet.shape[0]):
        if sleep.quiet[t] == FALLING:
            sleep.quiet[t] = 0


@kernel
def fall_asleep(model, data, points, solver, sleep, h):
    """After the contact problem of trees that are FALLING: they sleep, and its contacts are kept."""
    kept = samples_at(data.contact[CONTACT_AT_KEPT])
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        k = kept.offset[1]
        append_step_contact(model, data, solver, points, kept, i, 0, h)
        if kept.offset[1] > k:
            t = sleep.sleep_island[solver.con_tree[i, 0]]
            if sleep.first_kept[t] < 0:
                sleep.first_kept[t] = k
            else:
                sleep.next_kept[sleep.last_kept[t]] = k
            sleep.last_kept[t], sleep.next_kept[k] = k, -1
    if kept.counts[SAMPLES_LACKING] != 0:
        sleep.sleep_counts[SLEEP_LACKING] = 1
        solver.counts[COUNT_STATUS] = PROBLEM_TOO_MANY_POINTS
    for d in range(sleep.v_awake.shape[0]):
        if sleep.quiet[solver.dof_tree[d]] == FALLING:
            data.vdot[d] = 0.0
    for t in range(sleep.quiet.shape[0]):
        if sleep.quiet[t] == FALLING:
            sleep.quiet[t] = ASLEEP


@kernel
def append_contacts_of_sleep(data, samples, row):
    """As samples.append_contacts_at_rest(): island by island, so that it does not matter when they fell asleep."""
    sleep, kept = sleep_at(data.contact[CONTACT_AT_SLEEP]), samples_at(data.contact[CONTACT_AT_KEPT])
    for t in range(sleep.quiet.shape[0]):
        if sleep.quiet[t] == ASLEEP and sleep.sleep_island[t] == t:
            k = sleep.first_kept[t]
            while k >= 0:
                copy_contact(samples, row, kept, k)
                k = sleep.next_kept[k]


@kernel
def count_rest(data, solver, sleep, h):
    """After the problem of a step: how long each tree has rested. What limits and constraints hold does not rest."""
    limit = sleep.speed_limit[0]
    for t in range(sleep.quiet.shape[0]):
        if sleep.quiet[t] == ASLEEP or sleep.may_sleep[t] == 0:
            continue
        steps, rests = sleep.quiet[t], True
        for d in range(solver.tree_v[t], solver.tree_v[t + 1]):
            v = data.v[d] + h * data.vdot[d]
            later = v
            if steps == 0:
                sleep.v_at_start[d] = v
            elif steps + 1 >= sleep.sleep_counts[SLEEP_STEPS]:
                later = v + FORESIGHT / (steps * h) * (v - sleep.v_at_start[d])
            rests = rests and sleep.reach[d] * max(abs(v), abs(later)) <= limit
        sleep.quiet[t] = steps + 1 if rests else 0
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_kind[i] == BOUNDED or solver.con_kind[i] == EQUALITY:
            for k in range(2):
                if solver.con_tree[i, k] >= 0:
                    sleep.quiet[solver.con_tree[i, k]] = 0

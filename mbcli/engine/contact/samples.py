"""Contacts of the samples of a run, one row after another; and the effort of their solution."""

from mbcli.engine.contact.tangents import has_direction, rows_of_friction, slip_of_bodies, tangents_of_contact
from mbcli.engine.contact.torsional import torsional_moment
from mbcli.engine.fields.contact_fields import (
    COUNT_CONSTRAINTS,
    COUNT_MOST_ITERATIONS_SEEN,
    COUNT_STATUS,
    FACE_MOMENT,
    HAS_TORSIONAL,
    PROBLEM_NOT_CONVERGED,
    PROBLEM_SINGULAR,
    PROBLEM_SOLVED,
    SAMPLES_LACKING,
    SAMPLES_NO_ROW,
    SAMPLES_STEP,
    SETTING_APPROXIMATION,
    SETTING_RESIDUAL,
    STATISTIC_ALL_CONTACTS,
    STATISTIC_ALL_ITERATIONS,
    STATISTIC_LARGEST_RESIDUAL,
    STATISTIC_LAST_CONTACTS,
    STATISTIC_LAST_ITERATIONS,
    STATISTIC_MOST_CONTACTS,
    STATISTIC_MOST_ITERATIONS,
    STATISTIC_PROBLEMS,
)
from mbcli.engine.fields.model_fields import CONTACT_AT_SOLVER
from mbcli.engine.runtime.handles import data_at, model_at, points_at, samples_at, solver_at
from mbcli.engine.runtime.kernel import called, kernel, slot
from mbcli.engine.smooth.spatial import add, row3, scale, set_row3
from mbcli.engine.smooth.trigonometry import square_root

UNKNOWN = float("nan")


@kernel
def begin_row(samples, row):
    """An empty row after those before it."""
    if row == 0:
        samples.offset[0] = 0
        samples.corner_start[0] = 0
    samples.offset[row + 1] = samples.offset[row]


@kernel
def append_contact(samples, row, points, n, stiffness, position, force, separation, slip):
    """Contact point n, with the force on A at a position, becomes the last contact of the row, the last row."""
    k = samples.offset[row + 1]
    if k >= samples.distance.shape[0]:
        samples.counts[SAMPLES_LACKING] |= SAMPLES_NO_ROW
        return
    samples.offset[row + 1] = k + 1
    samples.geometry[k, 0], samples.geometry[k, 1] = points.geometry[n, 0], points.geometry[n, 1]
    set_row3(samples.position, k, 0, position)
    set_row3(samples.normal, k, 0, row3(points.normal, n, 0))
    samples.distance[k], samples.stiffness[k] = points.distance[n], stiffness
    set_row3(samples.force, k, 0, force)
    samples.separation[k] = separation
    samples.slip[k] = slip
    for column in range(points.face.shape[1]):
        samples.face[k, column] = points.face[n, column]
    end = samples.corner_start[k]
    for place in range(points.corner_start[n], points.corner_start[n + 1]):
        for column in range(4):
            samples.corners[end, column] = points.corners[place, column]
        end += 1
    samples.corner_start[k + 1] = end


@kernel
def copy_contact(samples, row, kept, k):
    """Contact k of other samples becomes the last contact of the row, the last row."""
    position, force = row3(kept.position, k, 0), row3(kept.force, k, 0)
    append_contact(samples, row, kept, k, kept.stiffness[k], position, force, kept.separation[k], kept.slip[k])


@called
def keep_step_contacts(model, data, points, samples, row):
    """After accelerate(): its contacts become a row of the samples. Called by address; returns 1.0 without room.

    Forces are unknown if the step has no solution.
    """
    d, p, s = data_at(data), points_at(points), samples_at(samples)
    solver = solver_at(d.contact[CONTACT_AT_SOLVER])
    status = solver.counts[COUNT_STATUS]
    solved = status == PROBLEM_SOLVED
    if not solved and status != PROBLEM_NOT_CONVERGED and status != PROBLEM_SINGULAR:
        return 1.0
    r = int(row)
    begin_row(s, r)
    h = s.settings[SAMPLES_STEP] if solved else UNKNOWN
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        append_step_contact(model_at(model), d, solver, p, s, i, r, h)
    append_contacts_at_rest(d, s, r)
    if s.counts[SAMPLES_LACKING] & SAMPLES_NO_ROW:
        return 1.0
    s.iterations[r], s.residual[r] = 0, 0.0
    if solver.counts[COUNT_CONSTRAINTS] > 0:
        s.iterations[r], s.residual[r] = (
            solver.counts[COUNT_MOST_ITERATIONS_SEEN],
            square_root(solver.settings[SETTING_RESIDUAL]),
        )
    return 0.0


@kernel
def append_step_contact(model, data, solver, points, samples, i, row, h):
    """Constraint i, if it is a contact, becomes the last contact of the row; h: its step, not a number if unsolved."""
    if solver.con_kind[i] != int(solver.settings[SETTING_APPROXIMATION]):
        return
    n = solver.con_source[i]
    x, y, z = UNKNOWN, UNKNOWN, UNKNOWN
    if h > 0.0:
        x, y, z = solver.con_v[i, 0], solver.con_v[i, 1], solver.con_v[i, 2]
    force = step_force(solver, points, i, n, h)
    if solver.con_patch_size[i] == HAS_TORSIONAL:
        set_row3(points.face, n, FACE_MOMENT, step_moment(solver, points, i, n, h))
    position, slip = row3(points.position, n, 0), square_root(x * x + y * y)
    if has_direction(points, n) and h > 0.0:
        slip = slip_of_bodies(model, data, solver, points, n)
    append_contact(samples, row, points, n, points.law[n, 0], position, force, z, slip)


@slot(sleep="contact.sleep.append_contacts_of_sleep")
def append_contacts_at_rest(data, samples, row):
    """Appends the contacts of what sleeps, in runs in which that may be."""


@kernel
def step_force(solver, points, i, n, h):
    """Mean force over the step h of contact constraint i on A at point n, in W."""
    along, across = rows_of_friction(points, n)
    friction = add(scale(solver.con_impulse[i, 0], along), scale(solver.con_impulse[i, 1], across))
    return scale(1.0 / h, add(friction, scale(solver.con_impulse[i, 2], row3(points.normal, n, 0))))


@kernel
def step_moment(solver, points, i, n, h):
    """As step_force(), the moment on A at point n of a contact that resists turning."""
    tangent, across = tangents_of_contact(points, n)
    return scale(1.0 / h, torsional_moment(solver, i, tangent, across, row3(points.normal, n, 0)))


@kernel
def note_problem(points, solver):
    """Counts a solved problem in the statistics."""
    if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
        return
    total = solver.statistics
    total[STATISTIC_LAST_CONTACTS], total[STATISTIC_LAST_ITERATIONS] = 1.0 * points.count[0], 0.0
    if solver.counts[COUNT_CONSTRAINTS] > 0:
        total[STATISTIC_LAST_ITERATIONS] = 1.0 * solver.counts[COUNT_MOST_ITERATIONS_SEEN]
    total[STATISTIC_PROBLEMS] += 1.0
    total[STATISTIC_ALL_CONTACTS] += total[STATISTIC_LAST_CONTACTS]
    total[STATISTIC_MOST_CONTACTS] = max(total[STATISTIC_MOST_CONTACTS], total[STATISTIC_LAST_CONTACTS])
    total[STATISTIC_ALL_ITERATIONS] += total[STATISTIC_LAST_ITERATIONS]
    total[STATISTIC_MOST_ITERATIONS] = max(total[STATISTIC_MOST_ITERATIONS], total[STATISTIC_LAST_ITERATIONS])
    if solver.counts[COUNT_CONSTRAINTS] > 0:
        total[STATISTIC_LARGEST_RESIDUAL] = max(
            total[STATISTIC_LARGEST_RESIDUAL], square_root(solver.settings[SETTING_RESIDUAL])
        )

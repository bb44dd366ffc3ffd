"""Contacts of the samples of a run, one row after another; and what solving them took."""

from mbcli.engine.contact.contact_calls import LACKING, SOLVER
from mbcli.engine.contact.problem import (
    APPROXIMATION,
    CONSTRAINTS,
    MOST_ITERATIONS_SEEN,
    NOT_CONVERGED,
    RESIDUAL,
    SINGULAR,
    SOLVED,
    STATUS,
)
from mbcli.engine.contact.rows import tangent_of
from mbcli.engine.runtime.handles import data_at, points_at, samples_at, solver_at
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, row3, scale, set_row3
from mbcli.engine.smooth.trigonometry import square_root

NO_ROW = 4  # in the count LACKING: no room in the samples; smaller bits are those of the search for contact
# elements of settings
STICTION, STEP = range(2)
# elements of statistics of the solver; iterations of a problem are those of the island that took most
PROBLEMS, ALL_ITERATIONS, MOST_ITERATIONS, LARGEST_RESIDUAL, ALL_CONTACTS, MOST_CONTACTS = range(6)
LAST_ITERATIONS, LAST_CONTACTS = 6, 7  # what the last problem added

UNKNOWN = float("nan")


@kernel
def begin_row(samples, row):
    """An empty row after those before it."""
    if row == 0:
        samples.offset[0] = 0
    samples.offset[row + 1] = samples.offset[row]


@kernel
def append_contact(samples, row, points, n, position, force, separation, slip):
    """Contact point n, with the force on A at a position, becomes the last contact of the row, the last row."""
    k = samples.offset[row + 1]
    if k >= samples.distance.shape[0]:
        samples.counts[LACKING] |= NO_ROW
        return
    samples.offset[row + 1] = k + 1
    samples.geometry[k, 0], samples.geometry[k, 1] = points.geometry[n, 0], points.geometry[n, 1]
    set_row3(samples.position, k, 0, position)
    set_row3(samples.normal, k, 0, row3(points.normal, n, 0))
    samples.distance[k] = points.distance[n]
    set_row3(samples.force, k, 0, force)
    samples.separation[k] = separation
    samples.slip[k] = slip


@kernel
def keep_step_contacts(model, data, points, samples, row):
    """After step_dynamics(): its contacts become a row of the samples. Called by address; returns 1.0 without room.

    Forces are unknown where the step has no solution.
    """
    d, p, s = data_at(data), points_at(points), samples_at(samples)
    solver = solver_at(d.contact[SOLVER])
    status = solver.counts[STATUS]
    solved = status == SOLVED
    if not solved and status != NOT_CONVERGED and status != SINGULAR:
        return 1.0
    r = int(row)
    begin_row(s, r)
    for i in range(solver.counts[CONSTRAINTS]):
        if solver.con_kind[i] != int(solver.settings[APPROXIMATION]):
            continue
        n = solver.con_source[i]
        x, y, z = UNKNOWN, UNKNOWN, UNKNOWN
        if solved:
            x, y, z = solver.con_v[i, 0], solver.con_v[i, 1], solver.con_v[i, 2]
        force = step_force(solver, p, i, n, s.settings[STEP] if solved else UNKNOWN)
        append_contact(s, r, p, n, row3(p.position, n, 0), force, z, square_root(x * x + y * y))
    if s.counts[LACKING] & NO_ROW:
        return 1.0
    s.iterations[r], s.residual[r] = 0, 0.0
    if solver.counts[CONSTRAINTS] > 0:
        s.iterations[r], s.residual[r] = solver.counts[MOST_ITERATIONS_SEEN], square_root(solver.settings[RESIDUAL])
    return 0.0


@kernel
def step_force(solver, points, i, n, h):
    """Mean force over the step h of contact constraint i on A at point n, in W."""
    normal = row3(points.normal, n, 0)
    tangent = tangent_of(normal)
    along = add(scale(solver.con_impulse[i, 0], tangent), scale(solver.con_impulse[i, 1], cross(normal, tangent)))
    return scale(1.0 / h, add(along, scale(solver.con_impulse[i, 2], normal)))


@kernel
def note_problem(points, solver):
    """Counts a solved problem in the statistics."""
    if solver.counts[STATUS] != SOLVED:
        return
    total = solver.statistics
    total[LAST_CONTACTS], total[LAST_ITERATIONS] = 1.0 * points.count[0], 0.0
    if solver.counts[CONSTRAINTS] > 0:
        total[LAST_ITERATIONS] = 1.0 * solver.counts[MOST_ITERATIONS_SEEN]
    total[PROBLEMS] += 1.0
    total[ALL_CONTACTS] += total[LAST_CONTACTS]
    total[MOST_CONTACTS] = max(total[MOST_CONTACTS], total[LAST_CONTACTS])
    total[ALL_ITERATIONS] += total[LAST_ITERATIONS]
    total[MOST_ITERATIONS] = max(total[MOST_ITERATIONS], total[LAST_ITERATIONS])
    if solver.counts[CONSTRAINTS] > 0:
        total[LARGEST_RESIDUAL] = max(total[LARGEST_RESIDUAL], square_root(solver.settings[RESIDUAL]))

"""Forces of a step in contact as rows of a run have them: exact at the velocities that the step took.

The solver leaves a part of the momenta, its tolerance, to nobody. Rows say what acts, and a free axis carries nothing:
see contact/exact_impulses.py. The motion goes on with what the solver found, so that it is the same whatever is
recorded.
"""

from mbcli.engine.contact.exact_impulses import make_impulses_exact
from mbcli.engine.contact.joint_rows import ELEMENT, take_efforts
from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    COUNT_CONSTRAINTS,
    COUNT_ELASTIC_BODIES,
    COUNT_STATUS,
    EQUALITY,
    KEPT_CHANGE,
    PROBLEM_SOLVED,
    VECTOR_DIRECTION,
)
from mbcli.engine.fields.model_fields import (
    CONTACT_AT_DATA,
    CONTACT_AT_EXACT,
    CONTACT_AT_MODEL,
    CONTACT_AT_POINTS,
    CONTACT_AT_SOLVER,
    ELEMENT_X,
)
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import data_at, model_at, solver_at
from mbcli.engine.runtime.kernel import called, kernel
from mbcli.engine.stepping.contact_step import take_constraint_forces


@kernel
def exact_forces_in_contact(data, h):
    """As step_loads.take_exact_forces()."""
    call_for_forces(data, h)


@kernel
def solved_forces_in_contact(data, h):
    """As step_loads.go_on_with_solved_forces()."""
    call_for_forces(data, -h)


@kernel
def call_for_forces(data, h):
    """exact_forces_called(), if what the run reports has forces in it."""
    at = data.contact
    if at[CONTACT_AT_EXACT] != 0.0:
        call_by_address(
            at[CONTACT_AT_EXACT],
            at[CONTACT_AT_MODEL],
            at[CONTACT_AT_DATA],
            at[CONTACT_AT_POINTS],
            at[CONTACT_AT_SOLVER],
            h,
        )


@called
def exact_forces_called(model, data, points, solver, h):
    """After the problem of a step of length h: forces exact at its velocities, v_off; -h: those of the solver again."""
    m, d, s = model_at(model), data_at(data), solver_at(solver)
    for k in range(d.v.shape[0]):
        d.v_off[k] = 0.0
    if explains_all(s) and h > 0.0:
        take_exact(m, d, s, h)
    elif explains_all(s):
        take_solved(m, d, s, -h)
    return 0.0


@kernel
def take_exact(model, data, solver, h):
    """con_impulse, and what follows from it, exact; con_kept has what was."""
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        for r in range(3):
            solver.con_kept[i, r] = solver.con_impulse[i, r]
    make_impulses_exact(solver)
    for k in range(data.v.shape[0]):
        data.v_off[k] = solver.vectors[VECTOR_DIRECTION, solver.dof_slot[k]]
    take_forces(model, data, solver, h)
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        first = row_of_element(data, solver, i)
        if first >= 0:
            for r in range(min(3, data.element_row.shape[0] - first)):
                solver.con_kept[i, KEPT_CHANGE + r] = data.element_row[first + r, ELEMENT_X]
                data.element_row[first + r, ELEMENT_X] -= (solver.con_impulse[i, r] - solver.con_kept[i, r]) / h


@kernel
def take_solved(model, data, solver, h):
    """After take_exact(): all as it was."""
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        for r in range(3):
            solver.con_impulse[i, r] = solver.con_kept[i, r]
        first = row_of_element(data, solver, i)
        if first >= 0:
            for r in range(min(3, data.element_row.shape[0] - first)):
                data.element_row[first + r, ELEMENT_X] = solver.con_kept[i, KEPT_CHANGE + r]
    take_forces(model, data, solver, h)


@kernel
def explains_all(solver):
    """Whether the last step was a problem that has a solution, of rigid bodies: masses of others are not in it."""
    counts = solver.counts
    solved = counts[COUNT_STATUS] == PROBLEM_SOLVED and counts[COUNT_CONSTRAINTS] > 0
    return solved and counts[COUNT_ELASTIC_BODIES] == 0


@kernel
def take_forces(model, data, solver, h):
    """Efforts of joints and forces of constraints, from con_impulse."""
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_kind[i] == BOUNDED:
            take_efforts(model, data, solver, h, i)
    take_constraint_forces(data, solver, h)


@kernel
def row_of_element(data, solver, i):
    """The first row in element_row of constraint i, -1 if it is no element."""
    first = solver.con_source[i] - ELEMENT
    return first if solver.con_kind[i] == EQUALITY and 0 <= first < data.element_row.shape[0] else -1

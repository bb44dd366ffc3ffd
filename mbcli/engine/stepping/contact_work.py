"""The filler for the work of rows in plants with contact: that of their impulses."""

from mbcli.engine.contact.joint_rows import CONTROLLER, ELEMENT, EQUATION
from mbcli.engine.contact.patches import patch_velocity, velocity_in_patch
from mbcli.engine.contact.problem import row_velocity
from mbcli.engine.fields.contact_fields import BOUNDED, COUNT_CONSTRAINTS, EQUALITY, HAS_TORSIONAL, VECTOR_DIRECTION
from mbcli.engine.fields.model_fields import CONTACT_AT_SOLVER
from mbcli.engine.fields.run_fields import (
    WORK_OF_CONSTRAINTS,
    WORK_OF_CONTACT,
    WORK_OF_CONTACT_FRICTION,
    WORK_OF_LIMITS,
)
from mbcli.engine.runtime.handles import solver_at
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import dot, row3
from mbcli.engine.stepping.trees_apart import advance_apart, at_changed_velocities


@kernel
def has_contact_rows(data):
    """As balance.has_rows()."""
    return solver_at(data.contact[CONTACT_AT_SOLVER]).counts[COUNT_CONSTRAINTS] > 0


@kernel
def at_forces_in_contact(model, data, h):
    """As balance.at_forces_of_step(); positions of trees that are touched are those of the start."""
    advance_apart(model, data, data.v, 0.5 * h)
    for d in range(data.v.shape[0]):
        data.v[d] = data.v_terms[d]
    at_changed_velocities(model, data)


@kernel
def work_of_contact_rows(data, balance):
    """As balance.work_of_rows(). The work of controllers and dry friction is taken elsewhere, and not in the sum."""
    solver = solver_at(data.contact[CONTACT_AT_SOLVER])
    for d in range(data.v.shape[0]):
        solver.vectors[VECTOR_DIRECTION, solver.dof_slot[d]] = data.v[d]
    total = 0.0
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        kind, source = solver.con_kind[i], solver.con_source[i]
        if solver.con_patch_size[i] != 0:
            work, friction = work_of_patch(solver, i)
            balance.work[WORK_OF_CONTACT] += work
            balance.work[WORK_OF_CONTACT_FRICTION] += friction
            total += work
            continue
        work = friction = solver.con_impulse[i, 0] * row_velocity(solver, i, VECTOR_DIRECTION, 0)
        if kind != BOUNDED:
            friction += solver.con_impulse[i, 1] * row_velocity(solver, i, VECTOR_DIRECTION, 1)
            work = friction + solver.con_impulse[i, 2] * row_velocity(solver, i, VECTOR_DIRECTION, 2)
        if kind < BOUNDED:
            balance.work[WORK_OF_CONTACT] += work
            balance.work[WORK_OF_CONTACT_FRICTION] += friction
        elif ELEMENT <= source < EQUATION:  # it is that of the changes of forces of elements
            work = 0.0
        elif source >= EQUATION or kind == EQUALITY:
            balance.work[WORK_OF_CONSTRAINTS] += work
        elif source < CONTROLLER:
            balance.work[WORK_OF_LIMITS] += work
        else:
            work = 0.0
        total += work
    return total


@kernel
def work_of_patch(solver, i):
    """The work of the contacts of patch i, and that of their friction, by vectors[DIRECTION]; 0 for later members."""
    if solver.con_patch_size[i] < 0:
        return 0.0, 0.0
    w, v = patch_velocity(solver, i, VECTOR_DIRECTION)
    impulse = solver.con_impulse
    if solver.con_patch_size[i] == HAS_TORSIONAL:
        friction = impulse[i, 0] * v[0] + impulse[i, 1] * v[1] + dot(row3(impulse, i + 1, 0), w)
        return friction + impulse[i, 2] * v[2], friction
    work = friction = 0.0
    for n in range(i, i + solver.con_patch_size[i]):
        x, y, z = velocity_in_patch(solver, n, w, v)
        friction += impulse[n, 0] * x + impulse[n, 1] * y
        work += impulse[n, 2] * z
    return work + friction, friction

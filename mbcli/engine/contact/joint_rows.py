"""Limits, controllers and dry friction of joints, and force elements, as rows of the contact problem."""

from mbcli.engine.contact.problem import add_entry, add_velocity_row, begin_constraint, end_constraint
from mbcli.engine.contact.transmission_rows import TRANSMISSION, take_transmission_force
from mbcli.engine.fields.contact_fields import (
    BOUNDED_HIGH,
    BOUNDED_LOW,
    BOUNDED_R,
    BOUNDED_V_HAT,
    COUNT_CONSTRAINTS,
    EQUALITY,
    VECTOR_INVERSE_DIAGONAL,
)
from mbcli.engine.fields.model_fields import ELEMENT_ROOT, ELEMENT_X, PD_LIMIT
from mbcli.engine.limits.dry_friction import STICKING
from mbcli.engine.limits.joint_limits import can_act, law_at_limit
from mbcli.engine.limits.pd_control import law_of_controller
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.element_rows import number_of_rows
from mbcli.engine.smooth.sleep import is_asleep

INFINITE = float("inf")
# con_source of other than contacts: a limit (of a turn: turn_rows.py), from here on a controller, then dry friction,
# then an actuator (see transmission_rows.py), then a force element, then a row of the plant's constraints
CONTROLLER, DRY_FRICTION, ELEMENT, EQUATION = 1 << 40, 1 << 41, 7 << 39, 1 << 42


@kernel
def add_limit_rows(model, data, solver, h):
    """A row for each limit that can act; its law comes when the trees are known. vdot is that without constraints."""
    for k in range(model.limit_dof.shape[0]):
        d = model.limit_dof[k]
        v = data.v[d]
        v_free = v + h * data.vdot[d]
        acts = can_act(model, data.q, v, v_free, k, h) and data.diagonal[d] < INFINITE
        if acts and not is_asleep(data, model.dof_body[d]) and add_velocity_row(solver, k, d) < 0:
            return


@kernel
def set_limit_law(model, data, solver, i, h):
    """A limit stops a coordinate and brings it back, as in joint_limits.py."""
    law, k = solver.con_law, solver.con_source[i]
    side = model.limit_side[k]
    compliance = solver.vectors[VECTOR_INVERSE_DIAGONAL, solver.con_slot[i]]
    speed, law[i, BOUNDED_R] = law_at_limit(model, data.q, data.v, k, h, compliance)
    law[i, BOUNDED_V_HAT] = side * speed
    law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH] = (0.0, INFINITE) if side > 0 else (-INFINITE, 0.0)


@kernel
def leave_to_controllers(model, data):
    """Takes the feed-forward of controllers out of tau: their rows have it."""
    for k in range(model.pd_actuator.shape[0]):
        a = model.pd_actuator[k]
        data.tau[model.actuator_dof[a]] -= data.u[a]


@kernel
def add_controller_rows(model, data, solver, h):
    """A row for each controller, with its law, see pd_control.py."""
    for k in range(model.pd_actuator.shape[0]):
        a = model.pd_actuator[k]
        d = model.actuator_dof[a]
        if data.diagonal[d] == INFINITE:
            data.pd_effort[k] = data.u[a]
            continue
        i = add_velocity_row(solver, CONTROLLER + k, d)
        if i < 0:
            return
        offset, slope = law_of_controller(model, data, k, h)
        law, most = solver.con_law, model.pd_constants[k, PD_LIMIT]
        law[i, BOUNDED_R] = 1.0 / slope
        law[i, BOUNDED_V_HAT] = h * offset / slope + data.v[d]
        law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH] = -h * most, h * most


@kernel
def add_friction_rows(model, data, solver, h):
    """A row for each joint with dry friction; how stiff it is comes when the trees are known."""
    for k in range(model.friction_dof.shape[0]):
        d = model.friction_dof[k]
        data.friction_effort[k] = 0.0
        if data.diagonal[d] == INFINITE:
            continue
        if add_velocity_row(solver, DRY_FRICTION + k, d) < 0:
            return


@kernel
def set_friction_law(model, solver, i, h):
    """The impulse that stops the joint, up to a bound, as in dry_friction.py."""
    law, most = solver.con_law, h * model.friction_loss[solver.con_source[i] - DRY_FRICTION]
    law[i, BOUNDED_R] = STICKING * solver.vectors[VECTOR_INVERSE_DIAGONAL, solver.con_slot[i]]
    law[i, BOUNDED_V_HAT] = 0.0
    law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH] = -most, most


@kernel
def take_efforts(model, data, solver, h, i):
    """The effort of row i, if it is that of a controller, of dry friction or of another actuator."""
    source = solver.con_source[i]
    if CONTROLLER <= source < DRY_FRICTION:
        data.pd_effort[source - CONTROLLER] = solver.con_impulse[i, 0] / h
    elif DRY_FRICTION <= source < TRANSMISSION:
        data.friction_effort[source - DRY_FRICTION] = solver.con_impulse[i, 0] / h
    elif TRANSMISSION <= source < ELEMENT:
        take_transmission_force(model, data, source - TRANSMISSION, solver.con_impulse[i, 0] / h)


@slot(plain="contact.plain.add_element_rows")
def add_element_rows(model, data, solver, h):
    """The rows of force elements, see smooth/element_rows.py: along each, s times what contact takes of its velocity.

    vdot is that without contact, with the changes of their forces. A spring-damper has three rows, a bushing six.
    """
    i, threes = 0, 3 * model.spring_damper_link.shape[0] + 6 * model.bushing_link.shape[0]
    while i < number_of_rows(model, data):
        count = 3 if i < threes else 1
        add_rows_of_element(model, data, solver, i, count, h)
        i += count


@slot(plain="contact.plain.take_element_impulses")
def take_element_impulses(data, solver, h):
    """After the solution: what the impulses of rows of elements add to the changes of their forces without contact."""
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        first = solver.con_source[i] - ELEMENT
        if solver.con_kind[i] == EQUALITY and 0 <= first < data.element_row.shape[0]:
            for k in range(min(3, data.element_row.shape[0] - first)):
                data.element_row[first + k, ELEMENT_X] -= solver.con_impulse[i, k] / h


@kernel
def add_rows_of_element(model, data, solver, first, count, h):
    """The constraint of `count` rows from `first` on."""
    i = begin_constraint(solver, EQUALITY, ELEMENT + first)
    if i < 0:
        return
    solver.con_law[i, BOUNDED_R] = 1.0
    for k in range(3):
        solver.con_law[i, 1 + k] = 0.0
    J, row = data.element_J, data.element_row
    for d in range(data.v.shape[0] - 1, -1, -1):
        x = row[first, ELEMENT_ROOT] * J[first, d]
        y = row[first + 1, ELEMENT_ROOT] * J[first + 1, d] if count > 1 else 0.0
        z = row[first + 2, ELEMENT_ROOT] * J[first + 2, d] if count > 2 else 0.0
        if (x != 0.0 or y != 0.0 or z != 0.0) and data.diagonal[d] < INFINITE:
            add_entry(solver, i, d, x, y, z)
            v_free = data.v[d] + h * data.vdot[d]
            solver.con_law[i, 1] += x * v_free
            solver.con_law[i, 2] += y * v_free
            solver.con_law[i, 3] += z * v_free
    end_constraint(solver, i)

"""Limits, controllers and dry friction of joints as rows of the contact problem."""

from mbcli.engine.contact.problem import add_velocity_row
from mbcli.engine.contact.transmission_rows import TRANSMISSION
from mbcli.engine.fields.contact_fields import (
    BOUNDED_HIGH,
    BOUNDED_LOW,
    BOUNDED_R,
    BOUNDED_V_HAT,
    VECTOR_INVERSE_DIAGONAL,
)
from mbcli.engine.fields.model_fields import PD_GAIN_D, PD_GAIN_P, PD_LIMIT
from mbcli.engine.limits.dry_friction import STICKING
from mbcli.engine.limits.joint_limits import can_meet_limit, law_at_limit, limit_gap
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.sleep import is_asleep

INFINITE = float("inf")
# con_source of other than contacts: a limit, from here on a controller, then dry friction, then an actuator (see
# transmission_rows.py), then a row of the plant's constraints
CONTROLLER, DRY_FRICTION, EQUATION = 1 << 40, 1 << 41, 1 << 42


@kernel
def add_limit_rows(model, data, solver, h):
    """A row for each limit that can act; its law comes when the trees are known. vdot is that without constraints."""
    for k in range(model.limit_dof.shape[0]):
        d = model.limit_dof[k]
        v = data.v[d]
        v_free = v + h * data.vdot[d]
        acts = can_meet_limit(limit_gap(model, data.q, k, h), v, v_free, h) and data.diagonal[d] < INFINITE
        if acts and not is_asleep(data, model.dof_body[d]) and add_velocity_row(solver, k, d) < 0:
            return


@kernel
def set_limit_law(model, data, solver, i, h):
    """A limit stops a coordinate and brings it back, as in joint_limits.py."""
    law, k = solver.con_law, solver.con_source[i]
    side = model.limit_side[k]
    compliance = solver.vectors[VECTOR_INVERSE_DIAGONAL, solver.con_slot[i]]
    speed, law[i, BOUNDED_R] = law_at_limit(model, data.q, k, h, compliance)
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
    """A row for each controller, with its law: u = clamp(-Kp (q' - q_d) - Kd (v' - v_d) + u_ff), see pd_control.py."""
    for k in range(model.pd_actuator.shape[0]):
        a = model.pd_actuator[k]
        d = model.actuator_dof[a]
        if data.diagonal[d] == INFINITE:
            data.pd_effort[k] = data.u[a]
            continue
        i = add_velocity_row(solver, CONTROLLER + k, d)
        if i < 0:
            return
        p, damping, most = (
            model.pd_constants[k, PD_GAIN_P],
            model.pd_constants[k, PD_GAIN_D],
            model.pd_constants[k, PD_LIMIT],
        )
        slope = h * (h * p + damping)
        forward = data.u[a] + data.pd_carried[k]
        offset = forward - p * (data.q[model.dof_q[d]] - data.pd_desired[k, 0]) + damping * data.pd_desired[k, 1]
        law = solver.con_law
        law[i, BOUNDED_R] = 1.0 / slope
        law[i, BOUNDED_V_HAT] = h * offset / slope
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
def take_efforts(data, solver, h, i):
    """The effort of row i, if it is that of a controller, of dry friction or of another actuator."""
    source = solver.con_source[i]
    if CONTROLLER <= source < DRY_FRICTION:
        data.pd_effort[source - CONTROLLER] = solver.con_impulse[i, 0] / h
    elif DRY_FRICTION <= source < TRANSMISSION:
        data.friction_effort[source - DRY_FRICTION] = solver.con_impulse[i, 0] / h
    elif TRANSMISSION <= source < EQUATION:
        data.transmission_force[source - TRANSMISSION] = solver.con_impulse[i, 0] / h

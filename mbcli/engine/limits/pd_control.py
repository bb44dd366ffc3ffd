"""PD controllers of actuators in the step of a discrete plant, with limited effort, at any gains.

The effort of a controlled actuator is u = clamp(-Kp (q* - q_d) - Kd (v* - v_d) + u_ff, -e, e): a bounded row a - k vdot
of its velocity's acceleration, see bounded_rows.py. In steps of second order q* and v* are about the middle, by the
shares of springs and dampers (smooth/middle.py) with the inertia that the velocity carries alone. In others, and in
contact, they are of the end: v* = v + h vdot, q* = q + h v*, k = h Kd + h^2 Kp.
u_ff is the actuation and, of a controller with a rate, what it carries: its effort without the actuation, smoothed over
the time 1 / rate. Under a load that lasts this becomes the load, and the error goes to 0: a PI controller whose
integral ends at the effort limit.
"""

from mbcli.engine.fields.model_fields import (
    PD_GAIN_D,
    PD_GAIN_P,
    PD_LIMIT,
    PD_RATE,
    ROW_ASSUMED,
    ROW_HIGH,
    ROW_LOW,
    ROW_OFFSET,
    ROW_OWN,
    ROW_SLOPE,
)
from mbcli.engine.limits.bounded_rows import clamped_effort
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.mass_matrix import carried_inertia
from mbcli.engine.smooth.middle import damping_share, is_in_middle, stiffness_shares


@kernel
def start_controllers(model, data, h):
    """The row of every controller; all of them are assumed to stay below their limits. tau holds u already."""
    for i in range(model.pd_actuator.shape[0]):
        k = model.pd_actuator[i]
        d = model.actuator_dof[k]
        offset, slope = law_of_controller(model, data, i, h)
        data.bounded_row[i, ROW_OFFSET] = offset
        data.bounded_row[i, ROW_SLOPE] = slope
        data.bounded_row[i, ROW_LOW], data.bounded_row[i, ROW_HIGH] = (
            -model.pd_constants[i, PD_LIMIT],
            model.pd_constants[i, PD_LIMIT],
        )
        data.bounded_row[i, ROW_ASSUMED], data.bounded_row[i, ROW_OWN] = offset, data.diagonal[d]
        data.row_side[i] = 0.0
        data.diagonal[d] += data.bounded_row[i, ROW_SLOPE]
        data.tau[d] += offset - data.u[k]


@kernel
def law_of_controller(model, data, i, h):
    """(a, k) of the effort a - k vdot of controller i over a step h, before bounds: where the step takes forces."""
    k = model.pd_actuator[i]
    d = model.actuator_dof[k]
    p, damping = h * h * model.pd_constants[i, PD_GAIN_P], h * model.pd_constants[i, PD_GAIN_D]
    ahead, slope = 1.0 + 0.0 * data.v[d], p + damping + 0.0 * data.v[d]
    if is_in_middle(model, data, model.dof_body[d]):
        inertia = carried_inertia(model, data, d)
        ahead = 0.5 + 0.0 * data.v[d]
        slope = 0.0 * data.v[d]
        if p != 0:
            beta, gamma = stiffness_shares(inertia, p, 1.0)
            ahead += gamma
            slope += (beta + gamma) * p
        if damping != 0:
            slope += damping_share(inertia, damping) * damping
    more = 1.0 + 0.5 * carried_share(model, data, i, h)
    stretch = data.q[model.dof_q[d]] + ahead * h * data.v[d] - data.pd_desired[i, 0]
    rate = data.v[d] - data.pd_desired[i, 1]
    own = model.pd_constants[i, PD_GAIN_P] * stretch + model.pd_constants[i, PD_GAIN_D] * rate
    return data.u[k] + data.pd_carried[i] - more * own, more * slope


@kernel
def carried_share(model, data, i, h):
    """The part of its effort that controller i carries on in a step of second order, half of it in the step; else 0."""
    share = h * model.pd_constants[i, PD_RATE]
    if share == 0 or not is_in_middle(model, data, model.dof_body[model.actuator_dof[model.pd_actuator[i]]]):
        return 0.0 * share
    return share if share.real < 1.0 else 1.0 + 0.0 * share


@kernel
def finish_controllers(model, data):
    """What every controller gives in the step, no more than its limit."""
    for i in range(model.pd_actuator.shape[0]):
        data.pd_effort[i] = clamped_effort(data, i, data.vdot[model.actuator_dof[model.pd_actuator[i]]])


@kernel
def carry_efforts(model, data, h):
    """After a step of length h that is kept: what controllers with a rate feed forward in the next one."""
    for i in range(model.pd_actuator.shape[0]):
        share = min(1.0, h * model.pd_constants[i, PD_RATE]) / (1.0 + 0.5 * carried_share(model, data, i, h))
        if share != 0.0:
            own = data.pd_effort[i] - data.u[model.pd_actuator[i]]
            data.pd_carried[i] += share * (own - data.pd_carried[i])

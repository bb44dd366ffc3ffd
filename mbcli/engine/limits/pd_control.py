"""PD controllers of actuators in the step of a discrete plant, taken at its end, with limited effort.

The effort of a controlled actuator is u = clamp(-Kp (q' - q_d) - Kd (v' - v_d) + u_ff, -e, e) with q' = q + h v' and
v' = v + h vdot: a bounded row a - k vdot of its velocity's acceleration, k = h Kd + h^2 Kp, see bounded_rows.py.
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


@kernel
def start_controllers(model, data, h):
    """The row of every controller; all of them are assumed to stay below their limits. tau holds u already."""
    for i in range(model.pd_actuator.shape[0]):
        k = model.pd_actuator[i]
        d = model.actuator_dof[k]
        p, damping = model.pd_constants[i, PD_GAIN_P], model.pd_constants[i, PD_GAIN_D]
        stretch = data.q[model.dof_q[d]] + h * data.v[d] - data.pd_desired[i, 0]
        offset = data.u[k] + data.pd_carried[i] - p * stretch - damping * (data.v[d] - data.pd_desired[i, 1])
        data.bounded_row[i, ROW_OFFSET] = offset
        data.bounded_row[i, ROW_SLOPE] = h * damping + h * h * p
        data.bounded_row[i, ROW_LOW], data.bounded_row[i, ROW_HIGH] = (
            -model.pd_constants[i, PD_LIMIT],
            model.pd_constants[i, PD_LIMIT],
        )
        data.bounded_row[i, ROW_ASSUMED], data.bounded_row[i, ROW_OWN] = offset, data.diagonal[d]
        data.row_side[i] = 0.0
        data.diagonal[d] += data.bounded_row[i, ROW_SLOPE]
        data.tau[d] += offset - data.u[k]


@kernel
def finish_controllers(model, data):
    """What every controller gives at the end of the step, no more than its limit."""
    for i in range(model.pd_actuator.shape[0]):
        data.pd_effort[i] = clamped_effort(data, i, data.vdot[model.actuator_dof[model.pd_actuator[i]]])


@kernel
def carry_efforts(model, data, h):
    """After a step of length h that is kept: what controllers with a rate feed forward in the next one."""
    for i in range(model.pd_actuator.shape[0]):
        share = min(1.0, h * model.pd_constants[i, PD_RATE])
        if share != 0.0:
            own = data.pd_effort[i] - data.u[model.pd_actuator[i]]
            data.pd_carried[i] += share * (own - data.pd_carried[i])

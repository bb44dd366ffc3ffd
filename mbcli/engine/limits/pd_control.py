"""PD controllers of actuators in the step of a discrete plant, taken at its end, with limited effort.

The effort of a controlled actuator is u = clamp(-Kp (q' - q_d) - Kd (v' - v_d) + u_ff, -e, e) with q' = q + h v' and
v' = v + h vdot: a clamped line a - k vdot of its velocity's acceleration, k = h Kd + h^2 Kp, see clamped_lines.py.
"""

from mbcli.engine.limits.clamped_lines import ASSUMED, HIGH, LOW, OFFSET, OWN, SLOPE, clamped_effort
from mbcli.engine.runtime.kernel import kernel

GAIN_P, GAIN_D, LIMIT = 0, 1, 2


@kernel
def start_controllers(model, data, h):
    """The line of every controller; all of them are assumed to stay below their limits. tau holds u already."""
    for i in range(model.pd_actuator.shape[0]):
        k = model.pd_actuator[i]
        d = model.actuator_dof[k]
        p, damping = model.pd_constants[i, GAIN_P], model.pd_constants[i, GAIN_D]
        stretch = data.q[model.dof_q[d]] + h * data.v[d] - data.pd_desired[i, 0]
        offset = data.u[k] - p * stretch - damping * (data.v[d] - data.pd_desired[i, 1])
        data.line[i, OFFSET] = offset
        data.line[i, SLOPE] = h * damping + h * h * p
        data.line[i, LOW], data.line[i, HIGH] = -model.pd_constants[i, LIMIT], model.pd_constants[i, LIMIT]
        data.line[i, ASSUMED], data.line[i, OWN] = offset, data.diagonal[d]
        data.line_side[i] = 0.0
        data.diagonal[d] += data.line[i, SLOPE]
        data.tau[d] += offset - data.u[k]


@kernel
def finish_controllers(model, data):
    """What every controller gives at the end of the step, no more than its limit."""
    for i in range(model.pd_actuator.shape[0]):
        data.pd_effort[i] = clamped_effort(data, i, data.vdot[model.actuator_dof[model.pd_actuator[i]]])

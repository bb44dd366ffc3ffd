"""Accelerations over a step of a discrete plant with controllers, limits, dry friction of joints: bounded_rows.py."""

from mbcli.engine.limits.bounded_rows import (
    AGREEMENT,
    MOST_NEWTON_STEPS,
    assume_efforts,
    largest_disagreement,
    move_point,
    remaining_change,
    take_point,
)
from mbcli.engine.limits.dry_friction import finish_friction, start_friction
from mbcli.engine.limits.joint_limits import reach_limits, start_limits
from mbcli.engine.limits.pd_control import finish_controllers, start_controllers
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.forward_dynamics import accelerations


@kernel
def limited_dynamics(model, data, h):
    """As accelerations() over a step h, with all rows: q, v, tau, u, pd_desired -> vdot, pd_effort, friction_effort.

    tau holds u already, and gains what they add to it; so does `diagonal`. row_residual is 0, or by which part of the
    largest acceleration another Newton step would change some where their number ran out; vdot is the best found then.
    """
    start_limits(model, data)
    start_friction(model, data, h)
    start_controllers(model, data, h)
    data.row_residual[0] = 0.0 * data.row_residual[0]
    for step in range(MOST_NEWTON_STEPS + 1):
        accelerations(model, data, h)  # one call in the loop: the compiler inlines each call
        if step == 0 and reach_limits(model, data, h) + model.pd_actuator.shape[0] + model.friction_dof.shape[0] == 0:
            return
        if largest_disagreement(model, data) <= AGREEMENT:
            break
        if step == MOST_NEWTON_STEPS:
            data.row_residual[0] = remaining_change(model, data)
        if step == MOST_NEWTON_STEPS or move_point(model, data, step) == 0.0:
            take_point(data)
            break
        assume_efforts(model, data)
    finish_controllers(model, data)
    finish_friction(model, data)

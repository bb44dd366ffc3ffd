"""Accelerations over a step of a discrete plant with controllers, limits, dry friction of joints: clamped_lines.py."""

from mbcli.engine.limits.clamped_lines import (
    MOST_STEPS_OF_LINES,
    assume_efforts,
    count_disagreements,
    dof_of_line,
    move_point,
    start_point,
)
from mbcli.engine.limits.dry_friction import finish_friction, start_friction
from mbcli.engine.limits.joint_limits import reach_limits, start_limits
from mbcli.engine.limits.pd_control import finish_controllers, start_controllers
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.forward_dynamics import accelerations

NOT_A_NUMBER = float("nan")


@kernel
def limited_dynamics(model, data, h):
    """As accelerations() over a step h, with all lines: q, v, tau, u, pd_desired -> vdot, pd_effort, friction_effort.

    tau holds u already, and gains what they add to it; so does `diagonal`. Not a number where no solution was found.
    """
    start_limits(model, data)
    start_friction(model, data, h)
    start_controllers(model, data, h)
    disagreements = 0
    for step in range(MOST_STEPS_OF_LINES + 1):
        accelerations(model, data, h)  # at one place: the compiler copies it to wherever it is called
        if step == 0:
            if reach_limits(model, data, h) == 0 and model.pd_actuator.shape[0] + model.friction_dof.shape[0] == 0:
                return
            start_point(model, data)
        else:
            move_point(model, data)
        disagreements = count_disagreements(model, data, step)
        if step == MOST_STEPS_OF_LINES or disagreements == 0:
            break
        assume_efforts(model, data)
    finish_controllers(model, data)
    finish_friction(model, data)
    if disagreements != 0:
        for i in range(data.line.shape[0]):
            data.vdot[dof_of_line(model, i)] = NOT_A_NUMBER

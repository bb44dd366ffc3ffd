"""Velocity terms of a discrete step in its middle: C(q, v_m) v_m at v_m = v + h/2 vdot, by substitution.

At the start of a step they would feed what turns: docs/explanation/discrete_steps.md. Locked joints stay, since their
vdot is zero.
"""

from mbcli.engine.fields.model_fields import SCHEME_MIDDLE
from mbcli.engine.limits.bounded_rows import AGREEMENT, largest_disagreement, take_point
from mbcli.engine.limits.dry_friction import finish_friction
from mbcli.engine.limits.joint_limits import is_in_reach
from mbcli.engine.limits.pd_control import finish_controllers
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.element_rows import resist_again
from mbcli.engine.smooth.forward_dynamics import forward_dynamics_again
from mbcli.engine.smooth.kinematics import velocity_kinematics

SUBSTITUTIONS = 3  # two are of second order and feed what turns at a rate w with (w h)^4 / 4, a third takes as much


@kernel
def note_start(data):
    """v -> v_at_start, v_terms."""
    for d in range(data.v.shape[0]):
        data.v_at_start[d] = data.v_terms[d] = data.v[d]


@kernel
def note_positions(data):
    """q -> q_at_start."""
    for i in range(data.q.shape[0]):
        data.q_at_start[i] = data.q[i]


@kernel
def take_terms_between_limits(model, data, h):
    """After limited_dynamics, note_start: as take_terms_in_middle(), if the plant has it and reaches no limit.

    Where an effort comes to a bound by that, or leaves it, the terms stay those of the start: such steps are few.
    """
    if model.step_scheme[SCHEME_MIDDLE] == 0 or reaches_limit(model, data, h):
        return
    rows = model.pd_actuator.shape[0] + model.friction_dof.shape[0]
    if rows > 0:
        for d in range(data.v.shape[0]):
            data.vdot_point[d] = data.vdot[d]
    take_terms_in_middle(model, data, h)
    if rows > 0 and largest_disagreement(model, data) > AGREEMENT:
        take_point(data)
        for d in range(data.v.shape[0]):
            data.v_terms[d] = data.v_at_start[d]
    if rows > 0:
        finish_controllers(model, data)
        finish_friction(model, data)


@kernel
def take_terms_in_middle(model, data, h):
    """After forward_dynamics, note_start: vdot over a step h with velocity terms in its middle. v stays, V does not."""
    for _ in range(1, SUBSTITUTIONS):
        for d in range(data.v.shape[0]):
            data.v_terms[d] = data.v_at_start[d] + 0.5 * h * data.vdot[d]
        substitute(model, data)


@kernel
def substitute(model, data):
    """v_terms -> vdot."""
    for d in range(data.v.shape[0]):
        data.v[d] = data.v_terms[d]
    velocity_kinematics(model, data)
    forward_dynamics_again(model, data)
    resist_again(model, data)
    for d in range(data.v.shape[0]):
        data.v[d] = data.v_at_start[d]


@kernel
def reaches_limit(model, data, h):
    """After limited_dynamics: whether a limit can act in the step. Limits of locked joints cannot."""
    reached = False
    for k in range(model.limit_dof.shape[0]):
        reached = reached or is_in_reach(model, data, h, k)
    return reached

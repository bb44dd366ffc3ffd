"""Velocity terms of a discrete step in its middle: C(q, v_m) v_m at v_m = v + h/2 vdot, by substitution.

At the start of a step they would feed what turns: docs/discrete_steps.md. Locked joints stay, since their vdot is zero.
"""

from mbcli.engine.fields.contact_fields import COUNT_CONSTRAINTS
from mbcli.engine.limits.joint_limits import limit_gap, reach_of_limits
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.forward_dynamics import forward_dynamics_again
from mbcli.engine.smooth.kinematics import velocity_kinematics
from mbcli.engine.smooth.sleep import is_asleep

SUBSTITUTIONS = 3  # two are of second order and feed what turns at a rate w with (w h)^4 / 4, a third takes as much
FREE, TOUCHED = -1, 0


@kernel
def note_start(data):
    """v -> v_start, v_terms."""
    for d in range(data.v.shape[0]):
        data.v_start[d] = data.v_terms[d] = data.v[d]


@kernel
def take_terms_in_middle(model, data, h):
    """After forward_dynamics, note_start: vdot over a step h with velocity terms in its middle. v stays, V does not."""
    for _ in range(1, SUBSTITUTIONS):
        for d in range(data.v.shape[0]):
            data.v_terms[d] = data.v_start[d] + 0.5 * h * data.vdot[d]
        substitute(model, data)


@kernel
def substitute(model, data):
    """v_terms -> vdot."""
    for d in range(data.v.shape[0]):
        data.v[d] = data.v_terms[d]
    velocity_kinematics(model, data)
    forward_dynamics_again(model, data)
    for d in range(data.v.shape[0]):
        data.v[d] = data.v_start[d]


@kernel
def reaches_limit(model, data, h):
    """After vdot: whether a limit can act in the step."""
    for k in range(model.limit_dof.shape[0]):
        d = model.limit_dof[k]
        v = data.v[d]
        if limit_gap(model, data.q, k).real < reach_of_limits(v, v + h * data.vdot[d], h):
            return True
    return False


@kernel
def take_terms_of_free_trees(model, data, solver, h):
    """After forward_dynamics, note_start, with contacts in the problem: as take_terms_in_middle(), tree by tree.

    vdot is that without contact and controllers. It says where a tree is in the middle if nothing touches or drives
    it, and how a body turns that is alone: forces of contact are none of gravity's business there, and at rest it is
    zero. Other trees keep the terms of the start.
    """
    if mark_touched_trees(model, solver) == 0:
        return
    for _ in range(1, SUBSTITUTIONS):
        for d in range(data.v.shape[0]):
            if not is_asleep(data, model.dof_body[d]) and moves_freely(model, solver, d):
                data.v_terms[d] = data.v_start[d] + 0.5 * h * data.vdot[d]
        substitute(model, data)


@kernel
def mark_touched_trees(model, solver):
    """tree_island: FREE, or TOUCHED by a constraint or a controller. Returns how many velocities move freely."""
    mark = solver.tree_island
    for t in range(mark.shape[0]):
        mark[t] = FREE
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        for k in range(2):
            if solver.con_tree[i, k] >= 0:
                mark[solver.con_tree[i, k]] = TOUCHED
    for k in range(model.pd_actuator.shape[0]):
        mark[solver.dof_tree[model.actuator_dof[model.pd_actuator[k]]]] = TOUCHED
    for k in range(model.friction_dof.shape[0]):
        mark[solver.dof_tree[model.friction_dof[k]]] = TOUCHED
    count = 0
    for d in range(model.dof_body.shape[0]):
        count += int(moves_freely(model, solver, d))
    return count


@kernel
def moves_freely(model, solver, d):
    """After mark_touched_trees: whether the free acceleration says how velocity d goes on."""
    b = model.dof_body[d]
    if solver.tree_island[solver.dof_tree[d]] == FREE:
        return True
    return model.body_free[b] == 1 and model.body_end[b] == b + 1 and d < model.body_v[b] + 3

"""Velocity terms in the middle of a step with contact, as far as the motion without contact says where that is."""

from mbcli.engine.fields.contact_fields import COUNT_CONSTRAINTS
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.stepping.velocity_terms import SUBSTITUTIONS, substitute

FREE, TOUCHED = -1, 0


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
                data.v_terms[d] = data.v_at_start[d] + 0.5 * h * data.vdot[d]
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

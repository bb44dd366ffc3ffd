"""Trees that nothing touches, in plants that can touch: their steps are of second order, as those of other plants.

Contacts are searched at the start of a step. A tree without any goes to the middle for its forces and moves with the
mean of its velocities; a tree with a contact point keeps to its start and moves with its velocities at the end, by
which the contact problem sees how far it comes. Positions are ahead of the mean motion by half a step times the change
of velocity then, which a flight by the same rule takes back. So trees that fly, on free bases or on slides that nothing
drives, and all trees in plants with restitution, stay with that rule in the air too: a ball would gain 2 g h / v of its
energy in each bounce else (docs/explanation/discrete_steps.md).

Plants whose steps are problems without contact too (constraints, elastic bodies, actuators that act by the end of a
step), and runs in which islands may sleep or plugins give forces of the start, stay at the start altogether.
"""

from mbcli.engine.contact.turn_rows import nears_turn_limit
from mbcli.engine.fields.contact_fields import COUNT_ELASTIC_BODIES, COUNT_STATUS, PROBLEM_SOLVED
from mbcli.engine.fields.model_fields import MIDDLE_BODIES, MIDDLE_REFUSED, SCHEME_APART
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.coordinates import advance_trees
from mbcli.engine.smooth.inertia import world_inertias
from mbcli.engine.smooth.kinematics import velocity_kinematics
from mbcli.engine.smooth.state import at_velocities


@kernel
def is_tree_in_middle(model, data, b):
    """As smooth.middle.is_in_middle()."""
    return some_are_apart(data) and data.in_middle[b] == 1


@kernel
def stay_at_start(data):
    """No tree goes to the middle of the step."""
    data.middle_counts[MIDDLE_BODIES] = 0


@kernel
def find_trees_apart(model, data, points, solver, is_free, h):
    """After find_points: in_middle. is_free: whether steps without contact are no problems, and nothing bounces."""
    stay_at_start(data)
    if model.step_scheme[SCHEME_APART] == 0 or data.middle_counts[MIDDLE_REFUSED] == 1 or not is_free:
        return
    solved = solver.counts[COUNT_STATUS] == PROBLEM_SOLVED and solver.counts[COUNT_ELASTIC_BODIES] == 0
    mark, root = data.in_middle, model.body_root
    if not solved or nears_turn_limit(model, data, h):
        return
    for b in range(1, mark.shape[0]):
        mark[b] = 1 - model.body_flies[b]
    for i in range(points.count[0]):
        for side in range(2):
            if points.body[i, side] > 0:
                mark[root[points.body[i, side]]] = 0
    for b in range(1, mark.shape[0]):
        mark[b] = mark[root[b]]
        data.middle_counts[MIDDLE_BODIES] += mark[b]


@kernel
def some_are_apart(data):
    """Whether a tree goes to the middle of the step."""
    return data.middle_counts[MIDDLE_BODIES] > 0


@kernel
def some_trees_are_in_middle(model, data):
    """As smooth.middle.some_are_in_middle()."""
    return some_are_apart(data)


@kernel
def advance_apart(model, data, v, h):
    """As advance_positions(), for trees in the middle of the step alone."""
    if some_are_apart(data):
        advance_trees(model, data, v, h, 1)


@kernel
def place_trees_apart(model, data):
    """As state.at_velocities(), after the kinematics of the start: what is there already stays."""
    if some_are_apart(data):
        at_velocities(model, data)
    else:
        world_inertias(model, data)


@kernel
def at_changed_velocities(model, data):
    """After a change of v, and of q of trees in the middle of the step alone: what follows from q and v."""
    if some_are_apart(data):
        at_velocities(model, data)
    else:
        velocity_kinematics(model, data)


@kernel
def go_with_velocities_of_middle(model, data, h):
    """v of trees in the middle of the step becomes their mean velocity."""
    if not some_are_apart(data):
        return
    for d in range(data.v.shape[0]):
        if data.in_middle[model.dof_body[d]] == 1:
            data.v[d] = data.v_at_start[d] + 0.5 * h * data.vdot[d]


@kernel
def go_on_from_middle(model, data, h):
    """After go_with_velocities_of_middle(): v becomes that of the end."""
    if not some_are_apart(data):
        return
    for d in range(data.v.shape[0]):
        if data.in_middle[model.dof_body[d]] == 1:
            data.v[d] = data.v_at_start[d] + h * data.vdot[d]

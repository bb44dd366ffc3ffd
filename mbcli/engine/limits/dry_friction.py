"""Dry friction of joints in the step of a discrete plant: as much effort as it takes to stop, but no more than a bound.

Over a step h the effort on velocity d is clamp(-v' / (h R), -loss, loss), v' = v + h vdot the velocity at its end: in
the limit R -> 0 the friction of Coulomb that does not depend on the load, a bound on the force of the constraint v' = 0
as MuJoCo has it. R is so small that a joint which sticks creeps by a millionth of what it would gain in a step without
friction. The effort is a bounded row, see bounded_rows.py.
"""

from mbcli.engine.fields.model_fields import ROW_ASSUMED, ROW_HIGH, ROW_LOW, ROW_OFFSET, ROW_OWN, ROW_SLOPE
from mbcli.engine.limits.bounded_rows import bound_of_row, clamped_effort, side_of_row
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.mass_matrix import composite_inertias, inertia_along

INFINITE = float("inf")
STICKING = 1e-6  # R over what the joint gives way to an impulse


@kernel
def first_friction_line(model):
    """Lines of dry friction come after those of controllers and limits."""
    return model.pd_actuator.shape[0] + model.limit_dof.shape[0]


@kernel
def start_friction(model, data, h):
    """After world_inertias, before start_controllers(): the rows of dry friction, assumed to be where v' = v is."""
    if model.friction_dof.shape[0] > 0:
        composite_inertias(model, data)
    for k in range(model.friction_dof.shape[0]):
        i, d = first_friction_line(model) + k, model.friction_dof[k]
        own, loss = data.diagonal[d], model.friction_loss[k]
        data.bounded_row[i, ROW_OWN] = own
        data.bounded_row[i, ROW_LOW], data.bounded_row[i, ROW_HIGH] = -loss, loss
        data.bounded_row[i, ROW_SLOPE] = data.bounded_row[i, ROW_OFFSET] = (
            0.0 * own if own.real < INFINITE else 0.0 * loss
        )
        if own.real < INFINITE:
            slope = (inertia_along(model, data, d) + own) / STICKING
            data.bounded_row[i, ROW_SLOPE] = slope
            data.bounded_row[i, ROW_OFFSET] = -slope / h * data.v[d]
        side = side_of_row(data, i, 0.0 * loss)
        data.row_side[i] = side
        if side == 0.0:
            data.bounded_row[i, ROW_ASSUMED] = data.bounded_row[i, ROW_OFFSET]
            data.diagonal[d] += data.bounded_row[i, ROW_SLOPE]
        else:
            data.bounded_row[i, ROW_ASSUMED] = bound_of_row(data, i, side)
        data.tau[d] += data.bounded_row[i, ROW_ASSUMED]


@kernel
def finish_friction(model, data):
    """The dry friction of every joint in the step."""
    for k in range(model.friction_dof.shape[0]):
        i = first_friction_line(model) + k
        data.friction_effort[k] = clamped_effort(data, i, data.vdot[model.friction_dof[k]])

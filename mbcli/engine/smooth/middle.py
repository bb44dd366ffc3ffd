"""What a step of second order asks of a body and of an inertia: whether it moves with the mean of its velocities, and
which share of damping and stiffness acts by the acceleration of the step.

docs/explanation/discrete_steps.md has the scheme, smooth/element_rows.py how the shares are chosen.
"""

from mbcli.engine.fields.model_fields import SCHEME_MIDDLE
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.mass_matrix import carried_inertia, composite_inertias

UNRESOLVED = 64.0  # z^2 of a vibration that a step does not follow


@slot(contact="stepping.trees_apart.is_tree_in_middle")
def is_in_middle(model, data, b):
    """Whether body b has a step of second order: forces in its middle, and positions by its mean velocity."""
    return model.step_scheme[SCHEME_MIDDLE] == 1


@slot(contact="stepping.trees_apart.some_trees_are_in_middle")
def some_are_in_middle(model, data):
    """Whether any body has."""
    return model.step_scheme[SCHEME_MIDDLE] == 1


@kernel
def damping_share(inertia, damping):
    """theta: the part of an acceleration by which a damping acts; damping: h c, as an inertia.

    1/2, of second order, for a damping that the step resolves; 1 for one that ends a motion at once.
    """
    return (inertia + damping) / (2.0 * inertia + damping)


@kernel
def stiffness_shares(inertia, stiffness, rows):
    """beta, gamma of rows of the stiffness h^2 k, as an inertia: s = (beta + gamma) h^2 k, g = -gamma h k v."""
    z = stiffness * stiffness
    return 0.25 - inertia / (6.0 * inertia + rows * stiffness), 0.5 * z / (z + UNRESOLVED * inertia * inertia)


@kernel
def damping_of_step(model, data, d, h):
    """After composite_inertias: by what the damping of velocity d grows with its acceleration in a step h [kg m^2]."""
    damping = h * model.dof_damping[d]
    if damping == 0 or not is_in_middle(model, data, model.dof_body[d]):  # 0 of symbols too; not a complex step from 0
        return damping + 0.0 * data.v[d]
    return damping * damping_share(carried_inertia(model, data, d), damping)


@kernel
def weigh_velocities(model, data):
    """composite_inertias, if a step asks what its velocities carry: damping, hinges with friction, controllers do."""
    asks = model.pd_actuator.shape[0] + model.hinge_dof.shape[0] > 0
    for d in range(model.dof_damping.shape[0]):
        asks = asks or model.dof_damping[d] != 0
    if asks and some_are_in_middle(model, data):
        composite_inertias(model, data)

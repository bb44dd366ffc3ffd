"""What follows from a state, in the order in which the algorithms need it."""

from mbcli.engine.inertia import world_inertias
from mbcli.engine.jit import kernel
from mbcli.engine.kinematics import position_kinematics, velocity_kinematics


@kernel
def at_positions(model, data):
    """q -> poses, motion subspaces, inertias in world axes."""
    position_kinematics(model, data)
    world_inertias(model, data)


@kernel
def at_velocities(model, data):
    """q, v -> the same, velocities and what accelerations owe to them."""
    at_positions(model, data)
    velocity_kinematics(model, data)

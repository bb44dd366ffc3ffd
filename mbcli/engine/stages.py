"""What callers outside the engine ask for: stages in their order, and whole calculations as one call.

These take handles (handles.py); every other kernel takes Model and Data themselves.
"""

from mbcli.engine.coordinates import qdot_to_velocity, velocity_to_qdot
from mbcli.engine.energy import conservative_power, total_energy
from mbcli.engine.forward_dynamics import forward_dynamics
from mbcli.engine.handles import data_at, model_at
from mbcli.engine.inertia import world_inertias
from mbcli.engine.inverse_dynamics import (
    apply_link_forces,
    bias_term,
    generalized_forces,
    gravity_forces,
    inverse_dynamics,
    mass_matrix_by_inverse_dynamics,
)
from mbcli.engine.jit import kernel
from mbcli.engine.joint_forces import add_joint_forces
from mbcli.engine.kinematics import (
    acceleration_kinematics,
    link_accelerations,
    link_poses,
    link_velocities,
    position_kinematics,
    velocity_kinematics,
)
from mbcli.engine.mass_matrix import mass_matrix


@kernel
def position_stage(model, data):
    """All that follows from q alone: poses, motion subspaces, inertias in world axes."""
    m, d = model_at(model), data_at(data)
    position_kinematics(m, d)
    world_inertias(m, d)


@kernel
def velocity_stage(model, data):
    """After position_stage: all that follows from v."""
    velocity_kinematics(model_at(model), data_at(data))


@kernel
def links_stage(model, data):
    """After velocity_stage: X_WL and V_WL."""
    m, d = model_at(model), data_at(data)
    link_poses(m, d)
    link_velocities(m, d)


@kernel
def calc_link_accelerations(model, data):
    """After velocity_stage: vdot -> A_WL."""
    m, d = model_at(model), data_at(data)
    for k in range(6):
        d.A[0, k] = 0.0
    acceleration_kinematics(m, d)
    link_accelerations(m, d)


@kernel
def calc_mass_matrix(model, data):
    """After position_stage: M."""
    mass_matrix(model_at(model), data_at(data))


@kernel
def calc_mass_matrix_by_inverse_dynamics(model, data):
    """After position_stage: M; what velocity_stage computed is lost."""
    mass_matrix_by_inverse_dynamics(model_at(model), data_at(data))


@kernel
def calc_inverse_dynamics(model, data, gravity):
    """After velocity_stage: vdot, F_link -> tau, with the weight of the bodies times `gravity` (0 or 1)."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d)
    inverse_dynamics(m, d, gravity)


@kernel
def calc_bias_term(model, data):
    """After velocity_stage: tau = C v; vdot becomes 0."""
    bias_term(model_at(model), data_at(data))


@kernel
def calc_gravity(model, data):
    """After position_stage: tau = tau_g."""
    gravity_forces(model_at(model), data_at(data))


@kernel
def calc_generalized_forces(model, data):
    """After position_stage: F_link -> tau."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d)
    generalized_forces(m, d)


@kernel
def calc_forward_dynamics(model, data):
    """After velocity_stage: tau, F_link -> vdot under gravity, joint damping and springs, which tau gains."""
    m, d = model_at(model), data_at(data)
    add_joint_forces(m, d)
    for k in range(d.v.shape[0]):
        d.diagonal[k] = m.dof_armature[k]
    apply_link_forces(m, d)
    forward_dynamics(m, d)


@kernel
def calc_energy(model, data):
    """After velocity_stage: energy; returns the power of gravity and springs."""
    m, d = model_at(model), data_at(data)
    total_energy(m, d)
    return conservative_power(m, d)


@kernel
def calc_qdot(model, data):
    """After position_stage: v -> qdot."""
    velocity_to_qdot(model_at(model), data_at(data))


@kernel
def calc_velocity_from_qdot(model, data):
    """After position_stage: qdot -> v."""
    qdot_to_velocity(model_at(model), data_at(data))


# ------------------------------------------------- from coordinates to the result in one call


@kernel
def full_mass_matrix(model, data):
    """q -> M."""
    m, d = model_at(model), data_at(data)
    position_kinematics(m, d)
    world_inertias(m, d)
    mass_matrix(m, d)


@kernel
def full_inverse_dynamics(model, data):
    """q, v, vdot -> tau under gravity and F_applied."""
    m, d = model_at(model), data_at(data)
    position_kinematics(m, d)
    world_inertias(m, d)
    velocity_kinematics(m, d)
    inverse_dynamics(m, d, 1.0)


@kernel
def full_forward_dynamics(model, data):
    """q, v, tau, diagonal -> vdot under gravity and F_applied."""
    m, d = model_at(model), data_at(data)
    position_kinematics(m, d)
    world_inertias(m, d)
    velocity_kinematics(m, d)
    forward_dynamics(m, d)

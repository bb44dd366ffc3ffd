"""Calculations at many states: rows in, rows out.

The states go through one Data: one after another, or WIDTH at once where its scalars are lanes. lanes.py has its own
`take` and `put` for those; every other kernel is the same.
"""

from mbcli.engine.energy import conservative_power, total_energy
from mbcli.engine.forward_dynamics import forward_dynamics
from mbcli.engine.handles import data_at, model_at
from mbcli.engine.inertia import world_inertias
from mbcli.engine.inverse_dynamics import apply_link_forces, bias_term, gravity_forces, inverse_dynamics
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
def states_at_once(x):
    """How many states an array of Data holds."""
    return 1


@kernel
def take(rows, k, x):
    """Row k -> x."""
    for i in range(x.shape[0]):
        x[i] = rows[k, i]


@kernel
def put(x, rows, k):
    """x -> row k."""
    for i in range(x.shape[0]):
        rows[k, i] = x[i]


@kernel
def put_table(x, rows, k):
    """x (m, n) -> row k of m * n numbers."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            rows[k, i * x.shape[1] + j] = x[i, j]


@kernel
def put_number(x, rows, k):
    """A scalar -> row k of one number."""
    rows[k, 0] = x


@kernel
def mass_matrices(model, data, q, M):
    """q (n, nq) -> M (n, nv * nv)."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        position_kinematics(m, d)
        world_inertias(m, d)
        mass_matrix(m, d)
        put_table(d.M, M, k)


@kernel
def inverse_dynamics_of_states(model, data, q, v, vdot, gravity, springs, damping, loaded, tau):
    """q (n, nq), v, vdot (n, nv) -> tau (n, nv) against gravity, springs and damping as far as they are 1, not 0.

    With F_link of Data at every state where loaded is 1; else F_applied must be zero.
    """
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(vdot, k, d.vdot)
        position_kinematics(m, d)
        world_inertias(m, d)
        velocity_kinematics(m, d)
        if loaded:
            apply_link_forces(m, d)
        inverse_dynamics(m, d, gravity)
        for i in range(d.v.shape[0]):
            stretch = d.q[m.dof_q[i]] - m.dof_nominal[i]
            d.tau[i] += springs * m.dof_stiffness[i] * stretch + damping * m.dof_damping[i] * d.v[i]
        put(d.tau, tau, k)


@kernel
def forward_dynamics_of_states(model, data, q, v, tau, loaded, vdot):
    """q (n, nq), v, tau (n, nv) -> vdot (n, nv) under gravity, springs, damping and tau; loaded as above."""
    m, d = model_at(model), data_at(data)
    for i in range(d.v.shape[0]):
        d.diagonal[i] = m.dof_armature[i]
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(tau, k, d.tau)
        position_kinematics(m, d)
        world_inertias(m, d)
        velocity_kinematics(m, d)
        add_joint_forces(m, d)
        if loaded:
            apply_link_forces(m, d)
        forward_dynamics(m, d)
        put(d.vdot, vdot, k)


@kernel
def bias_terms(model, data, q, v, Cv):
    """q (n, nq), v (n, nv) -> Cv (n, nv)."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        position_kinematics(m, d)
        world_inertias(m, d)
        velocity_kinematics(m, d)
        bias_term(m, d)
        put(d.tau, Cv, k)


@kernel
def gravity_of_states(model, data, q, tau_g):
    """q (n, nq) -> tau_g (n, nv)."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        position_kinematics(m, d)
        gravity_forces(m, d)
        put(d.tau, tau_g, k)


@kernel
def energies(model, data, q, v, energy, power):
    """q (n, nq), v (n, nv) -> energy (n, 2), kinetic and potential, and power (n, 1) of gravity and springs."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        position_kinematics(m, d)
        world_inertias(m, d)
        velocity_kinematics(m, d)
        total_energy(m, d)
        put(d.energy, energy, k)
        put_number(conservative_power(m, d), power, k)


@kernel
def link_motions(model, data, q, v, X_WL, V_WL):
    """q (n, nq), v (n, nv) -> X_WL (n, nlink * 12), V_WL (n, nlink * 6)."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        position_kinematics(m, d)
        velocity_kinematics(m, d)
        link_poses(m, d)
        link_velocities(m, d)
        put_table(d.X_WL, X_WL, k)
        put_table(d.V_WL, V_WL, k)


@kernel
def link_accelerations_of_states(model, data, q, v, vdot, A_WL):
    """q (n, nq), v, vdot (n, nv) -> A_WL (n, nlink * 6)."""
    m, d = model_at(model), data_at(data)
    for i in range(6):
        d.A[0, i] = 0.0
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(vdot, k, d.vdot)
        position_kinematics(m, d)
        velocity_kinematics(m, d)
        acceleration_kinematics(m, d)
        link_accelerations(m, d)
        put_table(d.A_WL, A_WL, k)

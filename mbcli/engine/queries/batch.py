"""Calculations at many states: rows in, rows out.

The states go through one Data: one after another, or WIDTH at once where its scalars are lanes. lanes.py has its own
`take` and `put` for those; every other kernel is the same.
"""

from mbcli.engine.runtime.handles import data_at, model_at
from mbcli.engine.runtime.kernel import Handle, Indices, Int, Matrix, OutMatrix, Real, Vector, kernel, slot, unlocked
from mbcli.engine.smooth.energy import conservative_power, total_energy
from mbcli.engine.smooth.force_elements import (
    add_element_forces,
    add_forces_between,
    add_hinge_torques,
    nonconservative_power,
)
from mbcli.engine.smooth.forward_dynamics import apply_joint_locks, forward_dynamics
from mbcli.engine.smooth.frame_motion import (
    accelerations_by_velocities,
    components,
    frame_axes,
    pose_in,
    relative_acceleration,
    relative_bias,
    relative_velocity,
)
from mbcli.engine.smooth.inverse_dynamics import (
    apply_link_forces,
    bias_term,
    clear_applied_forces,
    gravity_forces,
    inverse_dynamics,
)
from mbcli.engine.smooth.jacobians import angular_jacobian, com_jacobian, translational_jacobian
from mbcli.engine.smooth.joint_forces import add_joint_forces, damping_power, spring_stretch
from mbcli.engine.smooth.kinematics import acceleration_kinematics, position_kinematics, velocity_kinematics
from mbcli.engine.smooth.mass_matrix import mass_matrix
from mbcli.engine.smooth.mass_properties import com_acceleration, com_position, com_velocity, momentum_about
from mbcli.engine.smooth.state import at_positions, at_velocities
from mbcli.engine.smooth.stops import add_stop_forces, stop_damping_power


@slot(lanes="queries.lanes.states_at_once")
def states_at_once(x):
    """How many states an array of Data holds."""
    return 1


@slot(lanes="queries.lanes.take")
def take(rows, k, x):
    """Row k -> x."""
    for i in range(x.shape[0]):
        x[i] = rows[k, i]


@slot(lanes="queries.lanes.put")
def put(x, rows, k):
    """x -> row k."""
    for i in range(x.shape[0]):
        rows[k, i] = x[i]


@slot(lanes="queries.lanes.put")
def put_table(x, rows, k):
    """x (m, n) -> row k of m * n numbers."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            rows[k, i * x.shape[1] + j] = x[i, j]


@slot(lanes="queries.lanes.put_number")
def put_number(x, rows, k, i):
    """A scalar -> element i of row k."""
    rows[k, i] = x


@slot(lanes="queries.lanes.number_in")
def number_in(x, i, lane):
    """Element i of x in one lane."""
    return x[i]


@slot(lanes="queries.lanes.set_number_in")
def set_number_in(x, i, lane, number):
    """Element i of x in one lane = number."""
    x[i] = number


@kernel
def put3(a, rows, k, i):
    """Three scalars -> elements i to i + 2 of row k."""
    for j in range(3):
        put_number(a[j], rows, k, i + j)


@kernel
def forces_for_accelerations(m, d, gravity, springs, damping):
    """After at_velocities, F_applied: vdot -> tau against weights, force elements and damping as far as they are 1."""
    if springs != 0.0:
        add_forces_between(m, d, d.F_applied, 0)
    inverse_dynamics(m, d, gravity)
    for i in range(d.v.shape[0]):
        d.tau[i] += springs * m.dof_stiffness[i] * spring_stretch(m, d.q, i) + damping * m.dof_damping[i] * d.v[i]
    if springs != 0.0:
        add_hinge_torques(m, d, -1.0)
        add_stop_forces(m, d, -1.0)


@unlocked
def mass_matrices(model: Handle, data: Handle, q: Matrix, M: OutMatrix):
    """q (n, nq) -> M (n, nv * nv)."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        at_positions(m, d)
        mass_matrix(m, d)
        put_table(d.M, M, k)


@unlocked
def inverse_dynamics_of_states(
    model: Handle,
    data: Handle,
    q: Matrix,
    v: Matrix,
    vdot: Matrix,
    gravity: Real,
    springs: Real,
    damping: Real,
    F_link: Matrix,
    tau: OutMatrix,
):
    """q (n, nq), v, vdot (n, nv) -> tau (n, nv) against gravity, springs and damping as far as they are 1, not 0.

    `springs` stands for all force elements but gravity.
    Under F_link (nlink, 6), the same at every state; (0, 6): under none.
    """
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(vdot, k, d.vdot)
        at_velocities(m, d)
        if F_link.shape[0] > 0:
            apply_link_forces(m, d, F_link)
        else:
            clear_applied_forces(d)
        forces_for_accelerations(m, d, gravity, springs, damping)
        put(d.tau, tau, k)


@unlocked
def forward_dynamics_of_states(
    model: Handle, data: Handle, q: Matrix, v: Matrix, tau: Matrix, F_link: Matrix, vdot: OutMatrix
):
    """q (n, nq), v, tau (n, nv) -> vdot (n, nv) under gravity, springs, damping, tau and F_link, as above."""
    m, d = model_at(model), data_at(data)
    for i in range(d.v.shape[0]):
        d.diagonal[i] = m.dof_armature[i]
    apply_joint_locks(m, d)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(tau, k, d.tau)
        at_velocities(m, d)
        add_joint_forces(m, d)
        if F_link.shape[0] > 0:
            apply_link_forces(m, d, F_link)
        else:
            clear_applied_forces(d)
        add_element_forces(m, d, d.F_applied, 0)
        forward_dynamics(m, d)
        put(d.vdot, vdot, k)


@unlocked
def bias_terms(model: Handle, data: Handle, q: Matrix, v: Matrix, Cv: OutMatrix):
    """q (n, nq), v (n, nv) -> Cv (n, nv)."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        at_velocities(m, d)
        bias_term(m, d)
        put(d.tau, Cv, k)


@unlocked
def gravity_of_states(model: Handle, data: Handle, q: Matrix, tau_g: OutMatrix):
    """q (n, nq) -> tau_g (n, nv)."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        position_kinematics(m, d)
        gravity_forces(m, d)
        put(d.tau, tau_g, k)


@unlocked
def energies(model: Handle, data: Handle, q: Matrix, v: Matrix, energy: OutMatrix, power: OutMatrix):
    """q (n, nq), v (n, nv) -> energy (n, 2) kinetic, potential; power (n, 3) conservative, not, of joint damping."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        at_velocities(m, d)
        total_energy(m, d)
        put(d.energy, energy, k)
        put_number(conservative_power(m, d), power, k, 0)
        put_number(nonconservative_power(m, d) + stop_damping_power(m, d), power, k, 1)
        put_number(damping_power(m, d), power, k, 2)


@unlocked
def motions_of_frames(
    model: Handle,
    data: Handle,
    q: Matrix,
    v: Matrix,
    vdot: Matrix,
    frames: Indices,
    base: Int,
    X: OutMatrix,
    V: OutMatrix,
    A: OutMatrix,
):
    """q (n, nq), v, vdot (n, nv) -> pose X (n, m * 12), velocity V and acceleration A (n, m * 6) of m frames in base.

    A pose is the rotation matrix row by row, then the origin; all vectors are along the axes of base. No
    accelerations are computed where vdot is (0, nv).
    """
    m, d = model_at(model), data_at(data)
    origin = (0.0, 0.0, 0.0)
    for k in range(6):
        d.A[0, k] = 0.0
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        position_kinematics(m, d)
        velocity_kinematics(m, d)
        if vdot.shape[0] > 0:
            take(vdot, k, d.vdot)
            acceleration_kinematics(m, d)
        axes = frame_axes(m, d, base)
        for n in range(frames.shape[0]):
            x, y, z, p = pose_in(m, d, frames[n], base)
            for i in range(3):
                put3((x[i], y[i], z[i]), X, k, 12 * n + 3 * i)
            put3(p, X, k, 12 * n + 9)
            w, velocity = relative_velocity(m, d, frames[n], origin, base)
            put3(components(axes, w), V, k, 6 * n)
            put3(components(axes, velocity), V, k, 6 * n + 3)
            if vdot.shape[0] > 0:
                alpha, a = relative_acceleration(m, d, d.A, frames[n], origin, base)
                put3(components(axes, alpha), A, k, 6 * n)
                put3(components(axes, a), A, k, 6 * n + 3)


@unlocked
def mass_motions(model: Handle, data: Handle, q: Matrix, v: Matrix, selected: Vector, mass: Real, motion: OutMatrix):
    """q (n, nq), v (n, nv) -> motion (n, 6): position and velocity of the centre of mass of links of a mass."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        position_kinematics(m, d)
        velocity_kinematics(m, d)
        com_position(m, d, selected, mass, d.answer)
        put3(d.answer, motion, k, 0)
        com_velocity(m, d, selected, mass, d.answer)
        put3(d.answer, motion, k, 3)


@unlocked
def momenta(model: Handle, data: Handle, q: Matrix, v: Matrix, selected: Vector, mass: Real, p: Vector, L: OutMatrix):
    """q (n, nq), v (n, nv) -> L (n, 6) of links of a mass about the point p (3,) of World, or their center if (0,)."""
    m, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        position_kinematics(m, d)
        velocity_kinematics(m, d)
        if p.shape[0] == 0:
            com_position(m, d, selected, mass, d.answer)
            momentum_about(m, d, selected, (d.answer[0], d.answer[1], d.answer[2]), d.answer)
        else:
            momentum_about(m, d, selected, p, d.answer)
        put3(d.answer, L, k, 0)
        put3((d.answer[3], d.answer[4], d.answer[5]), L, k, 3)


@unlocked
def point_jacobians(
    model: Handle, data: Handle, q: Matrix, v: Matrix, f: Int, p: Vector, m: Int, e: Int, J: OutMatrix, bias: OutMatrix
):
    """q (n, nq), v (n, nv) -> J (n, 6 * nv) of the point p of frame f in frame m along e, bias acceleration (n, 6)."""
    mo, d = model_at(model), data_at(data)
    point = (p[0], p[1], p[2])
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        position_kinematics(mo, d)
        velocity_kinematics(mo, d)
        angular_jacobian(mo, d, f, m, e, d.jacobian)
        translational_jacobian(mo, d, f, point, m, e, d.jacobian, 3)
        put_table(d.jacobian, J, k)
        axes = frame_axes(mo, d, e)
        alpha, a = relative_bias(mo, d, f, point, m)
        put3(components(axes, alpha), bias, k, 0)
        put3(components(axes, a), bias, k, 3)


@unlocked
def com_jacobians(
    model: Handle,
    data: Handle,
    q: Matrix,
    v: Matrix,
    selected: Vector,
    mass: Real,
    m: Int,
    e: Int,
    J: OutMatrix,
    bias: OutMatrix,
):
    """q (n, nq), v (n, nv) -> J (n, 6 * nv), whose first three rows are of the centre of mass; its bias (n, 3)."""
    mo, d = model_at(model), data_at(data)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        position_kinematics(mo, d)
        velocity_kinematics(mo, d)
        com_jacobian(mo, d, selected, mass, m, e, d.jacobian)
        put_table(d.jacobian, J, k)
        accelerations_by_velocities(mo, d)
        com_acceleration(mo, d, d.A, selected, mass, m, e, d.answer)
        put3(d.answer, bias, k, 0)

"""Derivatives at a state that the call brings: from the caller's arrays to the caller's arrays.

Each returns 1 if an array has another length than the model asks for, else 0. Derivatives by q are along velocities.
"""

from mbcli.engine.queries.state_calls import copy_vector
from mbcli.engine.runtime.handles import data_at, model_at
from mbcli.engine.runtime.kernel import Handle, Int, OutMatrix, Real, Vector, entry, kernel
from mbcli.engine.smooth.dynamics_derivatives import (
    add_joint_force_derivatives,
    clear_matrix,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
    motion_derivatives,
)
from mbcli.engine.smooth.force_elements import add_element_forces
from mbcli.engine.smooth.forward_dynamics import apply_joint_locks
from mbcli.engine.smooth.frame_derivatives import frame_acceleration_derivatives, frame_velocity_derivatives
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.jacobians import angular_jacobian, translational_jacobian
from mbcli.engine.smooth.joint_forces import add_joint_forces
from mbcli.engine.smooth.kinematics import acceleration_kinematics, position_kinematics, velocity_kinematics
from mbcli.engine.smooth.state import at_velocities


@entry
def evaluate_inverse_dynamics_derivatives(
    model: Handle,
    data: Handle,
    q: Vector,
    v: Vector,
    vdot: Vector,
    dtau_dq: OutMatrix,
    dtau_dv: OutMatrix,
    M: OutMatrix,
):
    """q, v, vdot -> dtau_dq, dtau_dv, M (nv, nv) of tau against gravity, joint springs, hinges and damping."""
    m, d = model_at(model), data_at(data)
    nv = d.v.shape[0]
    if q.shape[0] != d.q.shape[0] or v.shape[0] != nv or vdot.shape[0] != nv:
        return 1
    if dtau_dq.shape[0] != nv or dtau_dq.shape[1] != nv:
        return 1
    if dtau_dv.shape[0] != nv or dtau_dv.shape[1] != nv:
        return 1
    if M.shape[0] != nv or M.shape[1] != nv:
        return 1
    copy_vector(q, d.q)
    copy_vector(v, d.v)
    copy_vector(vdot, d.vdot)
    at_velocities(m, d)
    clear_applied_forces(d)
    clear_matrix(dtau_dq)
    clear_matrix(dtau_dv)
    clear_matrix(M)
    inverse_dynamics_derivatives(m, d, dtau_dq, dtau_dv, M)
    add_joint_force_derivatives(m, d, dtau_dq, dtau_dv)
    return 0


@entry
def evaluate_forward_dynamics_derivatives(
    model: Handle,
    data: Handle,
    q: Vector,
    v: Vector,
    tau: Vector,
    h: Real,
    dvdot_dq: OutMatrix,
    dvdot_dv: OutMatrix,
    Minv: OutMatrix,
):
    """q, v, tau -> dvdot_dq, dvdot_dv, Minv (nv, nv) under gravity, joint springs, hinges and damping.

    Damping acts by the velocities after the time h, or with h = 0 by those of this instant. Leaves vdot in Data.
    """
    m, d = model_at(model), data_at(data)
    nv = d.v.shape[0]
    if q.shape[0] != d.q.shape[0] or v.shape[0] != nv or tau.shape[0] != nv:
        return 1
    if dvdot_dq.shape[0] != nv or dvdot_dq.shape[1] != nv:
        return 1
    if dvdot_dv.shape[0] != nv or dvdot_dv.shape[1] != nv:
        return 1
    if Minv.shape[0] != nv or Minv.shape[1] != nv:
        return 1
    copy_vector(q, d.q)
    copy_vector(v, d.v)
    copy_vector(tau, d.tau)
    for k in range(nv):
        d.diagonal[k] = m.dof_armature[k] + h * m.dof_damping[k]
    at_velocities(m, d)
    add_joint_forces(m, d)
    clear_applied_forces(d)
    add_element_forces(m, d, d.F_applied, 0)
    apply_joint_locks(m, d)
    clear_matrix(dvdot_dq)
    clear_matrix(dvdot_dv)
    clear_matrix(Minv)
    forward_dynamics_derivatives(m, d, dvdot_dq, dvdot_dv, Minv)
    return 0


@entry
def evaluate_velocity_derivatives(
    model: Handle, data: Handle, q: Vector, v: Vector, f: Int, dV_dq: OutMatrix, dV_dv: OutMatrix
):
    """q, v -> dV_dq, dV_dv (6, nv) of V (6,) of frame f in World."""
    m, d = model_at(model), data_at(data)
    nv = d.v.shape[0]
    if q.shape[0] != d.q.shape[0] or v.shape[0] != nv:
        return 1
    if dV_dq.shape[0] != 6 or dV_dq.shape[1] != nv:
        return 1
    if dV_dv.shape[0] != 6 or dV_dv.shape[1] != nv:
        return 1
    copy_vector(q, d.q)
    copy_vector(v, d.v)
    for k in range(nv):
        d.vdot[k] = 0.0
    motions_without_gravity(m, d)
    frame_velocity_derivatives(m, d, f, dV_dq)
    angular_jacobian(m, d, f, 0, 0, dV_dv)
    translational_jacobian(m, d, f, (0.0, 0.0, 0.0), 0, 0, dV_dv, 3)
    return 0


@entry
def evaluate_acceleration_derivatives(
    model: Handle,
    data: Handle,
    q: Vector,
    v: Vector,
    vdot: Vector,
    f: Int,
    dV_dq: OutMatrix,
    dA_dq: OutMatrix,
    dA_dv: OutMatrix,
    J: OutMatrix,
):
    """q, v, vdot -> dV_dq, dA_dq, dA_dv (6, nv) of V and A (6,) of frame f in World, and J: dV_dv and dA_dvdot."""
    m, d = model_at(model), data_at(data)
    nv = d.v.shape[0]
    if q.shape[0] != d.q.shape[0] or v.shape[0] != nv or vdot.shape[0] != nv:
        return 1
    if dV_dq.shape[0] != 6 or dV_dq.shape[1] != nv:
        return 1
    if dA_dq.shape[0] != 6 or dA_dq.shape[1] != nv:
        return 1
    if dA_dv.shape[0] != 6 or dA_dv.shape[1] != nv:
        return 1
    if J.shape[0] != 6 or J.shape[1] != nv:
        return 1
    copy_vector(q, d.q)
    copy_vector(v, d.v)
    copy_vector(vdot, d.vdot)
    motions_without_gravity(m, d)
    frame_velocity_derivatives(m, d, f, dV_dq)
    frame_acceleration_derivatives(m, d, f, dA_dq, dA_dv)
    angular_jacobian(m, d, f, 0, 0, J)
    translational_jacobian(m, d, f, (0.0, 0.0, 0.0), 0, 0, J, 3)
    return 0


@kernel
def motions_without_gravity(model, data):
    """q, v, vdot -> poses, velocities, accelerations of bodies in World, and what their derivatives are made of."""
    position_kinematics(model, data)
    velocity_kinematics(model, data)
    for k in range(6):
        data.A[0, k] = 0.0
    acceleration_kinematics(model, data)
    motion_derivatives(model, data)

"""Calculations at a state that the call brings: from the caller's arrays to the caller's array.

Each returns 1 if an array has another length than the model asks for, else 0.
"""

from mbcli.engine.queries.batch import forces_for_accelerations
from mbcli.engine.runtime.handles import data_at, model_at
from mbcli.engine.runtime.kernel import Handle, Int, OutMatrix, OutVector, Vector, entry, kernel
from mbcli.engine.smooth.force_elements import add_element_forces
from mbcli.engine.smooth.forward_dynamics import apply_joint_locks, forward_dynamics
from mbcli.engine.smooth.frame_motion import pose_in, relative_velocity
from mbcli.engine.smooth.inverse_dynamics import bias_term, clear_applied_forces, gravity_forces
from mbcli.engine.smooth.jacobians import angular_jacobian, translational_jacobian
from mbcli.engine.smooth.joint_forces import add_joint_forces
from mbcli.engine.smooth.kinematics import path_kinematics, position_kinematics, velocity_kinematics
from mbcli.engine.smooth.mass_matrix import mass_matrix
from mbcli.engine.smooth.state import at_positions, at_velocities


@kernel
def copy_vector(source, target):
    for k in range(target.shape[0]):
        target[k] = source[k]


@entry
def evaluate_inverse_dynamics(model: Handle, data: Handle, q: Vector, v: Vector, vdot: Vector, tau: OutVector):
    """q, v, vdot -> tau against gravity, force elements and joint damping."""
    m, d = model_at(model), data_at(data)
    nv = d.v.shape[0]
    if q.shape[0] != d.q.shape[0] or v.shape[0] != nv or vdot.shape[0] != nv or tau.shape[0] != nv:
        return 1
    copy_vector(q, d.q)
    copy_vector(v, d.v)
    copy_vector(vdot, d.vdot)
    at_velocities(m, d)
    clear_applied_forces(d)
    forces_for_accelerations(m, d, 1.0, 1.0, 1.0)
    copy_vector(d.tau, tau)
    return 0


@entry
def evaluate_forward_dynamics(model: Handle, data: Handle, q: Vector, v: Vector, tau: Vector, vdot: OutVector):
    """q, v, tau -> vdot without constraints under gravity, force elements and joint damping."""
    m, d = model_at(model), data_at(data)
    nv = d.v.shape[0]
    if q.shape[0] != d.q.shape[0] or v.shape[0] != nv or tau.shape[0] != nv or vdot.shape[0] != nv:
        return 1
    copy_vector(q, d.q)
    copy_vector(v, d.v)
    copy_vector(tau, d.tau)
    copy_vector(m.dof_armature, d.diagonal)
    at_velocities(m, d)
    add_joint_forces(m, d)
    clear_applied_forces(d)
    add_element_forces(m, d, d.F_applied, 0)
    apply_joint_locks(m, d)
    forward_dynamics(m, d)
    copy_vector(d.vdot, vdot)
    return 0


@entry
def evaluate_mass_matrix(model: Handle, data: Handle, q: Vector, M: OutMatrix):
    """q -> M (nv, nv)."""
    m, d = model_at(model), data_at(data)
    nv = d.v.shape[0]
    if q.shape[0] != d.q.shape[0] or M.shape[0] != nv or M.shape[1] != nv:
        return 1
    copy_vector(q, d.q)
    at_positions(m, d)
    mass_matrix(m, d)
    for i in range(nv):
        for j in range(nv):
            M[i, j] = d.M[i, j]
    return 0


@entry
def evaluate_bias_term(model: Handle, data: Handle, q: Vector, v: Vector, Cv: OutVector):
    """q, v -> Cv (nv,)."""
    m, d = model_at(model), data_at(data)
    if q.shape[0] != d.q.shape[0] or v.shape[0] != d.v.shape[0] or Cv.shape[0] != d.v.shape[0]:
        return 1
    copy_vector(q, d.q)
    copy_vector(v, d.v)
    at_velocities(m, d)
    bias_term(m, d)
    copy_vector(d.tau, Cv)
    return 0


@entry
def evaluate_gravity(model: Handle, data: Handle, q: Vector, tau_g: OutVector):
    """q -> tau_g (nv,)."""
    m, d = model_at(model), data_at(data)
    if q.shape[0] != d.q.shape[0] or tau_g.shape[0] != d.v.shape[0]:
        return 1
    copy_vector(q, d.q)
    position_kinematics(m, d)
    gravity_forces(m, d)
    copy_vector(d.tau, tau_g)
    return 0


@entry
def evaluate_pose(model: Handle, data: Handle, q: Vector, f: Int, X: OutMatrix):
    """q -> X (4, 4) of frame f in World."""
    m, d = model_at(model), data_at(data)
    if q.shape[0] != d.q.shape[0] or X.shape[0] != 4 or X.shape[1] != 4:
        return 1
    copy_vector(q, d.q)
    path_kinematics(m, d, m.frame_body[f])
    x, y, z, p = pose_in(m, d, f, 0)
    for j in range(3):
        X[j, 0], X[j, 1], X[j, 2], X[j, 3] = x[j], y[j], z[j], p[j]
        X[3, j] = 0.0
    X[3, 3] = 1.0
    return 0


@entry
def evaluate_velocity(model: Handle, data: Handle, q: Vector, v: Vector, f: Int, V: OutVector):
    """q, v -> V (6,) of frame f in World, rotational first."""
    m, d = model_at(model), data_at(data)
    if q.shape[0] != d.q.shape[0] or v.shape[0] != d.v.shape[0] or V.shape[0] != 6:
        return 1
    copy_vector(q, d.q)
    copy_vector(v, d.v)
    position_kinematics(m, d)
    velocity_kinematics(m, d)
    w, velocity = relative_velocity(m, d, f, (0.0, 0.0, 0.0), 0)
    for k in range(3):
        V[k], V[3 + k] = w[k], velocity[k]
    return 0


@entry
def evaluate_jacobian(model: Handle, data: Handle, q: Vector, f: Int, J: OutMatrix):
    """q -> J (6, nv) of V (6,) of frame f in World."""
    m, d = model_at(model), data_at(data)
    if q.shape[0] != d.q.shape[0] or J.shape[0] != 6 or J.shape[1] != d.v.shape[0]:
        return 1
    copy_vector(q, d.q)
    path_kinematics(m, d, m.frame_body[f])
    angular_jacobian(m, d, f, 0, 0, J)
    translational_jacobian(m, d, f, (0.0, 0.0, 0.0), 0, 0, J, 3)
    return 0

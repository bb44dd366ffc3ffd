"""What callers outside the engine ask for: stages in their order, and whole calculations as one call.

These take handles (handles.py); every other kernel takes Model and Data themselves.
"""

from mbcli.engine.runtime.handles import data_at, model_at
from mbcli.engine.runtime.kernel import CALLER, Int, Matrix, Real, Vector, entry, kernel, slot
from mbcli.engine.smooth.coordinates import velocity_to_qdot
from mbcli.engine.smooth.energy import conservative_power, total_energy
from mbcli.engine.smooth.force_elements import (
    add_element_forces,
    add_forces_between,
    add_hinge_torques,
    add_link_weights,
    bushing,
    element_fault,
    nonconservative_power,
    spring_damper,
)
from mbcli.engine.smooth.forward_dynamics import forward_dynamics, hold_locked
from mbcli.engine.smooth.frame_motion import pose_in, relative_velocity
from mbcli.engine.smooth.inverse_dynamics import (
    apply_link_forces,
    bias_term,
    clear_applied_forces,
    generalized_forces,
    gravity_forces,
    inverse_dynamics,
    mass_matrix_by_inverse_dynamics,
)
from mbcli.engine.smooth.jacobians import angular_jacobian, translational_jacobian
from mbcli.engine.smooth.joint_forces import add_joint_forces
from mbcli.engine.smooth.kinematics import link_poses, link_velocities, position_kinematics, velocity_kinematics
from mbcli.engine.smooth.mass_matrix import mass_matrix
from mbcli.engine.smooth.state import at_positions, at_stage, at_velocities, constraint_error, finish_step
from mbcli.engine.stepping.step import accelerations_of_step, instant_dynamics, rest_of_step, start_step


@entry
def position_stage(model, data):
    """All that follows from q alone: poses, motion subspaces, inertias in world axes."""
    at_positions(model_at(model), data_at(data))


@entry
def velocity_stage(model, data):
    """After position_stage: all that follows from v."""
    velocity_kinematics(model_at(model), data_at(data))


@entry
def motion_stage(model, data):
    """position_stage and velocity_stage in one call."""
    at_velocities(model_at(model), data_at(data))


@entry
def links_stage(model, data):
    """After velocity_stage: X_WL and V_WL."""
    m, d = model_at(model), data_at(data)
    link_poses(m, d)
    link_velocities(m, d)


@entry
def calc_mass_matrix(model, data):
    """After position_stage: M."""
    mass_matrix(model_at(model), data_at(data))


@entry
def calc_mass_matrix_by_inverse_dynamics(model, data):
    """After position_stage: M; what velocity_stage computed is lost."""
    mass_matrix_by_inverse_dynamics(model_at(model), data_at(data))


@entry
def calc_inverse_dynamics(model, data, F_link: Matrix, gravity: Real):
    """After velocity_stage: vdot -> tau, with the weight of the bodies times `gravity` (0 or 1), under F_link."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d, F_link)
    inverse_dynamics(m, d, gravity)


@entry
def calc_bias_term(model, data):
    """After velocity_stage: tau = C v; vdot becomes 0."""
    bias_term(model_at(model), data_at(data))


@entry
def calc_gravity(model, data):
    """After position_stage: tau = tau_g."""
    gravity_forces(model_at(model), data_at(data))


@entry
def calc_generalized_forces(model, data, F_link: Matrix):
    """After position_stage: tau of F_link."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d, F_link)
    generalized_forces(m, d)


@entry
def calc_actuation(model, data):
    """u -> tau, the forces of actuators on the velocities that they drive."""
    m, d = model_at(model), data_at(data)
    for k in range(d.tau.shape[0]):
        d.tau[k] = 0.0
    for k in range(d.u.shape[0]):
        d.tau[m.actuator_dof[k]] += d.u[k]


@entry
def calc_forward_dynamics(model, data, F_link: Matrix):
    """After velocity_stage: tau -> vdot under F_link, gravity, joint damping and force elements, which tau gains."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d, F_link)
    instant_dynamics(m, d)


@entry
def calc_accelerations(model, data):
    """After velocity_stage: u -> vdot as calc_forward_dynamics, where nothing else is applied."""
    m, d = model_at(model), data_at(data)
    calc_actuation(model, data)
    clear_applied_forces(d)
    instant_dynamics(m, d)


@entry
def calc_step_dynamics(model, data, F_link: Matrix, h: Real, implicit_damping: Real):
    """After velocity_stage: tau, u -> vdot and pd_effort over the step h of a discrete plant under F_link."""
    m, d = model_at(model), data_at(data)
    accelerations_of_step(m, d, F_link, h, implicit_damping)


@entry
def calc_energy(model, data):
    """After velocity_stage: energy; returns the power of gravity and of the springs of force elements."""
    m, d = model_at(model), data_at(data)
    total_energy(m, d)
    return conservative_power(m, d)


@entry
def calc_nonconservative_power(model, data):
    """After velocity_stage: returns the power of dampers and friction of force elements."""
    return nonconservative_power(model_at(model), data_at(data))


@entry
def calc_force_elements(model, data, gravity: Real, springs: Real, damping: Real, F: Matrix, tau: Vector):
    """After velocity_stage: F (nlink, 6), tau (nv,) = forces of gravity, of all other force elements, of joint damping.

    Each counts as far as it is 1, not 0. Changes tau of the data.
    """
    m, d = model_at(model), data_at(data)
    for n in range(F.shape[0]):
        for k in range(6):
            F[n, k] = 0.0
    for k in range(d.tau.shape[0]):
        stretch = d.q[m.dof_q[k]] - m.dof_nominal[k]
        d.tau[k] = -damping * m.dof_damping[k] * d.v[k] - springs * m.dof_stiffness[k] * stretch
    if gravity != 0.0:
        add_link_weights(m, d, F)
    if springs != 0.0:
        add_element_forces(m, d, F, 1)
    for k in range(d.tau.shape[0]):
        tau[k] = d.tau[k]


@entry
def calc_spring_damper(model, data, n: Int):
    """After velocity_stage: returns force on A at P in W (3), length and its rate of one spring-damper."""
    f, _, _, length, rate = spring_damper(model_at(model), data_at(data), n)
    return f[0], f[1], f[2], length, rate


@entry
def calc_bushing(model, data, n: Int):
    """After velocity_stage: returns torque (3) and force (3) of one bushing on C at its centre, in W."""
    t, f, _, _ = bushing(model_at(model), data_at(data), n)
    return t[0], t[1], t[2], f[0], f[1], f[2]


@entry
@slot(numbers=CALLER)
def calc_element_fault(model, data):
    """After position_stage: returns which force element has no force here, as element_fault."""
    return element_fault(model_at(model), data_at(data))


@entry
def start_of_step(model, data, h: Real):
    """q, v -> where the forces of a step of a discrete plant are taken."""
    start_step(model_at(model), data_at(data), h)


@entry
def step_under_link_forces(model, data, F_link: Matrix, h: Real, implicit_damping: Real):
    """After start_of_step, position_stage: q, v, tau, u -> q, v after the time h of a discrete plant under F_link."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d, F_link)
    rest_of_step(m, d, h, implicit_damping)


@entry
def calc_constraint_error(model, data):
    """q -> the norm of the position errors of constraints; what position_stage computed stays."""
    return constraint_error(model_at(model), data_at(data))


@entry
def stage_of_step(model, data):
    """q, v -> motion_stage; q and v may change where constraints want it."""
    at_stage(model_at(model), data_at(data))


@entry
def finish_state(model, data, y: Vector, tolerance: Real):
    """y = [q; v] at the end of a step becomes a state; returns what state.finish_step() does."""
    return finish_step(model_at(model), data_at(data), y, tolerance)


@entry
def calc_qdot(model, data):
    """After position_stage: v -> qdot."""
    d = data_at(data)
    velocity_to_qdot(model_at(model), d, d.v, d.qdot)


# ------------------------------------------------- from coordinates to the result in one call


@entry
def full_mass_matrix(model, data):
    """q -> M."""
    m, d = model_at(model), data_at(data)
    at_positions(m, d)
    mass_matrix(m, d)


@entry
def full_inverse_dynamics(model, data):
    """q, v, vdot -> tau under gravity alone."""
    m, d = model_at(model), data_at(data)
    clear_applied_forces(d)
    at_velocities(m, d)
    inverse_dynamics(m, d, 1.0)


@entry
def full_forward_dynamics(model, data):
    """q, v, tau, diagonal -> vdot under gravity alone."""
    m, d = model_at(model), data_at(data)
    clear_applied_forces(d)
    at_velocities(m, d)
    forward_dynamics(m, d)


# ------------------------------------------------- from the caller's arrays to the caller's array
# Each returns 1 if an array has another length than the model asks for, else 0.


@kernel
def forces_for_accelerations(m, d, gravity, springs, damping):
    """After at_velocities, F_applied: vdot -> tau against weights, force elements and damping as far as they are 1."""
    if springs != 0.0:
        add_forces_between(m, d, d.F_applied, 0)
    inverse_dynamics(m, d, gravity)
    for i in range(d.v.shape[0]):
        stretch = d.q[m.dof_q[i]] - m.dof_nominal[i]
        d.tau[i] += springs * m.dof_stiffness[i] * stretch + damping * m.dof_damping[i] * d.v[i]
    if springs != 0.0:
        add_hinge_torques(m, d, -1.0)


@kernel
def copy_vector(source, target):
    for k in range(target.shape[0]):
        target[k] = source[k]


@entry
def evaluate_inverse_dynamics(model, data, q: Vector, v: Vector, vdot: Vector, tau: Vector):
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
def evaluate_forward_dynamics(model, data, q: Vector, v: Vector, tau: Vector, vdot: Vector):
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
    hold_locked(m, d)
    forward_dynamics(m, d)
    copy_vector(d.vdot, vdot)
    return 0


@entry
def evaluate_mass_matrix(model, data, q: Vector, M: Matrix):
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
def evaluate_bias_term(model, data, q: Vector, v: Vector, Cv: Vector):
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
def evaluate_gravity(model, data, q: Vector, tau_g: Vector):
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
def evaluate_pose(model, data, q: Vector, f: Int, X: Matrix):
    """q -> X (4, 4) of frame f in World."""
    m, d = model_at(model), data_at(data)
    if q.shape[0] != d.q.shape[0] or X.shape[0] != 4 or X.shape[1] != 4:
        return 1
    copy_vector(q, d.q)
    position_kinematics(m, d)
    x, y, z, p = pose_in(m, d, f, 0)
    for j in range(3):
        X[j, 0], X[j, 1], X[j, 2], X[j, 3] = x[j], y[j], z[j], p[j]
        X[3, j] = 0.0
    X[3, 3] = 1.0
    return 0


@entry
def evaluate_velocity(model, data, q: Vector, v: Vector, f: Int, V: Vector):
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
def evaluate_jacobian(model, data, q: Vector, f: Int, J: Matrix):
    """q -> J (6, nv) of V (6,) of frame f in World."""
    m, d = model_at(model), data_at(data)
    if q.shape[0] != d.q.shape[0] or J.shape[0] != 6 or J.shape[1] != d.v.shape[0]:
        return 1
    copy_vector(q, d.q)
    position_kinematics(m, d)
    angular_jacobian(m, d, f, 0, 0, J)
    translational_jacobian(m, d, f, (0.0, 0.0, 0.0), 0, 0, J, 3)
    return 0

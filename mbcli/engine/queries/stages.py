"""What callers outside the engine ask for: stages in their order, and whole calculations as one call.

These take handles (handles.py); every other kernel takes Model and Data themselves.
"""

from mbcli.engine.runtime.handles import data_at, model_at
from mbcli.engine.runtime.kernel import INJECTED, Handle, Int, Matrix, Real, Vector, entry, slot
from mbcli.engine.smooth.actuator_laws import add_transmission_forces
from mbcli.engine.smooth.coordinates import velocity_to_qdot
from mbcli.engine.smooth.energy import conservative_power, total_energy
from mbcli.engine.smooth.force_elements import (
    add_element_forces,
    add_link_weights,
    bushing,
    element_fault,
    nonconservative_power,
    spring_damper,
)
from mbcli.engine.smooth.forward_dynamics import forward_dynamics
from mbcli.engine.smooth.inverse_dynamics import (
    apply_link_forces,
    bias_term,
    clear_applied_forces,
    generalized_forces,
    gravity_forces,
    inverse_dynamics,
    mass_matrix_by_inverse_dynamics,
)
from mbcli.engine.smooth.joint_forces import add_actuation, spring_stretch
from mbcli.engine.smooth.kinematics import link_poses, link_velocities, velocity_kinematics
from mbcli.engine.smooth.mass_matrix import mass_matrix
from mbcli.engine.smooth.state import at_positions, at_stage, at_velocities, constraint_error, finish_step
from mbcli.engine.smooth.stops import add_stop_forces, stop_damping_power
from mbcli.engine.smooth.transmissions import add_transmissions_on_links
from mbcli.engine.stepping.step import accelerations_of_step, instant_dynamics, rest_of_step, start_step


@entry
def position_stage(model: Handle, data: Handle):
    """All that follows from q alone: poses, motion subspaces, inertias in world axes."""
    at_positions(model_at(model), data_at(data))


@entry
def velocity_stage(model: Handle, data: Handle):
    """After position_stage: all that follows from v."""
    velocity_kinematics(model_at(model), data_at(data))


@entry
def motion_stage(model: Handle, data: Handle):
    """position_stage and velocity_stage in one call."""
    at_velocities(model_at(model), data_at(data))


@entry
def links_stage(model: Handle, data: Handle):
    """After velocity_stage: X_WL and V_WL."""
    m, d = model_at(model), data_at(data)
    link_poses(m, d)
    link_velocities(m, d)


@entry
def calc_mass_matrix(model: Handle, data: Handle):
    """After position_stage: M."""
    mass_matrix(model_at(model), data_at(data))


@entry
def calc_mass_matrix_by_inverse_dynamics(model: Handle, data: Handle):
    """After position_stage: M; what velocity_stage computed is lost."""
    mass_matrix_by_inverse_dynamics(model_at(model), data_at(data))


@entry
def calc_inverse_dynamics(model: Handle, data: Handle, F_link: Matrix, gravity: Real):
    """After velocity_stage: vdot -> tau, with the weight of the bodies times `gravity` (0 or 1), under F_link."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d, F_link)
    inverse_dynamics(m, d, gravity)


@entry
def calc_bias_term(model: Handle, data: Handle):
    """After velocity_stage: tau = C v; vdot becomes 0."""
    bias_term(model_at(model), data_at(data))


@entry
def calc_gravity(model: Handle, data: Handle):
    """After position_stage: tau = tau_g."""
    gravity_forces(model_at(model), data_at(data))


@entry
def calc_generalized_forces(model: Handle, data: Handle, F_link: Matrix):
    """After position_stage: tau of F_link."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d, F_link)
    generalized_forces(m, d)


@entry
def calc_actuation(model: Handle, data: Handle):
    """u -> tau, the forces of actuators on the velocities that they drive."""
    m, d = model_at(model), data_at(data)
    for k in range(d.tau.shape[0]):
        d.tau[k] = 0.0
    add_actuation(m, d)


@entry
def calc_transmissions(model: Handle, data: Handle, h: Real):
    """After velocity_stage: u, activation -> lengths, moments and forces of transmissions in a step h, these as tau."""
    d = data_at(data)
    for k in range(d.tau.shape[0]):
        d.tau[k] = 0.0
    add_transmission_forces(model_at(model), d, h)


@entry
def calc_transmission_loads(model: Handle, data: Handle, F_link: Matrix):
    """After calc_transmissions: F_link += what they do on links, see transmissions.py."""
    add_transmissions_on_links(model_at(model), data_at(data), F_link)


@entry
def calc_forward_dynamics(model: Handle, data: Handle, F_link: Matrix):
    """After velocity_stage: tau -> vdot under F_link, gravity, joint damping and force elements, which tau gains."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d, F_link)
    instant_dynamics(m, d)


@entry
def calc_accelerations(model: Handle, data: Handle):
    """After velocity_stage: u -> vdot as calc_forward_dynamics, where nothing else is applied."""
    m, d = model_at(model), data_at(data)
    calc_actuation(model, data)
    clear_applied_forces(d)
    instant_dynamics(m, d)


@entry
def calc_step_dynamics(model: Handle, data: Handle, F_link: Matrix, h: Real, implicit_damping: Real):
    """After velocity_stage: tau, u -> vdot and pd_effort over the step h of a discrete plant under F_link."""
    m, d = model_at(model), data_at(data)
    accelerations_of_step(m, d, F_link, h, implicit_damping)


@entry
def calc_energy(model: Handle, data: Handle):
    """After velocity_stage: energy; returns the power of gravity and of the springs of force elements."""
    m, d = model_at(model), data_at(data)
    total_energy(m, d)
    return conservative_power(m, d)


@entry
def calc_nonconservative_power(model: Handle, data: Handle):
    """After velocity_stage: returns the power of dampers and friction of force elements, and of stops."""
    m, d = model_at(model), data_at(data)
    return nonconservative_power(m, d) + stop_damping_power(m, d)


@entry
def calc_force_elements(
    model: Handle, data: Handle, gravity: Real, springs: Real, damping: Real, F: Matrix, tau: Vector
):
    """After velocity_stage: F (nlink, 6), tau (nv,) = forces of gravity, of all other force elements, of joint damping.

    Each counts as far as it is 1, not 0. Changes tau of the data.
    """
    m, d = model_at(model), data_at(data)
    for n in range(F.shape[0]):
        for k in range(6):
            F[n, k] = 0.0
    for k in range(d.tau.shape[0]):
        spring = m.dof_stiffness[k] * spring_stretch(m, d.q, k)
        d.tau[k] = -damping * m.dof_damping[k] * d.v[k] - springs * spring
    if gravity != 0.0:
        add_link_weights(m, d, F)
    if springs != 0.0:
        add_element_forces(m, d, F, 1)
        add_stop_forces(m, d, 1.0)
    for k in range(d.tau.shape[0]):
        tau[k] = d.tau[k]


@entry
def calc_spring_damper(model: Handle, data: Handle, n: Int):
    """After velocity_stage: returns force on A at P in W (3), length and its rate of one spring-damper."""
    f, _, _, length, rate = spring_damper(model_at(model), data_at(data), n)
    return f[0], f[1], f[2], length, rate


@entry
def calc_bushing(model: Handle, data: Handle, n: Int):
    """After velocity_stage: returns torque (3) and force (3) of one bushing on C at its centre, in W."""
    t, f, _, _ = bushing(model_at(model), data_at(data), n)
    return t[0], t[1], t[2], f[0], f[1], f[2]


@entry
@slot(numbers=INJECTED)
def calc_element_fault(model: Handle, data: Handle):
    """After position_stage: returns which force element has no force here, as element_fault."""
    return element_fault(model_at(model), data_at(data))


@entry
def start_of_step(model: Handle, data: Handle, h: Real):
    """q, v -> where the forces of a step of a discrete plant are taken."""
    start_step(model_at(model), data_at(data), h)


@entry
def step_under_link_forces(model: Handle, data: Handle, F_link: Matrix, h: Real, implicit_damping: Real):
    """After start_of_step, position_stage: q, v, tau, u -> q, v after the time h of a discrete plant under F_link."""
    m, d = model_at(model), data_at(data)
    apply_link_forces(m, d, F_link)
    rest_of_step(m, d, h, implicit_damping)


@entry
def calc_constraint_error(model: Handle, data: Handle):
    """q -> the norm of the position errors of constraints; what position_stage computed stays."""
    return constraint_error(model_at(model), data_at(data))


@entry
def stage_of_step(model: Handle, data: Handle):
    """q, v -> motion_stage; q and v may change where constraints want it."""
    at_stage(model_at(model), data_at(data))


@entry
def finish_state(model: Handle, data: Handle, y: Vector, tolerance: Real):
    """y = [q; v] at the end of a step becomes a state; returns what state.finish_step() does."""
    return finish_step(model_at(model), data_at(data), y, tolerance)


@entry
def calc_qdot(model: Handle, data: Handle):
    """After position_stage: v -> qdot."""
    d = data_at(data)
    velocity_to_qdot(model_at(model), d, d.v, d.qdot)


# ------------------------------------------------- from coordinates to the result in one call


@entry
def full_mass_matrix(model: Handle, data: Handle):
    """q -> M."""
    m, d = model_at(model), data_at(data)
    at_positions(m, d)
    mass_matrix(m, d)


@entry
def full_inverse_dynamics(model: Handle, data: Handle):
    """q, v, vdot -> tau under gravity alone."""
    m, d = model_at(model), data_at(data)
    clear_applied_forces(d)
    at_velocities(m, d)
    inverse_dynamics(m, d, 1.0)


@entry
def full_forward_dynamics(model: Handle, data: Handle):
    """q, v, tau, diagonal -> vdot under gravity alone."""
    m, d = model_at(model), data_at(data)
    clear_applied_forces(d)
    at_velocities(m, d)
    forward_dynamics(m, d)

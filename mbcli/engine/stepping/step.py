"""Accelerations under all forces, and a step of a discrete plant: velocities first, then positions with them."""

from mbcli.engine.limits.limited_dynamics import limited_dynamics
from mbcli.engine.runtime.kernel import CALLER, ITSELF, kernel, slot
from mbcli.engine.smooth.coordinates import velocity_to_qdot
from mbcli.engine.smooth.force_elements import add_element_forces
from mbcli.engine.smooth.forward_dynamics import accelerations, hold_locked
from mbcli.engine.smooth.inverse_dynamics import apply_link_forces
from mbcli.engine.smooth.joint_forces import add_joint_forces
from mbcli.engine.smooth.state import at_velocities


@slot(python=CALLER)
def discrete_step(model, data, h, implicit_damping):
    """q, v, tau, u and F_applied -> q, v after the time h [s]. Elements add to tau, F_applied.

    v' = v + h vdot and q' = q + h N(q) v'. Velocities of locked joints become 0. In plants with constraints by
    constrained_step.py.
    """
    start_step(model, data, h)
    rest_of_step(model, data, h, implicit_damping)


@slot(constrained="stepping.constrained_step.start_constrained_step", contact=ITSELF)
def start_step(model, data, h):
    """Velocities of locked joints become 0; q becomes where forces are taken: here it stays."""
    for k in range(model.locked_dof.shape[0]):
        data.v[model.locked_dof[k]] = 0.0


@kernel
def rest_of_step(model, data, h, implicit_damping):
    """After start_step."""
    at_velocities(model, data)
    step_dynamics(model, data, h, implicit_damping)
    end_step(model, data, h)


@slot(constrained="stepping.constrained_step.end_constrained_step", contact=ITSELF)
def end_step(model, data, h):
    """vdot -> q, v at the end of the step."""
    for d in range(data.v.shape[0]):
        data.v[d] += h * data.vdot[d]
    velocity_to_qdot(model, data, data.v, data.qdot)
    for i in range(data.q.shape[0]):
        data.q[i] += h * data.qdot[i]


@slot(constrained="stepping.constrained_step.accelerations_of_constrained_step", contact=ITSELF)
def accelerations_of_step(model, data, F_link, h, implicit_damping):
    """After velocity_kinematics: tau, u -> vdot = (v' - v) / h of the step under F_link from q, v, which stay."""
    apply_link_forces(model, data, F_link)
    step_dynamics(model, data, h, implicit_damping)


@slot(
    constrained="stepping.constrained_step.constrained_step_dynamics",
    contact="stepping.contact_step.contact_dynamics",
)
def step_dynamics(model, data, h, implicit_damping):
    """After velocity_kinematics: the mean acceleration vdot over a step; implicit_damping is 1 or 0.

    M vdot = tau + tau_g - C v - D v' + controllers and limits. Taking the damping at the new velocity adds h D
    to the diagonal of M; with it at the old velocity the diagonal stays. Springs and force elements act by the old
    positions and velocities, controllers and limits by the new ones.
    """
    gather_forces(model, data, h, implicit_damping)
    limited_dynamics(model, data, h)


@kernel
def gather_forces(model, data, h, implicit_damping):
    """tau, F_applied and `diagonal` of a step, but for controllers and limits."""
    add_joint_forces(model, data)
    add_element_forces(model, data, data.F_applied, 0)
    for d in range(data.v.shape[0]):
        data.diagonal[d] = model.dof_armature[d] + implicit_damping * h * model.dof_damping[d]
    hold_locked(model, data)


@kernel
def instant_dynamics(model, data):
    """After velocity_kinematics: tau, F_applied -> vdot; both gain the forces of joints and force elements."""
    add_joint_forces(model, data)
    add_element_forces(model, data, data.F_applied, 0)
    for d in range(data.v.shape[0]):
        data.diagonal[d] = model.dof_armature[d]
    hold_locked(model, data)
    accelerations(model, data, 0.0)


@slot(
    constrained="constraints.constrained_motion.constrained_step_fault",
    contact="stepping.contact_step.contact_fault",
    python=CALLER,
)
def step_fault(model, data):
    """The fault of step_dynamics(): none, 0; SINGULAR_STEP if constraints determine no motion."""
    return 0

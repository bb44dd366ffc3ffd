"""A step of a discrete plant, in the order in which it runs, and accelerations at an instant.

Positions and velocities, then forces, then accelerations under them that keep limits, contact and constraints, then the
state at the end: velocities first, positions with them. In plants with constraints constrained_step.py fills the slots,
in plants in which solids may touch contact_step.py.
"""

from mbcli.engine.limits.limited_dynamics import limited_dynamics
from mbcli.engine.runtime.kernel import CALLER, ITSELF, kernel, slot
from mbcli.engine.smooth.coordinates import normalize_quaternions, velocity_to_qdot
from mbcli.engine.smooth.force_elements import add_element_forces
from mbcli.engine.smooth.forward_dynamics import accelerations, hold_locked, stop_locked
from mbcli.engine.smooth.inverse_dynamics import apply_link_forces
from mbcli.engine.smooth.joint_forces import add_joint_forces
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.state import at_velocities


@slot(python=CALLER)
def discrete_step(model, data, h, implicit_damping):
    """q, v, tau, u and F_applied -> q, v after the time h [s]. Force elements add to tau and F_applied.

    implicit_damping is 1 if joint damping acts by the new velocities, 0 if by the old ones.
    """
    start_step(model, data, h)
    rest_of_step(model, data, h, implicit_damping)


@slot(
    constrained="stepping.constrained_step.start_constrained_step",
    contact=ITSELF,
    sleep="stepping.sleeping_step.start_sleeping_step",
)
def start_step(model, data, h):
    """Velocities of locked joints become 0; q becomes where forces are taken: here it stays."""
    stop_locked(model, data.v)


@kernel
def rest_of_step(model, data, h, implicit_damping):
    """After start_step; forces that only Python knows are asked for in between."""
    at_velocities(model, data)
    gather_forces(model, data, h, implicit_damping)
    accelerate(model, data, h)
    end_step(model, data, h)


@kernel
def gather_forces(model, data, h, implicit_damping):
    """tau, F_applied and `diagonal` of a step: actuation, springs, damping, force elements.

    M vdot = tau + tau_g - C v - D v' + what accelerate() adds. Taking the damping at the new velocity adds h D to the
    diagonal of M; with it at the old velocity the diagonal stays. Springs and force elements act by the old positions
    and velocities.
    """
    add_joint_forces(model, data)
    add_element_forces(model, data, data.F_applied, 0)
    for d in range(data.v.shape[0]):
        if is_asleep(data, model.dof_body[d]):
            continue
        data.diagonal[d] = model.dof_armature[d] + implicit_damping * h * model.dof_damping[d]
    hold_locked(model, data)


@slot(
    constrained="stepping.constrained_step.accelerate_under_constraints",
    contact="stepping.contact_step.accelerate_in_contact",
)
def accelerate(model, data, h):
    """After gather_forces: the mean acceleration vdot over a step, with controllers and limits at its end."""
    limited_dynamics(model, data, h)


@slot(
    constrained="stepping.constrained_step.end_constrained_step",
    contact=ITSELF,
    sleep="stepping.sleeping_step.end_sleeping_step",
)
def end_step(model, data, h):
    """v' = v + h vdot, q' = q + h N(q) v' with quaternions of unit length."""
    for d in range(data.v.shape[0]):
        data.v[d] += h * data.vdot[d]
    velocity_to_qdot(model, data, data.v, data.qdot)
    for i in range(data.q.shape[0]):
        data.q[i] += h * data.qdot[i]
    normalize_quaternions(model, data.q)


@slot(
    constrained="constraints.constrained_motion.constrained_step_fault",
    contact="stepping.contact_step.contact_fault",
    python=CALLER,
)
def step_fault(model, data):
    """The fault of accelerate(): none, 0; SINGULAR_STEP if constraints determine no motion."""
    return 0


@slot(constrained="stepping.constrained_step.accelerations_of_constrained_step", contact=ITSELF)
def accelerations_of_step(model, data, F_link, h, implicit_damping):
    """After velocity_kinematics: tau, u -> vdot = (v' - v) / h of the step under F_link from q, v, which stay."""
    apply_link_forces(model, data, F_link)
    gather_forces(model, data, h, implicit_damping)
    accelerate(model, data, h)


@kernel
def instant_dynamics(model, data):
    """After velocity_kinematics: tau, F_applied -> vdot; both gain the forces of joints and force elements."""
    add_joint_forces(model, data)
    add_element_forces(model, data, data.F_applied, 0)
    for d in range(data.v.shape[0]):
        data.diagonal[d] = model.dof_armature[d]
    hold_locked(model, data)
    accelerations(model, data, 0.0)

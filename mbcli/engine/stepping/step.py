"""A step of a discrete plant, in the order in which it runs, and accelerations at an instant.

Positions and velocities, then forces, then accelerations under them that keep limits, contact and constraints, then the
state at the end. In plants with constraints constrained_step.py fills the slots, in plants in which solids may touch
contact_step.py. Steps of the scheme "midpoint" (SCHEME_MIDDLE) are of second order:

    q_m = q + h/2 N(q) v
    M(q_m) vdot = tau(q_m) - C(q_m, v_m) v_m,  v_m = v + h/2 vdot
    q' = q + h N(q_m) v_m,  v' = v + h vdot

Joint damping and controllers act about the middle (smooth/middle.py), dry friction and limits at the end of the step,
as they follow from its start: where a limit can act, the velocity terms are those of the start.
docs/explanation/discrete_steps.md compares the scheme with others.
"""

from mbcli.engine.fields.model_fields import PD_GAIN_D, PD_GAIN_P, SCHEME_MIDDLE
from mbcli.engine.limits.joint_limits import is_soft, limit_gap
from mbcli.engine.limits.limited_dynamics import limited_dynamics
from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.actuator_laws import add_transmission_forces
from mbcli.engine.smooth.coordinates import advance_positions, sines_of_rates
from mbcli.engine.smooth.element_rows import begin_element_rows
from mbcli.engine.smooth.force_elements import add_element_forces, add_implicit_hinges
from mbcli.engine.smooth.forward_dynamics import accelerations, apply_joint_locks, stop_locked
from mbcli.engine.smooth.inverse_dynamics import apply_link_forces
from mbcli.engine.smooth.joint_forces import add_joint_forces
from mbcli.engine.smooth.mass_matrix import carried_inertia
from mbcli.engine.smooth.middle import damping_of_step, damping_share, is_in_middle, weigh_velocities
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.state import at_velocities
from mbcli.engine.stepping.velocity_terms import note_positions, note_start, take_terms_between_limits


@kernel
def discrete_step(model, data, h, implicit_damping):
    """q, v, tau, u and F_applied -> q, v after the time h [s]. Force elements add to tau and F_applied.

    implicit_damping is 1 if joint damping acts by the new velocities, 0 if by the old ones.
    """
    start_step(model, data, h)
    rest_of_step(model, data, h, implicit_damping)


@slot(
    constrained="stepping.constrained_step.start_constrained_step",
    contact="stepping.contact_step.start_step_in_contact",
    sleep="stepping.sleeping_step.start_sleeping_step",
)
def start_step(model, data, h):
    """Velocities of locked joints become 0; q becomes where forces are taken."""
    stop_locked(model, data.v)
    go_to_middle(model, data, h)


@kernel
def go_to_middle(model, data, h):
    """q, v -> q_at_start, v_at_start; q becomes that in the middle of the step, if the plant has such steps."""
    note_start(data)
    note_positions(data)
    if model.step_scheme[SCHEME_MIDDLE] == 1:
        sines_of_rates(model, data)
        advance_positions(model, data, data.v, 0.5 * h)


@kernel
def go_to_start(data):
    """q -> q_at_start; sin_q, cos_q and all that follows from q stay."""
    for i in range(data.q.shape[0]):
        data.q[i] = data.q_at_start[i]


@kernel
def rest_of_step(model, data, h, implicit_damping):
    """After start_step; forces that only Python knows are asked for in between."""
    place_step(model, data)
    gather_forces(model, data, h, implicit_damping)
    accelerate(model, data, h)
    end_step(model, data, h)


@slot(contact="stepping.trees_apart.place_trees_apart", sleep="smooth.state.at_velocities")
def place_step(model, data):
    """q, v of where a step takes forces -> poses, inertias and velocities there."""
    at_velocities(model, data)


@kernel
def gather_forces(model, data, h, implicit_damping):
    """tau, F_applied and `diagonal` of a step: actuation, springs, damping, force elements.

    M vdot = tau + tau_g - C v - D v + what accelerate() adds. With a share of the damping at the new velocity the
    diagonal of M has that of h D (smooth/middle.py); with all of it at the old velocity the diagonal stays. Springs K
    add h^2 K / 4: by the middle of the step in which they act, as of force elements in smooth/element_rows.py.
    """
    add_joint_forces(model, data)
    add_element_forces(model, data, data.F_applied, 0)
    add_transmission_forces(model, data, h)
    spring_share = 0.25 * h * h * model.step_scheme[SCHEME_MIDDLE]
    if model.step_scheme[SCHEME_MIDDLE] == 1:
        weigh_velocities(model, data)
    for d in range(data.v.shape[0]):
        if is_asleep(data, model.dof_body[d]):
            continue
        data.diagonal[d] = model.dof_armature[d] + implicit_damping * damping_of_step(model, data, d, h)
        if model.dof_ball[d, 0] < 0:
            data.diagonal[d] += spring_share * model.dof_stiffness[d]
    if model.step_scheme[SCHEME_MIDDLE] == 1:
        add_implicit_hinges(model, data, h)
        begin_element_rows(model, data, h)
    apply_joint_locks(model, data)


@slot(
    constrained="stepping.constrained_step.accelerate_under_constraints",
    contact="stepping.contact_step.accelerate_in_contact",
)
def accelerate(model, data, h):
    """After gather_forces: the mean acceleration vdot over a step, with controllers and limits at its end.

    q is that of the start then. All that follows from q and v, sin_q and V too, may be of the middle.
    """
    go_to_start(data)
    limited_dynamics(model, data, h)
    take_terms_between_limits(model, data, h)


@slot(
    constrained="stepping.constrained_step.end_constrained_step",
    contact="stepping.contact_step.end_step_in_contact",
    sleep="stepping.sleeping_step.end_sleeping_step",
)
def end_step(model, data, h):
    """After accelerate: v' = v + h vdot; q' = q + h N v, with v_m and N of the middle, or v' and N of the start."""
    end_between_limits(model, data, h)
    if model.step_scheme[SCHEME_MIDDLE] == 1:
        stay_within_limits(model, data, data.q_at_start, h)


@kernel
def end_between_limits(model, data, h):
    """As end_step(), where no limit can act in the step."""
    if model.step_scheme[SCHEME_MIDDLE] == 0:
        end_with_last_velocities(model, data, h)
        return
    for d in range(data.v.shape[0]):
        data.v[d] = data.v_at_start[d] + 0.5 * h * data.vdot[d]
    advance_positions(model, data, data.v, h)
    for d in range(data.v.shape[0]):
        data.v[d] = data.v_at_start[d] + h * data.vdot[d]
    go_with_set_velocities(model, data, h)


@kernel
def go_with_set_velocities(model, data, h):
    """After advance_positions by mean velocities: joints whose velocity a controller sets move by what it has set.

    Those without a position gain, by their share of the acceleration (smooth/middle.py), which keeps second order: one
    that no step resolves leads its joint to where its aim leads.
    """
    for k in range(model.pd_actuator.shape[0]):
        d = model.actuator_dof[model.pd_actuator[k]]
        damping = h * model.pd_constants[k, PD_GAIN_D]
        sets = model.pd_constants[k, PD_GAIN_P] == 0 and damping != 0
        if sets and is_in_middle(model, data, model.dof_body[d]):
            more = damping_share(carried_inertia(model, data, d), damping) - 0.5
            data.q[model.dof_q[d]] += more * h * h * data.vdot[d]


@kernel
def end_with_last_velocities(model, data, h):
    """v' = v + h vdot, q' = q + h N(q) v'."""
    for d in range(data.v.shape[0]):
        data.v[d] += h * data.vdot[d]
    advance_positions(model, data, data.v, h)


@kernel
def stay_within_limits(model, data, q_start, h):
    """Coordinates that are beyond a limit -> where their velocities at the end lead to, if that is less far beyond."""
    for k in range(model.limit_dof.shape[0]):
        d, side = model.limit_dof[k], model.limit_side[k]
        if not is_in_middle(model, data, model.dof_body[d]) or is_soft(model, k):
            continue
        gap = limit_gap(model, data.q, k, h)
        at_end = limit_gap(model, q_start, k, h) + h * side * data.v[d]
        if gap.real < 0.0 and gap.real < at_end.real:
            data.q[model.dof_q[d]] += side * (at_end - gap)


@slot(
    constrained="constraints.constrained_motion.constrained_step_fault",
    contact="stepping.contact_step.contact_fault",
    python=INJECTED,
)
def step_fault(model, data):
    """The fault of accelerate(): none, 0; SINGULAR_STEP if constraints determine no motion."""
    return 0


@slot(
    constrained="stepping.constrained_step.accelerations_of_constrained_step",
    contact="stepping.contact_step.accelerations_of_step_in_contact",
)
def accelerations_of_step(model, data, F_link, h, implicit_damping):
    """After velocity_kinematics: tau, u -> vdot = (v' - v) / h of the step under F_link from q, v, which stay."""
    go_to_middle(model, data, h)
    if model.step_scheme[SCHEME_MIDDLE] == 1:
        at_velocities(model, data)
    apply_link_forces(model, data, F_link)
    gather_forces(model, data, h, implicit_damping)
    accelerate(model, data, h)
    if model.step_scheme[SCHEME_MIDDLE] == 1:
        at_velocities(model, data)


@kernel
def instant_dynamics(model, data):
    """After velocity_kinematics: tau, F_applied -> vdot; both gain the forces of joints and force elements."""
    add_joint_forces(model, data)
    add_element_forces(model, data, data.F_applied, 0)
    add_transmission_forces(model, data, 0.0)
    for d in range(data.v.shape[0]):
        data.diagonal[d] = model.dof_armature[d]
    apply_joint_locks(model, data)
    accelerations(model, data, 0.0)

"""The filler for accelerate() in plants with contact: accelerations of a step by the contact problem.

vdot is (v' - v) / h, so whoever asks for the accelerations of a step, advances by it or computes reactions from it
needs to know nothing of contact. The arrays of contact hang on Data: contact points, solver, geometries.
"""

from mbcli.engine.contact.adhesion import add_adhesion
from mbcli.engine.contact.arrivals import (
    arrival_of,
    find_partners,
    go_on_with_last_velocities,
    go_with_mean_velocities,
    keep_untouched,
    note_arrival,
)
from mbcli.engine.contact.bounce_energy import (
    MOST_SOLUTIONS,
    NEAR,
    NO_GAIN,
    gain_of_bounces,
    gains_energy,
    next_share,
    strike_again,
)
from mbcli.engine.contact.compliance import compliance
from mbcli.engine.contact.impacts import motion_without_constraints, strikes_now
from mbcli.engine.contact.joint_rows import (
    CONTROLLER,
    DRY_FRICTION,
    add_controller_rows,
    add_element_rows,
    add_friction_rows,
    add_limit_rows,
    leave_to_controllers,
    set_friction_law,
    set_limit_law,
    take_efforts,
    take_element_impulses,
)
from mbcli.engine.contact.problem import clear_problem, first_of, rows_velocity
from mbcli.engine.contact.rows import (
    add_contact_rows,
    place_axes,
    set_contact_law,
    set_laws_of_patch,
    set_torsional_law,
)
from mbcli.engine.contact.samples import note_problem
from mbcli.engine.contact.substeps import return_to_start
from mbcli.engine.contact.transmission_rows import (
    TRANSMISSION,
    add_transmission_rows,
    has_transmission_rows,
    leave_to_transmission_rows,
)
from mbcli.engine.contact.tree_masses import masses_of_trees
from mbcli.engine.contact.turn_rows import TURN, add_turn_rows, nears_turn_limit, set_turn_law
from mbcli.engine.fields.collision_fields import COLLISION_BOUNCES, COLLISION_BUILT, COLLISION_STATUS
from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    COUNT_ARRIVALS,
    COUNT_BOUNCES,
    COUNT_CONSTRAINTS,
    COUNT_ELASTIC_BODIES,
    COUNT_STATUS,
    COUNT_STRIKES,
    HAS_TORSIONAL,
    PROBLEM_SOLVED,
    PROBLEM_TOO_MANY_POINTS,
    VECTOR_FREE,
    VECTOR_VELOCITY,
)
from mbcli.engine.fields.model_fields import (
    CONTACT_AT_COLLISION,
    CONTACT_AT_DATA,
    CONTACT_AT_FIND,
    CONTACT_AT_MODEL,
    CONTACT_AT_POINTS,
    CONTACT_AT_SOLVE,
    CONTACT_AT_SOLVER,
    SCHEME_MIDDLE,
)
from mbcli.engine.limits.limited_dynamics import limited_dynamics
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import collision_at, points_at, solver_at
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.coordinates import advance_positions
from mbcli.engine.smooth.element_rows import resist_with_elements
from mbcli.engine.smooth.forward_dynamics import forward_dynamics, stop_locked
from mbcli.engine.smooth.inverse_dynamics import apply_link_forces
from mbcli.engine.smooth.kinematics import position_kinematics, velocity_kinematics
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.stepping.contact_terms import take_terms_of_free_trees
from mbcli.engine.stepping.step import (
    gather_forces,
    go_to_start,
    go_with_set_velocities,
    place_step,
    stay_within_limits,
)
from mbcli.engine.stepping.trees_apart import (
    advance_apart,
    at_changed_velocities,
    find_trees_apart,
    go_on_from_middle,
    go_with_velocities_of_middle,
    some_are_apart,
)
from mbcli.engine.stepping.velocity_terms import note_positions, note_start, take_terms_between_limits


@kernel
def start_step_in_contact(model, data, h):
    """As step.start_step(), with the contact points of the start: see trees_apart.py."""
    stop_locked(model, data.v)
    begin_step_in_contact(model, data, h)


@kernel
def begin_step_in_contact(model, data, h):
    """The contact points of q, v; then q of trees without any becomes that in the middle of the step."""
    points, solver = points_at(data.contact[CONTACT_AT_POINTS]), solver_at(data.contact[CONTACT_AT_SOLVER])
    note_positions(data)
    position_kinematics(model, data)
    velocity_kinematics(model, data)
    find_points(data, h)
    bounces = collision_at(data.contact[CONTACT_AT_COLLISION]).counts[COLLISION_BOUNCES] == 1
    is_free = not (has_constraints(data) or has_transmission_rows(model) or bounces)
    find_trees_apart(model, data, points, solver, is_free, h)
    advance_apart(model, data, data.v, 0.5 * h)


@kernel
def end_step_in_contact(model, data, h):
    """As step.end_step(); positions of what has an arrival move with its mean velocity."""
    solver, apart = solver_at(data.contact[CONTACT_AT_SOLVER]), some_are_apart(data)
    arrives = solver.counts[COUNT_ARRIVALS] > 0
    for d in range(data.v.shape[0]):
        data.v[d] += h * data.vdot[d]
    if arrives:
        go_with_mean_velocities(data, solver)
    go_with_velocities_of_middle(model, data, h)
    advance_positions(model, data, data.v, h)
    if arrives:
        go_on_with_last_velocities(data, solver)
    go_on_from_middle(model, data, h)
    if apart:
        go_with_set_velocities(model, data, h)
        stay_within_limits(model, data, data.q_at_start, h)


@kernel
def accelerations_of_step_in_contact(model, data, F_link, h, implicit_damping):
    """As step.accelerations_of_step()."""
    begin_step_in_contact(model, data, h)
    place_step(model, data)
    apply_link_forces(model, data, F_link)
    gather_forces(model, data, h, implicit_damping)
    accelerate_in_contact(model, data, h)
    if model.step_scheme[SCHEME_MIDDLE] == 1:
        at_changed_velocities(model, data)


@kernel
def accelerate_in_contact(model, data, h):
    """As step.accelerate(), with contact, limits, controllers and dry friction in one problem."""
    points, solver = points_at(data.contact[CONTACT_AT_POINTS]), solver_at(data.contact[CONTACT_AT_SOLVER])
    go_to_start(data)
    if solver.counts[COUNT_STATUS] == PROBLEM_SOLVED and settle_sleep(model, data, h):
        note_start(data)  # after what fell asleep was stopped
        constrain_step(model, data, points, solver, h)
        note_rest(data, h)
        note_problem(points, solver)


@kernel
def find_points(data, h):
    """An empty problem, and the contact points of the data's positions; whether there was room for them."""
    at = data.contact
    solver, collision = solver_at(at[CONTACT_AT_SOLVER]), collision_at(at[CONTACT_AT_COLLISION])
    clear_problem(solver)
    call_by_address(
        at[CONTACT_AT_FIND],
        at[CONTACT_AT_MODEL],
        at[CONTACT_AT_DATA],
        at[CONTACT_AT_POINTS],
        at[CONTACT_AT_COLLISION],
        h,
    )
    if collision.counts[COLLISION_STATUS] != 0:
        solver.counts[COUNT_STATUS] = PROBLEM_TOO_MANY_POINTS
    return collision.counts[COLLISION_STATUS] == 0


@slot(sleep="stepping.sleeping_step.wake_and_sleep")
def settle_sleep(model, data, h):
    """What sleeps in the step, in runs in which that may be; whether the step can go on."""
    return True


@slot(sleep="stepping.sleeping_step.note_rest_of_trees")
def note_rest(data, h):
    """After the problem of a step: which trees rest in it."""


@kernel
def constrain_step(model, data, points, solver, h):
    """After gather_forces(), clear_problem(): vdot under contact at the points, efforts of joints and constraints."""
    place_axes(model, data, solver)
    add_adhesion(model, data, points)
    add_contact_rows(model, data, solver, points)
    alone = solver.counts[COUNT_ELASTIC_BODIES] == 0 and not has_constraints(data) and not has_transmission_rows(model)
    alone = alone and not nears_turn_limit(model, data, h)
    nothing = solver.counts[COUNT_CONSTRAINTS] == 0 and alone
    if nothing or alone and some_are_apart(data) and has_bounded_rows(model):
        keep_forces(data)
        accelerate_apart(model, data, h)
        if nothing:
            return
        take_terms_of_middle(model, data)
    leave_to_controllers(model, data)
    leave_to_transmission_rows(model, data, h)
    forward_dynamics(model, data)
    resist_with_elements(model, data, h)
    if model.step_scheme[SCHEME_MIDDLE] == 1 and alone:
        take_terms_of_free_trees(model, data, solver, h)
    set_velocities(model, data, solver, h)
    add_limit_rows(model, data, solver, h)
    add_turn_rows(model, data, solver, h)
    add_controller_rows(model, data, solver, h)
    add_friction_rows(model, data, solver, h)
    add_transmission_rows(model, data, solver, h)
    add_element_rows(model, data, solver, h)
    add_constraint_rows(model, data, solver)
    if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
        return
    set_laws(model, data, points, solver, h)
    if solver.counts[COUNT_STRIKES] > 0:
        set_arrivals(solver, points, h)
    solve_contact(data, h)
    if solver.counts[COUNT_BOUNCES] > 0:
        bound_bounces(data, points, solver, h)
    for d in range(data.v.shape[0]):
        if is_asleep(data, model.dof_body[d]):
            continue
        data.vdot[d] = (solver.vectors[VECTOR_VELOCITY, solver.dof_slot[d]] - data.v[d]) / h
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_kind[i] == BOUNDED:
            take_efforts(model, data, solver, h, i)
    take_element_impulses(data, solver, h)
    take_constraint_forces(data, solver, h)


@kernel
def accelerate_apart(model, data, h):
    """After gather_forces, note_start: vdot over a step in which nothing touches, with limits and controllers."""
    limited_dynamics(model, data, h)
    take_terms_between_limits(model, data, h)


@kernel
def has_bounded_rows(model):
    """Whether controllers or dry friction act, without which nobody knows where a tree is in the middle of a step."""
    return model.pd_actuator.shape[0] + model.friction_dof.shape[0] > 0


@kernel
def keep_forces(data):
    """tau, diagonal -> tau_kept, diagonal_kept."""
    for d in range(data.v.shape[0]):
        data.tau_kept[d], data.diagonal_kept[d] = data.tau[d], data.diagonal[d]


@kernel
def take_terms_of_middle(model, data):
    """After keep_forces, accelerate_apart: velocity terms of the middle, of trees there; tau, diagonal are as kept."""
    for d in range(data.v.shape[0]):
        data.tau[d], data.diagonal[d] = data.tau_kept[d], data.diagonal_kept[d]
        if data.in_middle[model.dof_body[d]] == 0:
            data.v_terms[d] = data.v_at_start[d]
        data.v[d] = data.v_terms[d]
    velocity_kinematics(model, data)
    for d in range(data.v.shape[0]):
        data.v[d] = data.v_at_start[d]


@slot(constrained="contact.equality_rows.holds_constraints")
def has_constraints(data):
    """Whether the plant has constraints: contact/__init__.py says what stands in for these then."""
    return False


@slot(constrained="contact.equality_rows.add_equality_rows")
def add_constraint_rows(model, data, solver):
    """Constraints of the plant."""


@slot(constrained="contact.equality_rows.set_equality_laws")
def set_constraint_laws(model, data, solver, h):
    """Their laws."""


@slot(constrained="contact.equality_rows.take_equality_forces")
def take_constraint_forces(data, solver, h):
    """Their forces."""


@kernel
def forget_near_elements(data):
    """As worlds.forget_neighbors(): pairs of meshes are searched again, whose order follows from how they were found.

    Other solids need that not: what is known of them does not matter to results, see broad_phase.py.
    """
    collision = collision_at(data.contact[CONTACT_AT_COLLISION])
    if collision.kept.shape[0] > 0:
        collision.counts[COLLISION_BUILT] = 0


@kernel
def contact_fault(model, data):
    """As step.step_fault(): the status of the contact problem, see problem.py."""
    return solver_at(data.contact[CONTACT_AT_SOLVER]).counts[COUNT_STATUS]


@kernel
def set_velocities(model, data, solver, h):
    """Velocities at the step's start, and those at its end without constraints."""
    for d in range(data.v.shape[0]):
        if is_asleep(data, model.dof_body[d]):
            continue
        solver.vectors[VECTOR_FREE, solver.dof_slot[d]] = data.v[d] + h * data.vdot[d]
        solver.vectors[VECTOR_VELOCITY, solver.dof_slot[d]] = data.v[d]


@kernel
def set_laws(model, data, points, solver, h):
    """The laws that depend on how the trees give way, and the masses of the trees that constraints touch."""
    masses_of_trees(model, data, solver)
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_patch_size[i] < 0:
            continue  # it is set with the first of its patch
        if solver.con_kind[i] < BOUNDED:
            set_laws_at_points(solver, points, i, h)
        elif solver.con_source[i] < TURN:
            set_limit_law(model, data, solver, i, h)
        elif solver.con_source[i] < CONTROLLER:
            set_turn_law(model, data, solver, i, h)
        elif DRY_FRICTION <= solver.con_source[i] < TRANSMISSION:
            set_friction_law(model, solver, i, h)
    set_constraint_laws(model, data, solver, h)


@kernel
def set_arrivals(solver, points, h):
    """After set_laws: the laws of impacts again of what has an arrival, see arrivals.py."""
    find_partners(solver)
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_kind[i] < BOUNDED and strikes_now(solver, points, i, h):
            _, _, free, _, _ = motion_without_constraints(solver, i, first_of(solver, i))
            note_arrival(solver, first_of(solver, i), points.distance[solver.con_source[i]], free, h)
    if solver.counts[COUNT_ARRIVALS] == 0:
        return
    keep_untouched(solver)
    solver.counts[COUNT_BOUNCES] = 0
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_kind[i] < BOUNDED and solver.con_patch_size[i] >= 0 and arrival_of(solver, i) > 0.0:
            set_laws_at_points(solver, points, i, h)


@kernel
def set_laws_at_points(solver, points, i, h):
    """The law of contact constraint i; of the first of a patch those of the whole patch."""
    if solver.con_patch_size[i] == 0:
        set_contact_law(solver, points, i, i, h, compliance(solver, i), rows_velocity(solver, i, VECTOR_VELOCITY))
    elif solver.con_patch_size[i] == HAS_TORSIONAL:
        set_torsional_law(solver, points, i, h)
    else:
        set_laws_of_patch(solver, points, i, h)


@kernel
def solve_contact(data, h):
    """vectors[VELOCITY] of a problem that is complete -> that of its solution."""
    at = data.contact
    call_by_address(
        at[CONTACT_AT_SOLVE], at[CONTACT_AT_MODEL], at[CONTACT_AT_DATA], at[CONTACT_AT_POINTS], at[CONTACT_AT_SOLVER], h
    )


@kernel
def solve_contact_again(data, solver, h):
    """After solve_contact() and new laws."""
    return_to_start(solver)
    solve_contact(data, h)


@kernel
def bound_bounces(data, points, solver, h):
    """After solve_contact(): the solution in which no bounce adds energy, see bounce_energy.py."""
    if not gains_energy(solver, points):
        return
    share, low, high = 1.0, 0.0, 1.0
    gain, scale = gain_of_bounces(solver, points, share)
    before, gain_before = 0.0, -scale  # a first guess, of a plastic impact
    for _ in range(MOST_SOLUTIONS):
        tried = next_share(low, high, before, gain_before, share, gain)
        strike_again(solver, points, h, tried / share)
        before, gain_before, share = share, gain, tried
        solve_contact_again(data, solver, h)
        gain, scale = gain_of_bounces(solver, points, share)
        if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED or -NEAR * scale <= gain <= NO_GAIN * scale:
            return
        low, high = (low, tried) if gain > 0.0 else (tried, high)
    if gain > NO_GAIN * scale and low > 0.0:
        strike_again(solver, points, h, low / share)
        solve_contact_again(data, solver, h)

"""From contact points, joint limits and controllers to the constraints of a step."""

from mbcli.engine.contact.impacts import bounces, set_impact_law, strikes
from mbcli.engine.contact.laws.registry import begin_law
from mbcli.engine.contact.patches import compliance_in_patch, fill_patch_response, patch_velocity, velocity_in_patch
from mbcli.engine.contact.problem import begin_constraint, begin_piece, end_constraint, follow_in_patch
from mbcli.engine.contact.tangents import has_direction, rows_of_friction, tangents_of_contact
from mbcli.engine.contact.torsional import (
    begin_torsional_law,
    finish_torsional_law,
    has_torsional_friction,
    scale_torsional,
    torsional_scales,
)
from mbcli.engine.fields.contact_fields import (
    COUNT_BOUNCES,
    COUNT_CONSTRAINTS,
    COUNT_STATUS,
    COUNT_STRIKES,
    HAS_TORSIONAL,
    PAIR_FRICTION,
    PLACE_ACROSS,
    PLACE_ARM,
    PLACE_NORMAL,
    PLACE_TANGENT,
    PROBLEM_SOLVED,
    SETTING_APPROXIMATION,
    TAMSI,
    TORSIONAL,
    TORSIONAL_SCALE,
    VECTOR_VELOCITY,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import add_product, sum_of_lanes
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import add, cross, row3, set_row3, subtract

INFINITE = float("inf")
LEAST_PATCH = 4  # contacts that are worth the six rows of a patch
PI = 3.141592653589793


@kernel
def place_axes(model, data, solver):
    """After position_kinematics and apply_joint_locks -> axes: S by slots, zero for locked velocities."""
    S, axes = data.S, solver.axes
    for d in range(S.shape[0]):
        if is_asleep(data, model.dof_body[d]):
            continue
        slot = solver.dof_slot[d]
        moves = 0.0 if data.diagonal[d] == INFINITE else 1.0
        for k in range(6):
            axes[k, slot] = moves * S[d, k]


@kernel
def last_velocity(model, b):
    """The outermost velocity that moves body b, -1 for World."""
    return model.body_v[b] + model.body_nv[b] - 1


@kernel
def add_relative_point(model, data, solver, i, a, b, point, onto_b, axes):
    """Pieces of the velocity of body a's point relative to body b's, which is onto_b from there in another tree.

    axes: tangent, across, normal. Velocities that move both cancel.
    """
    path, path_vector, mask = solver.body_path, solver.path_vector, solver.path_mask8
    m, m_end, n, n_end = path[a], path[a + 1], path[b], path[b + 1]
    if model.body_root[a] != model.body_root[b]:
        for k in range(m, m_end):
            add_piece(model, data, solver, i, a, path_vector[k], mask[k], point, axes)
        for k in range(n, n_end):
            add_piece(model, data, solver, i, b, path_vector[k], -mask[k], add(point, onto_b), axes)
        return
    while m < m_end or n < n_end:
        vector = max(path_vector[m] if m < m_end else -1, path_vector[n] if n < n_end else -1)
        of_a, of_b = m < m_end and path_vector[m] == vector, n < n_end and path_vector[n] == vector
        if of_a and of_b:
            difference = mask[m] - mask[n]
            if sum_of_lanes(difference * difference) > 0.0:
                add_piece(model, data, solver, i, a, vector, difference, point, axes)
        elif of_a:
            add_piece(model, data, solver, i, a, vector, mask[m], point, axes)
        else:
            add_piece(model, data, solver, i, a, vector, -mask[n], point, axes)
        m += int(of_a)
        n += int(of_b)


@kernel
def add_piece(model, data, solver, i, b, vector, mask, point, axes):
    """A piece of constraint i: the mask times velocities along three axes of a point of body b.

    For the first of a patch, and for a contact that turns, a second one, of the angular velocity.
    """
    tree = solver.dof_tree[last_velocity(model, b)]
    k = begin_piece(solver, i, tree, vector)
    if k < 0:
        return
    arm = subtract(point, row3(data.X_WB, model.body_root[b], 9))
    S, J = solver.axes8, solver.jacobian8
    w0, w1, w2 = mask * S[0, vector], mask * S[1, vector], mask * S[2, vector]
    v0, v1, v2 = mask * S[3, vector], mask * S[4, vector], mask * S[5, vector]
    for r in range(3):
        axis = axes[r]
        c = cross(arm, axis)
        turning = add_product(add_product(c[0] * w0, w1, c[1]), w2, c[2])
        J[3 * k + r] = add_product(add_product(add_product(turning, v0, axis[0]), v1, axis[1]), v2, axis[2])
    if solver.con_patch_size[i] > 0:
        k = begin_piece(solver, i, tree, vector)
        if k >= 0:
            J[3 * k], J[3 * k + 1], J[3 * k + 2] = w0, w1, w2


@kernel
def add_contact_rows(model, data, solver, points):
    """One constraint per contact point, without its law; those of two bodies in patches, unless some resist turning."""
    c = 0
    while c < points.count[0]:
        count, in_patch = 1, not has_torsional_friction(points, c)
        while (
            c + count < points.count[0]
            and points.body[c + count, 0] == points.body[c, 0]
            and points.body[c + count, 1] == points.body[c, 1]
        ):
            in_patch = in_patch and not has_torsional_friction(points, c + count)
            count += 1
        if in_patch and count >= LEAST_PATCH:
            add_patch(model, data, solver, points, c, count)
        else:
            for n in range(c, c + count):
                add_contact_row(model, data, solver, points, n)
        if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
            return
        c += count


@kernel
def add_contact_row(model, data, solver, points, c):
    """Contact c as a constraint of its own."""
    i = begin_constraint(solver, 0, c)
    if i < 0:
        return
    normal = row3(points.normal, c, 0)
    along, across = rows_of_friction(points, c)
    point = row3(points.position, c, 0)
    if has_torsional_friction(points, c):
        solver.con_patch_size[i] = HAS_TORSIONAL
    a, b, onto_b = points.body[c, 0], points.body[c, 1], row3(points.onto_B, c, 0)
    add_relative_point(model, data, solver, i, a, b, point, onto_b, (along, across, normal))
    if solver.con_patch_size[i] == 0:
        end_constraint(solver, i)
    else:
        end_torsional_contact(solver, points, i)


@kernel
def end_torsional_contact(solver, points, i):
    """Keeps contact i with a TORSIONAL after it, if it has a column."""
    c = solver.con_source[i]
    tangent, across = tangents_of_contact(points, c)
    rolling, torsion = torsional_scales(points, c)
    scale_torsional(solver, i, rolling, torsion, tangent, across, row3(points.normal, c, 0))
    end_constraint(solver, i)
    if solver.counts[COUNT_CONSTRAINTS] == i:
        return
    j = begin_constraint(solver, TORSIONAL, c)
    if j < 0:
        return
    follow_in_patch(solver, i, j)
    solver.con_patch_size[i] = HAS_TORSIONAL
    set_row3(solver.con_law, j, TORSIONAL_SCALE, (rolling, rolling, torsion))


@kernel
def add_patch(model, data, solver, points, c, count):
    """Contacts c to c + count as a patch; its point P is the first of them."""
    first = begin_constraint(solver, 0, c)
    if first < 0:
        return
    solver.con_patch_size[first] = 1
    P = row3(points.position, c, 0)
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    tangent, across = x, y
    a, b, onto_b = points.body[c, 0], points.body[c, 1], row3(points.onto_B, c, 0)
    add_relative_point(model, data, solver, first, a, b, P, onto_b, (x, y, z))
    end_constraint(solver, first)
    if solver.counts[COUNT_CONSTRAINTS] == first:
        return
    for n in range(c, c + count):
        i = first if n == c else begin_constraint(solver, 0, n)
        if i < 0:
            return
        normal = row3(points.normal, n, 0)
        if n == c or has_direction(points, n) or not same_vector(normal, row3(points.normal, n - 1, 0)):
            tangent, across = rows_of_friction(points, n)
        set_row3(solver.con_place, i, PLACE_TANGENT, tangent)
        set_row3(solver.con_place, i, PLACE_ACROSS, across)
        set_row3(solver.con_place, i, PLACE_NORMAL, normal)
        set_row3(solver.con_place, i, PLACE_ARM, subtract(row3(points.position, n, 0), P))
        if n > c:
            follow_in_patch(solver, first, i)


@kernel
def same_vector(a, b):
    return a[0] == b[0] and a[1] == b[1] and a[2] == b[2]


@kernel
def set_laws_of_patch(solver, points, i, h):
    """Numbers of the laws of the contacts of patch i, as set_contact_law() has them."""
    is_tamsi = int(solver.settings[SETTING_APPROXIMATION]) == TAMSI  # whose law does not ask how a contact gives way
    if not is_tamsi:
        fill_patch_response(solver, i)
    w, v = patch_velocity(solver, i, VECTOR_VELOCITY)
    for n in range(i, i + solver.con_patch_size[i]):
        softness = 0.0 if is_tamsi else compliance_in_patch(solver, i, n)
        set_contact_law(solver, points, n, i, h, softness, velocity_in_patch(solver, n, w, v))


@kernel
def set_torsional_law(solver, points, i, h):
    """Numbers of the law of contact i, which resists turning."""
    softness, velocity = begin_torsional_law(solver, i)
    set_contact_law(solver, points, i, i, h, softness, velocity)
    finish_torsional_law(solver, i)


@kernel
def set_contact_law(solver, points, i, first, h, softness, velocity):
    """Numbers of the law of contact constraint i, of the patch that begins with `first`, or alone.

    softness: how it gives way to an impulse; velocity: (x, y, z) along its rows at the step's start.
    """
    c, separation = solver.con_source[i], velocity[2]
    if strikes(points, c, h, separation):
        solver.con_kind[i] = int(solver.settings[SETTING_APPROXIMATION])
        solver.counts[COUNT_STRIKES] += 1
        set_impact_law(solver, points, i, first, h, separation)
        if bounces(points.law, c, -separation) and points.law[c, PAIR_FRICTION] > 0.0:
            solver.con_bounce[i] = separation
            solver.counts[COUNT_BOUNCES] += 1
        return
    set_law_of_contact(solver, points.law, c, i, points.distance[c], h, softness, velocity)


@kernel
def set_law_of_contact(solver, laws, c, i, distance, h, softness, velocity):
    """The same from row c of laws, columns PAIR_..., and the distance of the surfaces."""
    solver.con_kind[i] = int(solver.settings[SETTING_APPROXIMATION])
    begin_law(solver, laws, c, i, distance, h, softness, velocity)

"""Springs and dampers between links in the step of a discrete plant: stable at any stiffness and damping.

An element acts along rows: a spring-damper along its length, and, as far as it pulls, across it, since it turns; a
bushing along six axes, a joint that closes a loop along its own, a spring along a path along that, the spring of a ball
joint along three. Row i has the velocity J_i v. tau and F_applied hold its force at the positions and velocities where
a step takes forces; over a step h it changes by g - s J vdot with

    s = h theta c + h^2 (beta + gamma) k,   g = -gamma h k J v,
    theta = (1 + x) / (2 + x),              x = h c J M^-1 J^T,
    beta = 1/4 - 1 / (6 + n z),             z = h^2 k J M^-1 J^T,   gamma = 1/2 z^2 / (z^2 + 64).

beta goes from 1/12, with which the frequency of a vibration is right to the fourth order of h, to 1/4 of the implicit
midpoint, which follows no vibration faster than a step, whatever the n rows are together: A - h^2 K / 4 stays positive
definite. gamma damps such vibrations, which mean nothing, and next to nothing of others: of w h = 0.1 the part 4e-8 of
critical damping. theta goes from 1/2, of second order, for a damping c that a step resolves, to 1, which ends a motion
at once, for one that it does not: alone, a row keeps 2 / (2 + 2 x + x^2) of its velocity.

So the mass matrix of a step is A = M + J^T S J. It is not made: with R^2 = S, Woodbury's formula gives A^-1 f =
M^-1 f - M^-1 J^T R (1 + R J M^-1 J^T R)^-1 R J M^-1 f from the factors that are there, also those of a plant under
constraints. In the contact problem the rows are rows of it.

Whatever acts along a length or an angle can be such a row: J, its stiffness and its damping are all that is asked.
"""

from mbcli.engine.fields.model_fields import (
    CUT_SLIDES,
    ELEMENT_DAMPING,
    ELEMENT_FORCE,
    ELEMENT_ROOT,
    ELEMENT_STIFFNESS,
    ELEMENT_X,
    LAW_SPRING,
    SCHEME_MIDDLE,
    TRANSMISSION_BIAS,
)
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.force_elements import SHORTEST, bushing_axes, cut_joint, spring_damper_points
from mbcli.engine.smooth.inverse_dynamics import add_force
from mbcli.engine.smooth.middle import damping_share, stiffness_shares
from mbcli.engine.smooth.path_springs import pull_along_path, stiffness_and_damping
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3
from mbcli.engine.smooth.transmissions import measure_transmission
from mbcli.engine.smooth.trigonometry import sign_of, square_root

UNKNOWN = -1.0  # ELEMENT_ROOT before it is known


@kernel
def number_of_rows(model, data):
    """Rows that act in a step; none in Drake's scheme, which takes all forces of elements at its start."""
    return data.element_row.shape[0] if model.step_scheme[SCHEME_MIDDLE] == 1 else 0


# -------------------------------------------------------------------------------------------- the rows


@slot(plain="smooth.plain.begin_element_rows")
def begin_element_rows(model, data, h):
    """After velocity_kinematics: element_row, element_J of a step h at these positions."""
    go_through_rows(model, data, h, data.F_applied, 0)


@slot(plain="smooth.plain.add_changes_on_links")
def add_changes_on_links(model, data, F_link):
    """F_link (nlink, 6) += what the changes of forces in the last step are at the origins of links.

    After velocity_kinematics where the step took its forces.
    """
    go_through_rows(model, data, 0.0, F_link, 1)


@kernel
def go_through_rows(model, data, h, F_link, at_links):
    """As begin_element_rows(), or, if at_links is 1, as add_changes_on_links()."""
    if number_of_rows(model, data) == 0:
        return
    i = 0
    for n in range(model.spring_damper_link.shape[0]):
        p, q, r = spring_damper_points(model, data, n)
        shortest = SHORTEST * model.spring_damper_constants[n, 0]
        u = scale(1.0 / square_root(dot(r, r) + shortest * shortest), r)
        constants, none = model.spring_damper_constants, scale(0.0, u)
        length = dot(u, r)
        pull = constants[n, 1] * (length - constants[n, 0])
        across = 0.5 * (pull + square_root(pull * pull)) / length
        t, b = across_of(u)
        for k in range(3):
            axis = (u, t, b)[k]
            begin_element_row(
                data, i, constants[n, 1] if k == 0 else across, constants[n, 2] if k == 0 else 0.0 * across, h, at_links
            )
            add_to_element_row(
                model, data, F_link, at_links, i, model.spring_damper_link[n, 0], p, none, scale(-1.0, axis)
            )
            add_to_element_row(model, data, F_link, at_links, i, model.spring_damper_link[n, 1], q, none, axis)
            i += 1
    for n in range(model.bushing_link.shape[0]):
        _, turns, shifts, _, p, q = bushing_axes(model, data, n)
        constants = model.bushing_constants
        for k in range(3):
            begin_element_row(data, i + k, constants[n, k], constants[n, 3 + k], h, at_links)
            begin_element_row(data, i + 3 + k, constants[n, 6 + k], constants[n, 9 + k], h, at_links)
            t, f, none = turns[k], shifts[k], scale(0.0, turns[k])
            add_to_element_row(model, data, F_link, at_links, i + k, model.bushing_link[n, 0], p, scale(-1.0, t), none)
            add_to_element_row(model, data, F_link, at_links, i + k, model.bushing_link[n, 1], q, t, none)
            add_to_element_row(
                model, data, F_link, at_links, i + 3 + k, model.bushing_link[n, 0], p, none, scale(-1.0, f)
            )
            add_to_element_row(model, data, F_link, at_links, i + 3 + k, model.bushing_link[n, 1], q, none, f)
        i += 6
    for n in range(model.cut_link.shape[0]):
        _, _, axis, p, q = cut_joint(model, data, n)
        none = scale(0.0, axis)
        t, f = (none, axis) if model.cut_turns[n] == CUT_SLIDES else (axis, none)
        begin_element_row(data, i, model.cut_constants[n, 1], model.cut_constants[n, 0], h, at_links)
        add_to_element_row(model, data, F_link, at_links, i, model.cut_link[n, 0], p, scale(-1.0, t), scale(-1.0, f))
        add_to_element_row(model, data, F_link, at_links, i, model.cut_link[n, 1], q, t, f)
        i += 1
    i = go_through_paths(model, data, i, h, F_link, at_links)
    if at_links == 1:
        return  # the springs of ball joints are forces of joints
    for d in range(data.v.shape[0]):
        if model.dof_ball[d, 0] >= 0:
            begin_element_row(data, i, model.dof_stiffness[d], 0.0 * model.dof_stiffness[d], h, at_links)
            data.element_J[i, d] = 0.0 if is_asleep(data, model.dof_body[d]) else 1.0
            i += 1


@slot(lanes="smooth.plain.go_through_paths")
def go_through_paths(model, data, i, h, F_link, at_links):
    """The same of springs along paths, whose first row is i; returns the row behind the last."""
    for n in range(model.transmission_kinds.shape[0]):
        if model.transmission_kinds[n, TRANSMISSION_BIAS] != LAW_SPRING:
            continue
        if at_links == 1:
            pull_along_path(model, data, n, change_of_force(data, i), F_link, 1)
        else:
            measure_transmission(model, data, n)
            stiffness, damping = stiffness_and_damping(model, data, n)
            begin_element_row(data, i, stiffness, damping, h, 0)
            for d in range(data.v.shape[0]):
                if not is_asleep(data, model.dof_body[d]):
                    data.element_J[i, d] = data.transmission_moment[n, d]
        i += 1
    return i


@kernel
def across_of(u):
    """Two unit vectors across the unit vector u and each other (Duff et al., JCGT 6(1), 2017)."""
    s = sign_of(u[2])
    a = -1.0 / (s + u[2])
    b = u[0] * u[1] * a
    return (1.0 + s * u[0] * u[0] * a, s * b, -s * u[0]), (b, s + u[1] * u[1] * a, -u[1])


@kernel
def begin_element_row(data, i, stiffness, damping, h, at_links):
    """An empty row i; if at_links is 1 it stays as it is."""
    if at_links == 1:
        return
    data.element_row[i, ELEMENT_STIFFNESS], data.element_row[i, ELEMENT_DAMPING] = h * h * stiffness, h * damping
    data.element_row[i, ELEMENT_ROOT] = UNKNOWN
    for d in range(data.v.shape[0]):
        data.element_J[i, d] = 0.0


@kernel
def add_to_element_row(model, data, F_link, at_links, i, link, p, torque, force):
    """element_J of row i += what a torque and a force at p from Ro do on a link; with at_links F_link += its change."""
    if at_links == 1:
        change = change_of_force(data, i)
        add_force(model, data, F_link, 1, link, p, scale(change, torque), scale(change, force))
        return
    b = model.link_body[link]
    moment = add(torque, cross(p, force))
    d = model.body_v[b] + model.body_nv[b] - 1
    while d >= 0:
        if not is_asleep(data, model.dof_body[d]):
            data.element_J[i, d] += dot(row3(data.S, d, 0), moment) + dot(row3(data.S, d, 3), force)
        d = model.dof_parent[d]


# --------------------------------------------------------------------------------- their accelerations


@slot(plain="smooth.plain.resist_with_elements")
def resist_with_elements(model, data, h):
    """After forward_dynamics: vdot without the changes of forces -> with them. A is that of another motion then."""
    for i in range(number_of_rows(model, data)):
        respond_to_row(model, data, i)
    factorize_elements(model, data, h)
    take_element_changes(model, data)


@slot(plain="smooth.plain.resist_again")
def resist_again(model, data):
    """As resist_with_elements() after forward_dynamics_again, by what is known then."""
    take_element_changes(model, data)


@kernel
def respond_to_row(model, data, i):
    """element_y of row i: M^-1 J^T, by the factors of forward_dynamics."""
    J, y, parent = data.element_J, data.element_y, model.body_parent
    F, A, S, U, D = data.F_articulated, data.A, data.S, data.U, data.D
    for d in range(data.v.shape[0]):
        y[i, d] = J[i, d]
    for b in range(1, parent.shape[0]):
        for k in range(6):
            F[b, k] = 0.0
    for b in range(parent.shape[0] - 1, 0, -1):
        first, end = model.body_v[b], model.body_v[b] + model.body_nv[b]
        if is_asleep(data, b):
            continue
        if model.body_free[b] == 1:
            for d in range(6):
                y[i, first + d] -= F[b, d]
            for d in range(5, 0, -1):
                share = y[i, first + d] / D[first + d]
                for e in range(d):
                    y[i, first + e] -= U[first + d, e] * share
            continue
        for d in range(end - 1, first - 1, -1):
            y[i, d] -= dot(row3(S, d, 0), row3(F, b, 0)) + dot(row3(S, d, 3), row3(F, b, 3))
            share = y[i, d] / D[d]
            for k in range(6):
                F[b, k] += share * U[d, k]
        if parent[b] != 0:
            for k in range(6):
                F[parent[b], k] += F[b, k]
    for b in range(1, parent.shape[0]):
        if is_asleep(data, b):
            continue
        first, end = model.body_v[b], model.body_v[b] + model.body_nv[b]
        if model.body_free[b] == 1:
            for d in range(6):
                for e in range(d):
                    y[i, first + d] -= U[first + d, e] * y[i, first + e]
                y[i, first + d] = y[i, first + d] / D[first + d]
                A[b, d] = y[i, first + d]
            continue
        for k in range(6):
            A[b, k] = A[parent[b], k] if parent[b] != 0 else 0.0 * F[b, k]
        for d in range(first, end):
            y[i, d] = (y[i, d] - dot(row3(U, d, 0), row3(A, b, 0)) - dot(row3(U, d, 3), row3(A, b, 3))) / D[d]
            set_row3(A, b, 0, add(row3(A, b, 0), scale(y[i, d], row3(S, d, 0))))
            set_row3(A, b, 3, add(row3(A, b, 3), scale(y[i, d], row3(S, d, 3))))


@kernel
def factorize_elements(model, data, h):
    """element_y -> element_system: the factor of 1 + R J M^-1 J^T R; R where it is not known yet."""
    n, K, J, y, row = number_of_rows(model, data), data.element_system, data.element_J, data.element_y, data.element_row
    if n == 0:
        return
    known = knows_roots(data)
    for i in range(n):
        for j in range(i + 1):
            total = 0.0 * row[i, ELEMENT_DAMPING]
            for d in range(data.v.shape[0]):
                total += J[i, d] * y[j, d]
            K[i, j] = total
        if not known:
            x, z = row[i, ELEMENT_DAMPING] * K[i, i], row[i, ELEMENT_STIFFNESS] * K[i, i]
            theta = damping_share(1.0, x)
            beta, gamma = stiffness_shares(1.0, z, n)
            s = (beta + gamma) * row[i, ELEMENT_STIFFNESS] + theta * row[i, ELEMENT_DAMPING]
            row[i, ELEMENT_ROOT] = square_root(s)
            rate = 0.0 * x
            for d in range(data.v.shape[0]):
                rate += J[i, d] * data.v[d]
            row[i, ELEMENT_FORCE] = -gamma * row[i, ELEMENT_STIFFNESS] / h * rate
        for j in range(i + 1):
            K[i, j] *= row[i, ELEMENT_ROOT] * row[j, ELEMENT_ROOT]
        K[i, i] += 1.0
        for j in range(i + 1):
            total = K[i, j]
            for k in range(j):
                total -= K[i, k] * K[j, k]
            K[i, j] = square_root(total) if i == j else total / K[j, j]


@slot(lanes="smooth.element_rows.knows_no_roots")
def knows_roots(data):
    """Whether R is that of an earlier solution of the step: it stays, whatever limits act."""
    return data.element_row[0, ELEMENT_ROOT].real >= 0.0


@kernel
def knows_no_roots(data):
    """As knows_roots(), in lanes, which factorize once in a step."""
    return False


@kernel
def take_element_changes(model, data):
    """After factorize_elements: vdot without the changes of forces -> with them."""
    n, K, J, y, row = number_of_rows(model, data), data.element_system, data.element_J, data.element_y, data.element_row
    for i in range(n):
        for d in range(data.v.shape[0]):
            data.vdot[d] += row[i, ELEMENT_FORCE] * y[i, d]
    for i in range(n):
        total = 0.0 * row[i, ELEMENT_ROOT]
        for d in range(data.v.shape[0]):
            total += J[i, d] * data.vdot[d]
        total *= row[i, ELEMENT_ROOT]
        for j in range(i):
            total -= K[i, j] * row[j, ELEMENT_X]
        row[i, ELEMENT_X] = total / K[i, i]
    for i in range(n - 1, -1, -1):
        total = row[i, ELEMENT_X]
        for j in range(i + 1, n):
            total -= K[j, i] * row[j, ELEMENT_X]
        row[i, ELEMENT_X] = total / K[i, i]
        for d in range(data.v.shape[0]):
            data.vdot[d] -= row[i, ELEMENT_ROOT] * row[i, ELEMENT_X] * y[i, d]


@kernel
def change_of_force(data, i):
    """After a step: the force along row i that it applied beyond that in tau and F_applied."""
    return data.element_row[i, ELEMENT_FORCE] - data.element_row[i, ELEMENT_ROOT] * data.element_row[i, ELEMENT_X]


@slot(plain="smooth.plain.power_of_changes")
def power_of_changes(model, data, v):
    """The power [W] of the changes of forces in the last step at the velocities v (nv,)."""
    power = data.V[0, 0]  # of World: zero, in the scalar type of the data
    for i in range(number_of_rows(model, data)):
        rate = 0.0 * power
        for d in range(v.shape[0]):
            rate += data.element_J[i, d] * v[d]
        power = power + change_of_force(data, i) * rate
    return power


@slot(plain="smooth.plain.add_element_changes")
def add_element_changes(model, data, tau):
    """tau (nv,) += what the changes of forces in the last step are on the velocities."""
    for i in range(number_of_rows(model, data)):
        force = change_of_force(data, i)
        for d in range(data.v.shape[0]):
            tau[d] += force * data.element_J[i, d]

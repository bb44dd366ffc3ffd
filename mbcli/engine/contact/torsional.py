"""Contacts at a point that resist turning: spinning about the normal, rolling about the tangents.

With coefficients mu_t and mu_r [m] of torsional and rolling friction impulses lie in the elliptic cone of MuJoCo

    (f_1/mu)^2 + (f_2/mu)^2 + (m_1/mu_r)^2 + (m_2/mu_r)^2 + (m_n/mu_t)^2 <= f_n^2

which is the round cone of u = (v_1, v_2, r_r w_1, r_r w_2, r_t w_n) with the lengths r = mu_r/mu, mu_t/mu. Friction
acts against u. So a law of contact at the slip |u| in place of |v_t| is the whole law, with a cost that stays convex.

Such a contact is two constraints. The first has the law; its pieces stand in pairs as those of a patch, of velocities
along the axes of the contact and of scaled angular velocities about them. The second, a TORSIONAL, has the velocities
and impulses of the latter, and their scales as its law.
"""

from mbcli.engine.contact.laws.registry import regularize_torsional, response_of
from mbcli.engine.contact.patches import (
    add_wrench_of_patch,
    compliance_in_patch,
    fill_patch_response,
    patch_velocity,
)
from mbcli.engine.fields.collision_fields import TORSIONAL_ROLLING, TORSIONAL_SPIN
from mbcli.engine.fields.contact_fields import (
    COUNT_PIECES,
    FACE_AREA,
    PAIR_FRICTION,
    PLACE_ARM,
    TORSIONAL_SCALE,
    VECTOR_INVERSE_DIAGONAL,
    VECTOR_VELOCITY,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import add_product
from mbcli.engine.smooth.spatial import add, row3, scale, set_row3
from mbcli.engine.smooth.trigonometry import square_root

REACH = 0.1  # [m] from the contact: turning sticks as a point there does in sliding
LEAST_SHARE = 1e-6  # of what a contact gives way along the rows that give way most: rows below are not looked at


# ------------------------------------------------------------------------------------------- rows


@kernel
def has_torsional_friction(points, n):
    """Whether contact n is a point with torsional or rolling friction; without friction there is neither."""
    return (
        (points.torsional[n, TORSIONAL_SPIN] > 0.0 or points.torsional[n, TORSIONAL_ROLLING] > 0.0)
        and points.law[n, PAIR_FRICTION] > 0.0
        and points.face[n, FACE_AREA] == 0.0
    )


@kernel
def torsional_scales(points, n):
    """(r_r, r_t) [m] of contact n."""
    mu = points.law[n, PAIR_FRICTION]
    return points.torsional[n, TORSIONAL_ROLLING] / mu, points.torsional[n, TORSIONAL_SPIN] / mu


@kernel
def length_of_torsional(rolling, torsion):
    """The smaller of the lengths r that are not zero, REACH at most: |u| of a body that sticks is as small."""
    length = REACH if rolling == 0.0 else min(REACH, rolling)
    return length if torsion == 0.0 else min(length, torsion)


@kernel
def scale_torsional(solver, i, rolling, torsion, tangent, across, normal):
    """Angular velocities in W of the pieces of contact i, the last one begun -> scaled ones about its axes."""
    J = solver.jacobian8
    for k in range(solver.con_first[i] + 1, solver.counts[COUNT_PIECES], 2):
        x, y, z = 1.0 * J[3 * k], 1.0 * J[3 * k + 1], 1.0 * J[3 * k + 2]
        a, b, c = scale(rolling, tangent), scale(rolling, across), scale(torsion, normal)
        J[3 * k] = a[0] * x + a[1] * y + a[2] * z
        J[3 * k + 1] = b[0] * x + b[1] * y + b[2] * z
        J[3 * k + 2] = c[0] * x + c[1] * y + c[2] * z


@kernel
def begin_torsional_law(solver, i):
    """(how contact i gives way along its three axes, as compliance(), and its velocity along them)."""
    set_row3(solver.con_place, i, PLACE_ARM, (0.0, 0.0, 0.0))
    fill_patch_response(solver, i)
    _, v = patch_velocity(solver, i, VECTOR_VELOCITY)
    return compliance_in_patch(solver, i, i), v


@kernel
def finish_torsional_law(solver, i):
    """After set_contact_law(): friction of contact i is regularized for its turning too."""
    law, W = solver.con_law, solver.con_response
    most = max(max(W[i, 0], W[i, 6]), max(W[i, 15], max(W[i, 18], W[i, 20])))
    least = most
    for k in (0, 6, 15, 18, 20):  # the diagonal
        if W[i, k] > LEAST_SHARE * most:
            least = min(least, W[i, k])
    rolling, torsion = law[i + 1, TORSIONAL_SCALE], law[i + 1, TORSIONAL_SCALE + 2]
    regularize_torsional(solver, i, least, length_of_torsional(rolling, torsion) / REACH)


# ----------------------------------------------------------------------------------------- solution


@kernel
def slip_size(v, w):
    """|u|."""
    return square_root(v[0] * v[0] + v[1] * v[1] + w[0] * w[0] + w[1] * w[1] + w[2] * w[2])


@kernel
def turning_times_jacobian(solver, i, x, y):
    """Rows i and i + 1 of y = J x."""
    w, v = patch_velocity(solver, i, x)
    set_row3(y, i, 0, v)
    set_row3(y, i + 1, 0, w)


@kernel
def add_turning_impulses(solver, i):
    """Impulses of contact i at con_v, added to the gradient's row."""
    v, w = row3(solver.con_v, i, 0), row3(solver.con_v, i + 1, 0)
    size = slip_size(v, w)
    along, _, normal, _, _, _, _, _, _ = response_of(solver, i, size, 0.0, v[2])
    s = along / size if size > 0.0 else 0.0
    f, m = (s * v[0], s * v[1], normal), scale(s, w)
    set_row3(solver.con_impulse, i, 0, f)
    set_row3(solver.con_impulse, i + 1, 0, m)
    add_wrench_of_patch(solver, i, f, m)


@kernel
def terms_of_turning(solver, i, terms):
    """Adds to terms the squared momenta of each of the six rows over the masses."""
    J, vectors = solver.jacobian8, solver.vectors8
    for p in range(solver.con_first[i], solver.con_first[i + 1], 2):
        for r in range(6):
            j = solver.con_impulse[i + r // 3, r % 3] * J[3 * p + r]
            terms = add_product(terms, j * j, vectors[VECTOR_INVERSE_DIAGONAL, solver.piece_vector[p]])
    return terms


@kernel
def torsional_hessian(solver, i):
    """Second derivatives of the cost of contact i at con_v, as patch_hessian() has them."""
    v, w = row3(solver.con_v, i, 0), row3(solver.con_v, i + 1, 0)
    size = slip_size(v, w)
    _, _, _, along, across, zz, _, xz, _ = response_of(solver, i, size, 0.0, v[2])
    inverse = 1.0 / size if size > 0.0 else 0.0
    t0, t1, t = inverse * v[0], inverse * v[1], scale(inverse, w)
    b = along - across
    vv = (across + b * t0 * t0, across + b * t1 * t1, zz, b * t0 * t1, xz * t0, xz * t1)
    ww = (
        across + b * t[0] * t[0],
        across + b * t[1] * t[1],
        across + b * t[2] * t[2],
        b * t[0] * t[1],
        b * t[0] * t[2],
        b * t[1] * t[2],
    )
    return vv, scale(b * t0, t), scale(b * t1, t), scale(xz, t), ww


@kernel
def torsional_jacobian(solver, i):
    """The same as rows of the blocks vv, vw, wv, ww, as patch_jacobian() has them: the normal impulse has no slip."""
    (xx, yy, zz, xy, xz, yz), x, y, z, (aa, bb, cc, ab, ac, bc) = torsional_hessian(solver, i)
    nothing = (0.0, 0.0, 0.0)
    return (
        ((xx, xy, xz), (xy, yy, yz), (0.0, 0.0, zz)),
        (x, y, nothing),
        ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])),
        ((aa, ab, ac), (ab, bb, bc), (ac, bc, cc)),
    )


@kernel
def slope_of_torsional(solver, i, step_length):
    """First and second derivative along the direction of the cost of contact i, at a step length."""
    d, e = row3(solver.con_dv, i, 0), row3(solver.con_dv, i + 1, 0)
    v = add(row3(solver.con_v, i, 0), scale(step_length, d))
    w = add(row3(solver.con_v, i + 1, 0), scale(step_length, e))
    size = slip_size(v, w)
    friction, _, normal, along, across, zz, _, xz, _ = response_of(solver, i, size, 0.0, v[2])
    inverse = 1.0 / size if size > 0.0 else 0.0
    change = inverse * (v[0] * d[0] + v[1] * d[1] + w[0] * e[0] + w[1] * e[1] + w[2] * e[2])  # of the size
    square = d[0] * d[0] + d[1] * d[1] + e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    curvature = across * (square - change * change) + change * (along * change + 2.0 * xz * d[2]) + zz * d[2] * d[2]
    return -friction * change - normal * d[2], curvature


# ------------------------------------------------------------------------------------------ results


@kernel
def torsional_moment(solver, i, tangent, across, normal):
    """The moment's impulse [N m s] of contact i on A, in W."""
    m, r = row3(solver.con_impulse, i + 1, 0), row3(solver.con_law, i + 1, TORSIONAL_SCALE)
    return add(add(scale(m[0] * r[0], tangent), scale(m[1] * r[1], across)), scale(m[2] * r[2], normal))

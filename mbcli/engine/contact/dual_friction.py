"""Directions of Newton's method for friction whose regularization is far below the velocities: with dual variables.

Friction of `lagged` and `similar` is a v / |v|_s with |v|_s = (v^2 + v_s^2)^(1/2). Around v = 0 it is steep, and the
less v_s the narrower: a step of Newton's method from elsewhere goes through there without noticing. Chan, Golub, Mulet
1999 (A nonlinear primal-dual method for total variation-based image restoration, SIAM J. Sci. Comput. 20, 1964) give
sums of such norms a variable w = v / |v|_s of its own, and make |v|_s w - v zero by Newton's method together with the
rest. Without w, which follows from v, the matrix is

    a / |v|_s (1 - (w t^T + t w^T) / 2),   t = v / |v|_s,

made symmetric, that of Newton's method where w = t. It is not negative where |w| <= 1, so that the direction is one of
descent for the same cost, whose gradient stays as it is.

A search begins with w = t where it begins near its end. Elsewhere a slip that friction can stop in this step is likely
to be stopped, so that w is far from t, of length 1: there w = v / (|v|_s^2 + s^2)^(1/2) with that slip s, if it is far
above v_s. What slides faster begins with w = t either way, without which the search would end less close to the
solution: with w = 0 for all 2.5e-5 of the energy of sliding bodies was not explained.
"""

from mbcli.engine.contact.laws.registry import friction_of, is_dual_kind
from mbcli.engine.fields.contact_fields import HAS_TORSIONAL, HUNT_CROSSLEY_STOPPED, HUNT_CROSSLEY_V_S
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root

NARROW = 100.0  # times v_s: a slip that friction stops in a step, beside which the region around rest is narrow


@kernel
def has_dual(solver, i):
    """Whether constraint i is a contact whose friction has a dual variable."""
    return is_dual_kind(solver.con_kind[i]) and solver.con_patch_size[i] != HAS_TORSIONAL


@kernel
def slip_speed(solver, i):
    """|v|_s of contact i at con_v."""
    v, v_s = solver.con_v, solver.con_law[i, HUNT_CROSSLEY_V_S]
    return square_root(v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v_s * v_s)


@kernel
def begin_duals(solver, k, near):
    """con_dual of the contacts of island k; near: whether con_v is so near to the solution that w = t there."""
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        for n in range(i, i + max(1, solver.con_patch_size[i])):
            if has_dual(solver, n):
                begin_dual(solver, n, near)


@kernel
def begin_dual(solver, i, near):
    w, v, size = solver.con_dual, solver.con_v, slip_speed(solver, i)
    stopped = solver.con_law[i, HUNT_CROSSLEY_STOPPED]
    if not near and stopped > NARROW * solver.con_law[i, HUNT_CROSSLEY_V_S]:
        size = square_root(size * size + stopped * stopped)
    inverse = 1.0 / size
    w[i, 0], w[i, 1] = inverse * v[i, 0], inverse * v[i, 1]


@kernel
def move_duals(solver, k):
    """con_dual, before con_v moves along con_dv: as a whole step of Newton's method has it, at most 1."""
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        for n in range(i, i + max(1, solver.con_patch_size[i])):
            if has_dual(solver, n):
                move_dual(solver, n)


@kernel
def move_dual(solver, i):
    w, v, dv = solver.con_dual, solver.con_v, solver.con_dv
    inverse = 1.0 / slip_speed(solver, i)
    x, y, a, b = v[i, 0], v[i, 1], dv[i, 0], dv[i, 1]
    along = inverse * inverse * (x * a + y * b)
    p = inverse * (x + a) - along * w[i, 0]
    q = inverse * (y + b) - along * w[i, 1]
    size = max(1.0, square_root(p * p + q * q))
    w[i, 0], w[i, 1] = p / size, q / size


@kernel
def dual_hessian(solver, i):
    """In place of the second derivatives of the cost of contact i at con_v: xx, yy, zz, xy, xz, yz."""
    v, w = solver.con_v, solver.con_dual
    size = slip_speed(solver, i)
    tx, ty = v[i, 0] / size, v[i, 1] / size
    a, mu, c = friction_of(solver, i, size, v[i, 2])
    b = mu * mu * c
    xx, yy = a * (1.0 - w[i, 0] * tx) + b * tx * tx, a * (1.0 - w[i, 1] * ty) + b * ty * ty
    xy = b * tx * ty - 0.5 * a * (w[i, 0] * ty + w[i, 1] * tx)
    return xx, yy, c, xy, -mu * c * tx, -mu * c * ty

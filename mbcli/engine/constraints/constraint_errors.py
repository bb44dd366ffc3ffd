"""Position errors of constraints, and along which axes they change.

A turn R of S in P is measured by e = 2 u sin(angle / 2), twice the vector of its quaternion with positive scalar: it
has the length of the angle if that is small, and no zero but R = 1, so that frames which are turned by 180 degrees
are not taken for aligned. If turns about one axis c of P are free, the error is that of the smallest turn which
takes c to where S has it, 2 c x h with h half way between: it does not depend on the free angle.
"""

from mbcli.engine.constraints.constraint_frames import (
    ALIGN,
    COUPLER,
    CUSTOM,
    DISTANCE,
    PERPENDICULAR,
    SLIDE,
    THREAD,
    TWIST,
    separation,
)
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.frame_motion import axes_on_body, components, from_components
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, subtract
from mbcli.engine.smooth.trigonometry import arctangent, sign_of, sine_cosine, square_root

OPPOSITE = 1e-9  # distance of two unit vectors from being opposite, below which they have no smallest turn


@slot(lanes="queries.lanes.rotation_quaternion")
def rotation_quaternion(x, y, z):
    """Scalar, which is not negative, and vector of the quaternion of the rotation matrix with columns x, y, z.

    From the largest of its elements, the others (Shepperd 1978).
    """
    trace = x[0] + y[1] + z[2]
    p, q, r = y[2] - z[1], z[0] - x[2], x[1] - y[0]
    if x[0].real > trace.real and x[0].real >= y[1].real and x[0].real >= z[2].real:
        w, a, b, c = p, 1.0 + 2.0 * x[0] - trace, x[1] + y[0], x[2] + z[0]
    elif y[1].real > trace.real and y[1].real >= z[2].real:
        w, a, b, c = q, x[1] + y[0], 1.0 + 2.0 * y[1] - trace, y[2] + z[1]
    elif z[2].real > trace.real:
        w, a, b, c = r, x[2] + z[0], y[2] + z[1], 1.0 + 2.0 * z[2] - trace
    else:
        w, a, b, c = 1.0 + trace, p, q, r
    s = sign_of(w) / square_root(w * w + a * a + b * b + c * c)
    return s * w, (s * a, s * b, s * c)


@slot(lanes="queries.lanes.half_way")
def half_way(c, d):
    """Unit vector between unit vectors c and d, one over the length of their sum; if they are opposite, a normal."""
    total = add(c, d)
    square = dot(total, total)
    if square.real < OPPOSITE * OPPOSITE:
        total = (c[1], -c[0], 0.0 * c[2])
        if dot(total, total).real < 0.4:
            total = (0.0 * c[0], c[2], -c[1])
        square = dot(total, total)
    per_length = 1.0 / square_root(square)
    return scale(per_length, total), per_length


@kernel
def turn_error(a, x, y, z):
    """The turn of the frame with axes x, y, z along a, all in P."""
    _, u = rotation_quaternion(x, y, z)
    return 2.0 * dot(a, u)


@kernel
def swing_error(a, c, d):
    """The turn along a, from axis c of P to where S has it, d; all in P."""
    h, _ = half_way(c, d)
    return 2.0 * dot(a, cross(c, h))


@kernel
def thread_error(c, travel, r, x, y, z):
    """How far, along c [m], a nut at r is from the next thread of a screw along c."""
    w, u = rotation_quaternion(x, y, z)
    angle = dot(c, r) / travel - 2.0 * arctangent(dot(c, u), w)
    sine, cosine = sine_cosine(angle)
    return travel * arctangent(sine, cosine)


@kernel
def turning_axis(cons, i, a, x, y, z):
    """Rotational part of the axis in P along which the error of row i changes, for S with axes x, y, z in P."""
    kind, c, travel = cons.row_kind[i], row3(cons.row_second, i, 0), cons.row_constant[i]
    w, u = rotation_quaternion(x, y, z)
    if kind == TWIST:
        return add(scale(w, a), cross(u, a))
    if kind == ALIGN:
        d = from_components((x, y, z), c)
        h, per_length = half_way(c, d)
        g = cross(a, c)
        return scale(2.0 * per_length, cross(d, subtract(g, scale(dot(h, g), h))))
    s = dot(c, u)
    along = add(scale(w, add(scale(w, c), cross(u, c))), scale(s, u))
    return scale(-travel / (w * w + s * s), along)


@kernel
def position_errors(model, data, cons, work):
    """After position_kinematics -> err, but for rows that the caller gives."""
    for c in range(cons.constraint_rows.shape[0]):
        P = axes_on_body(data, cons.constraint_body[c, 0], cons.constraint_X_BP, c)
        S = axes_on_body(data, cons.constraint_body[c, 1], cons.constraint_X_BS, c)
        x, y, z = components(P, S[0]), components(P, S[1]), components(P, S[2])
        r = components(P, separation(model, data, cons, c))
        for i in range(cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]):
            kind, constant = cons.row_kind[i], cons.row_constant[i]
            a, along, second = row3(cons.row_axis, i, 0), row3(cons.row_axis, i, 3), row3(cons.row_second, i, 0)
            if kind == SLIDE:
                work.err[i] = dot(along, r)
            elif kind == TWIST:
                work.err[i] = dot(along, r) + turn_error(a, x, y, z)
            elif kind == ALIGN:
                work.err[i] = dot(along, r) + swing_error(a, second, from_components((x, y, z), second))
            elif kind == THREAD:
                work.err[i] = thread_error(second, constant, r, x, y, z)
            elif kind == PERPENDICULAR:
                work.err[i] = dot(a, from_components((x, y, z), second))
            elif kind == DISTANCE:
                work.err[i] = 0.5 * (dot(r, r) / constant - constant)
            elif kind == COUPLER:
                work.err[i] = -constant
            elif kind != CUSTOM:
                work.err[i] = 0.0 * constant
    for k in range(cons.term_row.shape[0]):
        work.err[cons.term_row[k]] += cons.term_coefficient[k] * data.q[cons.term_q[k]]

"""How a tendon passes a sphere or a cylinder: the shortest way around it, or through it if its side is inside.

As MuJoCo's, with the same iteration, so that lengths are the same to rounding: the path is found in the plane of a
circle, of a sphere that through both points and the centre, of a cylinder that across its axis.
https://mujoco.readthedocs.io/en/stable/XMLreference.html#tendon-spatial
"""

from mbcli.engine.fields.model_fields import PATH_CYLINDER, PATH_SPHERE
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, scale
from mbcli.engine.smooth.trigonometry import arctangent, sine_cosine, square_root

LEAST = 1e-15  # of what is divided by
PI = 3.141592653589793
FIRST_SINE, MOST_WRAP_STEPS, SETTLED = 1.0 - 1e-7, 20, 1e-6  # of the iteration for a point inside


@kernel
def wrap_solid(kind, radius, a, b, side, has_side):
    """(arc, p, q): the tendon from a to b touches the solid from p to q, of which arc [m] is the length.

    All points are in the frame of the solid; an arc below zero says that the straight line does not touch it.
    """
    free = 0.0 * radius - 1.0
    aa, bb = dot(a, a), dot(b, b)
    if radius.real < LEAST or aa.real < LEAST * LEAST or bb.real < LEAST * LEAST:
        return free, a, b
    first, second = circle_axes(kind, a, b)
    ax, ay, bx, by = dot(a, first), dot(a, second), dot(b, first), dot(b, second)
    sx, sy = dot(side, first), dot(side, second)
    if has_side and dot(side, side).real < (radius * radius).real:
        arc, px, py, qx, qy = through_circle(ax, ay, bx, by, radius)
    else:
        arc, px, py, qx, qy = around_circle(ax, ay, bx, by, sx, sy, has_side, radius)
    if arc.real < 0.0:
        return free, a, b
    p = add(scale(px, first), scale(py, second))
    q = add(scale(qx, first), scale(qy, second))
    if kind == PATH_CYLINDER:
        before = square_root((ax - px) * (ax - px) + (ay - py) * (ay - py))
        behind = square_root((bx - qx) * (bx - qx) + (by - qy) * (by - qy))
        rise = (b[2] - a[2]) / (before + arc + behind)
        p, q = (p[0], p[1], a[2] + rise * before), (q[0], q[1], a[2] + rise * (before + arc))
        arc = square_root(arc * arc + (q[2] - p[2]) * (q[2] - p[2]))
    return arc, p, q


@kernel
def circle_axes(kind, a, b):
    """Two unit vectors of the plane in which the circle lies."""
    nothing = 0.0 * a[0]
    x, y = (nothing + 1.0, nothing, nothing), (nothing, nothing + 1.0, nothing)
    if kind != PATH_SPHERE:
        return x, y
    first = scale(1.0 / square_root(dot(a, a)), a)
    normal = cross(a, b)
    size = square_root(dot(normal, normal))
    if size.real < LEAST:  # in a line with the centre: any plane will do
        normal = cross(first, x if abs(first[0].real) < 0.5 else y)
        size = square_root(dot(normal, normal))
    second = cross(scale(1.0 / size, normal), first)
    return first, scale(1.0 / square_root(dot(second, second)), second)


@kernel
def around_circle(ax, ay, bx, by, sx, sy, has_side, radius):
    """(arc, px, py, qx, qy): of the two ways along tangents the one that crosses the ray from the centre to the side.

    Where a and b are on one side of the line of this ray, it decides nothing: the shorter way is taken.
    """
    free = 0.0 * ax - 1.0
    aa, bb, rr = ax * ax + ay * ay, bx * bx + by * by, radius * radius
    dx, dy = bx - ax, by - ay
    dd = dx * dx + dy * dy
    if aa.real < rr.real or bb.real < rr.real:
        return free, ax, ay, bx, by
    t = -(dx * ax + dy * ay).real / dd.real if dd.real > LEAST else 0.0
    t = min(max(t, 0.0), 1.0)
    x, y = ax + t * dx, ay + t * dy  # nearest to the centre
    from_a, from_b = (ax * sy - ay * sx).real, (bx * sy - by * sx).real
    decides = has_side and from_a * from_b < 0.0
    passes = not decides or from_a * (ax * by - ay * bx).real >= 0.0  # the line itself crosses the ray
    if (x * x + y * y).real > rr.real and passes:
        return free, ax, ay, bx, by
    along_a, along_b = square_root(aa - rr), square_root(bb - rr)
    best, best_sign = -1e300, 1.0
    for k in range(2):
        px, py, qx, qy = tangent_points(ax, ay, bx, by, aa, bb, along_a, along_b, radius, 1.0 - 2.0 * k)
        if lines_cross(ax, ay, px, py, bx, by, qx, qy):
            good = -10000.0
        elif decides:
            good = -from_a * (1.0 - 2.0 * k)
        else:
            good = -((px - qx) * (px - qx) + (py - qy) * (py - qy)).real
        if good > best:
            best, best_sign = good, 1.0 - 2.0 * k
    px, py, qx, qy = tangent_points(ax, ay, bx, by, aa, bb, along_a, along_b, radius, best_sign)
    if lines_cross(ax, ay, px, py, bx, by, qx, qy):
        return free, ax, ay, bx, by
    angle = best_sign * arctangent(py * qx - px * qy, px * qx + py * qy)
    if angle.real < 0.0:
        angle = angle + 2.0 * PI
    return radius * angle, px, py, qx, qy


@kernel
def tangent_points(ax, ay, bx, by, aa, bb, along_a, along_b, radius, sign):
    """Where the tangents from a and from b, which run around the circle in one sense, touch it."""
    turn_a, turn_b, rr = sign * radius * along_a, sign * radius * along_b, radius * radius
    return (
        (ax * rr + turn_a * ay) / aa,
        (ay * rr - turn_a * ax) / aa,
        (bx * rr - turn_b * by) / bb,
        (by * rr + turn_b * bx) / bb,
    )


@kernel
def lines_cross(ax, ay, px, py, bx, by, qx, qy):
    """Whether the lines from a to p and from b to q have a point in common."""
    determinant = ((qy - by) * (px - ax) - (qx - bx) * (py - ay)).real
    if abs(determinant) < LEAST:
        return False
    s = ((qx - bx) * (ay - by) - (qy - by) * (ax - bx)).real / determinant
    t = ((px - ax) * (ay - by) - (py - ay) * (ax - bx)).real / determinant
    return 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0


@kernel
def through_circle(ax, ay, bx, by, radius):
    """(0, px, py, px, py): the tendon is held at one point of the circle, with equal angles to both sides; or free.

    With z the sine of these angles, asin(A z) + asin(B z) - 2 asin(z) + G = 0 by Newton's method; where that finds
    nothing, the point is the one between both directions.
    """
    free, nothing = 0.0 * ax - 1.0, 0.0 * ax
    aa, bb, rr = ax * ax + ay * ay, bx * bx + by * by, radius * radius
    dx, dy = bx - ax, by - ay
    dd = dx * dx + dy * dy
    if aa.real <= rr.real or bb.real <= rr.real:
        return free, ax, ay, bx, by
    if dd.real > LEAST:
        t = -(dx * ax + dy * ay) / dd
        x, y = ax + t * dx, ay + t * dy
        if 0.0 < t.real < 1.0 and (x * x + y * y).real <= rr.real:
            return free, ax, ay, bx, by
    mx, my = 0.5 * (ax + bx), 0.5 * (ay + by)
    size = square_root(mx * mx + my * my)
    mx, my = radius * mx / size, radius * my / size
    length_a, length_b = square_root(aa), square_root(bb)
    cosine = (ax * bx + ay * by) / (length_a * length_b)
    if cosine.real < -1.0 + LEAST:
        return free, ax, ay, bx, by
    if cosine.real > 1.0 - LEAST:
        return nothing, mx, my, mx, my
    A, B = radius / length_a, radius / length_b
    z, found = sine_of_reflection(A, B, arctangent(square_root(1.0 - cosine * cosine), cosine))
    if not found:
        return nothing, mx, my, mx, my
    if (ax * by - ay * bx).real > 0.0:
        ux, uy, angle = ax / length_a, ay / length_a, arc_sine(z) - arc_sine(A * z)
    else:
        ux, uy, angle = bx / length_b, by / length_b, arc_sine(z) - arc_sine(B * z)
    s, c = sine_cosine(angle)
    px, py = radius * (c * ux - s * uy), radius * (s * ux + c * uy)
    return nothing, px, py, px, py


@kernel
def sine_of_reflection(A, B, G):
    """(z, whether it was found) of asin(A z) + asin(B z) - 2 asin(z) + G = 0, from above."""
    z = 0.0 * A + FIRST_SINE
    f = reflection_error(A, B, G, z)
    if f.real > 0.0:
        return z, False
    for _ in range(MOST_WRAP_STEPS):
        if abs(f.real) <= SETTLED:
            return z, True
        slope = A / square_root(1.0 - z * z * A * A) + B / square_root(1.0 - z * z * B * B)
        slope = slope - 2.0 / square_root(1.0 - z * z)
        if slope.real > -LEAST:
            return z, False
        following = z - f / slope
        if following.real > z.real:
            return z, False
        z = following
        f = reflection_error(A, B, G, z)
        if f.real > SETTLED:
            return z, False
    return z, abs(f.real) <= SETTLED


@kernel
def reflection_error(A, B, G, z):
    return arc_sine(A * z) + arc_sine(B * z) - 2.0 * arc_sine(z) + G


@kernel
def arc_sine(x):
    return arctangent(x, square_root(1.0 - x * x))

"""Faces of contact surfaces in continuous plants: pressure and friction, integrated over each.

The traction at a point is the pressure p (1 - d v_n)_+ along the normal (Hunt and Crossley 1975) and friction against
the slip v_t, of 2/pi mu arctan(|v_t| / v_s) times that with the stiction tolerance v_s, as pydrake has it for contact
surfaces. A triangle has three points, which integrate moments of a linear pressure exactly; a polygon one, its
centroid.
"""

from mbcli.engine.contact.continuous_contact import add_force_at, friction_power
from mbcli.engine.contact.samples import append_contact
from mbcli.engine.contact.tangents import has_direction, scaled_slip
from mbcli.engine.fields.collision_fields import COLLISION_FACES, FACES_TRIANGLES
from mbcli.engine.fields.contact_fields import (
    FACE_AREA,
    FACE_MOMENT,
    FACE_PRESSURE,
    SAMPLES_FRICTION_POWER,
    SAMPLES_STICTION,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import velocity_at
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import arctangent, square_root

PI = 3.141592653589793


@kernel
def traction_of_face(model, data, c, points, n, samples, row):
    """As continuous_contact.act_on_face(), after velocity_kinematics."""
    v_s = samples.settings[SAMPLES_STICTION]
    C, area, normal = row3(points.position, n, 0), points.face[n, FACE_AREA], row3(points.normal, n, 0)
    power = 0.0
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    at_C, separation, slip, tangential = traction_at(model, data, points, n, C, points.face[n, FACE_PRESSURE], v_s)
    if c.counts[COLLISION_FACES] & FACES_TRIANGLES:
        first = points.corner_start[n]
        for k in range(3):
            Q, pressure = gauss_point(points.corners, first, k)
            traction, _, slip_at_Q, tangential = traction_at(model, data, points, n, Q, pressure, v_s)
            part = scale(area / 3.0, traction)
            power += power_on_face(points, n, part, normal, slip_at_Q, tangential)
            force = add(force, part)
            moment = add(moment, cross(subtract(Q, C), part))
    else:
        force = scale(area, at_C)
        power = power_on_face(points, n, force, normal, slip, tangential)
    if row >= 0:
        set_row3(points.face, n, FACE_MOMENT, moment)
        append_contact(samples, row, points, n, points.law[n, 0], C, force, separation, slip)
        return
    samples.settings[SAMPLES_FRICTION_POWER] += power
    for side in range(2):
        b = points.body[n, side]
        sign = 1.0 if side == 0 else -1.0
        add_force_at(model, data, b, C, scale(sign, force))
        set_row3(data.F_applied, b, 0, add(row3(data.F_applied, b, 0), scale(sign, moment)))


@kernel
def gauss_point(corners, first, k):
    """(position, pressure) at point k of a triangle, two thirds of the way from a side to the opposite corner."""
    a, b, c = row3(corners, first, 0), row3(corners, first + 1, 0), row3(corners, first + 2, 0)
    p, q, r = corners[first, 3], corners[first + 1, 3], corners[first + 2, 3]
    sixth = 1.0 / 6.0
    middle, mean = scale(sixth, add(a, add(b, c))), sixth * (p + q + r)
    most = corners[first + k, 3]
    return add(middle, scale(0.5, row3(corners, first + k, 0))), mean + 0.5 * most


@kernel
def traction_at(model, data, points, n, Q, pressure, v_s):
    """(traction on A in W [Pa], speed of separation, speed of slip, the slip in W) at a point of face n."""
    a, b = points.body[n, 0], points.body[n, 1]
    _, v_A = velocity_at(data, a, subtract(Q, row3(data.X_WB, model.body_root[a], 9)))
    _, v_B = velocity_at(data, b, subtract(Q, row3(data.X_WB, model.body_root[b], 9)))
    normal, v = row3(points.normal, n, 0), subtract(v_A, v_B)
    separation = dot(normal, v)
    tangential = subtract(v, scale(separation, normal))
    slip = square_root(dot(tangential, tangential))
    pressed = max(0.0, pressure) * max(0.0, 1.0 - points.law[n, 1] * separation)
    traction = scale(pressed, normal)
    if has_direction(points, n):
        u = scaled_slip(points, n, tangential)
        size = square_root(dot(u, u))
        if size > 0.0:
            friction = 2.0 / PI * points.law[n, 3] * arctangent(size, v_s) * pressed
            traction = subtract(traction, scale(friction / size, scaled_slip(points, n, u)))
    elif slip > 0.0:
        friction = 2.0 / PI * points.law[n, 3] * arctangent(slip, v_s) * pressed
        traction = subtract(traction, scale(friction / slip, tangential))
    return traction, separation, slip, tangential


@kernel
def power_on_face(points, n, force, normal, slip, tangential):
    """Power of friction [W]; tangential: the slip as a vector in W."""
    if has_direction(points, n):
        return dot(force, tangential)
    return friction_power(force, normal, slip)

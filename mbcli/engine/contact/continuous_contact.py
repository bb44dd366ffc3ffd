"""Point contact by a law of forces, without a solver: that of continuous plants.

Normal force k x (1 - d v_n)_+ at the penetration x and the speed of separation v_n (Hunt and Crossley 1975), friction
against the slip with a coefficient that rises smoothly to the static one at the stiction tolerance v_s and falls to the
dynamic one at three times that (Stribeck). Forces act halfway between the surfaces, as in pydrake's continuous plants.
"""

from mbcli.engine.contact.samples import append_contact, begin_row
from mbcli.engine.contact.tangents import has_direction, scaled_slip
from mbcli.engine.contact.torsional import REACH, has_torsional_friction, length_of_torsional, torsional_scales
from mbcli.engine.fields.collision_fields import COLLISION_STATUS
from mbcli.engine.fields.contact_fields import (
    FACE_AREA,
    FACE_MOMENT,
    PAIR_RESTITUTION,
    PAIR_THRESHOLD,
    SAMPLES_FRICTION_POWER,
    SAMPLES_LACKING,
    SAMPLES_NO_ROW,
    SAMPLES_STICTION,
)
from mbcli.engine.fields.model_fields import CONTACT_AT_COLLISION, CONTACT_AT_FIND
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import collision_at, data_at, model_at, points_at, samples_at
from mbcli.engine.runtime.kernel import called, kernel, slot
from mbcli.engine.smooth.frame_motion import velocity_at
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

CALM = 0.3  # of the threshold: below it, about, what bounces is damped and comes to rest
TURN = 0.1  # of the threshold: the speed within which the force of what bounces goes from together to apart


@called
def contact_by_law(model, data, points, samples, row):
    """After velocity_kinematics, called by address; returns 1.0 if there was no room, else 0.0.

    row < 0: F_applied = forces of contact. Otherwise the contacts become that row of the samples.
    """
    m, d, p, s = model_at(model), data_at(data), points_at(points), samples_at(samples)
    c = collision_at(d.contact[CONTACT_AT_COLLISION])
    call_by_address(d.contact[CONTACT_AT_FIND], model, data, points, d.contact[CONTACT_AT_COLLISION], 0.0)
    s.counts[SAMPLES_LACKING] |= c.counts[COLLISION_STATUS]
    r = int(row)
    if r < 0:
        s.settings[SAMPLES_FRICTION_POWER] = 0.0
        for b in range(d.F_applied.shape[0]):
            for k in range(6):
                d.F_applied[b, k] = 0.0
    else:
        begin_row(s, r)
    for n in range(p.count[0]):
        if p.face[n, FACE_AREA] > 0.0:
            act_on_face(m, d, c, p, n, s, r)
            continue
        C = middle_of_overlap(c, p, n)
        if has_torsional_friction(p, n):
            act_and_turn(m, d, p, n, C, s, r)
            continue
        force, separation, slip, power = force_at_point(m, d, p, n, C, s.settings[SAMPLES_STICTION])
        if r < 0:
            s.settings[SAMPLES_FRICTION_POWER] += power
            add_force_at(m, d, p.body[n, 0], C, force)
            add_force_at(m, d, p.body[n, 1], C, scale(-1.0, force))
        else:
            append_contact(s, r, p, n, p.law[n, 0], C, force, separation, slip)
    if r >= 0 and s.counts[SAMPLES_LACKING] & SAMPLES_NO_ROW == 0:
        s.iterations[r], s.residual[r] = 0, 0.0
    return 1.0 if s.counts[SAMPLES_LACKING] != 0 else 0.0


@slot(surfaces="contact.surface_traction.traction_of_face")
def act_on_face(model, data, c, points, n, samples, row):
    """Forces of contact n, a face of a contact surface, on the bodies; or, from row 0 on, a row of the samples."""


@kernel
def act_and_turn(model, data, points, n, C, samples, row):
    """As act_on_face(), of contact n at C, a point that resists turning."""
    v_s = samples.settings[SAMPLES_STICTION]
    force, moment, separation, slip, power = force_and_moment(model, data, points, n, C, v_s)
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
def middle_of_overlap(c, points, n):
    """Halfway between the surfaces at contact point n, which is nearer to the stiffer one."""
    k_A, k_B = c.material[points.geometry[n, 0], 0], c.material[points.geometry[n, 1], 0]
    shift = (0.5 - k_A / (k_A + k_B)) * points.distance[n]
    return add(row3(points.position, n, 0), scale(shift, row3(points.normal, n, 0)))


@kernel
def force_at_point(model, data, points, n, C, stiction_tolerance):
    """Of contact point n at C in W: force on A in W, speeds of separation and of slip, power of friction [W]."""
    a, b = points.body[n, 0], points.body[n, 1]
    _, v_A = velocity_at(data, a, subtract(C, row3(data.X_WB, model.body_root[a], 9)))
    _, v_B = velocity_at(data, b, subtract(C, row3(data.X_WB, model.body_root[b], 9)))
    normal = row3(points.normal, n, 0)
    v = subtract(v_A, v_B)
    if has_direction(points, n):
        return force_with_direction(points, n, normal, v, stiction_tolerance)
    force, separation, slip = contact_force(points.law, n, normal, points.distance[n], v, stiction_tolerance)
    return force, separation, slip, friction_power(force, normal, slip)


@kernel
def force_with_direction(points, n, normal, v, stiction_tolerance):
    """The same where friction depends on the direction: of the slip u of tangents.py."""
    separation = dot(normal, v)
    tangential = subtract(v, scale(separation, normal))
    slip, u = square_root(dot(tangential, tangential)), scaled_slip(points, n, tangential)
    size = square_root(dot(u, u))
    pressed = pressing_force(points.law, n, points.distance[n], separation)
    force, power = scale(pressed, normal), 0.0
    if size > 0.0:
        s = -stribeck(size / stiction_tolerance, points.law[n, 4], points.law[n, 3]) * pressed / size
        force = add(force, scale(s, scaled_slip(points, n, u)))
        power = s * size * size
    return force, separation, slip, power


@kernel
def force_and_moment(model, data, points, n, C, stiction_tolerance):
    """Of a contact that resists turning.

    Force on A, moment on A about C, both in W; speeds of separation and slip; power of friction and moment [W].
    Friction acts against the slip u of torsional.py, which has the scaled angular velocities too.
    """
    a, b = points.body[n, 0], points.body[n, 1]
    w_A, v_A = velocity_at(data, a, subtract(C, row3(data.X_WB, model.body_root[a], 9)))
    w_B, v_B = velocity_at(data, b, subtract(C, row3(data.X_WB, model.body_root[b], 9)))
    v, w, normal = subtract(v_A, v_B), subtract(w_A, w_B), row3(points.normal, n, 0)
    separation, spin = dot(normal, v), dot(normal, w)
    tangential, roll = subtract(v, scale(separation, normal)), subtract(w, scale(spin, normal))
    rolling, torsion = torsional_scales(points, n)
    slip, acting = square_root(dot(tangential, tangential)), tangential
    square = slip * slip
    if has_direction(points, n):
        acting = scaled_slip(points, n, tangential)
        square = dot(acting, acting)
        acting = scaled_slip(points, n, acting)
    u = square_root(square + rolling * rolling * dot(roll, roll) + torsion * torsion * spin * spin)
    pressed = pressing_force(points.law, n, points.distance[n], separation)
    force, moment, power = scale(pressed, normal), (0.0, 0.0, 0.0), 0.0
    if u > 0.0:
        tolerance = length_of_torsional(rolling, torsion) / REACH * stiction_tolerance
        s = -stribeck(u / tolerance, points.law[n, 4], points.law[n, 3]) * pressed / u
        force = add(force, scale(s, acting))
        moment = add(scale(s * rolling * rolling, roll), scale(s * torsion * torsion * spin, normal))
        power = s * u * u
    return force, moment, separation, slip, power


@kernel
def pressing_force(law, n, distance, separation):
    """Normal force of contact n: by Hunt and Crossley, or with the restitution of its pair."""
    if law[n, PAIR_RESTITUTION] > 0.0:
        return law[n, 0] * max(0.0, -distance) * share_of_bounce(law, n, separation)
    return law[n, 0] * max(0.0, -distance) * max(0.0, 1.0 - law[n, 1] * separation)


@kernel
def share_of_bounce(law, n, separation):
    """Of the elastic force, in what bounces: e^2 times as much apart as together, so that e^2 of the energy comes back.

    1 at rest, and with the dissipation of Hunt and Crossley well below the threshold.
    """
    e, threshold = law[n, PAIR_RESTITUTION], law[n, PAIR_THRESHOLD]
    x = separation / (TURN * threshold)
    loss = (1.0 - e * e) / (1.0 + e * e) * x / square_root(1.0 + x * x)
    x = separation / (CALM * threshold)
    x *= x
    return max(0.0, 1.0 - loss) * max(0.0, 1.0 - law[n, 1] * separation / (1.0 + x * x))


@kernel
def contact_force(law, n, normal, distance, v, stiction_tolerance):
    """(force on A in W, speed of separation, speed of slip) of one contact point.

    law[n]: stiffness, dissipation, relaxation time, dynamic and static friction. normal: unit vector out of B into A.
    distance: of the surfaces, negative if they overlap. v: velocity of A relative to B at the point.
    """
    separation = dot(normal, v)
    tangential = subtract(v, scale(separation, normal))
    slip = square_root(dot(tangential, tangential))
    pressed = pressing_force(law, n, distance, separation)
    force = scale(pressed, normal)
    if slip > 0.0:
        friction = stribeck(slip / stiction_tolerance, law[n, 4], law[n, 3]) * pressed
        force = subtract(force, scale(friction / slip, tangential))
    return force, separation, slip


@kernel
def friction_power(force, normal, slip):
    """Power of the part of a force across the normal, which is against the slip [W]."""
    friction = subtract(force, scale(dot(force, normal), normal))
    return -slip * square_root(dot(friction, friction))


@kernel
def stribeck(s, static, dynamic):
    """Coefficient of friction at slip s, in units of the stiction tolerance."""
    if s >= 3.0:
        return dynamic
    if s >= 1.0:
        return static - (static - dynamic) * smooth_step((s - 1.0) / 2.0)
    return static * smooth_step(s)


@kernel
def smooth_step(x):
    """From 0 at 0 to 1 at 1, with first and second derivatives 0 there."""
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


@kernel
def add_force_at(model, data, b, point, force):
    """F_applied of body b += a force at a point in W."""
    torque = cross(subtract(point, row3(data.X_WB, model.body_root[b], 9)), force)
    set_row3(data.F_applied, b, 0, add(row3(data.F_applied, b, 0), torque))
    set_row3(data.F_applied, b, 3, add(row3(data.F_applied, b, 3), force))

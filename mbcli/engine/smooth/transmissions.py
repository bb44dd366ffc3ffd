"""What actuators act through: lengths of transmissions and their moments, the rates per unit of each velocity.

A length is a sum of coordinates, the path of a tendon over points, spheres and cylinders, a coordinate of a site in
another one, or that of a slider-crank; a force at a site has a moment without a length. All are times the gear. The
force f of an actuator is moment^T f on the velocities.
"""

from mbcli.engine.fields.model_fields import (
    NUMBERS_GEAR,
    OF_CRANK,
    OF_PATH,
    OF_SITE,
    OF_SUM,
    PATH_POINT,
    PATH_PULLEY,
    TRANSMISSION_END,
    TRANSMISSION_FIRST,
    TRANSMISSION_KIND,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import (
    axes_on_body,
    components,
    from_components,
    from_reference_of,
    origin_on_body,
)
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, subtract
from mbcli.engine.smooth.tendon_wraps import wrap_solid
from mbcli.engine.smooth.trigonometry import arctangent, square_root

LEAST = 1e-15  # [m] of a part of a path that has a direction


@kernel
def measure_transmissions(model, data):
    """After position_kinematics: v -> transmission_length, transmission_moment, transmission_rate."""
    for i in range(model.transmission_kinds.shape[0]):
        for d in range(data.v.shape[0]):
            data.transmission_moment[i, d] = 0.0
        kind = model.transmission_kinds[i, TRANSMISSION_KIND]
        if kind == OF_SUM:
            length = measure_sum(model, data, i)
        elif kind == OF_PATH:
            length = measure_path(model, data, i)
        elif kind == OF_CRANK:
            length = measure_crank(model, data, i)
        elif kind == OF_SITE:
            length = push_at_site(model, data, i)
        else:
            length = measure_site(model, data, i)
        rate = 0.0 * length
        for d in range(data.v.shape[0]):
            rate += data.transmission_moment[i, d] * data.v[d]
        data.transmission_length[i], data.transmission_rate[i] = length, rate


@kernel
def add_moment(model, data, i, b, r, torque, force):
    """transmission_moment[i] += what a torque, and a force at r from Ro, on body b are to each velocity."""
    turning = add(torque, cross(r, force))
    d = model.body_v[b] + model.body_nv[b] - 1  # -1 for World
    while d >= 0:
        data.transmission_moment[i, d] += dot(row3(data.S, d, 0), turning) + dot(row3(data.S, d, 3), force)
        d = model.dof_parent[d]


@kernel
def measure_sum(model, data, i):
    """Of coordinates: that of a joint, or a fixed tendon."""
    gear = model.transmission_numbers[i, NUMBERS_GEAR]
    length = 0.0 * gear
    for k in range(model.transmission_kinds[i, TRANSMISSION_FIRST], model.transmission_kinds[i, TRANSMISSION_END]):
        d, coefficient = model.sum_dof[k], gear * model.sum_coefficient[k]
        length += coefficient * data.q[model.dof_q[d]]
        data.transmission_moment[i, d] += coefficient
    return length


# --------------------------------------------------------------------------------------------- paths


@kernel
def measure_path(model, data, i):
    """Of a tendon; parts behind a pulley count by its divisor."""
    gear, k = model.transmission_numbers[i, NUMBERS_GEAR], model.transmission_kinds[i, TRANSMISSION_FIRST]
    last, part, length = model.transmission_kinds[i, TRANSMISSION_END] - 1, gear, 0.0 * gear
    while k < last:
        if model.path_kind[k] == PATH_PULLEY:
            part = gear / model.path_size[k]
            k += 1
        elif model.path_kind[k + 1] == PATH_PULLEY:
            k += 1
        elif model.path_kind[k + 1] == PATH_POINT:
            a, b = model.path_body[k], model.path_body[k + 1]
            p, q = origin_on_body(data, a, model.path_X_B, k), origin_on_body(data, b, model.path_X_B, k + 1)
            length += part * measure_line(model, data, i, part, a, p, b, q)
            k += 1
        else:
            length += part * measure_wrap(model, data, i, part, k)
            k += 2
    return length


@kernel
def measure_line(model, data, i, part, a, p, b, q):
    """Distance of the points at p of body a and at q of body b, whose moments are added."""
    r = subtract(from_reference_of(model, data, q, b, a), p)
    length = square_root(dot(r, r))
    if a != b and length.real > LEAST:
        force, none = scale(part / length, r), scale(0.0, r)
        add_moment(model, data, i, b, q, none, force)
        add_moment(model, data, i, a, p, none, scale(-1.0, force))
    return length


@kernel
def measure_wrap(model, data, i, part, k):
    """Length from the point k over the solid k + 1 to the point k + 2."""
    a, g, b = model.path_body[k], model.path_body[k + 1], model.path_body[k + 2]
    p = origin_on_body(data, a, model.path_X_B, k)
    q = origin_on_body(data, b, model.path_X_B, k + 2)
    center, axes = origin_on_body(data, g, model.path_X_B, k + 1), axes_on_body(data, g, model.path_X_B, k + 1)
    side = center
    if model.path_side[k + 1] >= 0:
        n = model.path_side[k + 1]
        side = origin_on_body(data, model.path_body[n], model.path_X_B, n)
        side = from_reference_of(model, data, side, model.path_body[n], g)
    arc, t, u = wrap_solid(
        model.path_kind[k + 1],
        model.path_size[k + 1],
        components(axes, subtract(from_reference_of(model, data, p, a, g), center)),
        components(axes, subtract(from_reference_of(model, data, q, b, g), center)),
        components(axes, subtract(side, center)),
        model.path_side[k + 1] >= 0,
    )
    if arc.real < 0.0:
        return measure_line(model, data, i, part, a, p, b, q)
    t, u = add(center, from_components(axes, t)), add(center, from_components(axes, u))
    before = measure_line(model, data, i, part, a, p, g, t)
    return before + arc + measure_line(model, data, i, part, g, u, b, q)


# --------------------------------------------------------------------------------------------- sites


@kernel
def push_at_site(model, data, i):
    """The gear is a force and a torque along the axes of a site: 0, it has no length."""
    k = model.transmission_kinds[i, TRANSMISSION_FIRST]
    axes, b = axes_on_body(data, model.path_body[k], model.path_X_B, k), model.path_body[k]
    force = from_components(axes, row3(model.transmission_numbers, i, NUMBERS_GEAR))
    torque = from_components(axes, row3(model.transmission_numbers, i, NUMBERS_GEAR + 3))
    add_moment(model, data, i, b, origin_on_body(data, b, model.path_X_B, k), torque, force)
    return 0.0 * model.transmission_numbers[i, NUMBERS_GEAR]


@kernel
def measure_site(model, data, i):
    """Position and rotation vector of a site in another one, along the gear; without what moves both."""
    k = model.transmission_kinds[i, TRANSMISSION_FIRST]
    b, a = model.path_body[k], model.path_body[k + 1]
    sliding = row3(model.transmission_numbers, i, NUMBERS_GEAR)
    turning = row3(model.transmission_numbers, i, NUMBERS_GEAR + 3)
    site, other = axes_on_body(data, b, model.path_X_B, k), axes_on_body(data, a, model.path_X_B, k + 1)
    q, p = origin_on_body(data, b, model.path_X_B, k), origin_on_body(data, a, model.path_X_B, k + 1)
    r = subtract(from_reference_of(model, data, q, b, a), p)
    length = dot(components(other, r), sliding) + dot(rotation_between(other, site), turning)
    force, torque = from_components(other, sliding), from_components(other, turning)
    add_moment(model, data, i, b, q, torque, force)
    add_moment(model, data, i, a, p, scale(-1.0, torque), scale(-1.0, force))
    clear_common_moments(model, data, i, a, b)
    return length


@kernel
def clear_common_moments(model, data, i, a, b):
    """What carries both bodies does not change what is measured between them."""
    d, e = model.body_v[a] + model.body_nv[a] - 1, model.body_v[b] + model.body_nv[b] - 1
    while d >= 0 and e >= 0:
        if d == e:
            data.transmission_moment[i, d] = 0.0
            d = e = model.dof_parent[d]
        elif d > e:
            d = model.dof_parent[d]
        else:
            e = model.dof_parent[e]


@kernel
def rotation_between(other, site):
    """Rotation vector, at most half a turn, from the axes of one frame to those of another, along the first."""
    x, y, z = components(other, site[0]), components(other, site[1]), components(other, site[2])
    vector = (y[2] - z[1], z[0] - x[2], x[1] - y[0])  # 2 sin(angle) times the axis
    w = square_root(max_of(1.0 + x[0] + y[1] + z[2], 0.0 * x[0])) * 0.5
    if w.real > 0.1:
        vector = scale(0.25 / w, vector)
    else:  # near half a turn: by the largest diagonal element
        vector, w = vector_at_half_turn(x, y, z, vector)
    sine = square_root(dot(vector, vector))
    if sine.real < LEAST:
        return scale(0.0, vector)
    angle = 2.0 * arctangent(sine, w)
    if angle.real > 3.141592653589793:
        angle = angle - 6.283185307179586
    return scale(angle / sine, vector)


@kernel
def vector_at_half_turn(x, y, z, vector):
    """Vector part and scalar of the unit quaternion of the matrix with columns x, y, z."""
    if x[0].real >= y[1].real and x[0].real >= z[2].real:
        s = square_root(1.0 + x[0] - y[1] - z[2])
        return (0.5 * s, 0.5 * (x[1] + y[0]) / s, 0.5 * (x[2] + z[0]) / s), 0.5 * vector[0] / s
    if y[1].real >= z[2].real:
        s = square_root(1.0 - x[0] + y[1] - z[2])
        return (0.5 * (x[1] + y[0]) / s, 0.5 * s, 0.5 * (y[2] + z[1]) / s), 0.5 * vector[1] / s
    s = square_root(1.0 - x[0] - y[1] + z[2])
    return (0.5 * (x[2] + z[0]) / s, 0.5 * (y[2] + z[1]) / s, 0.5 * s), 0.5 * vector[2] / s


@kernel
def max_of(a, b):
    return a if a.real > b.real else b


@kernel
def measure_crank(model, data, i):
    """Where the slider stands along the z axis of its site, whose rod holds the crank: the elements are both sites."""
    k, gear = model.transmission_kinds[i, TRANSMISSION_FIRST], model.transmission_numbers[i, NUMBERS_GEAR]
    a, b, rod = model.path_body[k], model.path_body[k + 1], model.path_size[k]
    crank, slider = origin_on_body(data, a, model.path_X_B, k), origin_on_body(data, b, model.path_X_B, k + 1)
    _, _, axis = axes_on_body(data, b, model.path_X_B, k + 1)
    r = subtract(from_reference_of(model, data, crank, a, b), slider)
    along = dot(r, axis)
    square = along * along + rod * rod - dot(r, r)
    if square.real > 0.0:
        root = square_root(square)
        part, sideways = 1.0 - along / root, scale(1.0 / root, r)
    else:
        root, part, sideways = 0.0 * along, 0.0 * along + 1.0, scale(0.0, r)
    force = scale(gear, add(scale(part, axis), sideways))
    torque = cross(axis, scale(gear * part, r))
    add_moment(model, data, i, a, crank, scale(0.0, force), force)
    add_moment(model, data, i, b, slider, torque, scale(-1.0, force))
    return gear * (along - root)

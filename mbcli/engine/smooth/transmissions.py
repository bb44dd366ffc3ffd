"""What actuators act through: lengths of transmissions and their moments, the rates per unit of each velocity.

A length is a sum of coordinates, the path of a tendon over points, spheres and cylinders, a coordinate of a site in
another one, or that of a slider-crank; a force at a site, or at contacts, has a moment without a length. All are times
the gear. The force f of an actuator is moment^T f on the velocities. Moments at contacts are those of the last step:
contact/adhesion.py.
"""

from mbcli.engine.fields.model_fields import (
    NUMBERS_GEAR,
    OF_CONTACT,
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
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.frame_motion import (
    axes_on_body,
    components,
    from_components,
    from_reference_of,
    origin_on_body,
)
from mbcli.engine.smooth.inverse_dynamics import add_force
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, subtract
from mbcli.engine.smooth.tendon_wraps import wrap_solid
from mbcli.engine.smooth.trigonometry import arctangent, square_root

LEAST = 1e-15  # [m] of a part of a path that has a direction


@kernel
def measure_transmissions(model, data):
    """After position_kinematics: v -> transmission_length, transmission_moment, transmission_rate."""
    for i in range(model.transmission_kinds.shape[0]):
        measure_transmission(model, data, i)


@kernel
def measure_transmission(model, data, i):
    """The same of transmission i."""
    for d in range(data.v.shape[0]):
        data.transmission_moment[i, d] = 0.0
    length = measure(model, data, i, data.F_applied, 0)
    rate = 0.0 * length
    for d in range(data.v.shape[0]):
        rate += data.transmission_moment[i, d] * data.v[d]
    data.transmission_length[i], data.transmission_rate[i] = length, rate


@slot(plain="smooth.plain.add_transmissions_on_links")
def add_transmissions_on_links(model, data, F_link):
    """F_link (nlink, 6) += transmission_force on links at their origins. After position_kinematics.

    Actuators of joints are not among them: their forces are in the joints.
    """
    for i in range(model.transmission_kinds.shape[0]):
        if model.transmission_kinds[i, TRANSMISSION_KIND] == OF_CONTACT:
            pull_links(model, data, i, F_link)
        else:
            measure(model, data, i, F_link, 1)


@slot(contact="contact.adhesion.pull_links_at_contacts")
def pull_links(model, data, i, F_link):
    """The same of actuator i, which pulls at contacts."""


@kernel
def measure(model, data, i, F_link, at_links):
    """Length of transmission i; its moments are added, or, if at_links is 1, its forces on links to F_link.

    If it is 2, F_link is (nbody, 6) of bodies about Ro.
    """
    kind = model.transmission_kinds[i, TRANSMISSION_KIND]
    if kind == OF_SUM:
        return measure_sum(model, data, i, at_links)
    if kind == OF_PATH:
        return measure_path(model, data, i, F_link, at_links)
    if kind == OF_CRANK:
        return measure_crank(model, data, i, F_link, at_links)
    if kind == OF_CONTACT:
        return 0.0 * model.transmission_numbers[i, NUMBERS_GEAR]
    if kind == OF_SITE:
        return push_at_site(model, data, i, F_link, at_links)
    return measure_site(model, data, i, F_link, at_links)


@kernel
def add_moment(model, data, i, k, r, torque, force, F_link, at_links):
    """transmission_moment[i] += what a torque, and a force at r from Ro, at path element k are to each velocity.

    If at_links is not 0, F_link += these times transmission_force, see measure().
    """
    if at_links == 0 or model.path_link[k] >= 0:  # else a joint bears what acts on links
        b, link = model.path_body[k], model.path_link[k]
        add_moment_of_body(model, data, i, b, link, r, torque, force, F_link, at_links)


@kernel
def add_moment_of_body(model, data, i, b, link, r, torque, force, F_link, at_links):
    """The same at a link of body b."""
    if at_links != 0:
        f = data.transmission_force[i]
        add_force(model, data, F_link, at_links == 1, link, r, scale(f, torque), scale(f, force))
        return
    turning = add(torque, cross(r, force))
    d = model.body_v[b] + model.body_nv[b] - 1  # -1 for World
    while d >= 0:
        data.transmission_moment[i, d] += dot(row3(data.S, d, 0), turning) + dot(row3(data.S, d, 3), force)
        d = model.dof_parent[d]


@kernel
def measure_sum(model, data, i, at_links):
    """Of coordinates: that of a joint, or a fixed tendon."""
    gear = model.transmission_numbers[i, NUMBERS_GEAR]
    length = 0.0 * gear
    for k in range(model.transmission_kinds[i, TRANSMISSION_FIRST], model.transmission_kinds[i, TRANSMISSION_END]):
        d, coefficient = model.sum_dof[k], gear * model.sum_coefficient[k]
        length += coefficient * data.q[model.dof_q[d]]
        if at_links == 0:
            data.transmission_moment[i, d] += coefficient
    return length


# --------------------------------------------------------------------------------------------- paths


@kernel
def measure_path(model, data, i, F_link, at_links):
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
            p = origin_on_body(data, model.path_body[k], model.path_X_B, k)
            q = origin_on_body(data, model.path_body[k + 1], model.path_X_B, k + 1)
            length += part * measure_line(model, data, i, part, k, p, k + 1, q, F_link, at_links)
            k += 1
        else:
            length += part * measure_wrap(model, data, i, part, k, F_link, at_links)
            k += 2
    return length


@kernel
def measure_line(model, data, i, part, first, p, second, q, F_link, at_links):
    """Distance of the points at p and at q of the bodies of two path elements, whose moments are added."""
    a, b = model.path_body[first], model.path_body[second]
    r = subtract(from_reference_of(model, data, q, b, a), p)
    length = square_root(dot(r, r))
    if a != b and length.real > LEAST:
        force, none = scale(part / length, r), scale(0.0, r)
        add_moment(model, data, i, second, q, none, force, F_link, at_links)
        add_moment(model, data, i, first, p, none, scale(-1.0, force), F_link, at_links)
    return length


@kernel
def measure_wrap(model, data, i, part, k, F_link, at_links):
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
        return measure_line(model, data, i, part, k, p, k + 2, q, F_link, at_links)
    t, u = add(center, from_components(axes, t)), add(center, from_components(axes, u))
    before = measure_line(model, data, i, part, k, p, k + 1, t, F_link, at_links)
    return before + arc + measure_line(model, data, i, part, k + 1, u, k + 2, q, F_link, at_links)


# --------------------------------------------------------------------------------------------- sites


@kernel
def push_at_site(model, data, i, F_link, at_links):
    """The gear is a force and a torque along the axes of a site: 0, it has no length.

    Two more elements have the axes of force and torque, as of a free joint.
    """
    k = model.transmission_kinds[i, TRANSMISSION_FIRST]
    b, m, n = model.path_body[k], k, k
    if model.transmission_kinds[i, TRANSMISSION_END] - k == 3:
        m, n = k + 1, k + 2
    axes = axes_on_body(data, model.path_body[m], model.path_X_B, m)
    force = from_components(axes, row3(model.transmission_numbers, i, NUMBERS_GEAR))
    axes = axes_on_body(data, model.path_body[n], model.path_X_B, n)
    torque = from_components(axes, row3(model.transmission_numbers, i, NUMBERS_GEAR + 3))
    origin = origin_on_body(data, b, model.path_X_B, k)
    add_moment(model, data, i, k, origin, torque, force, F_link, at_links)
    return 0.0 * model.transmission_numbers[i, NUMBERS_GEAR]


@kernel
def measure_site(model, data, i, F_link, at_links):
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
    add_moment(model, data, i, k, q, torque, force, F_link, at_links)
    add_moment(model, data, i, k + 1, p, scale(-1.0, torque), scale(-1.0, force), F_link, at_links)
    clear_common_moments(model, data, i, k, cross(r, force), F_link, at_links)
    return length


@kernel
def clear_common_moments(model, data, i, k, moment, F_link, at_links):
    """What carries both bodies does not change what is measured between them: it feels nothing of their forces.

    moment: of their forces together, which the link that carries both has against it.
    """
    b, a = model.path_body[k], model.path_body[k + 1]
    d, e = model.body_v[a] + model.body_nv[a] - 1, model.body_v[b] + model.body_nv[b] - 1
    while d >= 0 and e >= 0:
        if d == e and at_links == 1:
            if model.path_link[k] >= 0:
                against = scale(-data.transmission_force[i], moment)
                n = link_moved_by(model, d, k)
                add_force(model, data, F_link, 1, n, scale(0.0, moment), against, scale(0.0, moment))
            return
        if d == e:
            data.transmission_moment[i, d] = 0.0
            d = e = model.dof_parent[d]
        elif d > e:
            d = model.dof_parent[d]
        else:
            e = model.dof_parent[e]


@kernel
def link_moved_by(model, d, k):
    """A link of the body of velocity d: that of the path elements k or k + 1 if it is theirs."""
    b = model.dof_body[d]
    for j in (k, k + 1):
        if model.path_body[j] == b:
            return model.path_link[j]
    for n in range(model.link_body.shape[0]):
        if model.link_body[n] == b:
            return n
    return 0


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
def measure_crank(model, data, i, F_link, at_links):
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
    add_moment(model, data, i, k, crank, scale(0.0, force), force, F_link, at_links)
    add_moment(model, data, i, k + 1, slider, torque, scale(-1.0, force), F_link, at_links)
    return gear * (along - root)

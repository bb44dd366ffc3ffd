"""Adhesion: actuators that pull a link and what it touches together, along the normals of its contacts.

The force of an actuator is divided over the contacts of the link's solids. The moment of its transmission is the mean
of the speeds of separation per unit of v, with the other sign, as in MuJoCo. The contacts are those of the step, so
that the forces are known after the search for them.
"""

from mbcli.engine.fields.model_fields import (
    CONTACT_AT_COLLISION,
    CONTACT_AT_POINTS,
    OF_CONTACT,
    TRANSMISSION_FIRST,
    TRANSMISSION_KIND,
)
from mbcli.engine.runtime.handles import collision_at, points_at
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, row3, scale, subtract
from mbcli.engine.smooth.transmissions import add_moment_of_body


@kernel
def add_adhesion(model, data, points):
    """After gather_forces() and the search for contacts: moments of what pulls at these; tau gains its forces."""
    for i in range(model.transmission_kinds.shape[0]):
        if model.transmission_kinds[i, TRANSMISSION_KIND] != OF_CONTACT:
            continue
        for d in range(data.v.shape[0]):
            data.transmission_moment[i, d] = 0.0
        pull_at_points(model, data, points, collision_at(data.contact[CONTACT_AT_COLLISION]), i, data.F_applied, 0)
        rate = 0.0
        for d in range(data.v.shape[0]):
            rate += data.transmission_moment[i, d] * data.v[d]
            data.tau[d] += data.transmission_moment[i, d] * data.transmission_force[i]
        data.transmission_rate[i] = rate


@kernel
def pull_links_at_contacts(model, data, i, F_link):
    """As transmissions.pull_links(), at the contacts of the last step."""
    points, c = points_at(data.contact[CONTACT_AT_POINTS]), collision_at(data.contact[CONTACT_AT_COLLISION])
    pull_at_points(model, data, points, c, i, F_link, 1)


@kernel
def pull_at_points(model, data, points, c, i, F_link, at_links):
    """The moments of actuator i, or, if at_links is 1, its forces on links to F_link."""
    link, count = model.path_link[model.transmission_kinds[i, TRANSMISSION_FIRST]], 0
    for n in range(points.count[0]):
        count += int(is_pulled(points, c, n, link))
    for n in range(points.count[0]):
        if is_pulled(points, c, n, link):
            pull_at_point(model, data, points, c, n, 1.0 / count, i, F_link, at_links)


@kernel
def is_pulled(points, c, n, link):
    """Whether contact n is one of the link; what will be met in the step is none yet."""
    of_link = c.link[points.geometry[n, 0]] == link or c.link[points.geometry[n, 1]] == link
    return of_link and points.distance[n] <= 0.0


@kernel
def pull_at_point(model, data, points, c, n, share, i, F_link, at_links):
    """A share of the force of actuator i at contact n: A along the normal towards B, and B towards A."""
    none = (0.0, 0.0, 0.0)
    for side in range(2):
        b, link = points.body[n, side], c.link[points.geometry[n, side]]
        point = row3(points.position, n, 0)
        if side == 1:
            point = add(point, row3(points.onto_B, n, 0))
        r = subtract(point, row3(data.X_WB, model.body_root[b], 9))
        force = scale(share if side == 1 else -share, row3(points.normal, n, 0))
        add_moment_of_body(model, data, i, b, link, r, none, force, F_link, at_links)

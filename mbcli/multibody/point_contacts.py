"""Point contacts of a state and their forces, without a solver: the law of continuous plants.

Normal force k x (1 + d xdot)_+ at the penetration x (Hunt and Crossley 1975), friction against the slip velocity with
a coefficient that rises smoothly to the static one at the stiction tolerance v_s and falls to the dynamic one at three
times that (Stribeck).
"""

import numpy as np

from mbcli.engine.collision.fields import STATUS, TOO_MANY_PAIRS, TOO_MANY_POINTS
from mbcli.engine.contact.arrays import ContactPoints
from mbcli.geometry.contact_pairs import PenetrationAsPointPair
from mbcli.multibody.plant.contact_results import PointPairContactInfo
from mbcli.multibody.tree.index import BodyIndex


def find_points(geometries, context, *, single_points=False):
    """(Collision, ContactPoints) of the state of a context, with as much room as they need."""
    room, pairs = 64, None
    while True:
        collision = geometries.collision(single_points=single_points, pairs=pairs)
        points = ContactPoints(room)
        context._ready_parameters()
        handles = (part.handle(context._compiled) for part in (collision, points))
        context._kernels.contacts_at(context._model_handle, context._data_handle, *handles)
        status = collision.counts[STATUS]
        if not status:
            return collision, points
        if status & TOO_MANY_PAIRS:
            pairs = 2 * collision.sizes["npair"]
        if status & TOO_MANY_POINTS:
            room *= 2


def point_contacts(plant, context, *, single_points=False):
    """PointPairContactInfo of each contact point at the state of a context."""
    geometries = plant._geometries(context._model)
    collision, points = find_points(geometries, context, single_points=single_points)
    return [_contact(plant, context, geometries, points, n) for n in range(points.count[0])]


def _contact(plant, context, geometries, points, n):
    A, B = points.geometry[n]
    bodies = [plant._geometry_bodies[geometries.ids[k]] for k in (A, B)]
    p, normal, distance = points.position[n].copy(), points.normal[n].copy(), float(points.distance[n])
    v_A, v_B = (_velocity(plant, context, body, p) for body in bodies)
    f_A, separation, slip = contact_force(points.law[n], normal, distance, v_A - v_B, plant._stiction_tolerance)
    k_A, k_B = geometries.solids[A].material[0], geometries.solids[B].material[0]
    along = distance * normal  # from the point of B to that of A
    share = k_A / (k_A + k_B)
    pair = PenetrationAsPointPair(
        geometries.ids[A], geometries.ids[B], p + (1.0 - share) * along, p - share * along, normal, -distance
    )
    indices = (BodyIndex(int(body.index())) for body in bodies)
    return PointPairContactInfo(*indices, -f_A, p, separation, slip, pair)


def _velocity(plant, context, body, p):
    V = plant.EvalBodySpatialVelocityInWorld(context, body)
    origin = plant.EvalBodyPoseInWorld(context, body).translation()
    return V.translational() + np.cross(V.rotational(), p - origin)


def contact_force(law, normal, distance, v, stiction_tolerance):
    """(force on A in W, speed of separation, speed of slip) of one contact point.

    Args:
        law: stiffness, dissipation, relaxation time, dynamic and static friction of the pair.
        normal: unit vector out of B into A.
        distance: of the surfaces, negative where they overlap [m].
        v: velocity of A relative to B at the point [m/s].
        stiction_tolerance: [m/s].
    """
    stiffness, dissipation, _, dynamic, static = law
    separation = float(normal @ v)
    tangential = v - separation * normal
    slip = float(np.linalg.norm(tangential))
    pressed = stiffness * max(0.0, -distance) * max(0.0, 1.0 - dissipation * separation)
    friction = stribeck(slip / stiction_tolerance, static, dynamic) * pressed
    direction = tangential / slip if slip > 0.0 else tangential
    return pressed * normal - friction * direction, separation, slip


def stribeck(s, static, dynamic):
    """Coefficient of friction at slip s, in units of the stiction tolerance."""
    if s >= 3.0:
        return dynamic
    if s >= 1.0:
        return static - (static - dynamic) * _smooth_step((s - 1.0) / 2.0)
    return static * _smooth_step(s)


def _smooth_step(x):
    """From 0 at 0 to 1 at 1, with first and second derivatives 0 there."""
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))

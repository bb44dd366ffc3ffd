"""All contact points of a state, and the distance of one pair."""

from mbcli.engine.collision.broad_phase import update_pairs
from mbcli.engine.collision.height_points import add_height_contacts
from mbcli.engine.collision.manifold import add_contacts
from mbcli.engine.collision.nearest import solids_nearest
from mbcli.engine.collision.pair_laws import cover_of_pair, own_pair
from mbcli.engine.collision.segments import axis_of
from mbcli.engine.collision.shapes import place_solids, rotate_back
from mbcli.engine.fields.collision_fields import (
    BALL,
    COLLISION_AT_POINTS,
    COLLISION_AT_SELF,
    COLLISION_AT_TOUCHING,
    COLLISION_MARGIN,
    COLLISION_NO_SURFACE,
    COLLISION_PAIR_A,
    COLLISION_PAIR_B,
    COLLISION_PAIRS,
    COLLISION_STATUS,
    COLLISION_STRICT,
    CYLINDER,
    HALF_SPACE,
    HEIGHT_FIELD,
)
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import collision_at, data_at, model_at, points_at
from mbcli.engine.runtime.kernel import Handle, Int, Real, called, entry, kernel, slot
from mbcli.engine.smooth.kinematics import position_kinematics
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import dot, row3, subtract


@kernel
def find_contacts(model, data, c, points):
    """After position_kinematics: contact points of all pairs that touch, or are as near to that as the margin."""
    c.counts[COLLISION_STATUS] = 0
    points.count[0] = 0
    place_solids(model, data, c)
    update_pairs(c)
    for n in range(c.counts[COLLISION_PAIRS]):
        A, B = c.pairs[n, 0], c.pairs[n, 1]
        if is_asleep(data, c.body[A]) and is_asleep(data, c.body[B]):
            continue
        own = own_pair(c, A, B)
        margin = c.settings[COLLISION_MARGIN] + cover_of_pair(c, A, B, own)
        if bounds_touch(c, A, B, max(0.0, margin)) and not meet_in_surface(c, points, n, A, B):
            meet_at_points(c, points, n, own)


@slot(surfaces="collision.contact_surfaces.faces_of_pair")
def meet_in_surface(c, points, n, A, B):
    """Whether the solids of pair n meet in a contact surface, whose faces are contacts now, and not at points."""
    return False


@slot(compiled="collision.find_contacts.meet_by_address")
def meet_at_points(c, points, n, own):
    """As add_touching_points()."""
    add_touching_points(c, points, n, own)


@kernel
def meet_by_address(c, points, n, own):
    """The same, which another process compiles while this one compiles the search for pairs."""
    at = c.addresses
    call_by_address(at[COLLISION_AT_TOUCHING], at[COLLISION_AT_POINTS], at[COLLISION_AT_SELF], 1.0 * n, 1.0 * own, 0.0)


@called
def add_touching_points_called(points, collision, n, own, number):
    """add_touching_points(), called by address."""
    add_touching_points(collision_at(collision), points_at(points), int(n), int(own))
    return 0.0


@kernel
def add_touching_points(c, points, n, own):
    """The contact points of pair n, if it touches or is as near to that as the margin; own: its row of own_laws."""
    A, B = c.pairs[n, 0], c.pairs[n, 1]
    cover = cover_of_pair(c, A, B, own)
    margin = c.settings[COLLISION_MARGIN] + cover
    distance = distance_of_pair(c, A, B, max(0.0, margin))
    if distance < 0.0 and c.counts[COLLISION_STRICT] == 1:
        c.counts[COLLISION_STATUS] |= COLLISION_NO_SURFACE
        c.counts[COLLISION_PAIR_A], c.counts[COLLISION_PAIR_B] = A, B
    if is_contact(c, A, B, distance, cover):
        add_points_of_pair(c, points, A, B, distance, own)


@kernel
def add_points_of_pair(c, points, A, B, distance, own):
    """After distance_of_pair(): the contact points of a pair; own: its row of own_laws, or -1."""
    if c.kind[A] == HEIGHT_FIELD or c.kind[B] == HEIGHT_FIELD:
        add_height_contacts(c, points, A, B, own)
    else:
        add_contacts(c, points, A, B, distance, own)


@kernel
def is_contact(c, A, B, distance, cover):
    """Whether solids at this distance are in contact."""
    return distance < c.settings[COLLISION_MARGIN] + cover or (
        distance == 0.0 and cover == 0.0 and touch_is_contact(c, A, B)
    )


@slot(compiled="collision.nearest.nearest_by_address")
def distance_of_pair(c, A, B, limit):
    """As solids_nearest()."""
    return solids_nearest(c, A, B, limit)


@kernel
def touch_is_contact(c, A, B):
    """Whether solids that just touch are in contact: those of which one is a ball, as pydrake has it."""
    a, b = min(c.kind[A], c.kind[B]), max(c.kind[A], c.kind[B])
    return a == BALL and (b <= CYLINDER or b >= HALF_SPACE)


@kernel
def bounds_touch(c, A, B, margin):
    """Whether bounding balls and boxes of a pair leave it open that they are nearer than the margin."""
    if c.kind[B] == HALF_SPACE:
        return ball_in_plane(c, A, B, margin)
    if c.kind[A] == HALF_SPACE:
        return ball_in_plane(c, B, A, margin)
    r = subtract(row3(c.p_WC, A, 0), row3(c.p_WC, B, 0))
    reach = c.radius[A] + c.radius[B] + margin
    return dot(r, r) <= reach * reach and ball_in_box(c, r, A, B, margin) and ball_in_box(c, r, B, A, margin)


@kernel
def ball_in_plane(c, g, plane, margin):
    height = dot(axis_of(c, plane), subtract(row3(c.p_WC, g, 0), row3(c.X_WG, plane, 9)))
    return height <= c.radius[g] + margin


@kernel
def ball_in_box(c, r, g, h, margin):
    """Whether the bounding ball of g reaches the bounding box of h; r is between their centres."""
    l = rotate_back(c.X_WG, h, r)
    reach = c.radius[g] + margin
    return (
        abs(l[0]) <= c.extent[h, 0] + reach
        and abs(l[1]) <= c.extent[h, 1] + reach
        and abs(l[2]) <= c.extent[h, 2] + reach
    )


@entry
def place_solids_at(model: Handle, data: Handle, collision: Handle):
    """From q: the places of all solids."""
    m, d, c = model_at(model), data_at(data), collision_at(collision)
    position_kinematics(m, d)
    place_solids(m, d, c)


@entry
def pair_distance(collision: Handle, A: Int, B: Int, limit: Real):
    """After place_solids_at(): the distance of two solids, see solids_nearest()."""
    return solids_nearest(collision_at(collision), A, B, limit)

"""Contacts ahead: of solids that do not touch yet, and would in the step that begins.

What moves by more than a part of its thickness in a step could pass through another solid between two searches for
contact, and what bounces has to be met before it overlaps. Such pairs are followed through the step with the velocities
of its start by conservative advancement (Mirtich 1996): as long as no point can close the distance, solids move on.
Where they meet, they are searched for contact points as ever. A point is put back to where the material of both is
at the start, with the gap along the normal that they have closed by then.
"""

from mbcli.engine.collision.broad_phase import may_touch
from mbcli.engine.collision.find_contacts import (
    add_points_of_pair,
    bounds_touch,
    distance_of_pair,
    find_contacts,
    is_contact,
)
from mbcli.engine.collision.pair_laws import (
    FAR,
    cover_of_pair,
    far_of_pair,
    own_pair,
    restitution_of_pair,
    threshold_of_pair,
)
from mbcli.engine.collision.segments import row_of
from mbcli.engine.collision.shapes import rotate_back
from mbcli.engine.fields.collision_fields import (
    COLLISION_AT_AHEAD,
    COLLISION_AT_POINTS,
    COLLISION_AT_SELF,
    COLLISION_BOUNCES,
    COLLISION_MARGIN,
    COLLISION_NEEDED,
    COLLISION_NO_FUNCTION,
    COLLISION_PAIRS,
    COLLISION_SKIN,
    COLLISION_STATUS,
    HALF_SPACE,
    MOTION_TRAVEL,
    MOTION_V,
    MOTION_W,
)
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import collision_at, data_at, model_at, points_at
from mbcli.engine.runtime.kernel import called, kernel, slot
from mbcli.engine.smooth.frame_motion import velocity_at
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import sine_cosine, square_root

MOST_ADVANCES = 64
NEAR = 1e-3  # of the thickness of the thinner solid: what is nearer has met


@called
def find_contacts_called(model, data, points, collision, h):
    """find_contacts(), called by address, and those ahead in a step h; h = 0: none, as there is no step."""
    m, d, c, p = model_at(model), data_at(data), collision_at(collision), points_at(points)
    find_contacts(m, d, c, p)
    if h > 0.0:
        find_ahead(m, d, c, p, h)
    return 0.0


@kernel
def find_ahead(model, data, c, points, h):
    """After the search for contacts of a state, with velocities: those that it does not have and a step h reaches."""
    bounces = c.counts[COLLISION_BOUNCES] == 1
    if not any_moves_far(model, data, c, h, bounces):
        return
    for A in range(c.kind.shape[0]):
        if is_mover(c, A, bounces):
            for B in range(c.kind.shape[0]):
                if B != A and not (B < A and is_mover(c, B, bounces)) and may_touch(c, min(A, B), max(A, B)):
                    look_ahead(data, c, points, min(A, B), max(A, B), h)
    if bounces:
        for n in range(c.counts[COLLISION_PAIRS]):
            A, B = c.pairs[n, 0], c.pairs[n, 1]
            if not is_mover(c, A, bounces) and not is_mover(c, B, bounces):
                look_ahead(data, c, points, A, B, h)


@kernel
def any_moves_far(model, data, c, h, bounces):
    """c.motion of all solids; whether one of them moves so far in a step h that contacts ahead matter."""
    found = bounces
    for g in range(c.kind.shape[0]):
        b = c.body[g]
        if b == 0 or is_asleep(data, b):
            c.motion[g, MOTION_TRAVEL] = 0.0
            set_row3(c.motion, g, MOTION_V, (0.0, 0.0, 0.0))
            set_row3(c.motion, g, MOTION_W, (0.0, 0.0, 0.0))
            continue
        w, v = velocity_at(data, b, subtract(row3(c.p_WC, g, 0), row3(data.X_WB, model.body_root[b], 9)))
        set_row3(c.motion, g, MOTION_V, v)
        set_row3(c.motion, g, MOTION_W, w)
        turning = 0.0 if c.kind[g] == HALF_SPACE else c.radius[g] * square_root(dot(w, w))
        c.motion[g, MOTION_TRAVEL] = h * (square_root(dot(v, v)) + turning)
        found = found or is_mover(c, g, bounces)
    return found


@kernel
def is_mover(c, g, bounces):
    """Whether solid g moves so far in the step that it is compared with all others."""
    far = c.settings[COLLISION_SKIN] if bounces else FAR * c.thickness[g]
    return c.motion[g, MOTION_TRAVEL] > far


@kernel
def look_ahead(data, c, points, A, B, h):
    """The contact points of solids A < B that they reach in a step h, if they bounce, or are fast."""
    travel = c.motion[A, MOTION_TRAVEL] + c.motion[B, MOTION_TRAVEL]
    if is_asleep(data, c.body[A]) and is_asleep(data, c.body[B]):
        return
    fast = travel > far_of_pair(c, A, B)
    if not fast and not (restitution_of_pair(c, A, B) > 0.0 and travel > h * threshold_of_pair(c, A, B)):
        return
    margin = travel + c.settings[COLLISION_MARGIN] + cover_of_pair(c, A, B, own_pair(c, A, B))
    if bounds_touch(c, A, B, margin):
        meet_ahead(c, points, A, B, h)


@slot(compiled="collision.ahead.meet_ahead_by_address")
def meet_ahead(c, points, A, B, h):
    """As add_points_ahead()."""
    add_points_ahead(c, points, A, B, h)


@kernel
def meet_ahead_by_address(c, points, A, B, h):
    """The same, which need not be compiled before something is fast or bounces."""
    if c.addresses[COLLISION_AT_AHEAD] <= 0.0:
        c.addresses[COLLISION_AT_AHEAD] = COLLISION_NEEDED
        c.counts[COLLISION_STATUS] |= COLLISION_NO_FUNCTION
        return
    at = c.addresses
    call_by_address(at[COLLISION_AT_AHEAD], at[COLLISION_AT_POINTS], at[COLLISION_AT_SELF], 1.0 * A, 1.0 * B, h)


@called
def meet_ahead_called(points, collision, A, B, h):
    """add_points_ahead(), called by address."""
    add_points_ahead(collision_at(collision), points_at(points), int(A), int(B), h)
    return 0.0


@kernel
def add_points_ahead(c, points, A, B, h):
    """The contact points where solids A and B meet within h, unless they are in contact."""
    keep_places(c, A, 0)
    keep_places(c, B, 1)
    t, distance = time_of_meeting(c, A, B, h)
    if t >= 0.0:
        own, first, margin = own_pair(c, A, B), points.count[0], c.settings[COLLISION_MARGIN]
        c.settings[COLLISION_MARGIN] = margin + c.motion[A, MOTION_TRAVEL] + c.motion[B, MOTION_TRAVEL]
        add_points_of_pair(c, points, A, B, distance, own)
        c.settings[COLLISION_MARGIN] = margin
        for n in range(first, points.count[0]):
            put_back(c, points, n, A, B, t)
    place_again(c, A, 0)
    place_again(c, B, 1)


@kernel
def time_of_meeting(c, A, B, h):
    """(time, distance then), with c.nearest and the places of the solids at that time; -1 if they do not meet within h.

    Nor do they if they are in contact at the start.
    """
    travel = c.motion[A, MOTION_TRAVEL] + c.motion[B, MOTION_TRAVEL]
    cover = cover_of_pair(c, A, B, own_pair(c, A, B))
    near, t, distance = NEAR * min(c.thickness[A], c.thickness[B]), 0.0, 0.0
    for k in range(MOST_ADVANCES):
        distance = distance_of_pair(c, A, B, travel + c.settings[COLLISION_MARGIN] + cover)
        if distance > travel + c.settings[COLLISION_MARGIN] + cover:
            return -1.0, 0.0
        if k == 0 and is_contact(c, A, B, distance, cover):
            return -1.0, 0.0
        if distance - cover <= near:
            break
        speed = speed_of_approach(c, A, B, row_of(c, 0))
        if speed * (h - t) <= distance - cover:
            return -1.0, 0.0
        t += (distance - cover) / speed
        advance(c, A, 0, t)
        advance(c, B, 1, t)
    return t, distance


@kernel
def speed_of_approach(c, A, B, normal):
    """No point of A comes nearer to B along the normal than by this speed."""
    turning = 0.0
    for k in range(2):
        g = A if k == 0 else B
        w = row3(c.motion, g, MOTION_W)
        if c.kind[g] != HALF_SPACE:
            turning += c.radius[g] * square_root(dot(w, w))
    return turning - dot(normal, subtract(row3(c.motion, A, MOTION_V), row3(c.motion, B, MOTION_V)))


@kernel
def keep_places(c, g, k):
    """Row k of c.placed: the place of solid g."""
    for n in range(12):
        c.placed[k, n] = c.X_WG[g, n]
    set_row3(c.placed, k, 12, row3(c.p_WC, g, 0))


@kernel
def place_again(c, g, k):
    """The place of solid g that row k of c.placed has."""
    for n in range(12):
        c.X_WG[g, n] = c.placed[k, n]
    set_row3(c.p_WC, g, 0, row3(c.placed, k, 12))


@kernel
def advance(c, g, k, t):
    """Solid g where it is a time t after its place in row k of c.placed: its centre on a line, turned about w."""
    w = row3(c.motion, g, MOTION_W)
    speed = square_root(dot(w, w))
    place_again(c, g, k)
    if speed * t > 0.0:
        axis = scale(1.0 / speed, w)
        s, c_t = sine_cosine(speed * t)
        for n in range(3):
            x = (c.placed[k, n], c.placed[k, n + 3], c.placed[k, n + 6])
            along = scale((1.0 - c_t) * dot(axis, x), axis)
            turned = add(add(scale(c_t, x), scale(s, cross(axis, x))), along)
            c.X_WG[g, n], c.X_WG[g, n + 3], c.X_WG[g, n + 6] = turned[0], turned[1], turned[2]
    center = add(row3(c.placed, k, 12), scale(t, row3(c.motion, g, MOTION_V)))
    set_row3(c.p_WC, g, 0, center)
    set_row3(c.X_WG, g, 9, subtract(center, rotate(c.X_WG, g, row3(c.center, g, 0))))


@kernel
def put_back(c, points, n, A, B, t):
    """Contact n of solids that are placed at the time t: its gap at the start, and where its material is then."""
    p, normal = row3(points.position, n, 0), row3(points.normal, n, 0)
    closing = dot(normal, subtract(velocity_of_point(c, B, p), velocity_of_point(c, A, p)))
    start = place_at_start(c, A, 0, p)
    set_row3(points.position, n, 0, start)
    set_row3(points.onto_B, n, 0, subtract(place_at_start(c, B, 1, p), start))
    points.distance[n] = max(0.0, points.distance[n]) + t * max(0.0, closing)


@kernel
def place_at_start(c, g, k, p):
    """Where the material of solid g that is at p now is at its place in row k of c.placed."""
    r = subtract(p, row3(c.X_WG, g, 9))
    if c.kind[g] == HALF_SPACE:  # the start of its frame may be far away
        return subtract(p, subtract(row3(c.X_WG, g, 9), row3(c.placed, k, 9)))
    return add(row3(c.placed, k, 9), rotate(c.placed, k, rotate_back(c.X_WG, g, r)))


@kernel
def velocity_of_point(c, g, p):
    """Of solid g at p in W."""
    return add(row3(c.motion, g, MOTION_V), cross(row3(c.motion, g, MOTION_W), subtract(p, row3(c.p_WC, g, 0))))

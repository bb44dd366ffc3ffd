"""The faces of contact surfaces as contacts: area, centroid, pressure and stiffness of a polygon between two solids.

One of the solids, S, is soft; T is soft or rigid. A face of area A with the pressure p at its centroid and the normal
n out of T into S is a contact of stiffness A g that is p / g deep. g is the slope of the pressure that the solids have
in common if they move into each other along n: 1/g = 1/g_S + 1/g_T with g_S = n grad p_S, g_T = -n grad p_T (Masterjohn
et al. 2022, "Velocity level approximation of pressure field contact patches", arXiv:2110.04157, section IV).
"""

from mbcli.engine.collision.friction_grain import copy_grain, has_grain, set_friction_of_contact
from mbcli.engine.collision.pair_laws import own_pair
from mbcli.engine.collision.shapes import corner, set_corner, to_world
from mbcli.engine.fields.collision_fields import (
    COLLISION_FACES,
    COLLISION_STATUS,
    COLLISION_TOO_MANY_POINTS,
    COMPLIANCE_MODULUS,
    FACES_LOADED,
    FACES_TRIANGLES,
    MEETING_A,
    MEETING_B,
    MEETING_FRAME,
    MEETING_NORMAL,
    MEETING_S,
    MEETING_SLOPE_S,
    MEETING_SLOPE_T,
    MEETING_T,
    MEETING_VALUE_S,
    SOFT_FIELD,
)
from mbcli.engine.fields.contact_fields import (
    FACE_AREA,
    FACE_GRADIENT,
    FACE_GRADIENT_A,
    FACE_GRADIENT_B,
    FACE_MOMENT,
    FACE_PRESSURE,
    PAIR_FAR,
    PAIR_RESTITUTION,
    PAIR_THRESHOLD,
    PAIR_WEIGHT,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

# cosine of 5/8 pi: a face whose normal is farther from a gradient than that is on the wrong side of a field, as
# pydrake has it
STEEPEST = -0.3826834323650898
INFINITE_MODULUS = float("inf")
LEAST_SLOPE = 1e-14  # [Pa/m]
LEAST_AREA = 1e-14  # of the square of the soft solid's bounding radius


@kernel
def vector_of(values, k):
    """Elements k, k+1, k+2."""
    return (values[k], values[k + 1], values[k + 2])


@kernel
def set_vector(values, k, a):
    values[k], values[k + 1], values[k + 2] = a[0], a[1], a[2]


@kernel
def is_along(normal, gradient):
    """Whether a pressure rises along a normal, or falls no more than STEEPEST."""
    return dot(normal, gradient) > STEEPEST * square_root(dot(gradient, gradient))


@kernel
def add_polygon(c, points, place, count):
    """The polygon at a place becomes contacts: it, or triangles about its centroid; `meeting` says what meets there."""
    if count < 3:
        return
    normal = vector_of(c.meeting, MEETING_NORMAL)
    area, centroid = area_and_centroid(c, place, count, normal)
    S, T = c.meeting_solids[MEETING_S], c.meeting_solids[MEETING_T]
    size = min(c.radius[S], c.radius[T])
    if abs(area) <= LEAST_AREA * size * size:
        return
    if (area < 0.0) != (c.meeting_solids[MEETING_B] == S):  # the normal of the contact is out of B into A
        turn_round(c, place, count)
    if c.counts[COLLISION_FACES] & FACES_TRIANGLES:
        add_triangles(c, points, place, count, centroid)
    else:
        n = add_face(c, points, abs(area), centroid)
        if n >= 0:
            for k in range(count):
                add_corner(c, points, n, corner(c, place, k))


@kernel
def add_triangles(c, points, place, count, centroid):
    """The triangles between the sides of a polygon and its centroid become contacts."""
    normal = vector_of(c.meeting, MEETING_NORMAL)
    first = -1
    for k in range(count):
        a, b = corner(c, place, k), corner(c, place, (k + 1) % count)
        twice = abs(dot(normal, cross(subtract(a, centroid), subtract(b, centroid))))
        if twice == 0.0:
            continue
        middle = scale(1.0 / 3.0, add(centroid, add(a, b)))
        if first < 0:
            n = first = add_face(c, points, 0.5 * twice, middle)
        else:
            n = add_face_like(c, points, first, 0.5 * twice, middle)
        if n < 0:
            return
        add_corner(c, points, n, centroid)
        add_corner(c, points, n, a)
        add_corner(c, points, n, b)


@kernel
def area_and_centroid(c, place, count, normal):
    """Of a polygon; the area is negative if it turns clockwise about the normal."""
    p = corner(c, place, 0)
    twice = 0.0
    moment = (0.0, 0.0, 0.0)
    for k in range(1, count - 1):
        a, b = subtract(corner(c, place, k), p), subtract(corner(c, place, k + 1), p)
        part = dot(normal, cross(a, b))
        twice += part
        moment = add(moment, scale(part, add(a, b)))
    if twice == 0.0:
        return 0.0, p
    return 0.5 * twice, add(p, scale(1.0 / (3.0 * twice), moment))


@kernel
def turn_round(c, place, count):
    """Corners in the opposite order."""
    for k in range(count // 2):
        a, b = corner(c, place, k), corner(c, place, count - 1 - k)
        set_corner(c, place, k, b)
        set_corner(c, place, count - 1 - k, a)


@kernel
def add_face(c, points, area, centroid):
    """Index of a contact for a face without its corners; -1 if there is none."""
    solids = c.meeting_solids
    A, B, S, T = solids[MEETING_A], solids[MEETING_B], solids[MEETING_S], solids[MEETING_T]
    g = solids[MEETING_FRAME]
    normal = vector_of(c.meeting, MEETING_NORMAL)
    slope_S, slope_T = vector_of(c.meeting, MEETING_SLOPE_S), vector_of(c.meeting, MEETING_SLOPE_T)
    along_S, along_T = dot(normal, slope_S), -dot(normal, slope_T)
    is_soft = c.field_kind[T] == SOFT_FIELD
    if c.counts[COLLISION_FACES] & FACES_LOADED and (along_S < LEAST_SLOPE or (is_soft and along_T < LEAST_SLOPE)):
        return -1
    n = begin_face(c, points)
    if n < 0:
        return -1
    slope = along_S * along_T / (along_S + along_T) if is_soft else along_S
    points.body[n, 0], points.body[n, 1] = c.body[A], c.body[B]
    points.geometry[n, 0], points.geometry[n, 1] = A, B
    set_row3(points.onto_B, n, 0, (0.0, 0.0, 0.0))
    set_row3(points.normal, n, 0, rotate(c.X_WG, g, scale(1.0 if S == A else -1.0, normal)))
    face = points.face
    face[n, FACE_GRADIENT] = slope
    set_row3(face, n, FACE_GRADIENT_A, rotate(c.X_WG, g, slope_S if S == A else slope_T))
    set_row3(face, n, FACE_GRADIENT_B, rotate(c.X_WG, g, slope_T if S == A else slope_S))
    if n > 0 and points.geometry[n - 1, 0] == A and points.geometry[n - 1, 1] == B:
        copy_law(points, n, n - 1)
        if has_grain(c, A, B, own_pair(c, A, B)):
            set_friction_of_contact(c, points, n, A, B, own_pair(c, A, B))
    else:
        weight = weight_of_A(c.compliance[A, COMPLIANCE_MODULUS], c.compliance[B, COMPLIANCE_MODULUS])
        points.law[n, 1] = weight * c.material[A, 1] + (1.0 - weight) * c.material[B, 1]
        points.law[n, 2] = c.material[A, 2] + c.material[B, 2]
        set_friction_of_contact(c, points, n, A, B, own_pair(c, A, B))
        points.law[n, PAIR_RESTITUTION], points.law[n, PAIR_THRESHOLD], points.law[n, PAIR_FAR] = 0.0, 0.0, 0.0
        points.law[n, PAIR_WEIGHT] = 0.0
    press_face(c, points, n, area, centroid)
    return n


@kernel
def begin_face(c, points):
    """Index of a new contact without corners; -1 without room, which is in the status."""
    n = points.count[0]
    if n >= points.distance.shape[0]:
        c.counts[COLLISION_STATUS] |= COLLISION_TOO_MANY_POINTS
        return -1
    points.count[0] = n + 1
    points.corner_start[n + 1] = points.corner_start[n]
    return n


@kernel
def copy_law(points, n, k):
    """What the law of contact n has of its pair is that of contact k."""
    for column in range(1, points.law.shape[1]):
        points.law[n, column] = points.law[k, column]
    copy_grain(points, n, k)


@kernel
def press_face(c, points, n, area, centroid):
    """Area, place and pressure of contact n, whose FACE_GRADIENT is known."""
    slope, pressure = points.face[n, FACE_GRADIENT], pressure_at(c, centroid)
    set_row3(points.position, n, 0, to_world(c, c.meeting_solids[MEETING_FRAME], centroid))
    points.distance[n] = -pressure / slope if slope > LEAST_SLOPE else 0.0
    points.face[n, FACE_AREA], points.face[n, FACE_PRESSURE] = area, pressure
    set_row3(points.face, n, FACE_MOMENT, (0.0, 0.0, 0.0))
    points.law[n, 0] = area * slope


@kernel
def add_face_like(c, points, k, area, centroid):
    """As add_face(), of the polygon of contact k too."""
    n = begin_face(c, points)
    if n < 0:
        return -1
    points.body[n, 0], points.body[n, 1] = points.body[k, 0], points.body[k, 1]
    points.geometry[n, 0], points.geometry[n, 1] = points.geometry[k, 0], points.geometry[k, 1]
    set_row3(points.onto_B, n, 0, (0.0, 0.0, 0.0))
    set_row3(points.normal, n, 0, row3(points.normal, k, 0))
    points.face[n, FACE_GRADIENT] = points.face[k, FACE_GRADIENT]
    set_row3(points.face, n, FACE_GRADIENT_A, row3(points.face, k, FACE_GRADIENT_A))
    set_row3(points.face, n, FACE_GRADIENT_B, row3(points.face, k, FACE_GRADIENT_B))
    copy_law(points, n, k)
    press_face(c, points, n, area, centroid)
    return n


@kernel
def weight_of_A(E_A, E_B):
    """Share of A in the dissipation of a pair: the softer solid counts more, a rigid one not at all."""
    if E_B == INFINITE_MODULUS:
        return 1.0
    if E_A == INFINITE_MODULUS:
        return 0.0
    return E_B / (E_A + E_B)


@kernel
def pressure_at(c, p):
    """Pressure of S at a point in the frame of the meeting."""
    return c.meeting[MEETING_VALUE_S] + dot(vector_of(c.meeting, MEETING_SLOPE_S), p)


@kernel
def add_corner(c, points, n, p):
    """One more corner of contact n, the last."""
    k = points.corner_start[n + 1]
    points.corner_start[n + 1] = k + 1
    set_row3(points.corners, k, 0, to_world(c, c.meeting_solids[MEETING_FRAME], p))
    points.corners[k, 3] = pressure_at(c, p)

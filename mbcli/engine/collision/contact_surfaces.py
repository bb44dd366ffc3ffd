"""Contact surfaces of pressure fields: where the pressures of two solids are equal, or on the surface of a rigid one.

Elandt et al. 2019 (arXiv:1904.11433), Masterjohn et al. 2022 (arXiv:2110.04157). The trees of two meshes are descended
together (near_elements.py); what is left are pairs of tetrahedra, or of a tetrahedron and a triangle, which are kept
until the solids have moved. Fields are linear in a tetrahedron, so pressures are equal on a plane, whose section with
one of a pair is clipped at the sides of the other.
"""

from mbcli.engine.collision.clipping import cut_below, cut_to_tetrahedron, heights_of_corners, is_clear, is_cut, section
from mbcli.engine.collision.near_elements import (
    boxes_meet,
    descend_from,
    forget_other_pairs,
    moved_by,
    set_relative,
    skin_of_pair,
    tetrahedra_are_near,
    triangle_is_near,
)
from mbcli.engine.collision.segments import axis_of
from mbcli.engine.collision.shapes import corner, rotate_back, set_corner
from mbcli.engine.collision.surface_faces import add_polygon, is_along, set_vector, vector_of
from mbcli.engine.fields.collision_fields import (
    COLLISION_KEPT,
    COMPLIANCE_MODULUS,
    COMPLIANCE_SLOPE,
    HALF_SPACE,
    MEETING_A,
    MEETING_B,
    MEETING_FRAME,
    MEETING_NORMAL,
    MEETING_PAIR,
    MEETING_S,
    MEETING_SLOPE_S,
    MEETING_SLOPE_T,
    MEETING_T,
    MEETING_VALUE_S,
    MESH_ELSEWHERE,
    NO_FIELD,
    RELATIVE_POSE,
    RIGID_SURFACE,
    SOFT_FIELD,
)
from mbcli.engine.runtime.handles import collision_at, points_at
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, dot, rotate, row3, scale, subtract
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def faces_of_pair(c, points, n, A, B):
    """As find_contacts.meet_in_surface(): False if one of the solids has no field, or both are rigid."""
    a, b = c.field_kind[A], c.field_kind[B]
    if a == NO_FIELD or b == NO_FIELD or (a == RIGID_SURFACE and b == RIGID_SURFACE):
        return False
    if c.mesh_of[A] == MESH_ELSEWHERE or c.mesh_of[B] == MESH_ELSEWHERE:
        return True
    S, T = A, B
    if a == RIGID_SURFACE or (b == SOFT_FIELD and c.kind[A] == HALF_SPACE):
        S, T = B, A
    solids = c.meeting_solids
    solids[MEETING_A], solids[MEETING_B], solids[MEETING_S], solids[MEETING_T] = A, B, S, T
    solids[MEETING_FRAME], solids[MEETING_PAIR] = S, n
    if c.kind[T] == HALF_SPACE:
        cut_mesh(c, points, S, T)
    elif c.kind[S] == HALF_SPACE:
        solids[MEETING_FRAME] = T
        sink_mesh(c, points, S, T)
    else:
        meet_meshes(c, points, S, T)
    return True


# ------------------------------------------------------------------------------------------- half spaces


@kernel
def surface_in(c, plane, g):
    """Normal and offset of the surface of a half space in the frame of solid g."""
    up = axis_of(c, plane)
    return rotate_back(c.X_WG, g, up), dot(up, subtract(row3(c.X_WG, plane, 9), row3(c.X_WG, g, 9)))


@kernel
def height_of_box(c, node, n, o):
    """(of its centre above a plane, of its corners above and below that)."""
    box = c.node_box
    reach = abs(n[0]) * box[node, 3] + abs(n[1]) * box[node, 4] + abs(n[2]) * box[node, 5]
    return dot(n, row3(box, node, 0)) - o, reach


@kernel
def cut_mesh(c, points, S, T):
    """Faces between the field S and half space T, rigid or soft."""
    n, o = surface_in(c, T, S)
    is_soft = c.field_kind[T] == SOFT_FIELD
    c.nodes_left[0, 0] = c.mesh_root[c.mesh_of[S]]
    left = 1
    while left > 0:
        left -= 1
        node = c.nodes_left[left, 0]
        height, reach = height_of_box(c, node, n, o)
        if height > reach or (height < -reach and not is_soft):
            continue
        first, second = c.node_children[node, 0], c.node_children[node, 1]
        if first >= 0:
            c.nodes_left[left, 0], c.nodes_left[left + 1, 0] = second, first
            left += 2
        elif is_soft:
            meet_slab(c, points, second, n, o)
        else:
            cut_tetrahedron(c, points, second, n, o)


@kernel
def set_field_of(c, t, S):
    """Gradient and value at Go of tetrahedron t of solid S."""
    E = c.compliance[S, COMPLIANCE_MODULUS]
    set_vector(c.meeting, MEETING_SLOPE_S, scale(E, row3(c.tetrahedron_field, t, 0)))
    c.meeting[MEETING_VALUE_S] = E * c.tetrahedron_field[t, 3]


@kernel
def cut_tetrahedron(c, points, t, n, o):
    """The face of tetrahedron t on a rigid plane, also where the pressure falls: what sank too far is pushed out."""
    h = heights_of_corners(c, t, n, o)
    if not is_cut(h):
        return
    set_field_of(c, t, c.meeting_solids[MEETING_S])
    set_vector(c.meeting, MEETING_NORMAL, n)
    set_vector(c.meeting, MEETING_SLOPE_T, (0.0, 0.0, 0.0))
    add_polygon(c, points, 2, section(c, t, h))


@kernel
def meet_slab(c, points, t, n, o):
    """The face between tetrahedron t and a soft half space with a surface."""
    S, T = c.meeting_solids[MEETING_S], c.meeting_solids[MEETING_T]
    slope = c.compliance[T, COMPLIANCE_SLOPE]
    set_field_of(c, t, S)
    set_vector(c.meeting, MEETING_SLOPE_T, scale(-slope, n))
    normal, offset, there = equal_pressure(c, slope * o)
    if not there:
        return
    h = heights_of_corners(c, t, normal, offset)
    if not is_cut(h):
        return
    set_vector(c.meeting, MEETING_NORMAL, normal)
    place, count = cut_below(c, 2, section(c, t, h), n, o)
    add_polygon(c, points, place, count)


@kernel
def equal_pressure(c, value_T):
    """(normal, offset, whether it is there) of the plane on which the fields of the meeting have the same pressure."""
    slope_S, slope_T = vector_of(c.meeting, MEETING_SLOPE_S), vector_of(c.meeting, MEETING_SLOPE_T)
    d = subtract(slope_S, slope_T)
    size = square_root(dot(d, d))
    if size == 0.0:
        return d, 0.0, False
    normal = scale(1.0 / size, d)
    there = is_along(normal, slope_S) and is_along(normal, scale(-1.0, slope_T))
    return normal, (value_T - c.meeting[MEETING_VALUE_S]) / size, there


@kernel
def sink_mesh(c, points, S, T):
    """Faces of the rigid mesh T in the soft half space S."""
    n, o = surface_in(c, S, T)
    slope = c.compliance[S, COMPLIANCE_SLOPE]
    set_vector(c.meeting, MEETING_SLOPE_S, scale(-slope, n))
    set_vector(c.meeting, MEETING_SLOPE_T, (0.0, 0.0, 0.0))
    c.meeting[MEETING_VALUE_S] = slope * o
    c.nodes_left[0, 0] = c.mesh_root[c.mesh_of[T]]
    left = 1
    while left > 0:
        left -= 1
        node = c.nodes_left[left, 0]
        height, reach = height_of_box(c, node, n, o)
        if height > reach:
            continue
        first, second = c.node_children[node, 0], c.node_children[node, 1]
        if first >= 0:
            c.nodes_left[left, 0], c.nodes_left[left + 1, 0] = second, first
            left += 2
            continue
        normal = row3(c.triangles, second, 9)
        if is_along(normal, scale(-1.0, n)):
            for k in range(3):
                set_corner(c, 2, k, row3(c.triangles, second, 3 * k))
            set_vector(c.meeting, MEETING_NORMAL, normal)
            place, count = cut_below(c, 2, 3, n, o)
            add_polygon(c, points, place, count)


# ------------------------------------------------------------------------------------------- meshes


@kernel
def meet_meshes(c, points, S, T):
    """Faces between the field S and mesh T, a field or a rigid surface."""
    set_relative(c, S, T)
    n = c.meeting_solids[MEETING_PAIR]
    skin = skin_of_pair(c, S, T)
    if c.kept_count[n] < 0 or moved_by(c, n, T) > skin:
        find_near_elements(c, points, n, S, T, skin)
    else:
        meet_near_elements(c, points, n, S, T)


@kernel
def meet_near_elements(c, points, n, S, T):
    """Faces between the elements of pair n that are kept."""
    is_soft = c.field_kind[T] == SOFT_FIELD
    first = c.kept_start[n]
    for k in range(first, first + c.kept_count[n]):
        if is_soft:
            meet_tetrahedra(c, points, S, T, c.kept[k, 0], c.kept[k, 1])
        else:
            meet_triangle(c, points, S, c.kept[k, 0], c.kept[k, 1])


@kernel
def find_near_elements(c, points, n, S, T, skin):
    """Faces of pair n; -> kept: its elements that are less than a skin apart, unless they are more than it holds.

    The order is that of the trees, wherever the solids are, so that the faces do not depend on when this was done.
    """
    for k in range(12):
        c.kept_pose[n, k] = c.relative[RELATIVE_POSE, k]
    is_soft = c.field_kind[T] == SOFT_FIELD
    c.kept_start[n], c.kept_count[n] = c.counts[COLLISION_KEPT], 0
    all_kept = True
    stack, children = c.nodes_left, c.node_children
    stack[0, 0], stack[0, 1] = c.mesh_root[c.mesh_of[S]], c.mesh_root[c.mesh_of[T]]
    left = 1
    while left > 0:
        left -= 1
        a, b = stack[left, 0], stack[left, 1]
        if not boxes_meet(c, a, b, skin):
            continue
        if children[a, 0] >= 0 or children[b, 0] >= 0:
            left = descend_from(c, a, b, left)
            continue
        e, f = children[a, 1], children[b, 1]
        if not (tetrahedra_are_near(c, e, f, skin) if is_soft else triangle_is_near(c, e, f, skin)):
            continue
        if c.counts[COLLISION_KEPT] >= c.kept.shape[0]:
            if c.kept_start[n] > 0:
                forget_other_pairs(c, n)
            else:
                meet_near_elements(c, points, n, S, T)
                c.counts[COLLISION_KEPT], c.kept_count[n] = 0, 0
                all_kept = False
        k = c.counts[COLLISION_KEPT]
        c.kept[k, 0], c.kept[k, 1] = e, f
        c.counts[COLLISION_KEPT] = k + 1
        c.kept_count[n] += 1
    meet_near_elements(c, points, n, S, T)
    if not all_kept:
        c.counts[COLLISION_KEPT], c.kept_count[n] = 0, -1


@kernel
def meet_triangle(c, points, S, t, e):
    """The part of triangle e of a rigid surface in tetrahedron t of S."""
    X = c.relative
    normal = rotate(X, RELATIVE_POSE, row3(c.triangles, e, 9))
    if not is_along(normal, row3(c.tetrahedron_field, t, 0)):
        return
    for k in range(3):
        p = add(row3(X, RELATIVE_POSE, 9), rotate(X, RELATIVE_POSE, row3(c.triangles, e, 3 * k)))
        set_corner(c, 2, k, p)
    place, count = cut_to_tetrahedron(c, 2, 3, t, normal)
    if count >= 3:
        set_field_of(c, t, S)
        set_vector(c.meeting, MEETING_NORMAL, normal)
        set_vector(c.meeting, MEETING_SLOPE_T, (0.0, 0.0, 0.0))
        add_polygon(c, points, place, count)


@kernel
def meet_tetrahedra(c, points, S, T, s, t):
    """The face on which tetrahedra s of S and t of T have the same pressure."""
    X = c.relative
    p, E = row3(X, RELATIVE_POSE, 9), c.compliance[T, COMPLIANCE_MODULUS]
    set_field_of(c, s, S)
    slope_T = rotate(X, RELATIVE_POSE, scale(E, row3(c.tetrahedron_field, t, 0)))
    value_T = E * c.tetrahedron_field[t, 3] - dot(slope_T, p)
    d, o = subtract(vector_of(c.meeting, MEETING_SLOPE_S), slope_T), value_T - c.meeting[MEETING_VALUE_S]
    if is_clear(heights_of_corners(c, s, d, o)):
        return
    if is_clear(heights_of_corners(c, t, rotate_back(X, RELATIVE_POSE, d), o - dot(d, p))):
        return
    c.meeting_solids[MEETING_FRAME] = S
    set_vector(c.meeting, MEETING_SLOPE_T, slope_T)
    normal, offset, there = equal_pressure(c, value_T)
    if not there:
        return
    h = heights_of_corners(c, s, normal, offset)
    if not is_cut(h):
        return
    normal_T, offset_T = rotate_back(X, RELATIVE_POSE, normal), offset - dot(normal, p)
    if not is_cut(heights_of_corners(c, t, normal_T, offset_T)):
        return
    count = section(c, s, h)
    for k in range(count):
        set_corner(c, 2, k, rotate_back(X, RELATIVE_POSE, subtract(corner(c, 2, k), p)))
    place, count = cut_to_tetrahedron(c, 2, count, t, normal_T)
    if count < 3:
        return
    slope_S = vector_of(c.meeting, MEETING_SLOPE_S)
    c.meeting_solids[MEETING_FRAME] = T
    c.meeting[MEETING_VALUE_S] += dot(slope_S, p)
    set_vector(c.meeting, MEETING_SLOPE_S, rotate_back(X, RELATIVE_POSE, slope_S))
    set_vector(c.meeting, MEETING_SLOPE_T, scale(E, row3(c.tetrahedron_field, t, 0)))
    set_vector(c.meeting, MEETING_NORMAL, normal_T)
    add_polygon(c, points, place, count)


@kernel
def faces_of_pair_at(collision, points, A, B):
    """Faces of one pair of placed solids -> points; their number."""
    c, p = collision_at(collision), points_at(points)
    p.count[0] = 0
    c.kept_count[0] = -1
    faces_of_pair(c, p, 0, A, B)
    return p.count[0]

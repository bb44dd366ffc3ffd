"""Which elements of two meshes are near: the search by their trees, and how long its result serves.

Solid T is seen from solid S, by its pose in `relative`. Elements that are less than a skin apart are kept until a point
of T may have moved by that much in S: elements that meet then were less than a skin apart when they were looked for.
"""

from mbcli.engine.collision.clipping import heights_of_corners
from mbcli.engine.collision.shapes import rotate_back
from mbcli.engine.fields.collision_fields import COLLISION_KEPT, RELATIVE_POSE, RELATIVE_SIZES
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import dot, rotate, row3, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

SKIN = 0.01  # of the smaller of two meshes


@kernel
def set_relative(c, S, T):
    """-> relative: the pose of T in S, and the absolute values of its rotation."""
    X, relative = c.X_WG, c.relative
    for k in range(3):
        column = rotate_back(X, S, (X[T, k], X[T, k + 3], X[T, k + 6]))
        for i in range(3):
            relative[RELATIVE_POSE, k + 3 * i] = column[i]
            relative[RELATIVE_SIZES, k + 3 * i] = abs(column[i])
    set_row3(relative, RELATIVE_POSE, 9, rotate_back(X, S, subtract(row3(X, T, 9), row3(X, S, 9))))


@kernel
def skin_of_pair(c, S, T):
    """How far solids may move before elements that are near are looked for again."""
    return SKIN * min(size_of_box(c, c.mesh_root[c.mesh_of[S]]), size_of_box(c, c.mesh_root[c.mesh_of[T]]))


@kernel
def moved_by(c, n, T):
    """How far a point of T has moved in S at most since near elements of pair n were found."""
    now, then, root = c.relative, c.kept_pose, c.mesh_root[c.mesh_of[T]]
    turned = 0.0
    for k in range(9):
        turned += (now[RELATIVE_POSE, k] - then[n, k]) * (now[RELATIVE_POSE, k] - then[n, k])
    shift = subtract(row3(now, RELATIVE_POSE, 9), row3(then, n, 9))
    middle, half = row3(c.node_box, root, 0), row3(c.node_box, root, 3)
    reach = square_root(dot(middle, middle)) + square_root(dot(half, half))
    return square_root(dot(shift, shift)) + square_root(turned) * reach


@kernel
def size_of_box(c, node):
    return c.node_box[node, 3] + c.node_box[node, 4] + c.node_box[node, 5]


@kernel
def boxes_meet(c, a, b, skin):
    """Whether box a of S and box b of T are less than a skin apart along the axes of each."""
    box, X = c.node_box, c.relative
    half_a, half_b = row3(box, a, 3), row3(box, b, 3)
    r = subtract(subtract(row3(box, a, 0), row3(X, RELATIVE_POSE, 9)), rotate(X, RELATIVE_POSE, row3(box, b, 0)))
    if not is_within(r, half_a, rotate(X, RELATIVE_SIZES, half_b), skin):
        return False
    return is_within(rotate_back(X, RELATIVE_POSE, r), rotate_back(X, RELATIVE_SIZES, half_a), half_b, skin)


@kernel
def is_within(r, a, b, skin):
    """Whether boxes of half sizes a and b whose centres are r apart are less than a skin apart along each axis."""
    return abs(r[0]) <= a[0] + b[0] + skin and abs(r[1]) <= a[1] + b[1] + skin and abs(r[2]) <= a[2] + b[2] + skin


@kernel
def descend_from(c, a, b, left):
    """The children of the larger box of two that are not both leaves; the number of pairs that are left."""
    stack, children = c.nodes_left, c.node_children
    if children[b, 0] < 0 or (children[a, 0] >= 0 and size_of_box(c, a) >= size_of_box(c, b)):
        stack[left, 0], stack[left, 1] = children[a, 1], b
        stack[left + 1, 0], stack[left + 1, 1] = children[a, 0], b
    else:
        stack[left, 0], stack[left, 1] = a, children[b, 1]
        stack[left + 1, 0], stack[left + 1, 1] = a, children[b, 0]
    return left + 2


@kernel
def tetrahedra_are_near(c, s, t, skin):
    """Whether no side of tetrahedra s of S and t of T has the other one farther outside than a skin."""
    for side in range(4):
        n, o = row3(c.tetrahedron_planes, s, 4 * side), c.tetrahedron_planes[s, 4 * side + 3]
        h = heights_of_corners(c, t, rotate_back(c.relative, RELATIVE_POSE, n), o - height_of_T(c, n))
        if min(min(h[0], h[1]), min(h[2], h[3])) > skin:
            return False
    for side in range(4):
        n, o = row3(c.tetrahedron_planes, t, 4 * side), c.tetrahedron_planes[t, 4 * side + 3]
        normal = rotate(c.relative, RELATIVE_POSE, n)
        h = heights_of_corners(c, s, normal, o + height_of_T(c, normal))
        if min(min(h[0], h[1]), min(h[2], h[3])) > skin:
            return False
    return True


@kernel
def triangle_is_near(c, t, e, skin):
    """The same of tetrahedron t of S and triangle e of T, which has two sides."""
    X, triangles = c.relative, c.triangles
    for side in range(4):
        n = row3(c.tetrahedron_planes, t, 4 * side)
        o = c.tetrahedron_planes[t, 4 * side + 3] - height_of_T(c, n)
        l = rotate_back(X, RELATIVE_POSE, n)
        if (
            min(min(dot(l, row3(triangles, e, 0)), dot(l, row3(triangles, e, 3))), dot(l, row3(triangles, e, 6)))
            > o + skin
        ):
            return False
    n = row3(triangles, e, 9)
    normal = rotate(X, RELATIVE_POSE, n)
    h = heights_of_corners(c, t, normal, dot(n, row3(triangles, e, 0)) + height_of_T(c, normal))
    low, high = min(min(h[0], h[1]), min(h[2], h[3])), max(max(h[0], h[1]), max(h[2], h[3]))
    return low <= skin and high >= -skin


@kernel
def height_of_T(c, n):
    """Of the origin of T along n in S."""
    return dot(n, row3(c.relative, RELATIVE_POSE, 9))


@kernel
def forget_other_pairs(c, n):
    """Moves what pair n keeps to the start of kept; the elements of others are found again when they are asked for."""
    first, count = c.kept_start[n], c.kept_count[n]
    for k in range(count):
        c.kept[k, 0], c.kept[k, 1] = c.kept[first + k, 0], c.kept[first + k, 1]
    for m in range(c.kept_count.shape[0]):
        c.kept_count[m] = -1
    c.kept_start[n], c.kept_count[n] = 0, count
    c.counts[COLLISION_KEPT] = count

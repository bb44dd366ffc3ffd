"""Height fields as prisms: each cell of the grid is two triangles, and under each is a prism down to the base.

A triangle has its right angle at a vertex of the grid and its legs along -x, +y (sign 1) or +x, -y (sign -1). So the
diagonal of a cell goes from its corner of least x and y to that of largest, as MuJoCo has it. Corners 0, 1, 2 of a
triangle are the right angle, the end of the leg along y, the end of that along x; side k is opposite to corner k.
The prism at work is the hull of the height field's solid: its vertices 0 to 2 are the triangle, 3 to 5 below it.
"""

from mbcli.engine.collision.shapes import rotate_back, set_corner, to_world
from mbcli.engine.fields.collision_fields import (
    GRID_COLUMNS,
    GRID_FIRST,
    GRID_ROWS,
    TRIANGLE_BASE,
    TRIANGLE_COLUMN,
    TRIANGLE_RIDGES,
    TRIANGLE_ROW,
    TRIANGLE_SIGN,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

STANDS_OUT = 1e-5  # slope, against a triangle, of the next one from which on there is a ridge between both
ON_SIDE = 1e-4  # of the legs: a point that is nearer to a side is on it
ALONG = 1e-6  # sine between a normal and the surface beside its point that rounding explains
ACROSS = 1e-3  # the same of a vertical face, which is the end of the field or no face at all


@kernel
def grid_vertex(c, g, row, column):
    """Of height field g, in G."""
    rows, columns = c.grid[g, GRID_ROWS], c.grid[g, GRID_COLUMNS]
    return (
        c.size[g, 0] * (2.0 * column / (columns - 1) - 1.0),
        c.size[g, 1] * (2.0 * row / (rows - 1) - 1.0),
        c.heights[c.grid[g, GRID_FIRST] + row * columns + column],
    )


@kernel
def is_in_grid(c, g, row, column):
    return 0 <= row < c.grid[g, GRID_ROWS] and 0 <= column < c.grid[g, GRID_COLUMNS]


@kernel
def triangle_vertex(c, k):
    """(row, column) of corner k of the triangle at work."""
    row, column, s = c.triangle[TRIANGLE_ROW], c.triangle[TRIANGLE_COLUMN], c.triangle[TRIANGLE_SIGN]
    return (row + s if k == 1 else row), (column - s if k == 2 else column)


@kernel
def vertex_across(c, k):
    """(row, column) of the third corner of the triangle on the other side of side k."""
    row, column, s = c.triangle[TRIANGLE_ROW], c.triangle[TRIANGLE_COLUMN], c.triangle[TRIANGLE_SIGN]
    return (row - s if k == 1 else row + s), (column + s if k == 2 else column - s)


@kernel
def set_triangle(c, g, row, column, s):
    """Makes a triangle the one at work; returns its largest height in G."""
    c.triangle[TRIANGLE_ROW], c.triangle[TRIANGLE_COLUMN], c.triangle[TRIANGLE_SIGN] = row, column, s
    highest = -1e300
    for k in range(3):
        i, j = triangle_vertex(c, k)
        p = grid_vertex(c, g, i, j)
        set_row3(c.vertices, c.vertex_start[g] + k, 0, p)
        highest = max(highest, p[2])
    return highest


@kernel
def set_prism(c, g, low):
    """After set_triangle(): the hull of g is its prism, which goes below a height in G, as far as the field does.

    Its bounding ball is that of g now, polygons[1] the triangle in W.
    """
    first, lowest = c.vertex_start[g], 1e300
    for k in range(3):
        lowest = min(lowest, c.vertices[first + k, 2])
        set_corner(c, 1, k, to_world(c, g, row3(c.vertices, first + k, 0)))
    bottom = max(-c.size[g, 2], min(low, lowest - abs(leg_of_triangle(c, first + 1, first)[1])))
    c.triangle[TRIANGLE_BASE] = 1 if bottom == -c.size[g, 2] else 0
    for k in range(3):
        set_row3(c.vertices, first + 3 + k, 0, (c.vertices[first + k, 0], c.vertices[first + k, 1], bottom))
    set_normals(c, g)
    middle, reach = scale(0.5, add(row3(c.vertices, first + 1, 0), row3(c.vertices, first + 5, 0))), 0.0
    for k in range(6):
        r = subtract(row3(c.vertices, first + k, 0), middle)
        reach = max(reach, dot(r, r))
    set_row3(c.p_WC, g, 0, to_world(c, g, middle))
    c.radius[g] = square_root(reach)
    c.triangle[TRIANGLE_RIDGES] = ridges_of_triangle(c, g)


@kernel
def set_normals(c, g):
    """Of the faces of the prism: its top, its bottom, those below sides 0, 1 and 2."""
    v, f, s = c.vertex_start[g], c.face_start[g], 1.0 * c.triangle[TRIANGLE_SIGN]
    y_leg, x_leg = leg_of_triangle(c, v + 1, v), leg_of_triangle(c, v + 2, v)
    normal = cross(y_leg, x_leg)
    set_row3(c.face_normal, f, 0, scale(1.0 / square_root(dot(normal, normal)), normal))
    set_row3(c.face_normal, f + 1, 0, (0.0, 0.0, -1.0))
    diagonal = square_root(x_leg[0] * x_leg[0] + y_leg[1] * y_leg[1])
    set_row3(c.face_normal, f + 2, 0, (-y_leg[1] / diagonal, -x_leg[0] / diagonal, 0.0))
    set_row3(c.face_normal, f + 3, 0, (0.0, -s, 0.0))
    set_row3(c.face_normal, f + 4, 0, (s, 0.0, 0.0))


@kernel
def leg_of_triangle(c, i, j):
    """From vertex j to vertex i."""
    return subtract(row3(c.vertices, i, 0), row3(c.vertices, j, 0))


@kernel
def ridges_of_triangle(c, g):
    """Bit k: side k stands out, since the field ends there or falls behind it."""
    first, found = c.vertex_start[g], 0
    normal = row3(c.face_normal, c.face_start[g], 0)
    for k in range(3):
        row, column = vertex_across(c, k)
        if not is_in_grid(c, g, row, column):
            found |= 1 << k
            continue
        r = subtract(grid_vertex(c, g, row, column), row3(c.vertices, first + (k + 1) % 3, 0))
        if dot(normal, r) < -STANDS_OUT * square_root(dot(r, r)):
            found |= 1 << k
    return found


@kernel
def leads_out(c, g, normal, point):
    """Whether a point of the prism's surface is one of the field's, out of which a unit vector leads (both in W)."""
    n, p = rotate_back(c.X_WG, g, normal), rotate_back(c.X_WG, g, subtract(point, row3(c.X_WG, g, 9)))
    first = c.vertex_start[g]
    a, y_leg, x_leg = (
        row3(c.vertices, first, 0),
        leg_of_triangle(c, first + 1, first),
        leg_of_triangle(c, first + 2, first),
    )
    u, w = (p[0] - a[0]) / x_leg[0], (p[1] - a[1]) / y_leg[1]
    below = a[2] + u * x_leg[2] + w * y_leg[2] - p[2]
    near = ON_SIDE * (abs(x_leg[0]) + abs(y_leg[1]))
    if below > near * (1.0 + (abs(x_leg[2]) + abs(y_leg[2])) / (abs(x_leg[0]) + abs(y_leg[1]))):
        return leads_out_of_wall(c, g, n, u, w)
    on = (1 if 1.0 - u - w <= ON_SIDE else 0) + (2 if w <= ON_SIDE else 0) + (4 if u <= ON_SIDE else 0)
    if on == 0:  # inside of the triangle, whose own normal meet_face() knows
        return False
    if on == 1 or on == 2 or on == 4:
        k = 0 if on == 1 else (1 if on == 2 else 2)
        row, column = vertex_across(c, k)
        return falls_behind(c, g, n, p, row, column) and falls_to(n, p, row3(c.vertices, first + k, 0))
    row, column = triangle_vertex(c, 0 if on == 6 else (1 if on == 5 else 2))
    return (
        falls_behind(c, g, n, p, row, column + 1)
        and falls_behind(c, g, n, p, row, column - 1)
        and falls_behind(c, g, n, p, row + 1, column)
        and falls_behind(c, g, n, p, row - 1, column)
        and falls_behind(c, g, n, p, row + 1, column + 1)
        and falls_behind(c, g, n, p, row - 1, column - 1)
    )


@kernel
def falls_behind(c, g, n, p, row, column):
    """As falls_to(), of a vertex of the grid; a field that ends falls."""
    return not is_in_grid(c, g, row, column) or falls_to(n, p, grid_vertex(c, g, row, column))


@kernel
def falls_to(n, p, v):
    """Whether the way from p to v does not rise along n."""
    r = subtract(v, p)
    return dot(n, r) <= ALONG * square_root(dot(r, r))


@kernel
def leads_out_of_wall(c, g, n, u, w):
    """Whether n leads out of the field from a point below its surface, at u and w of the legs: at its end or base."""
    row, column, s = c.triangle[TRIANGLE_ROW], c.triangle[TRIANGLE_COLUMN], c.triangle[TRIANGLE_SIGN]
    at_x = u <= ON_SIDE and not is_in_grid(c, g, row, column + s)
    at_y = w <= ON_SIDE and not is_in_grid(c, g, row - s, column)
    out_x = s * n[0] >= -ACROSS if at_x else abs(n[0]) <= ACROSS
    out_y = -s * n[1] >= -ACROSS if at_y else abs(n[1]) <= ACROSS
    return out_x and out_y and n[2] <= ACROSS and (n[2] >= -ACROSS or c.triangle[TRIANGLE_BASE] == 1)

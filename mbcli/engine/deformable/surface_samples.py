"""Where the surface of an elastic body touches: samples of its surface against solids and against other surfaces.

A sample is a point of a triangle of the surface, by the weights of its vertices, that stands for an area. It is a
contact if it is in a solid, or may come there within the step: so no body of ordinary speed passes through another.

found: a row is a sample, and the index of a triangle of the other surface, -1 for none.
places: normal out of the other side [1], point [m], distance along the normal, negative inside [m], weights of the
vertices of that triangle.
"""

from mbcli.engine.collision.segments import axis_of, clamp
from mbcli.engine.collision.shapes import rotate_back
from mbcli.engine.fields.collision_fields import BOX, CAPSULE, CYLINDER, ELLIPSOID, HALF_SPACE
from mbcli.engine.runtime.handles import collision_at
from mbcli.engine.runtime.kernel import Handle, Int, Matrix, Real, Table, Vector, entry, kernel
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

NEAREST = 1e-12  # [m] nearer than this, a point has no direction from a surface
INFINITE = float("inf")


@kernel
def from_point(p, q, sign):
    """(distance with a sign, unit vector) from q to p, q the nearest point of a surface; (0, 0, 0) if they meet."""
    r = subtract(p, q)
    distance = square_root(dot(r, r))
    if distance < NEAREST:
        return 0.0, (0.0, 0.0, 0.0)
    return sign * distance, scale(sign / distance, r)


@kernel
def point_to_box(p, h):
    q = (clamp(p[0], -h[0], h[0]), clamp(p[1], -h[1], h[1]), clamp(p[2], -h[2], h[2]))
    distance, normal = from_point(p, q, 1.0)
    if distance > 0.0:
        return distance, normal
    x, y, z = h[0] - abs(p[0]), h[1] - abs(p[1]), h[2] - abs(p[2])
    if x <= y and x <= z:
        return -x, (1.0 if p[0] >= 0.0 else -1.0, 0.0, 0.0)
    if y <= z:
        return -y, (0.0, 1.0 if p[1] >= 0.0 else -1.0, 0.0)
    return -z, (0.0, 0.0, 1.0 if p[2] >= 0.0 else -1.0)


@kernel
def point_to_cylinder(p, r, h):
    rho = square_root(p[0] * p[0] + p[1] * p[1])
    x, y = (p[0] / rho, p[1] / rho) if rho > 0.0 else (1.0, 0.0)
    beside, above = rho - r, abs(p[2]) - h
    up = 1.0 if p[2] >= 0.0 else -1.0
    if beside > 0.0 and above > 0.0:
        distance = square_root(beside * beside + above * above)
        return distance, (beside / distance * x, beside / distance * y, above / distance * up)
    if beside > above:
        return beside, (x, y, 0.0)
    return above, (0.0, 0.0, up)


@kernel
def point_to_ellipsoid(p, size):
    """To first order in the distance."""
    x, y, z = p[0] / size[0], p[1] / size[1], p[2] / size[2]
    f = square_root(x * x + y * y + z * z)
    g = (x / size[0], y / size[1], z / size[2])
    slope = square_root(dot(g, g))
    if slope * min(size[0], size[1], size[2]) < NEAREST:
        return -min(size[0], size[1], size[2]), (0.0, 0.0, 1.0)
    return (f - 1.0) * f / slope, scale(1.0 / slope, g)


@kernel
def point_to_hull(c, B, p):
    """The largest distance from a plane of a face."""
    distance, best = -INFINITE, -1
    for f in range(c.face_start[B], c.face_start[B + 1]):
        n = row3(c.face_normal, f, 0)
        d = dot(n, subtract(p, row3(c.vertices, c.corners[c.corner_start[f]], 0)))
        if d > distance:
            distance, best = d, f
    return distance, row3(c.face_normal, max(best, 0), 0)


@kernel
def point_to_solid(c, B, point):
    """(signed distance of a point in W from solid B, unit normal out of it in W)."""
    p = rotate_back(c.X_WG, B, subtract(point, row3(c.X_WG, B, 9)))
    kind = c.kind[B]
    if kind == HALF_SPACE:
        normal = axis_of(c, B)
        return dot(normal, subtract(point, row3(c.X_WG, B, 9))), normal
    if kind <= CAPSULE:
        h = c.size[B, 2] if kind == CAPSULE else 0.0
        distance, normal = from_point(p, (0.0, 0.0, clamp(p[2], -h, h)), 1.0)
        if distance == 0.0:
            normal = (1.0, 0.0, 0.0)
        distance -= c.rounding[B]
    elif kind == BOX:
        distance, normal = point_to_box(p, row3(c.size, B, 0))
    elif kind == CYLINDER:
        distance, normal = point_to_cylinder(p, c.size[B, 0], c.size[B, 2])
    elif kind == ELLIPSOID:
        distance, normal = point_to_ellipsoid(p, row3(c.size, B, 0))
    else:
        distance, normal = point_to_hull(c, B, p)
    return distance, rotate(c.X_WG, B, normal)


@kernel
def place_of_sample(x, samples, weights, s):
    """sum of weights times rows of x, of sample s."""
    p = scale(weights[s, 0], row3(x, samples[s, 0], 0))
    if weights[s, 1] != 0.0 or weights[s, 2] != 0.0:
        p = add(p, scale(weights[s, 1], row3(x, samples[s, 1], 0)))
        p = add(p, scale(weights[s, 2], row3(x, samples[s, 2], 0)))
    return p


@kernel
def set_place(places, n, normal, p, distance):
    set_row3(places, n, 0, normal)
    set_row3(places, n, 3, p)
    places[n, 6] = distance


@entry
def samples_in_solid(
    collision: Handle,
    B: Int,
    x: Matrix,
    v: Matrix,
    samples: Table,
    weights: Matrix,
    motion: Vector,
    found: Table,
    places: Matrix,
):
    """After the solids are placed: the samples that touch solid B, or may within the step; returns their number.

    x (n, 3) [m] and v (n, 3) [m/s] of the vertices. motion: time [s] in which samples may come, least gap that counts
    [m], angular and translational velocity of the solid about a point in W, and that point.
    """
    c = collision_at(collision)
    count = 0
    w, u, origin = (
        (motion[2], motion[3], motion[4]),
        (motion[5], motion[6], motion[7]),
        (motion[8], motion[9], motion[10]),
    )
    for s in range(samples.shape[0]):
        p = place_of_sample(x, samples, weights, s)
        distance, normal = point_to_solid(c, B, p)
        if distance >= motion[1]:
            speed = subtract(place_of_sample(v, samples, weights, s), add(u, cross(w, subtract(p, origin))))
            if distance + motion[0] * dot(normal, speed) >= 0.0:
                continue
        found[count, 0], found[count, 1] = s, -1
        set_place(places, count, normal, p, distance)
        count += 1
    return count


@kernel
def nearest_on_triangle(p, a, b, c):
    """Weights of a, b and c in the point of a triangle that is nearest to p (Ericson 2005, section 5.1.5)."""
    ab, ac, ap = subtract(b, a), subtract(c, a), subtract(p, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    bp = subtract(p, b)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    cp = subtract(p, c)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    total = va + vb + vc
    return va / total, vb / total, vc / total


@entry
def samples_in_surface(
    x: Matrix,
    samples: Table,
    weights: Matrix,
    y: Matrix,
    triangles: Table,
    boxes: Matrix,
    reach: Real,
    margin: Real,
    found: Table,
    places: Matrix,
):
    """Samples of x that are in a closed surface of vertices y, no deeper than `reach`, or nearer to it than `margin`.

    triangles: counterclockwise seen from outside. boxes (t, 6) [m]: least and largest coordinates of each. Returns the
    number of samples found.
    """
    count = 0
    for s in range(samples.shape[0]):
        p = place_of_sample(x, samples, weights, s)
        best, nearest, steepest = reach * reach, -1, 0.0
        wa, wb, wc = 0.0, 0.0, 0.0
        normal, from_surface = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for t in range(triangles.shape[0]):
            dx = max(boxes[t, 0] - p[0], p[0] - boxes[t, 3], 0.0)
            dy = max(boxes[t, 1] - p[1], p[1] - boxes[t, 4], 0.0)
            dz = max(boxes[t, 2] - p[2], p[2] - boxes[t, 5], 0.0)
            if dx * dx + dy * dy + dz * dz > best:
                continue
            a, b, c = row3(y, triangles[t, 0], 0), row3(y, triangles[t, 1], 0), row3(y, triangles[t, 2], 0)
            ka, kb, kc = nearest_on_triangle(p, a, b, c)
            r = subtract(p, add(add(scale(ka, a), scale(kb, b)), scale(kc, c)))
            d = dot(r, r)
            n = cross(subtract(b, a), subtract(c, a))
            area = square_root(dot(n, n))
            if area == 0.0:
                continue
            n = scale(1.0 / area, n)
            slope = abs(dot(n, r))
            # of triangles that share the nearest point, the one that faces p tells the side
            if d < best - 1e-12 * (best + d) or (d <= best + 1e-12 * (best + d) and slope > steepest):
                best, nearest, steepest = d, t, slope
                wa, wb, wc, normal, from_surface = ka, kb, kc, n, r
        if nearest < 0:
            continue
        side = dot(normal, from_surface)
        distance = square_root(best)
        if side > 0.0 and distance >= margin:
            continue
        sign = 1.0 if side > 0.0 else -1.0
        if distance > NEAREST:
            normal = scale(sign / distance, from_surface)
        found[count, 0], found[count, 1] = s, nearest
        set_place(places, count, normal, p, sign * distance)
        set_row3(places, count, 7, (wa, wb, wc))
        count += 1
    return count

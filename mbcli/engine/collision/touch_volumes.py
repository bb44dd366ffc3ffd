"""Contacts as sensors see them: sums over those of a body with others, or over those in a volume of it."""

from mbcli.engine.runtime.kernel import Indices, Int, Matrix, OutMatrix, Table, Vector, entry, kernel
from mbcli.engine.smooth.trigonometry import square_root

BOX_VOLUME, ELLIPSOID_VOLUME, CYLINDER_VOLUME, CAPSULE_VOLUME = range(4)  # shapes of volumes
UNBOUNDED = float("inf")
PARALLEL = 1e-300  # a direction whose part across a plane is smaller never meets it


@entry
def contact_sums(solids: Table, row: Indices, force: Matrix, own: Indices, sums: OutMatrix):
    """Contacts of solids (k, 2) with forces (k, 3) on the first one -> sums (n, 4): how many, and their force.

    own: of each solid 2 if it counts, 1 if it belongs to the same body, 0 else; of those within a body none counts.
    """
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for k in range(solids.shape[0]):
            if own[solids[k, side]] == 2 and own[solids[k, 1 - side]] == 0:
                sums[row[k], 0] += 1.0
                for i in range(3):
                    sums[row[k], 1 + i] += sign * force[k, i]


@entry
def pressure_sums(
    solids: Table,
    row: Indices,
    points: Matrix,
    force: Matrix,
    normals: Matrix,
    own: Indices,
    poses: Matrix,
    shape: Int,
    sizes: Vector,
    sums: OutMatrix,
):
    """The same -> sums (n, 1) of |force along the normal| [N] of contacts from which the normal meets a volume.

    normals (k, 3): out of the second solid. poses (n, 12): R row by row and origin of the volume in World. sizes (3,):
    half sizes of a box, semi-axes, radius and half length; the normal goes out of the body that owns the volume.
    """
    for side in range(2):
        sign = 2.0 * side - 1.0
        for k in range(solids.shape[0]):
            if own[solids[k, side]] == 2 and own[solids[k, 1 - side]] == 0:
                n, X = row[k], poses
                r = (points[k, 0] - X[n, 9], points[k, 1] - X[n, 10], points[k, 2] - X[n, 11])
                d = (sign * normals[k, 0], sign * normals[k, 1], sign * normals[k, 2])
                start, along = in_axes_of_volume(X, n, r), in_axes_of_volume(X, n, d)
                if meets_volume(shape, sizes, start, along):
                    f = force[k, 0] * normals[k, 0] + force[k, 1] * normals[k, 1] + force[k, 2] * normals[k, 2]
                    sums[n, 0] += abs(f)


@kernel
def in_axes_of_volume(X, n, a):
    """R^T a."""
    return (
        X[n, 0] * a[0] + X[n, 3] * a[1] + X[n, 6] * a[2],
        X[n, 1] * a[0] + X[n, 4] * a[1] + X[n, 7] * a[2],
        X[n, 2] * a[0] + X[n, 5] * a[1] + X[n, 8] * a[2],
    )


@kernel
def meets_volume(shape, sizes, p, d):
    """Whether p + t d is in a volume for some t, not negative."""
    if shape == BOX_VOLUME:
        enter, leave = slab_part(sizes[0], p[0], d[0])
        for i in range(1, 3):
            first, last = slab_part(sizes[i], p[i], d[i])
            enter, leave = max(enter, first), min(leave, last)
    elif shape == ELLIPSOID_VOLUME:
        x, y, z = p[0] / sizes[0], p[1] / sizes[1], p[2] / sizes[2]
        dx, dy, dz = d[0] / sizes[0], d[1] / sizes[1], d[2] / sizes[2]
        square = dx * dx + dy * dy + dz * dz
        enter, leave = ball_part(square, x * dx + y * dy + z * dz, x * x + y * y + z * z - 1.0)
    else:
        radius, half = sizes[0], sizes[1]
        square, product = d[0] * d[0] + d[1] * d[1], p[0] * d[0] + p[1] * d[1]
        across = p[0] * p[0] + p[1] * p[1] - radius * radius
        first, last = ball_part(square, product, across)
        enter, leave = slab_part(half, p[2], d[2])
        enter, leave = max(enter, first), min(leave, last)
        if shape == CAPSULE_VOLUME:
            for end in range(-1, 2, 2):
                z = p[2] - end * half
                first, last = ball_part(square + d[2] * d[2], product + z * d[2], across + z * z)
                if enter > leave:
                    enter, leave = first, last
                elif first <= last:
                    enter, leave = min(enter, first), max(leave, last)
    return enter <= leave and leave >= 0.0


@kernel
def slab_part(half, x, dx):
    """The interval of t in which |x + t dx| <= half."""
    if abs(dx) < PARALLEL:
        return (-UNBOUNDED, UNBOUNDED) if abs(x) <= half else (UNBOUNDED, -UNBOUNDED)
    a, b = (-half - x) / dx, (half - x) / dx
    return min(a, b), max(a, b)


@kernel
def ball_part(a, b, c):
    """The interval of t in which a t^2 + 2 b t + c <= 0, for a >= 0."""
    if a < PARALLEL:
        return (-UNBOUNDED, UNBOUNDED) if c <= 0.0 else (UNBOUNDED, -UNBOUNDED)
    square = b * b - a * c
    if square < 0.0:
        return UNBOUNDED, -UNBOUNDED
    root = square_root(square)
    return (-b - root) / a, (-b + root) / a

"""The principal stretches of a deformation gradient, F = U diag(s) V^T with rotations U and V.

The last stretch carries the sign of det F, so that a tetrahedron that is turned inside out has one negative stretch and
is pushed back through its plane (Irving, Teran and Fedkiw 2004). Jacobi's method on F^T F, which is exact to rounding
for stretches that are not extreme. A 3x3 matrix is a tuple of three rows; its numbers are floats or registers of eight.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import any_positive, where_positive
from mbcli.engine.smooth.spatial import cross, dot, scale, subtract
from mbcli.engine.smooth.trigonometry import square_root

SWEEPS = 12  # four or five are needed
SMALL_ANGLE = 1e-30  # squared, of an element off the diagonal relative to the diagonal
NO_DIRECTION = 1e-12  # a stretch below this share of the largest has no direction of its own
TINY = 1e-300


@kernel
def magnitude(x):
    return where_positive(x, x, -x)


@kernel
def choose3(x, a, b):
    """a where x > 0, b elsewhere."""
    return (where_positive(x, a[0], b[0]), where_positive(x, a[1], b[1]), where_positive(x, a[2], b[2]))


@kernel
def turn_pair(p, q, off):
    """(tangent, cosine, sine) of the turn that makes the element `off` between diagonal elements p and q zero."""
    d = q - p
    root = square_root(d * d + 4.0 * off * off)
    t = 2.0 * off / where_positive(-d, d - root, d + root + TINY)
    c = 1.0 / square_root(t * t + 1.0)
    return t, c, t * c


@kernel
def turn_vectors(c, s, a, b):
    """(c a - s b, s a + c b)."""
    return (
        (c * a[0] - s * b[0], c * a[1] - s * b[1], c * a[2] - s * b[2]),
        (s * a[0] + c * b[0], s * a[1] + c * b[1], s * a[2] + c * b[2]),
    )


@kernel
def apply3(F, a):
    """F a."""
    return (dot(F[0], a), dot(F[1], a), dot(F[2], a))


@kernel
def unit_like(x):
    """The rows of the unit matrix, of numbers as x."""
    zero = 0.0 * x
    one = zero + 1.0
    return (one, zero, zero), (zero, one, zero), (zero, zero, one)


@kernel
def is_off(p, q, off):
    """Whether the element between diagonal elements p and q is not zero, in some lane."""
    return any_positive(off * off - SMALL_ANGLE * magnitude(p * q))


@kernel
def diagonalize(xx, yy, zz, xy, xz, yz):
    """Eigenvalues and eigenvectors of a symmetric matrix, (l0, l1, l2), (v0, v1, v2); the vectors are a rotation."""
    v0, v1, v2 = unit_like(xx)
    zero = v0[1]
    for _ in range(SWEEPS):
        if not (is_off(xx, yy, xy) or is_off(xx, zz, xz) or is_off(yy, zz, yz)):
            break
        t, cosine, sine = turn_pair(xx, yy, xy)
        xx, yy, xy = xx - t * xy, yy + t * xy, zero
        xz, yz = cosine * xz - sine * yz, sine * xz + cosine * yz
        v0, v1 = turn_vectors(cosine, sine, v0, v1)
        t, cosine, sine = turn_pair(xx, zz, xz)
        xx, zz, xz = xx - t * xz, zz + t * xz, zero
        xy, yz = cosine * xy - sine * yz, sine * xy + cosine * yz
        v0, v2 = turn_vectors(cosine, sine, v0, v2)
        t, cosine, sine = turn_pair(yy, zz, yz)
        yy, zz, yz = yy - t * yz, zz + t * yz, zero
        xy, xz = cosine * xy - sine * xz, sine * xy + cosine * xz
        v1, v2 = turn_vectors(cosine, sine, v1, v2)
    return (xx, yy, zz), (v0, v1, v2)


@kernel
def larger_first(p, q, v, w):
    """Two eigenvalues with their vectors, the larger one first; the vectors stay those of a rotation."""
    x = q - p
    return (
        where_positive(x, q, p),
        where_positive(x, p, q),
        choose3(x, w, v),
        choose3(x, scale(-1.0, v), w),
    )


@kernel
def perpendicular(u):
    """A unit vector perpendicular to the unit vector u (Duff et al. 2017)."""
    sign = where_positive(-u[2], 0.0 * u[2] - 1.0, 0.0 * u[2] + 1.0)
    a = -1.0 / (sign + u[2])
    return (1.0 + sign * u[0] * u[0] * a, sign * u[0] * u[1] * a, -sign * u[0])


@kernel
def principal_stretches(F):
    """(s, u, v): three stretches, columns of U and columns of V, so that F = sum s_i u_i v_i^T."""
    r0, r1, r2 = F
    a, b, c = (r0[0], r1[0], r2[0]), (r0[1], r1[1], r2[1]), (r0[2], r1[2], r2[2])
    (xx, yy, zz), (v0, v1, v2) = diagonalize(dot(a, a), dot(b, b), dot(c, c), dot(a, b), dot(a, c), dot(b, c))
    xx, yy, v0, v1 = larger_first(xx, yy, v0, v1)  # the least one last
    yy, zz, v1, v2 = larger_first(yy, zz, v1, v2)
    xx, yy, v0, v1 = larger_first(xx, yy, v0, v1)
    u0, u1 = apply3(F, v0), apply3(F, v1)
    s0 = square_root(dot(u0, u0))
    u0 = choose3(s0, scale(1.0 / where_positive(s0, s0, 1.0), u0), v0)
    u1 = subtract(u1, scale(dot(u0, u1), u0))
    s1 = square_root(dot(u1, u1))
    directed = s1 - NO_DIRECTION * s0
    u1 = choose3(directed, scale(1.0 / where_positive(directed, s1, 1.0), u1), perpendicular(u0))
    u2 = cross(u0, u1)
    return (s0, s1, dot(u2, apply3(F, v2))), (u0, u1, u2), (v0, v1, v2)

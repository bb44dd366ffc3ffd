"""The principal stretches of a deformation gradient, F = U diag(s) V^T with rotations U and V.

The last stretch carries the sign of det F, so that a tetrahedron that is turned inside out has one negative stretch and
is pushed back through its plane (Irving, Teran and Fedkiw 2004). Jacobi's method on F^T F, which is exact to rounding
for stretches that are not extreme. A 3x3 matrix is a tuple of three rows.
"""

from mbcli.engine.collision.segments import across
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import cross, dot, scale, subtract
from mbcli.engine.smooth.trigonometry import square_root

SWEEPS = 12  # four or five are needed
SMALL_ANGLE = 1e-30  # squared, of an element off the diagonal relative to the diagonal
NO_DIRECTION = 1e-12  # a stretch below this share of the largest has no direction of its own


@kernel
def turn_pair(p, q, off):
    """(tangent, cosine, sine) of the turn that makes the element `off` between diagonal elements p and q zero."""
    if off * off <= SMALL_ANGLE * abs(p * q) or off == 0.0:
        return 0.0, 1.0, 0.0
    theta = 0.5 * (q - p) / off
    t = 1.0 / (abs(theta) + square_root(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
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
def diagonalize(xx, yy, zz, xy, xz, yz):
    """Eigenvalues and eigenvectors of a symmetric matrix, (l0, l1, l2), (v0, v1, v2); the vectors are a rotation."""
    v0, v1, v2 = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for _ in range(SWEEPS):
        t, cosine, sine = turn_pair(xx, yy, xy)
        moved = t != 0.0
        if t != 0.0:
            xx, yy, xy = xx - t * xy, yy + t * xy, 0.0
            xz, yz = cosine * xz - sine * yz, sine * xz + cosine * yz
            v0, v1 = turn_vectors(cosine, sine, v0, v1)
        t, cosine, sine = turn_pair(xx, zz, xz)
        moved = moved or t != 0.0
        if t != 0.0:
            xx, zz, xz = xx - t * xz, zz + t * xz, 0.0
            xy, yz = cosine * xy - sine * yz, sine * xy + cosine * yz
            v0, v2 = turn_vectors(cosine, sine, v0, v2)
        t, cosine, sine = turn_pair(yy, zz, yz)
        moved = moved or t != 0.0
        if t != 0.0:
            yy, zz, yz = yy - t * yz, zz + t * yz, 0.0
            xy, xz = cosine * xy - sine * xz, sine * xy + cosine * xz
            v1, v2 = turn_vectors(cosine, sine, v1, v2)
        if not moved:
            break
    return (xx, yy, zz), (v0, v1, v2)


@kernel
def principal_stretches(F):
    """(s, u, v): three stretches, columns of U and columns of V, so that F = sum s_i u_i v_i^T."""
    r0, r1, r2 = F
    a, b, c = (r0[0], r1[0], r2[0]), (r0[1], r1[1], r2[1]), (r0[2], r1[2], r2[2])
    (xx, yy, zz), (v0, v1, v2) = diagonalize(dot(a, a), dot(b, b), dot(c, c), dot(a, b), dot(a, c), dot(b, c))
    if xx < yy:  # the least one last; V stays a rotation
        xx, yy, v0, v1 = yy, xx, v1, scale(-1.0, v0)
    if yy < zz:
        yy, zz, v1, v2 = zz, yy, v2, scale(-1.0, v1)
    if xx < yy:
        xx, yy, v0, v1 = yy, xx, v1, scale(-1.0, v0)
    u0, u1 = apply3(F, v0), apply3(F, v1)
    s0 = square_root(dot(u0, u0))
    if s0 > 0.0:
        u0 = scale(1.0 / s0, u0)
    else:
        u0 = v0
    u1 = subtract(u1, scale(dot(u0, u1), u0))
    s1 = square_root(dot(u1, u1))
    if s1 > NO_DIRECTION * s0:
        u1 = scale(1.0 / s1, u1)
    else:
        u1 = across(u0)
    u2 = cross(u0, u1)
    return (s0, s1, dot(u2, apply3(F, v2))), (u0, u1, u2), (v0, v1, v2)

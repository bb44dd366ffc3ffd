"""Forces of linear tetrahedra over a step, and their derivative.

A step takes positions x0 to x1 = x0 + h/2 (v0 + v1). With F0, F1 and F_m = (F0 + F1)/2, the deformation gradients of a
tetrahedron at its start, its end and the middle, the stress of the step is

    P = F_m S,    S = S(C_m) + C : (c (E1 - E0) + beta sym(F_m^T Fdot1)),    E1 - E0 = sym(F_m^T (F1 - F0))

with the second Piola stress S(F^T F) at the mean C_m of F0^T F0 and F1^T F1, Green's strain E, Hooke's tensor C and the
stiffness damping beta. As S is symmetric, it exerts no torque about the positions of the middle, so that angular
momentum is kept exactly whatever the size of the step, and rigid motion has no stress (Simo and Tarnow 1992). c = 1/2
gives for small strains the elastic force at the end of the step, which damps what the step cannot resolve; c = 0 gives
the midpoint rule. S(C_m) has no limit for a tetrahedron that is pressed flat: there P(F_m) takes its place by and by.
For the linear material E is the small strain.

elements: row of a tetrahedron: gradients of its four shape functions [1/m], then its volume [m^3].
law: see law_numbers() in materials.py. Volumes and gradients are those of the reference positions.
"""

from mbcli.engine.deformable.materials import (
    LINEAR,
    law_numbers,
    principal_energy,
    principal_stress,
    shear_quotients,
    stretch_hessian,
)
from mbcli.engine.deformable.stretches import apply3, diagonalize, principal_stretches
from mbcli.engine.runtime.kernel import Blocks, Matrix, Table, Vector, entry, kernel
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale
from mbcli.engine.smooth.trigonometry import square_root

FLAT, ROUND = 0.1, 0.3  # least stretches between which P(F_m) gives way to F_m S(C_m)
UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def gradient_of(x, tets, elements, e):
    """sum x_a grad N_a^T of tetrahedron e: three rows."""
    f, g, k = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for a in range(4):
        i = tets[e, a]
        n = row3(elements, e, 3 * a)
        f, g, k = add(f, scale(x[i, 0], n)), add(g, scale(x[i, 1], n)), add(k, scale(x[i, 2], n))
    return f, g, k


@kernel
def combine3(a, A, b, B):
    """a A + b B of matrices."""
    return (
        add(scale(a, A[0]), scale(b, B[0])),
        add(scale(a, A[1]), scale(b, B[1])),
        add(scale(a, A[2]), scale(b, B[2])),
    )


@kernel
def column3(A, j):
    return (A[0][j], A[1][j], A[2][j])


@kernel
def symmetric_product(A, B):
    """sym(A^T B): xx, yy, zz, xy, xz, yz."""
    a0, a1, a2 = column3(A, 0), column3(A, 1), column3(A, 2)
    b0, b1, b2 = column3(B, 0), column3(B, 1), column3(B, 2)
    return (
        dot(a0, b0),
        dot(a1, b1),
        dot(a2, b2),
        0.5 * (dot(a0, b1) + dot(a1, b0)),
        0.5 * (dot(a0, b2) + dot(a2, b0)),
        0.5 * (dot(a1, b2) + dot(a2, b1)),
    )


@kernel
def hooke(lam, mu, e):
    """The three rows of 2 mu e + lambda tr(e) 1."""
    xx, yy, zz, xy, xz, yz = e
    t, d = lam * (xx + yy + zz), 2.0 * mu
    return (d * xx + t, d * xy, d * xz), (d * xy, d * yy + t, d * yz), (d * xz, d * yz, d * zz + t)


@kernel
def product3(A, B):
    """A B with a symmetric B."""
    return apply3(B, A[0]), apply3(B, A[1]), apply3(B, A[2])


@kernel
def elastic_stress(kind, lam, mu, F):
    """P(F), three rows."""
    if kind == LINEAR:
        e = symmetric_product(UNIT, F)
        return hooke(lam, mu, (e[0] - 1.0, e[1] - 1.0, e[2] - 1.0, e[3], e[4], e[5]))
    s, u, v = principal_stretches(F)
    p = principal_stress(kind, lam, mu, s)
    w0, w1, w2 = scale(p[0], v[0]), scale(p[1], v[1]), scale(p[2], v[2])
    return (
        add(add(scale(u[0][0], w0), scale(u[1][0], w1)), scale(u[2][0], w2)),
        add(add(scale(u[0][1], w0), scale(u[1][1], w1)), scale(u[2][1], w2)),
        add(add(scale(u[0][2], w0), scale(u[1][2], w1)), scale(u[2][2], w2)),
    )


@kernel
def stress_of_step(kind, lam, mu, F0, F1):
    """The elastic part of P of a step, three rows."""
    F = combine3(0.5, F0, 0.5, F1)
    if kind == LINEAR:
        return elastic_stress(kind, lam, mu, F)
    C0, C1 = symmetric_product(F0, F0), symmetric_product(F1, F1)
    squares, v = diagonalize(
        0.5 * (C0[0] + C1[0]),
        0.5 * (C0[1] + C1[1]),
        0.5 * (C0[2] + C1[2]),
        0.5 * (C0[3] + C1[3]),
        0.5 * (C0[4] + C1[4]),
        0.5 * (C0[5] + C1[5]),
    )
    least = square_root(max(0.0, min(squares[0], squares[1], squares[2])))
    share = 0.0
    if dot(F0[0], cross(F0[1], F0[2])) > 0.0 and dot(F1[0], cross(F1[1], F1[2])) > 0.0:
        share = min(1.0, max(0.0, (least - FLAT) / (ROUND - FLAT)))
    if share == 0.0:
        return elastic_stress(kind, lam, mu, F)
    s = (square_root(squares[0]), square_root(squares[1]), square_root(squares[2]))
    p = principal_stress(kind, lam, mu, s)
    a, b, c = p[0] / s[0], p[1] / s[1], p[2] / s[2]
    S = combine3(1.0, combine3(1.0, squared(a, v[0]), 1.0, squared(b, v[1])), 1.0, squared(c, v[2]))
    P = product3(F, S)
    if share < 1.0:
        P = combine3(share, P, 1.0 - share, elastic_stress(kind, lam, mu, F))
    return P


@kernel
def squared(a, v):
    """a v v^T, three rows."""
    return scale(a * v[0], v), scale(a * v[1], v), scale(a * v[2], v)


@entry
def add_element_impulses(x0: Matrix, v0: Matrix, v1: Matrix, tets: Table, elements: Matrix, law: Vector, out: Matrix):
    """out (n, 3) += impulses [N s] over a step against the forces of the tetrahedra."""
    kind, lam, mu, small_lam, small_mu, _, beta, h, c = law_numbers(law)
    for e in range(tets.shape[0]):
        F0, G0 = gradient_of(x0, tets, elements, e), gradient_of(v0, tets, elements, e)
        G1 = gradient_of(v1, tets, elements, e)
        sum_G = combine3(1.0, G0, 1.0, G1)
        F = combine3(1.0, F0, 0.25 * h, sum_G)
        P = stress_of_step(kind, lam, mu, F0, combine3(1.0, F0, 0.5 * h, sum_G))
        frame = F if kind != LINEAR else UNIT
        rate = combine3(0.5 * h * c, sum_G, beta, G1)
        S = hooke(small_lam, small_mu, symmetric_product(frame, rate))
        P = combine3(1.0, P, 1.0, product3(frame, S))
        volume = h * elements[e, 12]
        for a in range(4):
            i, f = tets[e, a], apply3(P, row3(elements, e, 3 * a))
            out[i, 0] += volume * f[0]
            out[i, 1] += volume * f[1]
            out[i, 2] += volume * f[2]


@entry
def elastic_energy(x: Matrix, tets: Table, elements: Matrix, law: Vector):
    """[J] of all tetrahedra at positions x."""
    kind, lam, mu, _, _, _, _, _, _ = law_numbers(law)
    total = 0.0
    for e in range(tets.shape[0]):
        F = gradient_of(x, tets, elements, e)
        if kind == LINEAR:
            a, b, c, d, f, g = symmetric_product(UNIT, F)
            a, b, c = a - 1.0, b - 1.0, c - 1.0
            t = a + b + c
            W = mu * (a * a + b * b + c * c + 2.0 * (d * d + f * f + g * g)) + 0.5 * lam * t * t
        else:
            s, _, _ = principal_stretches(F)
            W = principal_energy(kind, lam, mu, s)
        total += W * elements[e, 12]
    return total


@kernel
def definite(xx, yy, zz, xy, xz, yz):
    """The matrix with its negative eigenvalues put to zero."""
    minor = xx * yy - xy * xy
    determinant = zz * minor - xx * yz * yz - yy * xz * xz + 2.0 * xy * xz * yz
    if xx > 0.0 and minor > 0.0 and determinant > 0.0:
        return xx, yy, zz, xy, xz, yz
    l, (a, b, c) = diagonalize(xx, yy, zz, xy, xz, yz)
    p, q, r = max(l[0], 0.0), max(l[1], 0.0), max(l[2], 0.0)
    return (
        p * a[0] * a[0] + q * b[0] * b[0] + r * c[0] * c[0],
        p * a[1] * a[1] + q * b[1] * b[1] + r * c[1] * c[1],
        p * a[2] * a[2] + q * b[2] * b[2] + r * c[2] * c[2],
        p * a[0] * a[1] + q * b[0] * b[1] + r * c[0] * c[1],
        p * a[0] * a[2] + q * b[0] * b[2] + r * c[0] * c[2],
        p * a[1] * a[2] + q * b[1] * b[2] + r * c[1] * c[2],
    )


@kernel
def elastic_tangent(kind, lam, mu, s):
    """d2W/dF2 without its negative eigenvalues, in the axes of U and V.

    Of the stretches as definite() gives it; then for the pairs of axes (1, 2), (2, 0) and (0, 1) the derivative of
    P_ij by F_ij, and by F_ji.
    """
    if kind == LINEAR:
        d = 2.0 * mu + lam
        return (d, d, d, lam, lam, lam), (mu, mu, mu), (mu, mu, mu)
    xx, yy, zz, xy, xz, yz = stretch_hessian(kind, lam, mu, s)
    sym0, skew0 = shear_quotients(kind, lam, mu, s, 0)
    sym1, skew1 = shear_quotients(kind, lam, mu, s, 1)
    sym2, skew2 = shear_quotients(kind, lam, mu, s, 2)
    sym0, sym1, sym2 = 0.5 * max(sym0, 0.0), 0.5 * max(sym1, 0.0), 0.5 * max(sym2, 0.0)
    skew0, skew1, skew2 = 0.5 * max(skew0, 0.0), 0.5 * max(skew1, 0.0), 0.5 * max(skew2, 0.0)
    return (
        definite(xx, yy, zz, xy, xz, yz),
        (sym0 + skew0, sym1 + skew1, sym2 + skew2),
        (sym0 - skew0, sym1 - skew1, sym2 - skew2),
    )


@kernel
def turned_gradient(elements, e, a, v):
    """V^T grad N_a."""
    n = row3(elements, e, 3 * a)
    return (dot(v[0], n), dot(v[1], n), dot(v[2], n))


@entry
def add_element_tangents(
    x0: Matrix,
    v0: Matrix,
    v1: Matrix,
    tets: Table,
    elements: Matrix,
    law: Vector,
    places: Table,
    blocks: Blocks,
):
    """blocks += derivative of the impulses by v1, semidefinite and symmetric.

    places (m, 10): block of each pair of vertices a <= b of a tetrahedron, 00, 01, 02, 03, 11, ...; the vertices of a
    tetrahedron increase.
    """
    kind, lam, mu, small_lam, small_mu, _, beta, h, dissipation = law_numbers(law)
    viscous = 0.5 * h * dissipation + beta
    for e in range(tets.shape[0]):
        F0, G0 = gradient_of(x0, tets, elements, e), gradient_of(v0, tets, elements, e)
        F = combine3(1.0, F0, 0.25 * h, combine3(1.0, G0, 1.0, gradient_of(v1, tets, elements, e)))
        s, u, v = principal_stretches(F)
        if kind == LINEAR:
            s, u, v = (1.0, 1.0, 1.0), UNIT, UNIT
        (xx, yy, zz, xy, xz, yz), same, other = elastic_tangent(kind, lam, mu, s)
        elastic, volume = 0.25 * h, h * elements[e, 12]
        a, b, c = s
        d = 2.0 * small_mu + small_lam
        xx = volume * (elastic * xx + viscous * d * a * a)
        yy = volume * (elastic * yy + viscous * d * b * b)
        zz = volume * (elastic * zz + viscous * d * c * c)
        xy = volume * (elastic * xy + viscous * small_lam * a * b)
        xz = volume * (elastic * xz + viscous * small_lam * a * c)
        yz = volume * (elastic * yz + viscous * small_lam * b * c)
        m = volume * viscous * small_mu
        w = volume * elastic
        # of P_ij by F_ij: row i, column j; of P_ij by F_ji
        d01, d10, o01 = w * same[2] + m * a * a, w * same[2] + m * b * b, w * other[2] + m * a * b
        d02, d20, o02 = w * same[1] + m * a * a, w * same[1] + m * c * c, w * other[1] + m * a * c
        d12, d21, o12 = w * same[0] + m * b * b, w * same[0] + m * c * c, w * other[0] + m * b * c
        k = 0
        for i in range(4):
            g = turned_gradient(elements, e, i, v)
            for j in range(i, 4):
                n = turned_gradient(elements, e, j, v)
                A = (
                    (
                        xx * g[0] * n[0] + d01 * g[1] * n[1] + d02 * g[2] * n[2],
                        xy * g[0] * n[1] + o01 * g[1] * n[0],
                        xz * g[0] * n[2] + o02 * g[2] * n[0],
                    ),
                    (
                        xy * g[1] * n[0] + o01 * g[0] * n[1],
                        yy * g[1] * n[1] + d10 * g[0] * n[0] + d12 * g[2] * n[2],
                        yz * g[1] * n[2] + o12 * g[2] * n[1],
                    ),
                    (
                        xz * g[2] * n[0] + o02 * g[0] * n[2],
                        yz * g[2] * n[1] + o12 * g[1] * n[2],
                        zz * g[2] * n[2] + d20 * g[0] * n[0] + d21 * g[1] * n[1],
                    ),
                )
                add_turned(blocks, places[e, k], u, A)
                k += 1


@kernel
def add_turned(blocks, block, u, A):
    """blocks[block] += U A U^T."""
    for i in range(3):
        a, b, c = u[0][i], u[1][i], u[2][i]
        row = add(add(scale(a, A[0]), scale(b, A[1])), scale(c, A[2]))
        for j in range(3):
            blocks[block, i, j] += row[0] * u[0][j] + row[1] * u[1][j] + row[2] * u[2][j]

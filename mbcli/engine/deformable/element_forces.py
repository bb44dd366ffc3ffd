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

Eight tetrahedra are computed at once, in vector registers; what they take from the arrays of vertices is put into a row
of eight for each number before, and what they give is added from such rows.

elements: row of a tetrahedron: gradients of its four shape functions [1/m], then its volume [m^3].
law: see law_numbers() in materials.py. Volumes and gradients are those of the reference positions.
"""

from mbcli.engine.deformable.materials import (
    LINEAR,
    inertia_number,
    law_numbers,
    principal_energy,
    principal_stress,
    shear_quotients,
    stretch_hessian,
)
from mbcli.engine.deformable.stretches import apply3, diagonalize, principal_stretches, unit_like
from mbcli.engine.runtime.kernel import Blocks, Int, Matrix, Table, Vector, entry, kernel, unlocked
from mbcli.engine.runtime.lane_memory import any_positive, element, lanes_of, set_element, where_positive
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale
from mbcli.engine.smooth.trigonometry import square_root

FLAT, ROUND = 0.1, 0.3  # least stretches between which P(F_m) gives way to F_m S(C_m)
FULL = 0.2  # share of the volume that a tetrahedron needs at start and end for F_m S(C_m) alone
UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
# rows of eight: positions and velocities at the start, added to those at the end, these, elements, results
ROW_X, ROW_SUM, ROW_END, ROW_ELEMENT, ROW_RESULT = 0, 12, 24, 36, 49
ROW_VOLUME = ROW_ELEMENT + 12
WORK = 8 * (ROW_RESULT + 90)


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
        e = symmetric_product(unit_like(F[0][0]), F)
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
    least = smaller(squares[0], smaller(squares[1], squares[2]))
    share = between_0_and_1((square_root(where_positive(least, least, 0.0)) - FLAT) / (ROUND - FLAT))
    share = share * between_0_and_1(dot(F0[0], cross(F0[1], F0[2])) / FULL)
    share = share * between_0_and_1(dot(F1[0], cross(F1[1], F1[2])) / FULL)
    if not any_positive(share):
        return elastic_stress(kind, lam, mu, F)
    s = (
        square_root(where_positive(share, squares[0], 1.0)),
        square_root(where_positive(share, squares[1], 1.0)),
        square_root(where_positive(share, squares[2], 1.0)),
    )
    p = principal_stress(kind, lam, mu, s)
    a, b, c = p[0] / s[0], p[1] / s[1], p[2] / s[2]
    S = combine3(1.0, combine3(1.0, squared(a, v[0]), 1.0, squared(b, v[1])), 1.0, squared(c, v[2]))
    P = product3(F, S)
    if any_positive(1.0 - share):
        P = combine3(share, P, 1.0 - share, elastic_stress(kind, lam, mu, F))
    return P


@kernel
def between_0_and_1(x):
    return where_positive(x - 1.0, 1.0, where_positive(x, x, 0.0))


@kernel
def smaller(a, b):
    return where_positive(b - a, a, b)


@kernel
def squared(a, v):
    """a v v^T, three rows."""
    return scale(a * v[0], v), scale(a * v[1], v), scale(a * v[2], v)


@kernel
def gather_eight(x0, v0, v1, tets, elements, first, work):
    """The numbers of eight tetrahedra from `first` on; the last one stands for those that are not there."""
    last = tets.shape[0] - 1
    for lane in range(8):
        e = min(first + lane, last)
        for a in range(4):
            i = tets[e, a]
            for k in range(3):
                row = 8 * (3 * a + k) + lane
                set_element(work, 8 * ROW_X + row, x0[i, k])
                set_element(work, 8 * ROW_SUM + row, v0[i, k] + v1[i, k])
                set_element(work, 8 * ROW_END + row, v1[i, k])
        for k in range(13):
            set_element(work, 8 * (ROW_ELEMENT + k) + lane, elements[e, k])


@kernel
def gradient_of_eight(lanes, row):
    """sum x_a grad N_a^T, three rows; row: of the first coordinate of x_0."""
    n = ROW_ELEMENT
    n0, n1, n2, n3 = three_of(lanes, n), three_of(lanes, n + 3), three_of(lanes, n + 6), three_of(lanes, n + 9)
    return (
        sum_of_four(lanes, row, n0, n1, n2, n3),
        sum_of_four(lanes, row + 1, n0, n1, n2, n3),
        sum_of_four(lanes, row + 2, n0, n1, n2, n3),
    )


@kernel
def three_of(lanes, row):
    return (element(lanes, row), element(lanes, row + 1), element(lanes, row + 2))


@kernel
def sum_of_four(lanes, row, n0, n1, n2, n3):
    a, b = add(scale(element(lanes, row), n0), scale(element(lanes, row + 3), n1)), scale(element(lanes, row + 6), n2)
    return add(add(a, b), scale(element(lanes, row + 9), n3))


@unlocked
def add_element_impulses(
    x0: Matrix,
    v0: Matrix,
    v1: Matrix,
    tets: Table,
    elements: Matrix,
    law: Vector,
    begin: Int,
    end: Int,
    work: Vector,
    out: Matrix,
):
    """out (n, 3) += impulses [N s] over a step against the forces of tetrahedra, and momenta M v1.

    The consistent mass of a tetrahedron is V/10 of the density for a vertex with itself, V/20 with another; the impulse
    of mass damping counts with it. begin: a multiple of 8; work: WORK numbers.
    """
    kind, lam, mu, small_lam, small_mu, beta, h, c = law_numbers(law)
    inertia = 0.05 * inertia_number(law)
    lanes = lanes_of(work)
    for first in range(begin, end, 8):
        gather_eight(x0, v0, v1, tets, elements, first, work)
        F0, sum_G = gradient_of_eight(lanes, ROW_X), gradient_of_eight(lanes, ROW_SUM)
        F = combine3(1.0, F0, 0.25 * h, sum_G)
        P = stress_of_step(kind, lam, mu, F0, combine3(1.0, F0, 0.5 * h, sum_G))
        frame = F if kind != LINEAR else unit_like(F[0][0])
        rate = combine3(0.5 * h * c, sum_G, beta, gradient_of_eight(lanes, ROW_END))
        S = hooke(small_lam, small_mu, symmetric_product(frame, rate))
        P = combine3(1.0, P, 1.0, product3(frame, S))
        volume, m = h * element(lanes, ROW_VOLUME), inertia * element(lanes, ROW_VOLUME)
        a, b = add(three_of(lanes, ROW_END), three_of(lanes, ROW_END + 3)), three_of(lanes, ROW_END + 6)
        total = add(add(a, b), three_of(lanes, ROW_END + 9))
        for a in range(4):
            f = scale(volume, apply3(P, three_of(lanes, ROW_ELEMENT + 3 * a)))
            f = add(f, scale(m, add(total, three_of(lanes, ROW_END + 3 * a))))
            row = ROW_RESULT + 3 * a
            set_element(lanes, row, f[0])
            set_element(lanes, row + 1, f[1])
            set_element(lanes, row + 2, f[2])
        for lane in range(min(8, end - first)):
            for a in range(4):
                i, row = tets[first + lane, a], 8 * (ROW_RESULT + 3 * a) + lane
                out[i, 0] += element(work, row)
                out[i, 1] += element(work, row + 8)
                out[i, 2] += element(work, row + 16)


@entry
def elastic_energy(x: Matrix, tets: Table, elements: Matrix, law: Vector):
    """[J] of all tetrahedra at positions x."""
    kind, lam, mu, _, _, _, _, _ = law_numbers(law)
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
    is_definite = where_positive(xx, where_positive(minor, determinant, -1.0), -1.0)
    others = where_positive(is_definite, -1.0, 1.0 + 0.0 * xx)
    if not any_positive(others):
        return xx, yy, zz, xy, xz, yz
    l, (a, b, c) = diagonalize(xx, yy, zz, xy, xz, yz)
    p, q, r = not_negative(l[0]), not_negative(l[1]), not_negative(l[2])
    return (
        where_positive(others, p * a[0] * a[0] + q * b[0] * b[0] + r * c[0] * c[0], xx),
        where_positive(others, p * a[1] * a[1] + q * b[1] * b[1] + r * c[1] * c[1], yy),
        where_positive(others, p * a[2] * a[2] + q * b[2] * b[2] + r * c[2] * c[2], zz),
        where_positive(others, p * a[0] * a[1] + q * b[0] * b[1] + r * c[0] * c[1], xy),
        where_positive(others, p * a[0] * a[2] + q * b[0] * b[2] + r * c[0] * c[2], xz),
        where_positive(others, p * a[1] * a[2] + q * b[1] * b[2] + r * c[1] * c[2], yz),
    )


@kernel
def not_negative(x):
    return where_positive(x, x, 0.0)


@kernel
def elastic_tangent(kind, lam, mu, s):
    """d2W/dF2 without its negative eigenvalues, in the axes of U and V.

    Of the stretches as definite() gives it; then for the pairs of axes (1, 2), (2, 0) and (0, 1) the derivative of
    P_ij by F_ij, and by F_ji.
    """
    a, b, c = s
    if kind == LINEAR:
        zero = 0.0 * a
        d, e, f = zero + (2.0 * mu + lam), zero + lam, zero + mu
        return (d, d, d, e, e, e), (f, f, f), (f, f, f)
    xx, yy, zz, xy, xz, yz = stretch_hessian(kind, lam, mu, s)
    sym0, skew0 = shear_quotients(kind, lam, mu, a, b, c)
    sym1, skew1 = shear_quotients(kind, lam, mu, b, c, a)
    sym2, skew2 = shear_quotients(kind, lam, mu, c, a, b)
    sym0, sym1, sym2 = 0.5 * not_negative(sym0), 0.5 * not_negative(sym1), 0.5 * not_negative(sym2)
    skew0, skew1, skew2 = 0.5 * not_negative(skew0), 0.5 * not_negative(skew1), 0.5 * not_negative(skew2)
    return (
        definite(xx, yy, zz, xy, xz, yz),
        (sym0 + skew0, sym1 + skew1, sym2 + skew2),
        (sym0 - skew0, sym1 - skew1, sym2 - skew2),
    )


@unlocked
def add_element_tangents(
    x0: Matrix,
    v0: Matrix,
    v1: Matrix,
    cells: Table,
    elements: Matrix,
    law: Vector,
    begin: Int,
    end: Int,
    work: Vector,
    blocks: Blocks,
):
    """blocks += derivative of add_element_impulses() by v1, positive definite and symmetric; begin, end, work as there.

    cells (m, 14): the vertices of a tetrahedron, which increase, and the block of each pair a <= b of them: 00, 01, 02,
    03, 11, ...
    """
    kind, lam, mu, small_lam, small_mu, beta, h, dissipation = law_numbers(law)
    viscous, inertia = 0.5 * h * dissipation + beta, 0.05 * inertia_number(law)
    lanes = lanes_of(work)
    for first in range(begin, end, 8):
        gather_eight(x0, v0, v1, cells, elements, first, work)
        F = combine3(1.0, gradient_of_eight(lanes, ROW_X), 0.25 * h, gradient_of_eight(lanes, ROW_SUM))
        s, u, v = principal_stretches(F)
        if kind == LINEAR:
            u = unit_like(s[0])
            v = u
            s = (u[0][0], u[0][0], u[0][0])
        (xx, yy, zz, xy, xz, yz), same, other = elastic_tangent(kind, lam, mu, s)
        elastic, volume, mass = 0.25 * h, h * element(lanes, ROW_VOLUME), inertia * element(lanes, ROW_VOLUME)
        a, b, c = s
        d = 2.0 * small_mu + small_lam
        xx = volume * (elastic * xx + viscous * d * a * a)
        yy = volume * (elastic * yy + viscous * d * b * b)
        zz = volume * (elastic * zz + viscous * d * c * c)
        xy = volume * (elastic * xy + viscous * small_lam * a * b)
        xz = volume * (elastic * xz + viscous * small_lam * a * c)
        yz = volume * (elastic * yz + viscous * small_lam * b * c)
        m = volume * (viscous * small_mu)
        w = volume * elastic
        # of P_ij by F_ij: row i, column j; of P_ij by F_ji
        d01, d10, o01 = w * same[2] + m * a * a, w * same[2] + m * b * b, w * other[2] + m * a * b
        d02, d20, o02 = w * same[1] + m * a * a, w * same[1] + m * c * c, w * other[1] + m * a * c
        d12, d21, o12 = w * same[0] + m * b * b, w * same[0] + m * c * c, w * other[0] + m * b * c
        row = ROW_RESULT
        for i in range(4):
            g = apply3(v, three_of(lanes, ROW_ELEMENT + 3 * i))  # V^T grad N_i
            for j in range(i, 4):
                n = apply3(v, three_of(lanes, ROW_ELEMENT + 3 * j))
                own = 2.0 * mass if i == j else mass
                A = (
                    (
                        own + xx * g[0] * n[0] + d01 * g[1] * n[1] + d02 * g[2] * n[2],
                        xy * g[0] * n[1] + o01 * g[1] * n[0],
                        xz * g[0] * n[2] + o02 * g[2] * n[0],
                    ),
                    (
                        xy * g[1] * n[0] + o01 * g[0] * n[1],
                        own + yy * g[1] * n[1] + d10 * g[0] * n[0] + d12 * g[2] * n[2],
                        yz * g[1] * n[2] + o12 * g[2] * n[1],
                    ),
                    (
                        xz * g[2] * n[0] + o02 * g[0] * n[2],
                        yz * g[2] * n[1] + o12 * g[1] * n[2],
                        own + zz * g[2] * n[2] + d20 * g[0] * n[0] + d21 * g[1] * n[1],
                    ),
                )
                set_turned(lanes, row, u, A)
                row += 9
        for lane in range(min(8, end - first)):
            for k in range(10):
                block, row = cells[first + lane, 4 + k], 8 * (ROW_RESULT + 9 * k) + lane
                for i in range(3):
                    blocks[block, i, 0] += element(work, row)
                    blocks[block, i, 1] += element(work, row + 8)
                    blocks[block, i, 2] += element(work, row + 16)
                    row += 24


@kernel
def set_turned(lanes, row, u, A):
    """Nine rows from `row` on become those of U A U^T."""
    set_turned_row(lanes, row, u, A, u[0][0], u[1][0], u[2][0])
    set_turned_row(lanes, row + 3, u, A, u[0][1], u[1][1], u[2][1])
    set_turned_row(lanes, row + 6, u, A, u[0][2], u[1][2], u[2][2])


@kernel
def set_turned_row(lanes, row, u, A, a, b, c):
    t = add(add(scale(a, A[0]), scale(b, A[1])), scale(c, A[2]))
    set_element(lanes, row, t[0] * u[0][0] + t[1] * u[1][0] + t[2] * u[2][0])
    set_element(lanes, row + 1, t[0] * u[0][1] + t[1] * u[1][1] + t[2] * u[2][1])
    set_element(lanes, row + 2, t[0] * u[0][2] + t[1] * u[1][2] + t[2] * u[2][2])

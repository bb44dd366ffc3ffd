"""Elastic energies of unit volume as functions of the principal stretches s1, s2, s3, with two derivatives.

The first derivatives p_i = dW/ds_i are the principal values of the first Piola stress, P = sum p_i u_i v_i^T; with the
second ones and the quotients (p_i - p_j)/(s_i - s_j) and (p_i + p_j)/(s_i + s_j) they give the eigenvalues of d2W/dF2
(Teran, Sifakis, Irving and Fedkiw 2005; Smith, De Goes and Kim 2019, "Analytic eigensystems for isotropic distortion
energies"). With Lame's constants lambda, mu:

- LINEAR: mu |e|^2 + lambda/2 (tr e)^2 with e = sym F - 1, the only one that is not a function of the stretches.
- LINEAR_COROTATED: the same with e = U - 1, where F = R U.
- COROTATED: mu |F - R|^2 + lambda/2 (J - 1)^2 (Stomakhin et al. 2012).
- NEO_HOOKEAN: mu/2 (|F|^2 - 3) - mu (J - 1) + lambda/2 (J - 1)^2 with J = det F (Smith, De Goes and Kim 2018, "Stable
  neo-Hookean flesh simulation", equation 9). Its linearization has the constants mu and lambda - mu; whoever wants
  those of Hooke's law gives mu and lambda + mu. pydrake's energy of this name takes Lame's constants as they are.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import where_positive

LINEAR, LINEAR_COROTATED, COROTATED, NEO_HOOKEAN = range(4)
SMALLEST_SUM = 1e-6  # of two stretches, as a divisor


@kernel
def law_numbers(law):
    """kind, lambda, mu; those constants for small strains; stiffness damping; step h, dissipation c."""
    return int(law[0]), law[1], law[2], law[3], law[4], law[6], law[7], law[8]


@kernel
def inertia_number(law):
    """rho (1 + alpha h) [kg/m^3] with the density rho and the mass damping alpha."""
    return law[9] * (1.0 + law[5] * law[7])


@kernel
def principal_stress(kind, lam, mu, s):
    """p_i = dW/ds_i."""
    a, b, c = s
    if kind == LINEAR_COROTATED:
        t = lam * (a + b + c - 3.0)
        return (2.0 * mu * (a - 1.0) + t, 2.0 * mu * (b - 1.0) + t, 2.0 * mu * (c - 1.0) + t)
    J = a * b * c
    if kind == COROTATED:
        t = lam * (J - 1.0)
        return (
            2.0 * mu * (a - 1.0) + t * b * c,
            2.0 * mu * (b - 1.0) + t * a * c,
            2.0 * mu * (c - 1.0) + t * a * b,
        )
    t = lam * (J - 1.0) - mu
    return (mu * a + t * b * c, mu * b + t * a * c, mu * c + t * a * b)


@kernel
def principal_energy(kind, lam, mu, s):
    """W, zero at rest."""
    a, b, c = s
    d, e, f = a - 1.0, b - 1.0, c - 1.0
    size = d * d + e * e + f * f
    if kind == LINEAR_COROTATED:
        t = d + e + f
        return mu * size + 0.5 * lam * t * t
    J = a * b * c
    if kind == COROTATED:
        return mu * size + 0.5 * lam * (J - 1.0) * (J - 1.0)
    return 0.5 * mu * (a * a + b * b + c * c - 3.0) + (0.5 * lam * (J - 1.0) - mu) * (J - 1.0)


@kernel
def stretch_hessian(kind, lam, mu, s):
    """d2W/ds_i ds_j: 11, 22, 33, 12, 13, 23."""
    a, b, c = s
    if kind == LINEAR_COROTATED:
        zero = 0.0 * a
        d, e = zero + (2.0 * mu + lam), zero + lam
        return d, d, d, e, e, e
    J = a * b * c
    bc, ac, ab = b * c, a * c, a * b
    if kind == COROTATED:
        t = lam * (J - 1.0)
        d = 2.0 * mu
        return (
            d + lam * bc * bc,
            d + lam * ac * ac,
            d + lam * ab * ab,
            lam * bc * ac + t * c,
            lam * bc * ab + t * b,
            lam * ac * ab + t * a,
        )
    t = lam * (J - 1.0) - mu
    return (
        mu + lam * bc * bc,
        mu + lam * ac * ac,
        mu + lam * ab * ab,
        lam * bc * ac + t * c,
        lam * bc * ab + t * b,
        lam * ac * ab + t * a,
    )


@kernel
def shear_quotients(kind, lam, mu, a, b, c):
    """(p_b - p_c)/(b - c) and (p_b + p_c)/(b + c) for the stretches b and c, a being the third."""
    total = where_positive(b + c - SMALLEST_SUM, b + c, SMALLEST_SUM)
    if kind == LINEAR_COROTATED:
        return 0.0 * a + 2.0 * mu, 2.0 * mu * (1.0 - 2.0 / total) + 2.0 * lam * (a + b + c - 3.0) / total
    J = a * b * c
    if kind == COROTATED:
        t = lam * (J - 1.0) * a
        return 2.0 * mu - t, 2.0 * mu * (1.0 - 2.0 / total) + t
    t = (lam * (J - 1.0) - mu) * a
    return mu - t, mu + t

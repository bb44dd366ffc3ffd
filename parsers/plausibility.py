"""Whether a body with a given mass and inertia can exist."""

from math import sqrt

import numpy as np

# Moments that a file prints with six digits break a condition by rounding; rods and points are legal.
RELATIVE_TOLERANCE = 1e-6
LARGEST_GYRATION_RADIUS = 10.0  # [m]; more than this is nearly always a wrong unit or decimal point


def check_inertia(mass, inertia, diagnostics, node):
    """Record what is implausible: a negative mass as an error, anything else as a warning.

    mass [kg]; inertia (ixx, iyy, izz, ixy, ixz, iyz) [kg m^2] about the centre of mass, as in `InertialSpec`.
    """
    if mass < 0:
        diagnostics.error("LINK_INERTIA_INVALID", f"the mass {mass!r} kg is negative", node)
        return
    problem = _problem(mass, inertia)
    if problem:
        diagnostics.warning("LINK_INERTIA_INVALID", problem, node)


def _problem(mass, inertia):
    if not any(inertia):
        return None
    ixx, iyy, izz, ixy, ixz, iyz = inertia
    a, b, c = np.linalg.eigvalsh([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]).tolist()
    moments = f"the principal moments of inertia {a:.6g}, {b:.6g}, {c:.6g} kg m^2"
    tolerance = RELATIVE_TOLERANCE * max(abs(a), abs(c))
    if a < -tolerance:
        return f"{moments} must not be negative: {a:.6g} < 0"
    if a + b < c - tolerance:
        return f"{moments} break the triangle inequality: {a:.6g} + {b:.6g} < {c:.6g}"
    if mass == 0:
        return f"the mass is 0, but {moments} are not"
    if sqrt(c / mass) > LARGEST_GYRATION_RADIUS:
        return f"the radius of gyration {sqrt(c / mass):.3g} m is implausible: {moments} with {mass:.6g} kg"
    return None

"""Friction of the impulse at the step's end, regularized by a polynomial: the law of the TAMSI approximation.

Castro et al. 2020 (arXiv:1909.05700): over a step h the normal impulse is n(v) as in hunt_crossley.py, friction is
mu(s) n(v) against the slip, mu(s) = mu s (2 - s) for the slip s = |v_t| / v_s below one, mu above. Numbers of the law:
as in hunt_crossley.py.
"""

from mbcli.engine.contact.hunt_crossley import normal_impulse, normal_slope
from mbcli.engine.fields.contact_fields import HUNT_CROSSLEY_MU, HUNT_CROSSLEY_V_S
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root

TINY = 1e-14  # [1] of the stiction tolerance: keeps the direction of a slip of zero defined


@kernel
def tamsi_impulse(law, i, vx, vy, vz):
    """Impulse at the contact velocity (vx, vy, vz)."""
    v_s = law[i, HUNT_CROSSLEY_V_S]
    slip = square_root(vx * vx + vy * vy + TINY * v_s * v_s)
    s = slip / v_s
    normal = normal_impulse(law, i, vz)
    coefficient = law[i, HUNT_CROSSLEY_MU] * (s * (2.0 - s) if s < 1.0 else 1.0)
    f = -coefficient * normal / slip
    return f * vx, f * vy, normal


@kernel
def tamsi_jacobian(law, i, vx, vy, vz):
    """Minus the derivatives of the impulse: xx, xy, xz, yx, yy, yz, zz; zx and zy are zero."""
    v_s, mu = law[i, HUNT_CROSSLEY_V_S], law[i, HUNT_CROSSLEY_MU]
    slip = square_root(vx * vx + vy * vy + TINY * v_s * v_s)
    s = slip / v_s
    normal, slope = normal_impulse(law, i, vz), normal_slope(law, i, vz)
    coefficient, rise = mu, 0.0
    if s < 1.0:
        coefficient, rise = mu * s * (2.0 - s), 2.0 * mu * (1.0 - s) / v_s
    tx, ty = vx / slip, vy / slip
    across, along = coefficient * normal / slip, rise * normal
    difference = along - across
    # friction is -coefficient n t: it falls with n, so minus its derivative by vz is coefficient t dn/dvz
    return (
        across + difference * tx * tx,
        difference * tx * ty,
        -coefficient * slope * tx,
        difference * tx * ty,
        across + difference * ty * ty,
        -coefficient * slope * ty,
        slope,
    )

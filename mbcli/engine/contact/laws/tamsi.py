"""Friction of the impulse at the step's end, regularized by a polynomial: the law of the TAMSI approximation.

Castro et al. 2020 (arXiv:1909.05700): over a step h the normal impulse is n(v) as in hunt_crossley.py, friction is
mu(s) n(v) against the slip, mu(s) = mu s (2 - s) for the slip s = |v_t| / v_s below one, mu above. Numbers of the law:
as in hunt_crossley.py.
"""

from mbcli.engine.contact.laws.hunt_crossley import (
    begin_unregularized,
    normal_response,
    regularize_length,
    strike_unregularized,
)
from mbcli.engine.contact.laws.without_cost import no_cost
from mbcli.engine.fields.contact_fields import HUNT_CROSSLEY_MU, HUNT_CROSSLEY_V_S
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root

CONVEX = False
RELAXES = False
HAS_DUAL = False
TINY = 1e-14  # [1] of the stiction tolerance: keeps the direction of a slip of zero defined

cost_tamsi = no_cost
begin_tamsi = begin_unregularized
regularize_tamsi = regularize_length
strike_tamsi = strike_unregularized


@kernel
def response_tamsi(law, i, vx, vy, vz):
    """Impulse at the contact velocity (vx, vy, vz), and minus its derivatives: xx, yy, zz, xy, xz, yz.

    yx is xy, but zx and zy are zero: the normal impulse does not depend on the slip.
    """
    v_s, mu = law[i, HUNT_CROSSLEY_V_S], law[i, HUNT_CROSSLEY_MU]
    slip = square_root(vx * vx + vy * vy + TINY * v_s * v_s)
    s, inverse = slip / v_s, 1.0 / slip
    normal, slope = normal_response(law, i, vz)
    coefficient, rise = mu, 0.0
    if s < 1.0:
        coefficient, rise = mu * s * (2.0 - s), 2.0 * mu * (1.0 - s) / v_s
    tx, ty = vx * inverse, vy * inverse
    friction = coefficient * normal
    across = friction * inverse
    difference = rise * normal - across
    # friction is -coefficient n t: it falls with n, so minus its derivative by vz is coefficient t dn/dvz
    return (
        -friction * tx,
        -friction * ty,
        normal,
        across + difference * tx * tx,
        across + difference * ty * ty,
        slope,
        difference * tx * ty,
        -coefficient * slope * tx,
        -coefficient * slope * ty,
    )

"""Convex contact whose friction is that of the normal impulse of the step's start, regularized by a speed v_s.

Castro et al. 2023 (arXiv:2312.03908); the slip is |v_t| = (v_t^2 + v_s^2)^(1/2) - v_s. Numbers: see hunt_crossley.py.
"""

from mbcli.engine.contact.laws.hunt_crossley import (
    begin_hunt_crossley,
    normal_cost,
    normal_response,
    regularize_hunt_crossley,
    strike_hunt_crossley,
)
from mbcli.engine.fields.contact_fields import HUNT_CROSSLEY_FRICTION, HUNT_CROSSLEY_V_S
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root

CONVEX = True
RELAXES = False
HAS_DUAL = True
begin_lagged = begin_hunt_crossley
regularize_lagged = regularize_hunt_crossley
strike_lagged = strike_hunt_crossley


@kernel
def response_lagged(law, i, vx, vy, vz):
    """At the contact velocity (vx, vy, vz): impulse, and second derivatives of the cost xx, yy, zz, xy, xz, yz."""
    v_s, friction = law[i, HUNT_CROSSLEY_V_S], law[i, HUNT_CROSSLEY_FRICTION]
    normal, slope = normal_response(law, i, vz)
    inverse = 1.0 / square_root(vx * vx + vy * vy + v_s * v_s)
    a = friction * inverse
    b = a * inverse * inverse
    return -a * vx, -a * vy, normal, a - b * vx * vx, a - b * vy * vy, slope, -b * vx * vy, 0.0, 0.0


@kernel
def cost_lagged(law, i, vx, vy, vz):
    """The cost at the contact velocity (vx, vy, vz)."""
    v_s = law[i, HUNT_CROSSLEY_V_S]
    slip = square_root(vx * vx + vy * vy + v_s * v_s) - v_s
    return normal_cost(law, i, vz) + law[i, HUNT_CROSSLEY_FRICTION] * slip


@kernel
def friction_lagged(law, i, size, z):
    _, c = normal_response(law, i, z)
    return law[i, HUNT_CROSSLEY_FRICTION] / size, 0.0, c

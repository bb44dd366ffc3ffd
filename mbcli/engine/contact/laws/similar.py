"""Convex contact whose friction is that of the normal impulse of the step's end, which lets sliding bodies hover.

Castro et al. 2023 (arXiv:2312.03908): the normal impulse is that at the velocity v_n - mu |v_t|, with the slip
|v_t| = (v_t^2 + v_s^2)^(1/2) - v_s. Numbers: see hunt_crossley.py.
"""

from mbcli.engine.contact.laws.hunt_crossley import (
    begin_hunt_crossley,
    normal_cost,
    normal_response,
    regularize_hunt_crossley,
    strike_hunt_crossley,
)
from mbcli.engine.fields.contact_fields import HUNT_CROSSLEY_MU, HUNT_CROSSLEY_V_S
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root

CONVEX = True
RELAXES = False
HAS_DUAL = True
begin_similar = begin_hunt_crossley
regularize_similar = regularize_hunt_crossley


@kernel
def strike_similar(solver, i, mu, target, slip, impulse, R, give, h):
    """The law adds mu times the slip to the speed of separation."""
    strike_hunt_crossley(solver, i, mu, target - mu * slip, slip, impulse, R, give, h)


@kernel
def response_similar(law, i, vx, vy, vz):
    """At the contact velocity (vx, vy, vz): impulse, and second derivatives of the cost xx, yy, zz, xy, xz, yz."""
    mu, v_s = law[i, HUNT_CROSSLEY_MU], law[i, HUNT_CROSSLEY_V_S]
    size = square_root(vx * vx + vy * vy + v_s * v_s)
    inverse = 1.0 / size
    normal, c = normal_response(law, i, vz - mu * (size - v_s))
    a = mu * normal * inverse
    tx, ty = vx * inverse, vy * inverse
    b = mu * mu * c - a
    return -a * vx, -a * vy, normal, a + b * tx * tx, a + b * ty * ty, c, b * tx * ty, -mu * c * tx, -mu * c * ty


@kernel
def cost_similar(law, i, vx, vy, vz):
    """The cost at the contact velocity (vx, vy, vz)."""
    mu, v_s = law[i, HUNT_CROSSLEY_MU], law[i, HUNT_CROSSLEY_V_S]
    return normal_cost(law, i, vz - mu * (square_root(vx * vx + vy * vy + v_s * v_s) - v_s))


@kernel
def friction_similar(law, i, size, z):
    mu = law[i, HUNT_CROSSLEY_MU]
    normal, c = normal_response(law, i, z - mu * (size - law[i, HUNT_CROSSLEY_V_S]))
    return mu * normal / size, mu, c

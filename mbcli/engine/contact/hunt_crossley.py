"""Contact with Hunt-Crossley dissipation and regularized Coulomb friction, in two convex approximations.

Castro et al. 2023 (arXiv:2312.03908). Over a step h the normal impulse is n(v) = h k (x - h v)_+ (1 - d v)_+ with the
penetration x at its start. `lagged` takes the friction of the normal impulse of the step's start; `similar` takes that
of its end, at the velocity z = v_n - mu |v_t|, which lets sliding bodies hover. |v_t| is (v_t^2 + v_s^2)^(1/2) - v_s.
Numbers of the law: mu, k, d, x, v_s, h, and for `lagged` mu times the normal impulse of the start.
"""

from mbcli.engine.fields.contact_fields import (
    HUNT_CROSSLEY_DISSIPATION,
    HUNT_CROSSLEY_FRICTION,
    HUNT_CROSSLEY_MU,
    HUNT_CROSSLEY_PENETRATION,
    HUNT_CROSSLEY_STEP,
    HUNT_CROSSLEY_STIFFNESS,
    HUNT_CROSSLEY_V_S,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def normal_response(law, i, v):
    """n(v) and -dn/dv."""
    h, d = law[i, HUNT_CROSSLEY_STEP], law[i, HUNT_CROSSLEY_DISSIPATION]
    elastic, damping = law[i, HUNT_CROSSLEY_PENETRATION] - h * v, 1.0 - d * v
    if elastic <= 0.0 or damping <= 0.0:
        return 0.0, 0.0
    hk = h * law[i, HUNT_CROSSLEY_STIFFNESS]
    return hk * elastic * damping, hk * (h * damping + d * elastic)


@kernel
def normal_cost(law, i, v):
    """The integral of n from v to its zero."""
    h, d, x = law[i, HUNT_CROSSLEY_STEP], law[i, HUNT_CROSSLEY_DISSIPATION], law[i, HUNT_CROSSLEY_PENETRATION]
    end = x / h
    if d * end > 1.0:
        end = 1.0 / d
    if v >= end:
        return 0.0
    # n is a parabola: Simpson's rule is exact
    at_v, _ = normal_response(law, i, v)
    in_middle, _ = normal_response(law, i, 0.5 * (v + end))
    return (at_v + 4.0 * in_middle) * (end - v) / 6.0


@kernel
def impulse_at_start(law, i, v):
    """Normal impulse of the force at the step's start, at its velocity v, over a step."""
    elastic, damping = law[i, HUNT_CROSSLEY_PENETRATION], 1.0 - law[i, HUNT_CROSSLEY_DISSIPATION] * v
    if elastic <= 0.0 or damping <= 0.0:
        return 0.0
    return law[i, HUNT_CROSSLEY_STEP] * law[i, HUNT_CROSSLEY_STIFFNESS] * elastic * damping


@kernel
def lagged_response(law, i, vx, vy, vz):
    """At the contact velocity (vx, vy, vz): impulse, and second derivatives of the cost xx, yy, zz, xy, xz, yz."""
    v_s, friction = law[i, HUNT_CROSSLEY_V_S], law[i, HUNT_CROSSLEY_FRICTION]
    normal, slope = normal_response(law, i, vz)
    inverse = 1.0 / square_root(vx * vx + vy * vy + v_s * v_s)
    a = friction * inverse
    b = a * inverse * inverse
    return -a * vx, -a * vy, normal, a - b * vx * vx, a - b * vy * vy, slope, -b * vx * vy, 0.0, 0.0


@kernel
def lagged_cost(law, i, vx, vy, vz):
    """The cost at the contact velocity (vx, vy, vz)."""
    v_s = law[i, HUNT_CROSSLEY_V_S]
    slip = square_root(vx * vx + vy * vy + v_s * v_s) - v_s
    return normal_cost(law, i, vz) + law[i, HUNT_CROSSLEY_FRICTION] * slip


@kernel
def similar_response(law, i, vx, vy, vz):
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
def similar_cost(law, i, vx, vy, vz):
    """The cost at the contact velocity (vx, vy, vz)."""
    mu, v_s = law[i, HUNT_CROSSLEY_MU], law[i, HUNT_CROSSLEY_V_S]
    return normal_cost(law, i, vz - mu * (square_root(vx * vx + vy * vy + v_s * v_s) - v_s))

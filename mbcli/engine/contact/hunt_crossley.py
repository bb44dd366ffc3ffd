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
def normal_impulse(law, i, v):
    """n(v)."""
    h = law[i, HUNT_CROSSLEY_STEP]
    elastic, damping = law[i, HUNT_CROSSLEY_PENETRATION] - h * v, 1.0 - law[i, HUNT_CROSSLEY_DISSIPATION] * v
    if elastic <= 0.0 or damping <= 0.0:
        return 0.0
    return h * law[i, HUNT_CROSSLEY_STIFFNESS] * elastic * damping


@kernel
def normal_slope(law, i, v):
    """-dn/dv."""
    h, d = law[i, HUNT_CROSSLEY_STEP], law[i, HUNT_CROSSLEY_DISSIPATION]
    elastic, damping = law[i, HUNT_CROSSLEY_PENETRATION] - h * v, 1.0 - d * v
    if elastic <= 0.0 or damping <= 0.0:
        return 0.0
    return h * law[i, HUNT_CROSSLEY_STIFFNESS] * (h * damping + d * elastic)


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
    middle = 0.5 * (v + end)
    return (normal_impulse(law, i, v) + 4.0 * normal_impulse(law, i, middle)) * (end - v) / 6.0


@kernel
def impulse_at_start(law, i, v):
    """Normal impulse of the force at the step's start, at its velocity v, over a step."""
    elastic, damping = law[i, HUNT_CROSSLEY_PENETRATION], 1.0 - law[i, HUNT_CROSSLEY_DISSIPATION] * v
    if elastic <= 0.0 or damping <= 0.0:
        return 0.0
    return law[i, HUNT_CROSSLEY_STEP] * law[i, HUNT_CROSSLEY_STIFFNESS] * elastic * damping


@kernel
def lagged_impulse(law, i, vx, vy, vz):
    """Impulse at the contact velocity (vx, vy, vz), and the cost there."""
    v_s, friction = law[i, HUNT_CROSSLEY_V_S], law[i, HUNT_CROSSLEY_FRICTION]
    size = square_root(vx * vx + vy * vy + v_s * v_s)
    s = -friction / size
    return s * vx, s * vy, normal_impulse(law, i, vz), normal_cost(law, i, vz) + friction * (size - v_s)


@kernel
def lagged_hessian(law, i, vx, vy, vz):
    """Second derivatives of the cost: xx, yy, zz, xy, xz, yz."""
    v_s, friction = law[i, HUNT_CROSSLEY_V_S], law[i, HUNT_CROSSLEY_FRICTION]
    size = square_root(vx * vx + vy * vy + v_s * v_s)
    a = friction / size
    b = a / (size * size)
    return a - b * vx * vx, a - b * vy * vy, normal_slope(law, i, vz), -b * vx * vy, 0.0, 0.0


@kernel
def similar_impulse(law, i, vx, vy, vz):
    """Impulse at the contact velocity (vx, vy, vz), and the cost there."""
    mu, v_s = law[i, HUNT_CROSSLEY_MU], law[i, HUNT_CROSSLEY_V_S]
    size = square_root(vx * vx + vy * vy + v_s * v_s)
    z = vz - mu * (size - v_s)
    normal = normal_impulse(law, i, z)
    s = -mu * normal / size
    return s * vx, s * vy, normal, normal_cost(law, i, z)


@kernel
def similar_hessian(law, i, vx, vy, vz):
    """Second derivatives of the cost: xx, yy, zz, xy, xz, yz."""
    mu, v_s = law[i, HUNT_CROSSLEY_MU], law[i, HUNT_CROSSLEY_V_S]
    size = square_root(vx * vx + vy * vy + v_s * v_s)
    z = vz - mu * (size - v_s)
    c = normal_slope(law, i, z)
    a = mu * normal_impulse(law, i, z) / size
    tx, ty = vx / size, vy / size
    b = mu * mu * c - a
    return a + b * tx * tx, a + b * ty * ty, c, b * tx * ty, -mu * c * tx, -mu * c * ty

"""Contact of the semi-analytic primal solver: linear elasticity, Kelvin-Voigt dissipation, regularized friction.

Castro et al. 2022 (arXiv:2110.10107). With y = R^-1 (v_hat - v) the impulse is the projection of y onto the friction
cone in the norm of R = diag(R_t, R_t, R_n), and the cost is half the square of that norm of the impulse
(section III, appendix A there). Numbers of the law: mu, R_t, R_n, v_hat along the normal.
"""

from math import pi as PI

from mbcli.engine.fields.contact_fields import (
    PAIR_FRICTION,
    PAIR_RELAXATION,
    PAIR_STIFFNESS,
    SAP_MU,
    SAP_R_N,
    SAP_R_T,
    SAP_V_HAT,
    SETTING_FRICTION_SOFTNESS,
    SETTING_NEAR_RIGID,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root

CONVEX = True
RELAXES = True
HAS_DUAL = False


@kernel
def begin_sap(solver, laws, c, i, distance, h, softness, velocity):
    """Near rigid contacts are regularized in proportion to what they give way."""
    law, w = solver.con_law, softness / 3.0
    k, tau = laws[c, PAIR_STIFFNESS], laws[c, PAIR_RELAXATION]
    beta = solver.settings[SETTING_NEAR_RIGID]
    law[i, SAP_MU] = laws[c, PAIR_FRICTION]
    law[i, SAP_R_N] = max(beta * beta / (4.0 * PI * PI) * w, 1.0 / (h * k * (h + tau)))
    law[i, SAP_R_T] = law[i, SAP_R_N]  # of what is locked: any
    if w > 0.0:
        law[i, SAP_R_T] = solver.settings[SETTING_FRICTION_SOFTNESS] * w
    law[i, SAP_V_HAT] = -distance / (h + tau)


@kernel
def strike_sap(solver, i, mu, target, slip, impulse, R, give, h):
    """The law adds mu times the slip to the speed of separation."""
    law = solver.con_law
    law[i, SAP_MU], law[i, SAP_R_N], law[i, SAP_V_HAT] = mu, R, target - mu * slip
    law[i, SAP_R_T] = solver.settings[SETTING_FRICTION_SOFTNESS] * give if give > 0.0 else R


@kernel
def regularize_sap(solver, i, least, length):
    if least > 0.0:
        solver.con_law[i, SAP_R_T] = solver.settings[SETTING_FRICTION_SOFTNESS] * least


@kernel
def response_sap(law, i, vx, vy, vz):
    """At the contact velocity (vx, vy, vz): impulse, and second derivatives of the cost xx, yy, zz, xy, xz, yz."""
    mu, R_t, R_n = law[i, SAP_MU], law[i, SAP_R_T], law[i, SAP_R_N]
    yx, yy, yz = -vx / R_t, -vy / R_t, (law[i, SAP_V_HAT] - vz) / R_n
    y_t = square_root(yx * yx + yy * yy)
    if mu == 0.0:
        if yz > 0.0:
            return 0.0, 0.0, yz, 0.0, 0.0, 1.0 / R_n, 0.0, 0.0, 0.0
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if y_t <= mu * yz:
        stiffness = 1.0 / R_t
        return yx, yy, yz, stiffness, stiffness, 1.0 / R_n, 0.0, 0.0, 0.0
    mu_hat = mu * R_t / R_n
    share = 1.0 / (1.0 + mu * mu_hat)
    normal = share * (yz + mu_hat * y_t)
    if normal <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    c = share / R_n
    tx, ty = yx / y_t, yy / y_t
    across = mu * normal / (y_t * R_t)  # along the circle
    along = mu * mu * c - across
    return (
        mu * normal * tx,
        mu * normal * ty,
        normal,
        across + along * tx * tx,
        across + along * ty * ty,
        c,
        along * tx * ty,
        mu * c * tx,
        mu * c * ty,
    )


@kernel
def cost_sap(law, i, vx, vy, vz):
    """The cost at the contact velocity (vx, vy, vz)."""
    x, y, normal, _, _, _, _, _, _ = response_sap(law, i, vx, vy, vz)
    return 0.5 * (law[i, SAP_R_T] * (x * x + y * y) + law[i, SAP_R_N] * normal * normal)

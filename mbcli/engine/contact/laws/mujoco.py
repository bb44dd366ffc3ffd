"""Contact as soft as MuJoCo has it: a reference acceleration and an impedance by pair of solids, `solref`, `solimp`.

Over a step h that ends with the velocity v an impulse of MuJoCo's forces is (v_hat - v) / R with
v_hat = v_0 + h a_ref and R = (1 - d) / d of what the bodies give way at the model's default positions, projected onto
the friction cone in the norm of R (Todorov 2014, "Convex and analytically-invertible dynamics with contacts and
constraints"; R and the cones are in https://mujoco.readthedocs.io/en/stable/computation/index.html). A pyramidal cone
has four edges n +- mu t, each with an impulse of its own that only pushes. Numbers of the law: those of sap.py, v_hat
along both tangents, whether the cone has edges, whose R is R_n, and the direction of two of them along the tangents.

Contacts that resist turning have a round cone, and what slides is stopped as by sap.py.
"""

from mbcli.engine.contact.laws.sap import begin_sap, cost_sap, regularize_sap, response_sap, strike_sap
from mbcli.engine.fields.contact_fields import (
    PAIR_EDGE_X,
    PAIR_EDGE_Y,
    PAIR_FRICTION,
    PAIR_IMPEDANCE,
    PAIR_IMPRATIO,
    PAIR_LAST_IMPEDANCE,
    PAIR_RATIO,
    PAIR_TIME,
    PAIR_WEIGHT,
    SAP_MU,
    SAP_R_N,
    SAP_R_T,
    SAP_V_HAT,
    SOFT_EDGE_X,
    SOFT_EDGE_Y,
    SOFT_EDGES,
    SOFT_V_HAT_X,
    SOFT_V_HAT_Y,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.impedance import reference_numbers

CONVEX = True
RELAXES = True  # where there is no softness
HAS_DUAL = False


@kernel
def begin_mujoco(solver, laws, c, i, distance, h, softness, velocity):
    """PAIR_IMPRATIO is negative of a pyramidal cone. Faces of surfaces and elastic bodies have the law of sap.py."""
    if laws.shape[1] <= PAIR_WEIGHT or laws[c, PAIR_WEIGHT] == 0.0:
        solver.con_law[i, SOFT_V_HAT_X] = solver.con_law[i, SOFT_V_HAT_Y] = solver.con_law[i, SOFT_EDGES] = 0.0
        begin_sap(solver, laws, c, i, distance, h, softness, velocity)
        return
    law, mu, d, ratio = solver.con_law, laws[c, PAIR_FRICTION], laws[c, PAIR_IMPEDANCE], laws[c, PAIR_IMPRATIO]
    k, b = reference_numbers(laws[c, PAIR_TIME], laws[c, PAIR_RATIO], laws[c, PAIR_LAST_IMPEDANCE], h)
    R, rest = (1.0 - d) / d * laws[c, PAIR_WEIGHT], 1.0 - h * b
    law[i, SOFT_V_HAT_X], law[i, SOFT_V_HAT_Y] = rest * velocity[0], rest * velocity[1]
    law[i, SAP_V_HAT] = rest * velocity[2] - h * k * d * distance
    law[i, SAP_MU], law[i, SOFT_EDGES] = mu, 0.0
    if mu > 0.0 and ratio < 0.0:
        law[i, SOFT_EDGES] = 1.0
        R *= 2.0 * mu * mu * (1.0 + mu * mu) / -ratio
    law[i, SAP_R_N], law[i, SAP_R_T] = R, R / abs(ratio)
    law[i, SOFT_EDGE_X], law[i, SOFT_EDGE_Y] = laws[c, PAIR_EDGE_X], laws[c, PAIR_EDGE_Y]


@kernel
def strike_mujoco(solver, i, mu, target, slip, impulse, R, give, h):
    law = solver.con_law
    law[i, SOFT_V_HAT_X] = law[i, SOFT_V_HAT_Y] = law[i, SOFT_EDGES] = 0.0
    strike_sap(solver, i, mu, target, slip, impulse, R, give, h)


@kernel
def regularize_mujoco(solver, i, least, length):
    law = solver.con_law
    law[i, SOFT_V_HAT_X] = law[i, SOFT_V_HAT_Y] = law[i, SOFT_EDGES] = 0.0
    regularize_sap(solver, i, least, length)


@kernel
def response_mujoco(law, i, vx, vy, vz):
    """At the contact velocity (vx, vy, vz): impulse, and second derivatives of the cost xx, yy, zz, xy, xz, yz."""
    x, y = vx - law[i, SOFT_V_HAT_X], vy - law[i, SOFT_V_HAT_Y]
    if law[i, SOFT_EDGES] == 0.0:
        return response_sap(law, i, x, y, vz)
    mu, stiffness, z = law[i, SAP_MU], 1.0 / law[i, SAP_R_N], law[i, SAP_V_HAT] - vz
    e, f = law[i, SOFT_EDGE_X], law[i, SOFT_EDGE_Y]
    x, y = e * x + f * y, e * y - f * x
    a, b = max(0.0, z - mu * x) * stiffness, max(0.0, z + mu * x) * stiffness
    c, d = max(0.0, z - mu * y) * stiffness, max(0.0, z + mu * y) * stiffness
    on_a, on_b = stiffness if a > 0.0 else 0.0, stiffness if b > 0.0 else 0.0
    on_c, on_d = stiffness if c > 0.0 else 0.0, stiffness if d > 0.0 else 0.0
    along, across, xx, yy = mu * (a - b), mu * (c - d), mu * mu * (on_a + on_b), mu * mu * (on_c + on_d)
    xz, yz = mu * (on_a - on_b), mu * (on_c - on_d)
    return (
        e * along - f * across,
        f * along + e * across,
        a + b + c + d,
        e * e * xx + f * f * yy,
        f * f * xx + e * e * yy,
        on_a + on_b + on_c + on_d,
        e * f * (xx - yy),
        e * xz - f * yz,
        f * xz + e * yz,
    )


@kernel
def cost_mujoco(law, i, vx, vy, vz):
    """The cost at the contact velocity (vx, vy, vz)."""
    x, y = vx - law[i, SOFT_V_HAT_X], vy - law[i, SOFT_V_HAT_Y]
    if law[i, SOFT_EDGES] == 0.0:
        return cost_sap(law, i, x, y, vz)
    mu, z, e, f = law[i, SAP_MU], law[i, SAP_V_HAT] - vz, law[i, SOFT_EDGE_X], law[i, SOFT_EDGE_Y]
    x, y = e * x + f * y, e * y - f * x
    a, b, c, d = max(0.0, z - mu * x), max(0.0, z + mu * x), max(0.0, z - mu * y), max(0.0, z + mu * y)
    return 0.5 * (a * a + b * b + c * c + d * d) / law[i, SAP_R_N]

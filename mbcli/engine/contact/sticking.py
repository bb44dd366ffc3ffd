"""The first direction of a search under the law of sap.py: contacts stick if each of them alone would stick.

At the start of a step a foot that stands slips by what it has turned in the last one. That is little, but far more than
friction gives way, which is regularized by a small share of the contact's compliance, and more than what its normal
impulse needs to vanish. The law has no stiffness there, so that the direction of Newton's method goes a hundred times
too far, and the search has to find its way back. So the first direction is that of the problem in which contacts stick
whose own impulse, at the velocities without constraints, would be inside of its friction cone.
"""

from mbcli.engine.fields.contact_fields import (
    HAS_TORSIONAL,
    SAP,
    SAP_MU,
    SAP_R_N,
    SAP_R_T,
    SAP_V_HAT,
    SETTING_FRICTION_SOFTNESS,
    STUCK,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def assume_stiction(solver, k):
    """Lets contacts of island k stick; whether any of them does not by its law at con_v.

    con_dv: their velocities without constraints.
    """
    law, v, free, any_held = solver.con_law, solver.con_v, solver.con_dv, False
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_kind[i] != SAP or solver.con_patch_size[i] == HAS_TORSIONAL:
            continue
        mu, R_t, R_n, v_hat = law[i, SAP_MU], law[i, SAP_R_T], law[i, SAP_R_N], law[i, SAP_V_HAT]
        compliance = R_t / solver.settings[SETTING_FRICTION_SOFTNESS]
        slip = square_root(free[i, 0] * free[i, 0] + free[i, 1] * free[i, 1])
        if slip * (compliance + R_n) <= mu * (v_hat - free[i, 2]) * (compliance + R_t):
            solver.con_kind[i] = STUCK
            slip = square_root(v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1])
            any_held = any_held or slip * R_n > mu * (v_hat - v[i, 2]) * R_t
    return any_held


@kernel
def release_contacts(solver, k):
    """The contacts of island k have their own law again."""
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_kind[i] == STUCK:
            solver.con_kind[i] = SAP

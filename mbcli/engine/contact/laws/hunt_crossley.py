"""The normal impulse of lagged.py, similar.py and tamsi.py: Hunt-Crossley dissipation over a step.

Castro et al. 2023 (arXiv:2312.03908). Over a step h it is n(v) = h k (x - h v)_+ (1 - d v)_+ with the penetration x at
its start. Numbers of these laws: mu, k, d, x, v_s, h, and mu times the normal impulse of the start.
"""

from mbcli.engine.fields.contact_fields import (
    HUNT_CROSSLEY_DISSIPATION,
    HUNT_CROSSLEY_FRICTION,
    HUNT_CROSSLEY_MU,
    HUNT_CROSSLEY_PENETRATION,
    HUNT_CROSSLEY_STEP,
    HUNT_CROSSLEY_STIFFNESS,
    HUNT_CROSSLEY_STOPPED,
    HUNT_CROSSLEY_STRIKES,
    HUNT_CROSSLEY_V_S,
    PAIR_DISSIPATION,
    PAIR_FRICTION,
    PAIR_STIFFNESS,
    SETTING_FRICTION_SOFTNESS,
    SETTING_STICTION,
)
from mbcli.engine.runtime.kernel import kernel


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
def begin_hunt_crossley(solver, laws, c, i, distance, h, softness, velocity):
    """Friction is regularized at least in proportion to what gives way, so that stiff contacts are well conditioned."""
    begin_unregularized(solver, laws, c, i, distance, h, softness, velocity)
    regularize_friction(solver, i, softness / 3.0)


@kernel
def begin_unregularized(solver, laws, c, i, distance, h, softness, velocity):
    law = solver.con_law
    law[i, HUNT_CROSSLEY_MU] = laws[c, PAIR_FRICTION]
    law[i, HUNT_CROSSLEY_STIFFNESS] = laws[c, PAIR_STIFFNESS]
    law[i, HUNT_CROSSLEY_DISSIPATION] = laws[c, PAIR_DISSIPATION]
    law[i, HUNT_CROSSLEY_PENETRATION] = -distance
    law[i, HUNT_CROSSLEY_STEP] = h
    law[i, HUNT_CROSSLEY_STRIKES] = 0.0
    law[i, HUNT_CROSSLEY_V_S] = solver.settings[SETTING_STICTION]
    law[i, HUNT_CROSSLEY_FRICTION] = law[i, HUNT_CROSSLEY_MU] * impulse_at_start(law, i, velocity[2])


@kernel
def strike_hunt_crossley(solver, i, mu, target, slip, impulse, R, give, h):
    """Without dissipation n(v) = h k (x - h v) is (target - v) / R."""
    strike_unregularized(solver, i, mu, target, slip, impulse, R, give, h)
    regularize_friction(solver, i, give)


@kernel
def strike_unregularized(solver, i, mu, target, slip, impulse, R, give, h):
    law = solver.con_law
    law[i, HUNT_CROSSLEY_STRIKES] = 1.0
    law[i, HUNT_CROSSLEY_MU], law[i, HUNT_CROSSLEY_FRICTION] = mu, mu * impulse
    law[i, HUNT_CROSSLEY_STIFFNESS], law[i, HUNT_CROSSLEY_DISSIPATION] = 1.0 / (R * h * h), 0.0
    law[i, HUNT_CROSSLEY_PENETRATION], law[i, HUNT_CROSSLEY_STEP] = h * target, h
    law[i, HUNT_CROSSLEY_V_S] = solver.settings[SETTING_STICTION]


@kernel
def regularize_friction(solver, i, give):
    """give: of the contact across its normal, to an impulse."""
    law = solver.con_law
    law[i, HUNT_CROSSLEY_STOPPED] = give * law[i, HUNT_CROSSLEY_FRICTION]
    least = solver.settings[SETTING_FRICTION_SOFTNESS] * law[i, HUNT_CROSSLEY_STOPPED]
    law[i, HUNT_CROSSLEY_V_S] = max(law[i, HUNT_CROSSLEY_V_S], least)


@kernel
def regularize_hunt_crossley(solver, i, least, length):
    law = solver.con_law
    regularize_length(solver, i, least, length)
    softest = solver.settings[SETTING_FRICTION_SOFTNESS] * least * law[i, HUNT_CROSSLEY_FRICTION]
    law[i, HUNT_CROSSLEY_V_S] = max(law[i, HUNT_CROSSLEY_V_S], softest)


@kernel
def regularize_length(solver, i, least, length):
    solver.con_law[i, HUNT_CROSSLEY_V_S] = length * solver.settings[SETTING_STICTION]

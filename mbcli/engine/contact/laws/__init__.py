"""The laws of constraints in a step, one file each, with all that the solver knows of them; registry.py dispatches.

A law says which impulse a constraint gives at the velocity (x, y, z) of its rows; row i of `law` has its numbers. A
file NAME.py has

    response_NAME(law, i, x, y, z)  the impulse, and minus its derivatives xx, yy, zz, xy, xz, yz
    cost_NAME(law, i, x, y, z)      a convex cost whose slope is minus the impulse; no_cost where there is none

and a law of contact, the third row along the normal, also

    CONVEX                          whether there is a cost; else the solver of tamsi.py solves for it
    RELAXES                         whether it takes a material's relaxation time, not Hunt and Crossley's dissipation
    HAS_DUAL                        whether its friction is a v / |v|_s, for dual_friction.py
    begin_NAME(solver, laws, c, i, distance, h, softness, velocity)
                                    the numbers of constraint i from row c of laws, columns PAIR_..., for a step h
    strike_NAME(solver, i, mu, target, slip, impulse, R, give, h)
                                    those in an impact: a normal impulse (target - z) / R, see contact/impacts.py
    regularize_NAME(solver, i, least, length)
                                    friction of a contact that resists turning: the least that it gives way along a row,
                                    and its length over REACH, see torsional.py
    friction_NAME(law, i, size, z)  if HAS_DUAL: (a / |v|_s, mu of the normal impulse at the end or 0, its slope)

One that is missing is an error at import.
"""

"""Contact and constraints of a discrete step: one convex problem over the velocities at its end.

    minimize over v:  1/2 (v - v*)^T A (v - v*) + sum over constraints of l_i(J_i v)

v* are the velocities without constraints, A the mass matrix with the damping of the step (Castro et al. 2022,
arXiv:2110.10107, equation 20). `problem.py` has the arrays that describe it: it knows no bodies and no geometry. The
costs l_i are in files of their own, `newton.py` finds the minimum.
"""

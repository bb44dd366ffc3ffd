"""Bounces that add no energy: with friction, Newton's law of impact alone can add some.

A body that strikes with friction may leave with more energy than it had where its restitution is Newton's e, the ratio
of the speeds of separation: friction that turns the slip back does work (Kane and Levinson 1985, "Dynamics", the rod).
An impulse p at a contact does the work p . (v + v') / 2, with the velocities v without it and v' with it. Of a bounce
without friction that is -(1 - e) s p_n / 2 at the approach s. A bounce whose friction would make it more has the
largest restitution below e with which it is not, found by solving the problem of the step again.
"""

from mbcli.engine.contact.impacts import set_impact_law, velocity_of_contact
from mbcli.engine.contact.patches import patch_velocity
from mbcli.engine.contact.problem import first_of
from mbcli.engine.contact.torsional import finish_torsional_law
from mbcli.engine.fields.contact_fields import (
    COUNT_BOUNCES,
    COUNT_CONSTRAINTS,
    HAS_TORSIONAL,
    PAIR_RESTITUTION,
    VECTOR_DIRECTION,
    VECTOR_FREE,
    VECTOR_VELOCITY,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import dot, row3
from mbcli.engine.smooth.trigonometry import square_root

MOST_SOLUTIONS = 12
NO_GAIN = 1e-4  # relative to the approach times the normal impulse
NEAR = 1e-3  # a bounce that loses so much more than it must is good enough
LEAST_PART = 0.1  # of the interval in which the restitution lies that a step of the search leaves out


@kernel
def gains_energy(solver, points):
    """Whether bounces of the solution do; con_bounce of those that do is then positive."""
    if solver.counts[COUNT_BOUNCES] == 0:
        return False
    take_mean_velocities(solver)
    found = False
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_bounce[i] < 0.0:
            gain, scale = gain_of(solver, points, i, 1.0)
            if gain > NO_GAIN * scale:
                solver.con_bounce[i] = -solver.con_bounce[i]
                found = True
    return found


@kernel
def take_mean_velocities(solver):
    """vectors[DIRECTION]: the mean of the velocities with and without constraints."""
    for s in range(solver.vectors8.shape[1]):
        vectors = solver.vectors8
        vectors[VECTOR_DIRECTION, s] = 0.5 * (vectors[VECTOR_FREE, s] + vectors[VECTOR_VELOCITY, s])


@kernel
def gain_of_bounces(solver, points, share):
    """(gain, scale) of the bounces that are bounded, whose restitution is now so much of their own; [J]."""
    take_mean_velocities(solver)
    gain = scale = 0.0
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_bounce[i] > 0.0:
            more, size = gain_of(solver, points, i, share)
            gain += more
            scale += size
    return gain, scale


@kernel
def gain_of(solver, points, i, share):
    """(by how much the work of bounce i is above that of one without friction, approach times normal impulse) [J]."""
    work, normal = work_of_bounce(solver, i)
    e = points.law[solver.con_source[i], PAIR_RESTITUTION] / share
    scale = abs(solver.con_bounce[i]) * normal
    return work + 0.5 * (1.0 - e) * scale, scale


@kernel
def work_of_bounce(solver, i):
    """(work [J], normal impulse [N s]) of contact i by vectors[DIRECTION]."""
    impulse = row3(solver.con_impulse, i, 0)
    work = dot(impulse, velocity_of_contact(solver, i, VECTOR_DIRECTION))
    if solver.con_patch_size[i] == HAS_TORSIONAL:
        w, _ = patch_velocity(solver, i, VECTOR_DIRECTION)
        work += dot(row3(solver.con_impulse, i + 1, 0), w)
    return work, impulse[2]


@kernel
def strike_again(solver, points, h, factor):
    """The laws of the bounces that are bounded, with so many times the restitution that they have."""
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_bounce[i] > 0.0:
            points.law[solver.con_source[i], PAIR_RESTITUTION] *= factor
            set_impact_law(solver, points, i, first_of(solver, i), h, -solver.con_bounce[i])
            if solver.con_patch_size[i] == HAS_TORSIONAL:
                finish_torsional_law(solver, i)
    solver.counts[COUNT_BOUNCES] = 0


@kernel
def next_share(low, high, a, gain_a, b, gain_b):
    """The share of the restitution to try: the gain is about a constant and a square of it."""
    slope = gain_a - gain_b
    square = a * a - gain_a * (a * a - b * b) / slope if slope != 0.0 else -1.0
    share = square_root(square) if square > 0.0 else 0.0
    least = LEAST_PART * (high - low)
    return min(max(share, low + least), high - least)

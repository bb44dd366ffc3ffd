"""Impacts: contacts that a step meets at a speed at which their surfaces would pass, or bounce.

They are as good as rigid in that step, whatever they are made of: the impulse brings the speed of separation to a
target, which follows from the gap x, the approach w at the step's start, and the acceleration a towards the surface
without constraints. What does not bounce arrives at the surface, with -x / h. What bounces with the restitution e
leaves it with e times the speed s of its arrival. Steps v' = v - h a, x' = x + h v' keep
v^2 / 2 + a x - h a v / 2, so that

    s^2 = w^2 + 2 a x + h a w

and the speed u at the end of the step, at the gap x + h u, is that of the same motion away from the surface:

    u^2 / 2 + a (x + h u) - h a u / 2 = (e s)^2 / 2

So a ball that falls freely bounces as high as Newton's law says, whenever in the step it arrives. Of what touches
nothing else the share `before` of the step passes with the velocities without constraints (arrivals.py), so that the
gap is x + h (before w' + (1 - before) u) in place of x + h u, with w' the speed of separation without constraints.
"""

from mbcli.engine.contact.arrivals import arrival_of
from mbcli.engine.contact.laws.registry import strike_law
from mbcli.engine.contact.patches import (
    fill_patch_response,
    patch_velocity,
    velocity_in_patch,
)
from mbcli.engine.contact.problem import first_of, rows_velocity
from mbcli.engine.fields.contact_fields import (
    HAS_TORSIONAL,
    PAIR_FAR,
    PAIR_FRICTION,
    PAIR_RESTITUTION,
    PAIR_THRESHOLD,
    PLACE_ACROSS,
    PLACE_ARM,
    PLACE_NORMAL,
    PLACE_TANGENT,
    VECTOR_FREE,
    VECTOR_INVERSE_DIAGONAL,
    VECTOR_VELOCITY,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import sum_of_lanes
from mbcli.engine.smooth.spatial import cross, row3
from mbcli.engine.smooth.trigonometry import square_root

SOFTNESS = 1e-6  # of an impact, of what the bodies give way


@kernel
def strikes(points, c, h, separation):
    """Whether contact c, at this speed of separation at the start of a step h, is an impact."""
    law, approach = points.law, -separation
    far = law[c, PAIR_FAR]
    return bounces(law, c, approach) or (far > 0.0 and h * approach > far)


@kernel
def strikes_now(solver, points, i, h):
    """strikes() of the contact of constraint i, whose law may be set or not."""
    return strikes(points, solver.con_source[i], h, velocity_of_contact(solver, i, VECTOR_VELOCITY)[2])


@kernel
def velocity_of_contact(solver, i, x):
    """Velocity of contact i, alone or in a patch, along its tangents and its normal, at x, a row of vectors."""
    first = first_of(solver, i)
    if solver.con_patch_size[first] == 0:
        return rows_velocity(solver, i, x)
    w, v = patch_velocity(solver, first, x)
    if solver.con_patch_size[first] == HAS_TORSIONAL:
        return v
    return velocity_in_patch(solver, i, w, v)


@kernel
def bounces(law, c, approach):
    return law[c, PAIR_RESTITUTION] > 0.0 and approach > law[c, PAIR_THRESHOLD]


@kernel
def set_impact_law(solver, points, i, first, h, separation):
    """Numbers of the law of contact i, of the patch that begins with `first` or alone, as an impact."""
    c = solver.con_source[i]
    x, y, z, give, across = motion_without_constraints(solver, i, first)
    mu = points.law[c, PAIR_FRICTION]
    target = target_of_impact(points, c, h, separation, z, arrival_of(solver, first))
    impulse = max(0.0, target - z) / (give * max(1, solver.con_patch_size[first])) if give > 0.0 else 0.0
    slip = max(0.0, square_root(x * x + y * y) - mu * impulse * across)
    strike_law(solver, i, mu, target, slip, impulse, SOFTNESS * give if give > 0.0 else 1.0, across, h)


@kernel
def target_of_impact(points, c, h, separation, free, before):
    """The speed of separation at the end; free: that without constraints, with which the share `before` passes."""
    law, gap = points.law, max(0.0, points.distance[c])
    rest = 1.0 - before
    left = gap if before == 0.0 else max(0.0, gap + before * h * free)
    reached = -left / (h * rest)
    if not bounces(law, c, -separation):
        return reached
    a, e = (separation - free) / h, law[c, PAIR_RESTITUTION]
    arrival = max(0.0, separation * separation - a * h * separation + 2.0 * a * gap)
    later = rest - before
    square = 0.25 * a * a * h * h * later * later + e * e * arrival - 2.0 * a * left
    return max(reached, square_root(square) - 0.5 * a * h * later) if square > 0.0 else reached


@kernel
def motion_without_constraints(solver, i, first):
    """Of contact i: velocity along its rows without constraints, and how it gives way along the normal and across."""
    x, y, z = velocity_of_contact(solver, i, VECTOR_FREE)
    if solver.con_patch_size[first] == 0:
        across = 0.5 * (response_of_row(solver, i, 0) + response_of_row(solver, i, 1))
        return x, y, z, response_of_row(solver, i, 2), across
    fill_patch_response(solver, first)
    W = solver.con_response
    if solver.con_patch_size[first] == HAS_TORSIONAL:
        return x, y, z, W[first, 11], 0.5 * (W[first, 0] + W[first, 6])
    across = response_along(solver, first, i, PLACE_TANGENT) + response_along(solver, first, i, PLACE_ACROSS)
    return x, y, z, response_along(solver, first, i, PLACE_NORMAL), 0.5 * across


@kernel
def response_of_row(solver, i, row):
    """How constraint i, which is in no patch, gives way along a row, by the diagonal of A."""
    J, vectors, total = solver.jacobian8, solver.vectors8, 0.0
    for p in range(solver.con_first[i], solver.con_first[i + 1]):
        x = J[3 * p + row]
        total += sum_of_lanes(vectors[VECTOR_INVERSE_DIAGONAL, solver.piece_vector[p]] * x * x)
    return total


@kernel
def response_along(solver, first, i, place):
    """The same of contact i along one of its axes, columns of con_place; after fill_patch_response(first)."""
    W, u = solver.con_response, row3(solver.con_place, i, place)
    m = cross(row3(solver.con_place, i, PLACE_ARM), u)
    x = (u[0], u[1], u[2], m[0], m[1], m[2])
    total, k = 0.0, 0
    for r in range(6):
        for s in range(r, 6):
            total += (1.0 if r == s else 2.0) * W[first, k] * x[r] * x[s]
            k += 1
    return total

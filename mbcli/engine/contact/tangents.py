"""The tangents of a contact, and friction that depends on the direction.

With the coefficients mu_1 along a direction and mu_2 across it friction f lies in the ellipse

    (f_1 / mu_1)^2 + (f_2 / mu_2)^2 <= f_n^2

and acts against the slip v by the most power: with mu the larger coefficient and s_i = mu_i / mu, f_i = s_i g_i where
g is friction of the round cone of mu at the slip u = (s_1 v_1, s_2 v_2). So rows along s_i t_i in place of the tangents
t_i, with mu, are all that laws, costs and solvers need: their velocities are u, their impulses g, whose power u g is
that of friction. With s_i = 0 a row moves nothing. What a contact has without a direction is as it was: s_1 = s_2 = 1.
"""

from mbcli.engine.fields.contact_fields import GRAIN_ACROSS, GRAIN_ALONG, GRAIN_TANGENT, VECTOR_VELOCITY
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import sum_of_lanes
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, subtract, tangent_of
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def has_direction(points, n):
    """Whether friction of contact n depends on the direction."""
    return points.grain[n, GRAIN_ALONG] != points.grain[n, GRAIN_ACROSS]


@kernel
def tangents_of_contact(points, n):
    """Unit vectors t_1, t_2 of contact n."""
    normal = row3(points.normal, n, 0)
    tangent = row3(points.grain, n, GRAIN_TANGENT) if has_direction(points, n) else tangent_of(normal)
    return tangent, cross(normal, tangent)


@kernel
def rows_of_friction(points, n):
    """s_1 t_1 and s_2 t_2 of contact n."""
    normal = row3(points.normal, n, 0)
    along, across = points.grain[n, GRAIN_ALONG], points.grain[n, GRAIN_ACROSS]
    if along == across:
        tangent = tangent_of(normal)
        return tangent, cross(normal, tangent)
    tangent = row3(points.grain, n, GRAIN_TANGENT)
    return scale(along, tangent), scale(across, cross(normal, tangent))


@kernel
def scaled_slip(points, n, slip):
    """s_1 v_1 t_1 + s_2 v_2 t_2 of a vector in the plane of contact n, which has a direction."""
    along, across = rows_of_friction(points, n)
    tangent, other = tangents_of_contact(points, n)
    return add(scale(dot(along, slip), tangent), scale(dot(across, slip), other))


@kernel
def slip_of_bodies(model, data, solver, points, n):
    """Speed [m/s] at which the bodies of contact n slip at the velocities of the solver, whatever its rows are."""
    P, normal = row3(points.position, n, 0), row3(points.normal, n, 0)
    v = velocity_in_solution(model, data, solver, points.body[n, 0], P)
    v = subtract(v, velocity_in_solution(model, data, solver, points.body[n, 1], add(P, row3(points.onto_B, n, 0))))
    v = subtract(v, scale(dot(normal, v), normal))
    return square_root(dot(v, v))


@kernel
def velocity_in_solution(model, data, solver, b, P):
    """Velocity in W of the point of body b at P."""
    S, vectors, w, v = solver.axes8, solver.vectors8, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(solver.body_path[b], solver.body_path[b + 1]):
        at = solver.path_vector[k]
        moved = solver.path_mask8[k] * vectors[VECTOR_VELOCITY, at]
        w = add(w, (sum_of_lanes(moved * S[0, at]), sum_of_lanes(moved * S[1, at]), sum_of_lanes(moved * S[2, at])))
        v = add(v, (sum_of_lanes(moved * S[3, at]), sum_of_lanes(moved * S[4, at]), sum_of_lanes(moved * S[5, at])))
    return add(v, cross(w, subtract(P, row3(data.X_WB, model.body_root[b], 9))))

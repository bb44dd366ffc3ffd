"""From contact points, joint limits and controllers to the constraints of a step."""

from mbcli.engine.contact.delassus import compliance
from mbcli.engine.contact.hunt_crossley import impulse_at_start
from mbcli.engine.contact.problem import (
    APPROXIMATION,
    NEAR_RIGID,
    SAP,
    STICTION,
    TAMSI,
    VELOCITY,
    add_entry,
    begin_constraint,
    end_constraint,
    row_velocity,
)
from mbcli.engine.jit import kernel
from mbcli.engine.spatial import add, cross, dot, row3, scale, subtract
from mbcli.engine.trigonometry import square_root

INFINITE = float("inf")
PI = 3.141592653589793
FRICTION_SOFTNESS = 1e-3  # of friction's regularization, relative to the contact's compliance (Castro et al. 2022)

# columns of point_law: of a pair of surfaces
PAIR_STIFFNESS, PAIR_DISSIPATION, PAIR_RELAXATION, PAIR_FRICTION = 0, 1, 2, 3


@kernel
def tangent_of(n):
    """A unit vector across the unit vector n: the axis that is most across it, made so."""
    x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
    if x <= y and x <= z:
        t = cross(n, (1.0, 0.0, 0.0))
    elif y <= z:
        t = cross(n, (0.0, 1.0, 0.0))
    else:
        t = cross(n, (0.0, 0.0, 1.0))
    return scale(1.0 / square_root(dot(t, t)), t)


@kernel
def add_point_column(model, data, solver, i, b, d, sign, point, tangent, across, normal):
    """Entry d of constraint i: sign times the velocity of body b's point along three axes. None where d is locked."""
    if data.diagonal[d] == INFINITE:
        return
    r = subtract(point, row3(data.X_WB, model.body_root[b], 9))
    v = add(row3(data.S, d, 3), cross(row3(data.S, d, 0), r))
    add_entry(solver, i, d, sign * dot(v, tangent), sign * dot(v, across), sign * dot(v, normal))


@kernel
def last_velocity(model, b):
    """The outermost velocity that moves body b, -1 for World."""
    return model.body_v[b] + model.body_nv[b] - 1


@kernel
def add_relative_point(model, data, solver, i, a, b, point, tangent, across, normal):
    """Entries of the velocity of body a's point relative to body b's. Velocities that move both cancel."""
    d, e = last_velocity(model, a), last_velocity(model, b)
    same_tree = model.body_root[a] == model.body_root[b]
    while d >= 0 and (not same_tree or d != e):
        if same_tree and e > d:
            add_point_column(model, data, solver, i, b, e, -1.0, point, tangent, across, normal)
            e = model.dof_parent[e]
        else:
            add_point_column(model, data, solver, i, a, d, 1.0, point, tangent, across, normal)
            d = model.dof_parent[d]
    while e >= 0 and (not same_tree or d != e):
        add_point_column(model, data, solver, i, b, e, -1.0, point, tangent, across, normal)
        e = model.dof_parent[e]


@kernel
def add_contact_rows(model, data, solver, points):
    """One constraint per contact point, without its law."""
    for c in range(points.count[0]):
        i = begin_constraint(solver, 0, c)
        if i < 0:
            return
        normal = row3(points.normal, c, 0)
        tangent = tangent_of(normal)
        across = cross(normal, tangent)
        point = row3(points.position, c, 0)
        add_relative_point(model, data, solver, i, points.body[c, 0], points.body[c, 1], point, tangent, across, normal)
        end_constraint(solver, i)


@kernel
def set_contact_law(solver, points, i, h):
    """Numbers of the law of contact constraint i; vectors[VELOCITY] holds those at the step's start.

    w measures how much the contact gives way to an impulse. Friction is regularized at least in proportion to it, so
    that stiff contacts stay well conditioned.
    """
    c = solver.con_source[i]
    law = solver.con_law
    solver.con_kind[i] = int(solver.settings[APPROXIMATION])
    w = compliance(solver, i) / 3.0
    k, mu = points.law[c, PAIR_STIFFNESS], points.law[c, PAIR_FRICTION]
    law[i, 0] = mu
    if solver.con_kind[i] == SAP:
        tau = points.law[c, PAIR_RELAXATION]
        beta = solver.settings[NEAR_RIGID]
        law[i, 1] = FRICTION_SOFTNESS * w
        law[i, 2] = max(beta * beta / (4.0 * PI * PI) * w, 1.0 / (h * k * (h + tau)))
        law[i, 3] = -points.distance[c] / (h + tau)
        return
    law[i, 1] = k
    law[i, 2] = points.law[c, PAIR_DISSIPATION]
    law[i, 3] = -points.distance[c]
    law[i, 5] = h
    friction = mu * impulse_at_start(law, i, row_velocity(solver, i, VELOCITY, 2))
    law[i, 4] = solver.settings[STICTION]
    if solver.con_kind[i] != TAMSI:
        law[i, 4] = max(law[i, 4], FRICTION_SOFTNESS * w * friction)
    law[i, 6] = friction

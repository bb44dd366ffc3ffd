"""The equations of constraints: their axes in world axes, their velocity errors, Jacobian and bias.

Frame P is fixed on the predecessor, frame S on the successor; r goes from Po to So. A row says that

    A_w . (w_S - w_P) + A_v . (v_So - v_P(So)) = 0,

where v_P(So) is the velocity of the predecessor's point that is at So: the relative twist is taken at one point, so
that the forces of a row are equal and opposite. The axis A = (A_w, A_v) turns with P, or as its kind says.
"""

from mbcli.engine.constraints.constraint_errors import turning_axis
from mbcli.engine.constraints.constraint_frames import (
    COUPLER,
    CUSTOM,
    DISTANCE,
    PERPENDICULAR,
    THREAD,
    TWIST,
    separation,
    successor_origin,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import (
    acceleration_at,
    axes_on_body,
    components,
    from_components,
    from_reference_of,
    velocity_at,
)
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3, subtract


@kernel
def row_axes(model, data, cons, work, exact):
    """After position_kinematics -> row_axis_W, row_lever.

    `exact` is 0 or 1. With 1 the axes are those of the derivative of phi also if phi is not zero: a turn that is
    measured by an angle changes along other axes than it is constrained along.
    """
    for c in range(cons.constraint_rows.shape[0]):
        p, s = cons.constraint_body[c, 0], cons.constraint_body[c, 1]
        P = axes_on_body(data, p, cons.constraint_X_BP, c)
        S = axes_on_body(data, s, cons.constraint_X_BS, c)
        r_S = successor_origin(data, cons, c)
        r_SP = from_reference_of(model, data, r_S, s, p)
        for i in range(cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]):
            kind = cons.row_kind[i]
            a, b = row3(cons.row_axis, i, 0), row3(cons.row_axis, i, 3)
            if kind == DISTANCE:
                A_v = scale(1.0 / cons.row_constant[i], separation(model, data, cons, c))
                A_w = scale(0.0, A_v)
            elif kind == PERPENDICULAR:
                A_w = cross(from_components(S, row3(cons.row_second, i, 0)), from_components(P, a))
                A_v = scale(0.0, A_w)
            else:
                if exact == 1 and TWIST <= kind <= THREAD:  # the kinds with a turn
                    a = turning_axis(cons, i, a, components(P, S[0]), components(P, S[1]), components(P, S[2]))
                A_w, A_v = from_components(P, a), from_components(P, b)
            set_row3(work.row_axis_W, i, 0, A_w)
            set_row3(work.row_axis_W, i, 3, A_v)
            set_row3(work.row_lever, i, 0, add(A_w, cross(r_S, A_v)))
            set_row3(work.row_lever, i, 3, add(A_w, cross(r_SP, A_v)))


@kernel
def constraint_jacobian(data, cons, work):
    """After row_axes -> G. The columns that both bodies share cancel exactly and are left out."""
    G, S = work.G, data.S
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            side, d = cons.support_side[j], cons.support_dof[j]
            w, v = row3(S, d, 0), row3(S, d, 3)
            if side == 1:
                for i in range(first, end):
                    G[entry + i - first] = dot(row3(work.row_lever, i, 0), w) + dot(row3(work.row_axis_W, i, 3), v)
            elif side == -1:
                for i in range(first, end):
                    G[entry + i - first] = -dot(row3(work.row_lever, i, 3), w) - dot(row3(work.row_axis_W, i, 3), v)
            elif side == 0:
                for i in range(first, end):
                    G[entry + i - first] = 0.0
            entry += end - first
    for k in range(cons.term_entry.shape[0]):
        G[cons.term_entry[k]] = cons.term_coefficient[k]


@kernel
def velocity_errors(data, cons, work):
    """After constraint_jacobian -> errd = G v, but for rows that the caller gives."""
    v, G = data.v, work.G
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        if cons.row_kind[first] != CUSTOM:
            entry = cons.constraint_entry[c]
            for i in range(first, end):
                work.errd[i] = 0.0
            for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
                for i in range(first, end):
                    work.errd[i] += G[entry + i - first] * v[cons.support_dof[j]]
                entry += end - first


@kernel
def constraint_bias(model, data, cons, work):
    """After row_axes, and with A for constant velocities -> gamma: G vdot = gamma keeps the errors' rates.

    A may be that of a World which accelerates: it cancels. Rows that the caller gives are left alone.
    """
    for c in range(cons.constraint_rows.shape[0]):
        p, s = cons.constraint_body[c, 0], cons.constraint_body[c, 1]
        r_S = successor_origin(data, cons, c)
        r_SP = from_reference_of(model, data, r_S, s, p)
        w_S, v_S = velocity_at(data, s, r_S)
        w_P, v_P = velocity_at(data, p, r_SP)
        w, v = subtract(w_S, w_P), subtract(v_S, v_P)
        alpha = subtract(row3(data.A, s, 0), row3(data.A, p, 0))
        a_S = acceleration_at(data, s, r_S, row3(data.A, s, 0), row3(data.A, s, 3))
        a_P = acceleration_at(data, p, r_SP, row3(data.A, p, 0), row3(data.A, p, 3))
        a = subtract(subtract(a_S, a_P), cross(w_P, v))
        for i in range(cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]):
            kind = cons.row_kind[i]
            A_w, A_v = row3(work.row_axis_W, i, 0), row3(work.row_axis_W, i, 3)
            if kind == COUPLER:
                work.gamma[i] = 0.0
            elif kind != CUSTOM:
                if kind == DISTANCE:
                    v_PS = add(v, cross(w_P, separation(model, data, cons, c)))  # v_So - v_Po
                    rate_w, rate_v = scale(0.0, w), scale(1.0 / cons.row_constant[i], v_PS)
                elif kind == PERPENDICULAR:
                    P = axes_on_body(data, p, cons.constraint_X_BP, c)
                    S = axes_on_body(data, s, cons.constraint_X_BS, c)
                    first = from_components(P, row3(cons.row_axis, i, 0))
                    second = from_components(S, row3(cons.row_second, i, 0))
                    rate_w = add(cross(cross(w_S, second), first), cross(second, cross(w_P, first)))
                    rate_v = scale(0.0, rate_w)
                else:
                    rate_w, rate_v = cross(w_P, A_w), cross(w_P, A_v)
                work.gamma[i] = -(dot(A_w, alpha) + dot(A_v, a) + dot(rate_w, w) + dot(rate_v, v))


@kernel
def stabilize(work):
    """gamma += -2 alpha errd - beta^2 err."""
    for i in range(work.gamma.shape[0]):
        beta, alpha = work.stabilization[i, 0], work.stabilization[i, 1]
        work.gamma[i] -= 2.0 * alpha * work.errd[i] + beta * beta * work.err[i]

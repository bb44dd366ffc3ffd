"""How contacts accelerate by forces at other contacts, from articulated inertias (Kokkevis and Metaxas 2004).

Neither the mass matrix nor a Jacobian is formed: a test force goes through the results of forward_dynamics.
"""

from mbcli.engine.constraints.constraint_frames import successor_origin
from mbcli.engine.runtime.handles import constraints_at, data_at, model_at, work_at
from mbcli.engine.runtime.kernel import Handle, Matrix, entry, kernel
from mbcli.engine.smooth.forward_dynamics import forward_dynamics
from mbcli.engine.smooth.frame_motion import acceleration_at
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3, subtract
from mbcli.engine.smooth.state import at_velocities


@entry
def calc_contact_responses(model: Handle, data: Handle, cons: Handle, work: Handle, responses: Matrix):
    """q, v, tau, F_applied, diagonal -> vdot and gamma, both without contact forces, responses (nrow, nrow).

    gamma: accelerations of the contact points along their normals, changed sign; responses[i, j]: that of contact i per
    unit of force at contact j. All rows must be CONTACT.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    at_velocities(m, d)
    forward_dynamics(m, d)
    for k in range(c.constraint_rows.shape[0]):
        b, r = c.constraint_body[k, 1], successor_origin(d, c, k)
        a = acceleration_at(d, b, r, row3(d.A, b, 0), row3(d.A, b, 3))
        a = subtract(a, row3(d.A, 0, 3))  # World accelerates upwards if forward_dynamics has no weights
        for i in range(c.constraint_rows[k, 0], c.constraint_rows[k, 1]):
            w.gamma[i] = -dot(row3(c.row_axis, i, 3), a)
            respond_to_test_force(m, d, c, w, k, i)
            for other in range(c.constraint_rows.shape[0]):
                measure_response(d, c, w, other, i, responses)


@kernel
def respond_to_test_force(model, data, cons, work, c, i):
    """Unit force along row i at constraint c -> response_A of all bodies."""
    F, A, parent = work.response_F, work.response_A, model.body_parent
    for b in range(F.shape[0]):
        for k in range(6):
            F[b, k] = 0.0
    normal, b = row3(cons.row_axis, i, 3), cons.constraint_body[c, 1]
    set_row3(F, b, 0, scale(-1.0, cross(successor_origin(data, cons, c), normal)))
    set_row3(F, b, 3, scale(-1.0, normal))
    for d in range(work.response_residual.shape[0]):
        work.response_residual[d] = 0.0
    while b != 0:
        torque, force = row3(F, b, 0), row3(F, b, 3)
        for k in range(model.body_nv[b]):
            d = model.body_v[b] + model.body_nv[b] - 1 - k
            residual = -dot(row3(data.S, d, 0), torque) - dot(row3(data.S, d, 3), force)
            work.response_residual[d] = residual
            torque = add(torque, scale(residual / data.D[d], row3(data.U, d, 0)))
            force = add(force, scale(residual / data.D[d], row3(data.U, d, 3)))
        b = parent[b]
        set_row3(F, b, 0, torque)
        set_row3(F, b, 3, force)
    for k in range(6):
        A[0, k] = 0.0
    for b in range(1, parent.shape[0]):
        alpha, a = row3(A, parent[b], 0), row3(A, parent[b], 3)
        for d in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
            along = dot(row3(data.U, d, 0), alpha) + dot(row3(data.U, d, 3), a)
            vdot = (work.response_residual[d] - along) / data.D[d]
            alpha = add(alpha, scale(vdot, row3(data.S, d, 0)))
            a = add(a, scale(vdot, row3(data.S, d, 3)))
        set_row3(A, b, 0, alpha)
        set_row3(A, b, 3, a)


@kernel
def measure_response(data, cons, work, c, j, responses):
    """Column j of `responses` at the rows of constraint c, from response_A."""
    b = cons.constraint_body[c, 1]
    a = add(row3(work.response_A, b, 3), cross(row3(work.response_A, b, 0), successor_origin(data, cons, c)))
    for i in range(cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]):
        responses[i, j] = dot(row3(cons.row_axis, i, 3), a)


@entry
def calc_dynamics_with_contacts(model: Handle, data: Handle, cons: Handle, work: Handle):
    """After calc_contact_responses: tau, F_applied, force -> vdot; F_applied gains the forces of the contacts."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    for k in range(c.constraint_rows.shape[0]):
        b, r = c.constraint_body[k, 1], successor_origin(d, c, k)
        for i in range(c.constraint_rows[k, 0], c.constraint_rows[k, 1]):
            force = scale(w.force[i], row3(c.row_axis, i, 3))
            set_row3(d.F_applied, b, 0, add(row3(d.F_applied, b, 0), cross(r, force)))
            set_row3(d.F_applied, b, 3, add(row3(d.F_applied, b, 3), force))
    forward_dynamics(m, d)

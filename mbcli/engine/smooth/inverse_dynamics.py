"""Recursive Newton-Euler: generalized forces for given accelerations; bias and gravity as its special cases."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.inertia import gravity_vector, inertia_times, weight_about_reference
from mbcli.engine.smooth.kinematics import acceleration_kinematics, link_origin
from mbcli.engine.smooth.spatial import add, add_row6, cross, dot, row3, scale, set_row3, subtract


@kernel
def inverse_dynamics(model, data, gravity):
    """tau = M vdot + C(q,v) v - gravity * tau_g - sum J^T F_applied; vdot in, tau out.

    After velocity_kinematics and world_inertias. `gravity` is 1 or 0. Also leaves A (with World accelerating at -g
    if all mass is under gravity) and F, the force that each body gets through its inboard joint, about Ro.
    """
    uniform = gravity * model.uniform_gravity[0]
    for k in range(3):
        data.A[0, k] = 0.0
        data.A[0, 3 + k] = -uniform * model.gravity[k]
    acceleration_kinematics(model, data)
    newton_euler(model, data)
    if gravity != 0.0 and model.uniform_gravity[0] == 0:
        subtract_weights(model, data)
    project_forces(model, data)


@kernel
def newton_euler(model, data):
    """F of each body alone: the force that must act on it about Ro beyond F_applied."""
    V, A, F, I = data.V, data.A, data.F, data.inertia
    for b in range(1, I.shape[0]):
        w, v = row3(V, b, 0), row3(V, b, 3)
        torque, force = inertia_times(I, b, row3(A, b, 0), row3(A, b, 3))
        h, l = inertia_times(I, b, w, v)
        torque = add(torque, add(cross(w, h), cross(v, l)))
        force = add(force, cross(w, l))
        set_row3(F, b, 0, subtract(torque, row3(data.F_applied, b, 0)))
        set_row3(F, b, 3, subtract(force, row3(data.F_applied, b, 3)))


@kernel
def subtract_weights(model, data):
    """Takes the weight of each body from F."""
    g = gravity_vector(model)
    for b in range(1, data.F.shape[0]):
        m, h = weight_about_reference(model, data, b)
        set_row3(data.F, b, 0, subtract(row3(data.F, b, 0), cross(h, g)))
        set_row3(data.F, b, 3, subtract(row3(data.F, b, 3), scale(m, g)))


@kernel
def project_forces(model, data):
    """Adds up F from the leaves to World, and takes tau = S . F + armature * vdot on the way."""
    parent, F, S = model.body_parent, data.F, data.S
    for b in range(parent.shape[0] - 1, 0, -1):
        torque, force = row3(F, b, 0), row3(F, b, 3)
        for d in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
            along = dot(row3(S, d, 0), torque) + dot(row3(S, d, 3), force)
            data.tau[d] = along + model.dof_armature[d] * data.vdot[d]
        if parent[b] != 0:
            add_row6(F, parent[b], b)


@kernel
def bias_term(model, data):
    """tau = C(q,v) v; no gravity, no applied forces. After velocity_kinematics and world_inertias; vdot becomes 0."""
    for d in range(data.vdot.shape[0]):
        data.vdot[d] = 0.0
    clear_applied_forces(data)
    inverse_dynamics(model, data, 0.0)


@kernel
def mass_matrix_by_inverse_dynamics(model, data):
    """M, column by column: tau of one unit of acceleration at rest. After world_inertias; V, A_bias become 0."""
    clear_applied_forces(data)
    for k in range(6):
        for b in range(data.V.shape[0]):
            data.V[b, k] = 0.0
            data.A_bias[b, k] = 0.0
    nv = data.vdot.shape[0]
    for d in range(nv):
        data.vdot[d] = 0.0
    for d in range(nv):
        data.vdot[d] = 1.0
        inverse_dynamics(model, data, 0.0)
        data.vdot[d] = 0.0
        for e in range(nv):
            data.M[e, d] = data.tau[e]


@kernel
def gravity_forces(model, data):
    """tau = tau_g, on the side of the applied forces: M vdot + C v = tau_g. After position_kinematics; changes F."""
    g = gravity_vector(model)
    for b in range(1, data.F.shape[0]):
        m, h = weight_about_reference(model, data, b)
        set_row3(data.F, b, 0, cross(h, g))
        set_row3(data.F, b, 3, scale(m, g))
    project_loads(model, data)


@kernel
def generalized_forces(model, data):
    """tau = sum J^T F_applied. After position_kinematics; changes F."""
    for b in range(1, data.F.shape[0]):
        set_row3(data.F, b, 0, row3(data.F_applied, b, 0))
        set_row3(data.F, b, 3, row3(data.F_applied, b, 3))
    project_loads(model, data)


@kernel
def project_loads(model, data):
    """tau = S . F of the loads F on the bodies, which add up from the leaves to World."""
    parent, F, S = model.body_parent, data.F, data.S
    for b in range(parent.shape[0] - 1, 0, -1):
        torque, force = row3(F, b, 0), row3(F, b, 3)
        for d in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
            data.tau[d] = dot(row3(S, d, 0), torque) + dot(row3(S, d, 3), force)
        if parent[b] != 0:
            add_row6(F, parent[b], b)


@kernel
def clear_applied_forces(data):
    """F_applied = 0."""
    for b in range(data.F_applied.shape[0]):
        for k in range(6):
            data.F_applied[b, k] = 0.0


@kernel
def add_force(model, data, F, at_links, n, p, torque, force):
    """Adds a torque, and a force at p from Ro, to F of link n (about its origin) or of its body (about Ro)."""
    k = n if at_links else model.link_body[n]
    arm = subtract(p, link_origin(model, data, n)) if at_links else p
    set_row3(F, k, 0, add(row3(F, k, 0), add(torque, cross(arm, force))))
    set_row3(F, k, 3, add(row3(F, k, 3), force))


@kernel
def apply_link_forces(model, data, F_link):
    """Spatial forces F_link (nlink, 6) at the links' origins -> F_applied about Ro. After position_kinematics."""
    clear_applied_forces(data)
    for n in range(model.link_body.shape[0]):
        b, r = model.link_body[n], link_origin(model, data, n)
        force = row3(F_link, n, 3)
        torque = add(row3(F_link, n, 0), cross(r, force))
        set_row3(data.F_applied, b, 0, add(row3(data.F_applied, b, 0), torque))
        set_row3(data.F_applied, b, 3, add(row3(data.F_applied, b, 3), force))

"""The mass matrix by the composite-rigid-body algorithm (Featherstone 2008, section 6.2)."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.inertia import inertia_times
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import dot, row3


@kernel
def composite_inertias(model, data):
    """After world_inertias -> composite: each body with all that is outboard of it."""
    parent, I, C = model.body_parent, data.inertia, data.composite
    for b in range(1, parent.shape[0]):
        if is_asleep(data, b):
            continue
        for k in range(10):
            C[b, k] = I[b, k]
    for b in range(parent.shape[0] - 1, 0, -1):
        if is_asleep(data, b):
            continue
        p = parent[b]
        if p != 0:
            for k in range(10):
                C[p, k] += C[b, k]


@kernel
def inertia_along(model, data, d):
    """After composite_inertias: of the bodies that velocity d moves if no other does, without armature."""
    w, u = row3(data.S, d, 0), row3(data.S, d, 3)
    torque, force = inertia_times(data.composite, model.dof_body[d], w, u)
    return dot(w, torque) + dot(u, force)


@kernel
def carried_inertia(model, data, d):
    """The same with armature: the diagonal of M."""
    return inertia_along(model, data, d) + model.dof_armature[d]


@kernel
def mass_matrix(model, data):
    """After world_inertias -> M, symmetric, with the reflected inertia of actuators on its diagonal.

    All quantities of a tree are about one point in world axes, so the force that moves composite body `d` projects
    onto every velocity between it and World without a change of frame.
    """
    composite_inertias(model, data)
    dof_parent, S, M = model.dof_parent, data.S, data.M
    elements = M.reshape(M.size)
    for k in range(elements.shape[0]):
        elements[k] = 0.0
    for d in range(M.shape[0]):
        torque, force = inertia_times(data.composite, model.dof_body[d], row3(S, d, 0), row3(S, d, 3))
        e = d
        while e >= 0:
            along = dot(row3(S, e, 0), torque) + dot(row3(S, e, 3), force)
            M[d, e] = along
            M[e, d] = along
            e = dof_parent[e]
        M[d, d] += model.dof_armature[d]

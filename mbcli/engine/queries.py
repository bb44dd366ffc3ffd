"""What callers ask of frames, points and sets of links; each takes handles and writes into an array of the caller.

Frames are numbers of frames, points (3, n) or a point p (3,) are in their frame, `selected` (nlink,) is 1 or 0 for each
link. Velocities and accelerations are of a frame f in a frame m, along the axes of a frame e.
"""

from mbcli.engine.coordinates import qdot_to_velocity, velocity_to_qdot
from mbcli.engine.frame_motion import (
    accelerations_by_velocities,
    components,
    frame_axes,
    from_components,
    relative_acceleration,
    relative_bias,
    relative_points,
    relative_pose,
    relative_velocity,
)
from mbcli.engine.handles import data_at, model_at
from mbcli.engine.jacobians import angular_jacobian, com_jacobian, jacobian_by_qdot, translational_jacobian
from mbcli.engine.jit import kernel
from mbcli.engine.kinematics import acceleration_kinematics
from mbcli.engine.mass_properties import (
    com_acceleration,
    com_position,
    com_velocity,
    inertia_about,
    mass_of_links,
    momentum_about,
)
from mbcli.engine.reaction_forces import forces_through_joints, reactions_on_children
from mbcli.engine.spatial import add, cross
from mbcli.engine.trigonometry import sine_and_cosine

# rates of positions, for any q in Data


@kernel
def query_qdot(model, data, v, qdot):
    """v (nv,) -> qdot (nq,)."""
    d = data_at(data)
    sine_and_cosine(d.q, d.sin_q, d.cos_q)
    velocity_to_qdot(model_at(model), d, v, qdot)


@kernel
def query_velocity_from_qdot(model, data, qdot, v):
    """qdot (nq,) -> v (nv,)."""
    d = data_at(data)
    sine_and_cosine(d.q, d.sin_q, d.cos_q)
    qdot_to_velocity(model_at(model), d, qdot, v)


@kernel
def query_qdot_map(model, data, rows):
    """rows (nv, nq): the transpose of N; changes vdot of Data."""
    m, d = model_at(model), data_at(data)
    sine_and_cosine(d.q, d.sin_q, d.cos_q)
    for k in range(d.v.shape[0]):
        d.vdot[k] = 0.0
    for k in range(d.v.shape[0]):
        d.vdot[k] = 1.0
        velocity_to_qdot(m, d, d.vdot, rows[k])
        d.vdot[k] = 0.0


@kernel
def query_velocity_map(model, data, rows):
    """rows (nq, nv): the transpose of N+; changes qdot of Data."""
    m, d = model_at(model), data_at(data)
    sine_and_cosine(d.q, d.sin_q, d.cos_q)
    for k in range(d.q.shape[0]):
        d.qdot[k] = 0.0
    for k in range(d.q.shape[0]):
        d.qdot[k] = 1.0
        qdot_to_velocity(m, d, d.qdot, rows[k])
        d.qdot[k] = 0.0


# frames, after position_stage


@kernel
def query_pose(model, data, f, m, X):
    """Pose of frame f in frame m -> X (1, 4, 3): rows of R, and p."""
    relative_pose(model_at(model), data_at(data), f, m, X, 0)


@kernel
def query_poses(model, data, frames, m, X):
    """Poses of frames (n,) in frame m -> X (n, 4, 3)."""
    mo, d = model_at(model), data_at(data)
    for k in range(frames.shape[0]):
        relative_pose(mo, d, frames[k], m, X, k)


@kernel
def query_points(model, data, f, m, points):
    """Points (3, n) of frame f -> in frame m, in the same array."""
    relative_points(model_at(model), data_at(data), f, points, m)


@kernel
def query_angular_jacobian(model, data, f, m, e, J):
    """J (3, nv)."""
    angular_jacobian(model_at(model), data_at(data), f, m, e, J)


@kernel
def query_spatial_jacobian(model, data, f, p, m, e, J):
    """J (6, nv) of the point p."""
    mo, d = model_at(model), data_at(data)
    angular_jacobian(mo, d, f, m, e, J)
    translational_jacobian(mo, d, f, (p[0], p[1], p[2]), m, e, J, 3)


@kernel
def query_translational_jacobian(model, data, f, points, m, e, J):
    """J (3 n, nv)."""
    mo, d = model_at(model), data_at(data)
    for i in range(points.shape[1]):
        translational_jacobian(mo, d, f, (points[0, i], points[1, i], points[2, i]), m, e, J, 3 * i)


@kernel
def query_jacobian_by_qdot(model, data, J_v, J_q):
    """J_v (n, nv) -> J_q (n, nq)."""
    jacobian_by_qdot(model_at(model), data_at(data), J_v, J_q)


# frames, after velocity_stage


@kernel
def query_velocity(model, data, f, p, m, e, V):
    """V (6,) of the point p."""
    mo, d = model_at(model), data_at(data)
    w, v = relative_velocity(mo, d, f, (p[0], p[1], p[2]), m)
    along(mo, d, e, w, v, V)


@kernel
def query_velocities(model, data, frames, m, V):
    """Velocities of the origins of frames (n,) in frame m, along its axes -> V (n, 6)."""
    mo, d = model_at(model), data_at(data)
    for k in range(frames.shape[0]):
        w, v = relative_velocity(mo, d, frames[k], (0.0, 0.0, 0.0), m)
        along(mo, d, m, w, v, V[k])


@kernel
def query_point_velocities(model, data, f, m, e, points):
    """Velocities (3, n) of points (3, n), in the same array."""
    mo, d = model_at(model), data_at(data)
    axes = frame_axes(mo, d, e)
    for i in range(points.shape[1]):
        w, v = relative_velocity(mo, d, f, (points[0, i], points[1, i], points[2, i]), m)
        v = components(axes, v)
        for k in range(3):
            points[k, i] = v[k]


@kernel
def body_accelerations(model, data, vdot):
    """vdot (nv,) -> vdot and A of Data, of World at rest."""
    for k in range(data.vdot.shape[0]):
        data.vdot[k] = vdot[k]
    for k in range(6):
        data.A[0, k] = 0.0
    acceleration_kinematics(model, data)


@kernel
def query_acceleration(model, data, vdot, f, p, m, e, result):
    """Acceleration (6,) of the point p for vdot (nv,); changes vdot and A of Data."""
    mo, d = model_at(model), data_at(data)
    body_accelerations(mo, d, vdot)
    alpha, a = relative_acceleration(mo, d, d.A, f, (p[0], p[1], p[2]), m)
    along(mo, d, e, alpha, a, result)


@kernel
def query_accelerations(model, data, vdot, frames, m, result):
    """Accelerations of the origins of frames (n,) in frame m, along its axes, for vdot (nv,) -> (n, 6); as before."""
    mo, d = model_at(model), data_at(data)
    body_accelerations(mo, d, vdot)
    for k in range(frames.shape[0]):
        alpha, a = relative_acceleration(mo, d, d.A, frames[k], (0.0, 0.0, 0.0), m)
        along(mo, d, m, alpha, a, result[k])


@kernel
def query_bias(model, data, f, p, m, e, result):
    """Acceleration (6,) of the point p where no velocity changes."""
    mo, d = model_at(model), data_at(data)
    alpha, a = relative_bias(mo, d, f, (p[0], p[1], p[2]), m)
    along(mo, d, e, alpha, a, result)


@kernel
def query_translational_bias(model, data, f, m, e, points):
    """Accelerations (3, n) of points (3, n) where no velocity changes, in the same array."""
    mo, d = model_at(model), data_at(data)
    axes = frame_axes(mo, d, e)
    for i in range(points.shape[1]):
        alpha, a = relative_bias(mo, d, f, (points[0, i], points[1, i], points[2, i]), m)
        a = components(axes, a)
        for k in range(3):
            points[k, i] = a[k]


@kernel
def along(model, data, e, a, b, result):
    """Two vectors in world axes -> result (6,) along the axes of frame e."""
    axes = frame_axes(model, data, e)
    a, b = components(axes, a), components(axes, b)
    for k in range(3):
        result[k] = a[k]
        result[3 + k] = b[k]


@kernel
def query_force_at(model, data, e, p, F, n, forces):
    """After position_stage: adds F (6,) at the point p (3,) from the origin of link n, both along e, to row n."""
    axes = frame_axes(model_at(model), data_at(data), e)
    f = (F[3], F[4], F[5])
    torque = from_components(axes, add((F[0], F[1], F[2]), cross((p[0], p[1], p[2]), f)))
    f = from_components(axes, f)
    for k in range(3):
        forces[n, k] += torque[k]
        forces[n, 3 + k] += f[k]


# sets of links


@kernel
def query_mass(model, selected):
    """The mass of the links; returned."""
    return mass_of_links(model_at(model), selected)


@kernel
def query_com_position(model, data, selected, mass, p):
    """After position_stage: p (3,), for links of the given mass."""
    com_position(model_at(model), data_at(data), selected, mass, p)


@kernel
def query_com_jacobian(model, data, selected, mass, m, e, J):
    """After position_stage: J (3, nv)."""
    com_jacobian(model_at(model), data_at(data), selected, mass, m, e, J)


@kernel
def query_com_velocity(model, data, selected, mass, v):
    """After velocity_stage: v (3,) in World."""
    com_velocity(model_at(model), data_at(data), selected, mass, v)


@kernel
def query_com_acceleration(model, data, vdot, selected, mass, m, e, a):
    """After velocity_stage: a (3,) for vdot (nv,); changes vdot and A of Data."""
    mo, d = model_at(model), data_at(data)
    body_accelerations(mo, d, vdot)
    com_acceleration(mo, d, d.A, selected, mass, m, e, a)


@kernel
def query_com_bias(model, data, selected, mass, m, e, a):
    """After velocity_stage: a (3,) where no velocity changes."""
    mo, d = model_at(model), data_at(data)
    accelerations_by_velocities(mo, d)
    com_acceleration(mo, d, d.A, selected, mass, m, e, a)


@kernel
def query_momentum(model, data, selected, p, L):
    """After velocity_stage: L (6,) about the point p (3,) of World."""
    momentum_about(model_at(model), data_at(data), selected, p, L)


@kernel
def query_inertia(model, data, selected, mass, f, M):
    """After position_stage: M (12,) about the origin of f, along its axes: centre of mass, unit inertia (3, 3)."""
    inertia_about(model_at(model), data_at(data), selected, mass, f, M)


@kernel
def query_reactions(model, data, tree, F):
    """After velocity_stage: vdot, F_link (all that is applied to links) -> F (joints, 6); see reaction_forces.py."""
    mo, d = model_at(model), data_at(data)
    for k in range(6):
        d.A[0, k] = 0.0
    acceleration_kinematics(mo, d)
    forces_through_joints(mo, d, tree)
    reactions_on_children(mo, d, tree, F)

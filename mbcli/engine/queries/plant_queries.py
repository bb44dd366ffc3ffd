"""What callers ask of frames, points and sets of links; each takes handles.

One pose, one vector of three or six elements and Jacobians of so many rows go to `answer_pose`, `answer` and `jacobian`
of Data: a copy of these takes Python less than an array to pass. All else goes into an array of the caller.

Frames are numbers of frames, points (3, n) or a point p (3,) are in their frame, `selected` (nlink,) is 1 or 0 for each
link. Velocities and accelerations are of a frame f in a frame m, along the axes of a frame e.
"""

from mbcli.engine.constraints.constraint_errors import rotation_quaternion
from mbcli.engine.runtime.handles import data_at, model_at
from mbcli.engine.runtime.kernel import Blocks, Handle, Int, Matrix, Real, Table, Vector, entry, kernel
from mbcli.engine.smooth.coordinates import qdot_to_velocity, velocity_to_qdot
from mbcli.engine.smooth.frame_motion import (
    acceleration_at,
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
from mbcli.engine.smooth.jacobians import angular_jacobian, com_jacobian, jacobian_by_qdot, translational_jacobian
from mbcli.engine.smooth.kinematics import acceleration_kinematics, link_origin, link_poses
from mbcli.engine.smooth.mass_properties import (
    com_acceleration,
    com_position,
    com_velocity,
    inertia_about,
    mass_of_links,
    momentum_about,
)
from mbcli.engine.smooth.reaction_forces import forces_through_joints, reactions_on_children
from mbcli.engine.smooth.rotations.registry import NO_ROTATION, rotation_undefined
from mbcli.engine.smooth.spatial import add, cross, row3, set_row3, subtract
from mbcli.engine.smooth.trigonometry import sine_and_cosine

STATE_NOT_FINITE = -1

# q and v themselves


@entry
def query_state_fault(model: Handle, data: Handle):
    """What of q and v cannot be: NOT_FINITE; the first body whose quaternion is zero; 0: nothing."""
    m, d = model_at(model), data_at(data)
    total = 0.0
    for i in range(d.q.shape[0]):
        total = total + d.q[i] * 0.0
    for k in range(d.v.shape[0]):
        total = total + d.v[k] * 0.0
    if total != 0.0:
        return STATE_NOT_FINITE
    for b in range(1, m.body_parent.shape[0]):
        if m.body_rotation[b] != NO_ROTATION and rotation_undefined(m.body_rotation[b], d.q, m.body_q[b]):
            return b
    return 0


# rates of positions, for any q in Data


@entry
def query_qdot(model: Handle, data: Handle, v: Vector):
    """v (nv,) -> qdot of Data."""
    d = data_at(data)
    sine_and_cosine(d.q, d.sin_q, d.cos_q)
    velocity_to_qdot(model_at(model), d, v, d.qdot)


@entry
def query_velocity_from_qdot(model: Handle, data: Handle, qdot: Vector, v: Vector):
    """qdot (nq,) -> v (nv,)."""
    d = data_at(data)
    sine_and_cosine(d.q, d.sin_q, d.cos_q)
    qdot_to_velocity(model_at(model), d, qdot, v)


@entry
def query_qdot_map(model: Handle, data: Handle, rows: Matrix):
    """rows (nv, nq): the transpose of N; changes vdot of Data."""
    m, d = model_at(model), data_at(data)
    sine_and_cosine(d.q, d.sin_q, d.cos_q)
    for k in range(d.v.shape[0]):
        d.vdot[k] = 0.0
    for k in range(d.v.shape[0]):
        d.vdot[k] = 1.0
        velocity_to_qdot(m, d, d.vdot, rows[k])
        d.vdot[k] = 0.0


@entry
def query_velocity_map(model: Handle, data: Handle, rows: Matrix):
    """rows (nq, nv): the transpose of N+; changes qdot of Data."""
    m, d = model_at(model), data_at(data)
    sine_and_cosine(d.q, d.sin_q, d.cos_q)
    for k in range(d.q.shape[0]):
        d.qdot[k] = 0.0
    for k in range(d.q.shape[0]):
        d.qdot[k] = 1.0
        qdot_to_velocity(m, d, d.qdot, rows[k])
        d.qdot[k] = 0.0


# positions of a joint with a quaternion, from element i of q on


@entry
def set_rotation(model: Handle, data: Handle, i: Int, R: Matrix):
    """Four of q from R_FM (3, 3)."""
    q = data_at(data).q
    x, y, z = (R[0, 0], R[1, 0], R[2, 0]), (R[0, 1], R[1, 1], R[2, 1]), (R[0, 2], R[1, 2], R[2, 2])
    w, u = rotation_quaternion(x, y, z)
    q[i] = w
    for k in range(3):
        q[i + 1 + k] = u[k]


@entry
def set_pose(model: Handle, data: Handle, i: Int, R: Matrix, p: Vector):
    """Seven of q from R_FM (3, 3) and p_FM (3,)."""
    set_rotation(model, data, i, R)
    q = data_at(data).q
    for k in range(3):
        q[i + 4 + k] = p[k]


# frames, after position_stage


@entry
def query_pose(model: Handle, data: Handle, f: Int, m: Int):
    """Pose of frame f in frame m -> answer_pose: rows of R, and p."""
    d = data_at(data)
    relative_pose(model_at(model), d, f, m, d.answer_pose, 0)


@entry
def query_link_poses(model: Handle, data: Handle, R: Blocks, p: Matrix):
    """Poses of all links in World -> R (nlink, 3, 3), p (nlink, 3); changes X_WL of Data."""
    X_WL = data_at(data).X_WL
    link_poses(model_at(model), data_at(data))
    for n in range(X_WL.shape[0]):
        for i in range(3):
            for j in range(3):
                R[n, i, j] = X_WL[n, 3 * i + j]
            p[n, i] = X_WL[n, 9 + i]


@entry
def query_points(model: Handle, data: Handle, f: Int, m: Int, points: Matrix):
    """Points (3, n) of frame f -> in frame m, in the same array."""
    relative_points(model_at(model), data_at(data), f, points, m)


@entry
def query_angular_jacobian(model: Handle, data: Handle, f: Int, m: Int, e: Int):
    """J (3, nv) -> jacobian."""
    d = data_at(data)
    angular_jacobian(model_at(model), d, f, m, e, d.jacobian)


@entry
def query_spatial_jacobian(model: Handle, data: Handle, f: Int, p: Vector, m: Int, e: Int):
    """J (6, nv) of the point p -> jacobian."""
    mo, d = model_at(model), data_at(data)
    angular_jacobian(mo, d, f, m, e, d.jacobian)
    translational_jacobian(mo, d, f, (p[0], p[1], p[2]), m, e, d.jacobian, 3)


@entry
def query_point_jacobian(model: Handle, data: Handle, f: Int, points: Matrix, m: Int, e: Int):
    """J (3, nv) of the first of points (3, n) -> jacobian."""
    d = data_at(data)
    translational_jacobian(model_at(model), d, f, (points[0, 0], points[1, 0], points[2, 0]), m, e, d.jacobian, 0)


@entry
def query_translational_jacobian(model: Handle, data: Handle, f: Int, points: Matrix, m: Int, e: Int, J: Matrix):
    """J (3 n, nv)."""
    mo, d = model_at(model), data_at(data)
    for i in range(points.shape[1]):
        translational_jacobian(mo, d, f, (points[0, i], points[1, i], points[2, i]), m, e, J, 3 * i)


@entry
def query_jacobian_by_qdot(model: Handle, data: Handle, J_v: Matrix, J_q: Matrix):
    """J_v (n, nv) -> J_q (n, nq)."""
    jacobian_by_qdot(model_at(model), data_at(data), J_v, J_q)


# frames, after velocity_stage


@entry
def query_velocity(model: Handle, data: Handle, f: Int, m: Int, e: Int):
    """V of the origin -> answer."""
    mo, d = model_at(model), data_at(data)
    w, v = relative_velocity(mo, d, f, (0.0, 0.0, 0.0), m)
    along(mo, d, e, w, v, d.answer)


@entry
def query_velocity_of_point(model: Handle, data: Handle, f: Int, p: Vector, m: Int, e: Int):
    """V of the point p -> answer."""
    mo, d = model_at(model), data_at(data)
    w, v = relative_velocity(mo, d, f, (p[0], p[1], p[2]), m)
    along(mo, d, e, w, v, d.answer)


@entry
def query_velocity_beside(model: Handle, data: Handle, f: Int, b: Int, m: Int, e: Int):
    """V of the origin of f less that of the origin of frame b -> answer."""
    mo, d = model_at(model), data_at(data)
    w_f, v_f = relative_velocity(mo, d, f, (0.0, 0.0, 0.0), m)
    w_b, v_b = relative_velocity(mo, d, b, (0.0, 0.0, 0.0), m)
    along(mo, d, e, subtract(w_f, w_b), subtract(v_f, v_b), d.answer)


@entry
def query_point_velocities(model: Handle, data: Handle, f: Int, m: Int, e: Int, points: Matrix):
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


@entry
def query_acceleration(model: Handle, data: Handle, vdot: Vector, f: Int, p: Vector, m: Int, e: Int):
    """Acceleration of the point p for vdot (nv,) -> answer; changes vdot and A of Data."""
    mo, d = model_at(model), data_at(data)
    body_accelerations(mo, d, vdot)
    alpha, a = relative_acceleration(mo, d, d.A, f, (p[0], p[1], p[2]), m)
    along(mo, d, e, alpha, a, d.answer)


@entry
def query_acceleration_beside(model: Handle, data: Handle, vdot: Vector, f: Int, b: Int, m: Int, e: Int):
    """Acceleration of the origin of f less that of the origin of frame b -> answer; as before."""
    mo, d = model_at(model), data_at(data)
    body_accelerations(mo, d, vdot)
    alpha_f, a_f = relative_acceleration(mo, d, d.A, f, (0.0, 0.0, 0.0), m)
    alpha_b, a_b = relative_acceleration(mo, d, d.A, b, (0.0, 0.0, 0.0), m)
    along(mo, d, e, subtract(alpha_f, alpha_b), subtract(a_f, a_b), d.answer)


@entry
def query_link_accelerations(model: Handle, data: Handle, result: Matrix):
    """Accelerations of the origins of all links in World, for vdot of Data -> (nlink, 6); changes A."""
    mo, d = model_at(model), data_at(data)
    body_accelerations(mo, d, d.vdot)
    for n in range(result.shape[0]):
        b = mo.link_body[n]
        alpha = row3(d.A, b, 0)
        set_row3(result, n, 0, alpha)
        set_row3(result, n, 3, acceleration_at(d, b, link_origin(mo, d, n), alpha, row3(d.A, b, 3)))


@entry
def query_bias(model: Handle, data: Handle, f: Int, p: Vector, m: Int, e: Int):
    """Acceleration of the point p where no velocity changes -> answer."""
    mo, d = model_at(model), data_at(data)
    alpha, a = relative_bias(mo, d, f, (p[0], p[1], p[2]), m)
    along(mo, d, e, alpha, a, d.answer)


@entry
def query_translational_bias(model: Handle, data: Handle, f: Int, m: Int, e: Int, points: Matrix):
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


@entry
def query_force_at(model: Handle, data: Handle, e: Int, p: Vector, F: Vector, n: Int, forces: Matrix):
    """After position_stage: adds F (6,) at the point p (3,) from the origin of link n, both along e, to row n."""
    axes = frame_axes(model_at(model), data_at(data), e)
    f = (F[3], F[4], F[5])
    torque = from_components(axes, add((F[0], F[1], F[2]), cross((p[0], p[1], p[2]), f)))
    f = from_components(axes, f)
    for k in range(3):
        forces[n, k] += torque[k]
        forces[n, 3 + k] += f[k]


@entry
def add_spatial_force(model: Handle, data: Handle, F: Vector, n: Int, forces: Matrix):
    """Adds F (6,) to row n."""
    for k in range(6):
        forces[n, k] += F[k]


@entry
def add_damping(model: Handle, data: Handle, damping: Vector, d: Int, tau: Vector):
    """Adds -damping * v to tau (nv,), for damping (n,) of the velocities from d on."""
    v = data_at(data).v
    for k in range(damping.shape[0]):
        tau[d + k] -= damping[k] * v[d + k]


# sets of links


@entry
def query_mass(model: Handle, selected: Vector):
    """The mass of the links; returned."""
    return mass_of_links(model_at(model), selected)


@entry
def query_com_position(model: Handle, data: Handle, selected: Vector, mass: Real):
    """After position_stage: p, for links of the given mass -> answer."""
    d = data_at(data)
    com_position(model_at(model), d, selected, mass, d.answer)


@entry
def query_com_jacobian(model: Handle, data: Handle, selected: Vector, mass: Real, m: Int, e: Int):
    """After position_stage: J (3, nv) -> jacobian."""
    d = data_at(data)
    com_jacobian(model_at(model), d, selected, mass, m, e, d.jacobian)


@entry
def query_com_velocity(model: Handle, data: Handle, selected: Vector, mass: Real):
    """After velocity_stage: v in World -> answer."""
    d = data_at(data)
    com_velocity(model_at(model), d, selected, mass, d.answer)


@entry
def query_com_acceleration(model: Handle, data: Handle, vdot: Vector, selected: Vector, mass: Real, m: Int, e: Int):
    """After velocity_stage: a for vdot (nv,) -> answer; changes vdot and A of Data."""
    mo, d = model_at(model), data_at(data)
    body_accelerations(mo, d, vdot)
    com_acceleration(mo, d, d.A, selected, mass, m, e, d.answer)


@entry
def query_com_bias(model: Handle, data: Handle, selected: Vector, mass: Real, m: Int, e: Int):
    """After velocity_stage: a where no velocity changes -> answer."""
    mo, d = model_at(model), data_at(data)
    accelerations_by_velocities(mo, d)
    com_acceleration(mo, d, d.A, selected, mass, m, e, d.answer)


@entry
def query_momentum(model: Handle, data: Handle, selected: Vector, p: Vector):
    """After velocity_stage: L about the point p (3,) of World -> answer."""
    d = data_at(data)
    momentum_about(model_at(model), d, selected, p, d.answer)


@entry
def query_inertia(model: Handle, data: Handle, selected: Vector, mass: Real, f: Int):
    """After position_stage: centre of mass, unit inertia (3, 3) about the origin of f, along its axes -> answer."""
    d = data_at(data)
    inertia_about(model_at(model), d, selected, mass, f, d.answer)


@entry
def query_reactions(model: Handle, data: Handle, tree: Table, F_link: Matrix, F: Matrix):
    """After velocity_stage: vdot, F_link (all that is applied to links) -> F (joints, 6); see reaction_forces.py.

    F_link changes.
    """
    mo, d = model_at(model), data_at(data)
    for k in range(6):
        d.A[0, k] = 0.0
    acceleration_kinematics(mo, d)
    forces_through_joints(mo, d, tree, F_link)
    reactions_on_children(mo, d, tree, F_link, F)

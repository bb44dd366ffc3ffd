"""Forces that elements apply between links (spring-dampers, bushings, joints that close loops, springs along paths) and
on joints (door hinges); their energy.

Each law is written once, and its users add it up: forces on bodies, forces on links, energy, power.
"""

from mbcli.engine.fields.model_fields import CUT_DAMPED, CUT_SLIDES, CUT_TURNS
from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.frame_motion import (
    frame_axes,
    frame_origin,
    from_components,
    from_reference_of,
    velocity_at,
)
from mbcli.engine.smooth.inertia import gravity_vector
from mbcli.engine.smooth.inverse_dynamics import add_force
from mbcli.engine.smooth.mass_matrix import carried_inertia
from mbcli.engine.smooth.middle import damping_share, is_in_middle
from mbcli.engine.smooth.path_springs import add_path_springs, path_spring_powers
from mbcli.engine.smooth.rotations.angles import COSINE_AT_GIMBAL_LOCK
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import arctangent, hyperbolic_tangent, sign_of, sine_cosine, square_root

SHORTEST = 2.220446049250313e-16  # [1] of the free length: below it a spring-damper has no direction
NO_RATE = 1e-6  # [1] of a hinge's motion threshold: below it friction is in proportion to the rate
CLOSED = 0.41997434161402614  # 1 - tanh(1)^2: the bump of a catch's energy at the closed door


# ------------------------------------------------------------------------------------ spring-dampers


@kernel
def spring_damper(model, data, n):
    """(f, p, q, length, rate): force on A at P, expressed in W, P and Q from Ro of their trees. After velocities."""
    p, q, r = spring_damper_points(model, data, n)
    shortest = SHORTEST * model.spring_damper_constants[n, 0]
    length = square_root(dot(r, r) + shortest * shortest)
    direction = scale(1.0 / length, r)
    _, v_P = velocity_at(data, model.link_body[model.spring_damper_link[n, 0]], p)
    _, v_Q = velocity_at(data, model.link_body[model.spring_damper_link[n, 1]], q)
    rate = dot(direction, subtract(v_Q, v_P))
    stretch = length - model.spring_damper_constants[n, 0]
    tension = model.spring_damper_constants[n, 1] * stretch + model.spring_damper_constants[n, 2] * rate
    return scale(tension, direction), p, q, length, rate


@kernel
def spring_damper_points(model, data, n):
    """P and Q from Ro of their trees, and Q from P."""
    a, b = model.link_body[model.spring_damper_link[n, 0]], model.link_body[model.spring_damper_link[n, 1]]
    p = add(row3(data.p_RoBo, a, 0), rotate(data.X_WB, a, row3(model.spring_damper_point, n, 0)))
    q = add(row3(data.p_RoBo, b, 0), rotate(data.X_WB, b, row3(model.spring_damper_point, n, 3)))
    return p, q, subtract(from_reference_of(model, data, q, b, a), p)


# --------------------------------------------------------------------------- joints that close loops


@kernel
def cut_joint(model, data, n):
    """(stretch, rate, axis, p, q): of the coordinate from its rest, its axis in W, Mo from Ro of F's and of M's tree.

    The stretch of an angle is taken within half a turn of its rest. After velocity_kinematics.
    """
    F, M = model.cut_frame[n, 0], model.cut_frame[n, 1]
    a, c = model.frame_body[F], model.frame_body[M]
    axes = frame_axes(model, data, F)
    axis = from_components(axes, row3(model.cut_axis, n, 0))
    q = frame_origin(model, data, M)
    p = from_reference_of(model, data, q, c, a)
    w_F, v_F = velocity_at(data, a, p)
    w_M, v_M = velocity_at(data, c, q)
    rest = model.cut_constants[n, 2]
    if model.cut_turns[n] == CUT_DAMPED:
        rate = dot(axis, subtract(w_M, w_F))
        return 0.0 * rate, rate, axis, p, q
    if model.cut_turns[n] == CUT_TURNS:
        normal_F = from_components(axes, row3(model.cut_axis, n, 3))
        normal_M = from_components(frame_axes(model, data, M), row3(model.cut_axis, n, 3))
        sine, cosine = dot(axis, cross(normal_F, normal_M)), dot(normal_F, normal_M)
        s, c_rest = sine_cosine(rest)
        stretch = arctangent(sine * c_rest - cosine * s, cosine * c_rest + sine * s)
        return stretch, dot(axis, subtract(w_M, w_F)), axis, p, q
    stretch = dot(axis, subtract(p, frame_origin(model, data, F))) - rest
    return stretch, dot(axis, subtract(v_M, v_F)), axis, p, q


@kernel
def add_cut_joint_forces(model, data, F, at_links):
    """Adds the forces of damping and springs of joints that close loops to F, as add_forces_between()."""
    for n in range(model.cut_link.shape[0]):
        stretch, rate, axis, p, q = cut_joint(model, data, n)
        push = -model.cut_constants[n, 0] * rate - model.cut_constants[n, 1] * stretch
        turning, sliding = (0.0 * push, push) if model.cut_turns[n] == CUT_SLIDES else (push, 0.0 * push)
        t, f = scale(turning, axis), scale(sliding, axis)
        add_force(model, data, F, at_links, model.cut_link[n, 0], p, scale(-1.0, t), scale(-1.0, f))
        add_force(model, data, F, at_links, model.cut_link[n, 1], q, t, f)


# ------------------------------------------------------------------------------------------ bushings


@kernel
def bushing(model, data, n):
    """(t, f, p, q): torque and force on C at the bushing's centre, in W, and that centre from Ro of A's and C's trees.

    The gimbal torques tau = -k rpy - d rpy' are scalars; t has their power: t . w_AC = tau . rpy'. The force is linear
    in r = p_AoCo and its rate, both seen in B, the frame halfway between A and C. B is taken to turn with half of w_AC:
    that rate is the one whose product with f is the power of f, so that damping always dissipates. (B's own angular
    velocity differs from it unless the axis of rotation stands still.) After velocity_kinematics.
    """
    angles, turns, shifts, r, p, q = bushing_axes(model, data, n)
    constants = model.bushing_constants
    half_r = scale(0.5, r)
    w_A, v_A = velocity_at(data, model.frame_body[model.bushing_frame[n, 0]], subtract(p, half_r))
    w_C, v_C = velocity_at(data, model.frame_body[model.bushing_frame[n, 1]], add(q, half_r))
    w_AC = subtract(w_C, w_A)
    # the rate of r in a frame that turns with the mean of both angular velocities
    rate = subtract(subtract(v_C, v_A), cross(scale(0.5, add(w_A, w_C)), r))
    t = f = scale(0.0, r)
    for k in range(3):
        t = add(t, scale(-constants[n, k] * angles[k] - constants[n, 3 + k] * dot(turns[k], w_AC), turns[k]))
        push = -constants[n, 6 + k] * dot(shifts[k], r) - constants[n, 9 + k] * dot(shifts[k], rate)
        f = add(f, scale(push, shifts[k]))
    return t, f, p, q


@kernel
def bushing_axes(model, data, n):
    """(rpy, turns, shifts, r, p, q) of a bushing, in W, after position_kinematics.

    turns: three axes whose products with w_AC are the rates of roll, pitch and yaw; shifts: the axes of B; r: from Ao
    to Co; p, q: the centre, from Ro of A's and C's trees.
    """
    A, C = model.bushing_frame[n, 0], model.bushing_frame[n, 1]
    a, c = model.frame_body[A], model.frame_body[C]
    Ax, Ay, Az = frame_axes(model, data, A)
    Cx, Cy, Cz = frame_axes(model, data, C)
    p, q = frame_origin(model, data, A), frame_origin(model, data, C)
    r = subtract(from_reference_of(model, data, q, c, a), p)

    # elements of R_AC: the last row and the first column
    R20, R21, R22, R10, R00 = dot(Az, Cx), dot(Az, Cy), dot(Az, Cz), dot(Ay, Cx), dot(Ax, Cx)
    cos_p = square_root(R21 * R21 + R22 * R22)
    sin_p, sin_y, cos_y = -R20, R10 / cos_p, R00 / cos_p
    angles = arctangent(R21, R22), arctangent(sin_p, cos_p), arctangent(R10, R00)
    roll_axis = scale(1.0 / cos_p, add(scale(cos_y, Ax), scale(sin_y, Ay)))
    pitch_axis = subtract(scale(cos_y, Ay), scale(sin_y, Ax))
    turns = roll_axis, pitch_axis, add(Az, scale(sin_p, roll_axis))

    half = half_rotation(angles[0], angles[1], angles[2])
    one, zero = 1.0 + 0.0 * cos_p, 0.0 * cos_p
    x, y, z = turn(half, 1.0, (one, zero, zero)), turn(half, 1.0, (zero, one, zero)), turn(half, 1.0, (zero, zero, one))
    axes = (Ax, Ay, Az)
    shifts = from_components(axes, x), from_components(axes, y), from_components(axes, z)
    return angles, turns, shifts, r, add(p, scale(0.5, r)), subtract(q, scale(0.5, r))


@kernel
def half_rotation(roll, pitch, yaw):
    """Quaternion (w, x, y, z) of half the rotation of roll, pitch and yaw, about its axis and at most a quarter turn.

    The whole quaternion comes from half angles and not from the matrix, which loses the axis near half a turn.
    """
    sr, cr = sine_cosine(0.5 * roll)
    sp, cp = sine_cosine(0.5 * pitch)
    sy, cy = sine_cosine(0.5 * yaw)
    w = cr * cp * cy + sr * sp * sy
    s = sign_of(w)
    w = 1.0 + s * w
    x, y, z = s * (sr * cp * cy - cr * sp * sy), s * (cr * sp * cy + sr * cp * sy), s * (cr * cp * sy - sr * sp * cy)
    inverse = 1.0 / square_root(w * w + x * x + y * y + z * z)
    return inverse * w, inverse * x, inverse * y, inverse * z


@kernel
def turn(q, sense, a):
    """The vector a turned by the unit quaternion q, or back if `sense` is -1."""
    u = (q[1], q[2], q[3])
    b = scale(2.0 * sense, cross(u, a))
    return add(a, add(scale(q[0], b), scale(sense, cross(u, b))))


# --------------------------------------------------------------------------------------- door hinges


@kernel
def hinge_spring_torque(constants, n, angle):
    """Torque of the spring and of the catch at an angle from the closed door."""
    s = hyperbolic_tangent((angle - constants[n, 3]) / constants[n, 3])
    return constants[n, 2] * 2.0 * s * (1.0 - s * s) - constants[n, 1] * (angle - constants[n, 0])


@kernel
def hinge_friction_torque(constants, n, rate):
    """Torque of dynamic, static and viscous friction at an angular rate."""
    s = hyperbolic_tangent(rate / constants[n, 7])
    return -constants[n, 4] * s - constants[n, 5] * 2.0 * s * (1.0 - s * s) - constants[n, 6] * rate


@kernel
def hinge_stiffness(constants, n, angle):
    """Derivative of hinge_spring_torque() by the angle."""
    s = hyperbolic_tangent((angle - constants[n, 3]) / constants[n, 3])
    ss = s * s
    return constants[n, 2] * 2.0 * (1.0 - 3.0 * ss) * (1.0 - ss) / constants[n, 3] - constants[n, 1]


@kernel
def hinge_damping(constants, n, rate):
    """Derivative of hinge_friction_torque() by the rate."""
    s = hyperbolic_tangent(rate / constants[n, 7])
    ss = s * s
    slope = constants[n, 4] + constants[n, 5] * 2.0 * (1.0 - 3.0 * ss)
    return -slope * (1.0 - ss) / constants[n, 7] - constants[n, 6]


@slot(plain="smooth.plain.add_implicit_hinges")
def add_implicit_hinges(model, data, h):
    """`diagonal` += what makes hinges stable in a step h at any stiffness and friction; after velocities.

    Friction is torque(v) over v times a velocity of the step, up to that of its end: it ends a motion and never turns
    it round, whatever the threshold. Springs have the share of the implicit midpoint, the catch by its largest
    stiffness. After composite_inertias.
    """
    for n in range(model.hinge_dof.shape[0]):
        data.diagonal[model.hinge_dof[n]] += hinge_inertia(model, data, n, data.v[model.hinge_dof[n]], h)


@kernel
def hinge_inertia(model, data, n, rate, h):
    """After composite_inertias: what a hinge adds to an inertia in a step h that starts with a rate."""
    constants, d = model.hinge_constants, model.hinge_dof[n]
    stiffness, damping = constants[n, 1] + 2.0 * constants[n, 2] / constants[n, 3], h * hinge_drag(constants, n, rate)
    if is_in_middle(model, data, model.dof_body[d]):
        damping = damping * damping_share(carried_inertia(model, data, d), damping)
    return damping + 0.25 * h * h * stiffness


@kernel
def hinge_drag(constants, n, rate):
    """Minus the torque of friction over the rate: positive, and the viscous constant and more at rest."""
    y = square_root(rate * rate / (constants[n, 7] * constants[n, 7]) + NO_RATE * NO_RATE)
    s = hyperbolic_tangent(y)
    steep = constants[n, 4] + constants[n, 5] * 2.0 * (1.0 - s * s)
    return steep * s / (y * constants[n, 7]) + constants[n, 6]


@kernel
def hinge_energy(constants, n, angle):
    """Energy of the spring and of the catch, zero at the closed door."""
    s = hyperbolic_tangent((angle - constants[n, 3]) / constants[n, 3])
    spring = 0.5 * constants[n, 1] * angle * (angle - 2.0 * constants[n, 0])
    return spring + constants[n, 2] * constants[n, 3] * (1.0 - s * s - CLOSED)


# ---------------------------------------------------------------------------------------------- their sums


@slot(plain="smooth.plain.add_element_forces")
def add_element_forces(model, data, F, at_links):
    """tau += torques of hinges; F += forces between links, as add_forces_between(). After velocity_kinematics."""
    add_forces_between(model, data, F, at_links)
    add_hinge_torques(model, data, 1.0)


@kernel
def add_forces_between(model, data, F, at_links):
    """Adds the forces of spring-dampers, bushings, cut joints and springs along paths to F.

    F is (nlink, 6) at the origins of links if at_links is 1; if it is 0, (nbody, 6) of bodies about Ro.
    """
    for n in range(model.spring_damper_link.shape[0]):
        f, p, q, _, _ = spring_damper(model, data, n)
        none = scale(0.0, f)
        add_force(model, data, F, at_links, model.spring_damper_link[n, 0], p, none, f)
        add_force(model, data, F, at_links, model.spring_damper_link[n, 1], q, none, scale(-1.0, f))
    for n in range(model.bushing_link.shape[0]):
        t, f, p, q = bushing(model, data, n)
        add_force(model, data, F, at_links, model.bushing_link[n, 0], p, scale(-1.0, t), scale(-1.0, f))
        add_force(model, data, F, at_links, model.bushing_link[n, 1], q, t, f)
    add_cut_joint_forces(model, data, F, at_links)
    add_path_springs(model, data, F, at_links)


@kernel
def add_hinge_torques(model, data, sign):
    """tau += sign * torques of hinges."""
    for n in range(model.hinge_dof.shape[0]):
        d = model.hinge_dof[n]
        spring = hinge_spring_torque(model.hinge_constants, n, data.q[model.dof_q[d]])
        data.tau[d] += sign * (spring + hinge_friction_torque(model.hinge_constants, n, data.v[d]))


@slot(plain="smooth.plain.add_hinge_derivatives")
def add_hinge_derivatives(model, data, dtau_dq, dtau_dv):
    """Subtracts the derivatives of torques of hinges from the diagonals: tau acts against them."""
    for n in range(model.hinge_dof.shape[0]):
        d = model.hinge_dof[n]
        dtau_dq[d, d] -= hinge_stiffness(model.hinge_constants, n, data.q[model.dof_q[d]])
        dtau_dv[d, d] -= hinge_damping(model.hinge_constants, n, data.v[d])


@kernel
def add_link_weights(model, data, F_link):
    """F_link += weight of each link under gravity, which acts at its centre of mass. After position_kinematics."""
    g = gravity_vector(model)
    for n in range(model.link_body.shape[0]):
        arm = rotate(data.X_WB, model.link_body[n], rotate(model.link_X_BL, n, row3(model.link_inertia, n, 1)))
        weight = scale(model.link_weight[n], g)
        set_row3(F_link, n, 0, add(row3(F_link, n, 0), cross(arm, weight)))
        set_row3(F_link, n, 3, add(row3(F_link, n, 3), weight))


# ------------------------------------------------------------------------------------ energy and power


@slot(plain="smooth.plain.element_energy")
def element_energy(model, data):
    """Energy stored in spring-dampers, hinges, cut joints and springs along paths [J]. After velocity_kinematics."""
    energy = data.V[0, 0]  # of World: zero, in the scalar type of the data
    for n in range(model.spring_damper_link.shape[0]):
        _, _, _, length, _ = spring_damper(model, data, n)
        stretch = length - model.spring_damper_constants[n, 0]
        energy = energy + 0.5 * model.spring_damper_constants[n, 1] * stretch * stretch
    for n in range(model.hinge_dof.shape[0]):
        energy = energy + hinge_energy(model.hinge_constants, n, data.q[model.dof_q[model.hinge_dof[n]]])
    for n in range(model.cut_link.shape[0]):
        stretch, _, _, _, _ = cut_joint(model, data, n)
        energy = energy + 0.5 * model.cut_constants[n, 1] * stretch * stretch
    return energy + path_spring_powers(model, data)[0]


@kernel
def element_conservative_power(model, data):
    """Power [W] of what stores that energy. After velocity_kinematics."""
    power = data.V[0, 0]
    for n in range(model.spring_damper_link.shape[0]):
        _, _, _, length, rate = spring_damper(model, data, n)
        stretch = length - model.spring_damper_constants[n, 0]
        power = power - model.spring_damper_constants[n, 1] * stretch * rate
    for n in range(model.hinge_dof.shape[0]):
        d = model.hinge_dof[n]
        power = power + hinge_spring_torque(model.hinge_constants, n, data.q[model.dof_q[d]]) * data.v[d]
    for n in range(model.cut_link.shape[0]):
        stretch, rate, _, _, _ = cut_joint(model, data, n)
        power = power - model.cut_constants[n, 1] * stretch * rate
    return power + path_spring_powers(model, data)[1]


@kernel
def nonconservative_power(model, data):
    """Power [W] of dampers and friction in these elements; joint damping is not among them."""
    power = data.V[0, 0]
    for n in range(model.spring_damper_link.shape[0]):
        _, _, _, _, rate = spring_damper(model, data, n)
        power = power - model.spring_damper_constants[n, 2] * rate * rate
    for n in range(model.hinge_dof.shape[0]):
        d = model.hinge_dof[n]
        power = power + hinge_friction_torque(model.hinge_constants, n, data.v[d]) * data.v[d]
    for n in range(model.cut_link.shape[0]):
        _, rate, _, _, _ = cut_joint(model, data, n)
        power = power - model.cut_constants[n, 0] * rate * rate
    return power + path_spring_powers(model, data)[2]


# --------------------------------------------------------------------------------- where the laws end


@slot(numbers=INJECTED)
def element_fault(model, data):
    """0; n + 1 if spring-damper n has no length; -(n + 1) where bushing n is in gimbal lock. After positions."""
    for n in range(model.spring_damper_link.shape[0]):
        _, _, r = spring_damper_points(model, data, n)
        shortest = SHORTEST * model.spring_damper_constants[n, 0]
        if dot(r, r) < shortest * shortest:
            return n + 1
    for n in range(model.bushing_link.shape[0]):
        _, _, Az = frame_axes(model, data, model.bushing_frame[n, 0])
        _, Cy, Cz = frame_axes(model, data, model.bushing_frame[n, 1])
        if dot(Az, Cy) * dot(Az, Cy) + dot(Az, Cz) * dot(Az, Cz) < COSINE_AT_GIMBAL_LOCK * COSINE_AT_GIMBAL_LOCK:
            return -(n + 1)
    return 0

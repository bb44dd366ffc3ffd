"""Multibody dynamics written down from the definitions, slow and dense, as an oracle for the engine.

It takes from a plant what was put in (frames, joints, inertias, springs, actuators) and where the coordinates of each
joint start; nothing that Finalize() computed. The pose of each joint is written as a function of time for given q, v
and vdot, as value, rate and second rate (a "jet"), and products of 4x4 jets carry these exactly to every body. All
follows: velocities and accelerations from rates of poses, Jacobians from unit velocities, forces by Newton and Euler
and virtual power, gravity by differentiating the potential energy. Values of q may be complex, except in rates.
"""

import numpy as np
from scipy.linalg import expm

from mbcli.multibody.tree import PrismaticSpring, RevoluteSpring

COMPLEX_STEP = 1e-30


def skew(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def unskew(W):
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def turn(axis, angle):
    """Rotation about a unit axis (Rodrigues)."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def pose(R, p):
    return bordered(R, p, 1.0)


def bordered(R, p, corner=0.0):
    """The 4x4 array [R p; 0 corner]."""
    result = np.zeros((4, 4), np.result_type(R, p))
    result[:3, :3], result[:3, 3], result[3, 3] = R, p, corner
    return result


X, Y, Z = np.eye(3)


class Jet:
    """A pose X(t) at t = 0: its value and first and second derivative, each 4x4."""

    def __init__(self, value, rate=None, second=None):
        self.value = value
        self.rate = np.zeros((4, 4)) if rate is None else rate
        self.second = np.zeros((4, 4)) if second is None else second

    def __matmul__(self, other):
        return Jet(
            self.value @ other.value,
            self.rate @ other.value + self.value @ other.rate,
            self.second @ other.value + 2.0 * self.rate @ other.rate + self.value @ other.second,
        )

    def inverse(self):
        """From X Y = 1 differentiated twice."""
        inverse = np.linalg.inv(self.value)
        rate = -inverse @ self.rate @ inverse
        second = -inverse @ (self.second @ inverse + 2.0 * self.rate @ rate)
        return Jet(inverse, rate, second)


def spin(R, p, w, wdot, v, vdot):
    """Jet of a frame at R, p that turns with w, wdot and whose origin moves with v, vdot, all in the fixed frame."""
    W = skew(w)
    return Jet(
        pose(R, p),
        bordered(W @ R, v),
        bordered((skew(wdot) + W @ W) @ R, vdot),
    )


def turning(axis, angle, rate, second):
    """Jet of a rotation about a fixed axis."""
    return spin(turn(axis, angle), np.zeros(3), rate * axis, second * axis, np.zeros(3), np.zeros(3))


def sliding(direction, distance, rate, second):
    """Jet of a translation along a fixed direction."""
    o = np.zeros(3)
    return spin(np.eye(3), distance * direction, o, o, rate * direction, second * direction)


def X_FM(joint, q, v, a):
    """Jet of M in F for the coordinates of one joint, as the joint type is defined."""
    kind = joint.type_name()
    o = np.zeros(3)
    if kind == "weld":
        return Jet(joint.X_FM().GetAsMatrix4())
    if kind == "revolute":
        return turning(joint.axis(), q[0], v[0], a[0])
    if kind == "prismatic":
        return sliding(joint.axis(), q[0], v[0], a[0])
    if kind == "screw":
        k = joint.screw_pitch() / (2.0 * np.pi)
        return sliding(joint.axis(), k * q[0], k * v[0], k * a[0]) @ turning(joint.axis(), q[0], v[0], a[0])
    if kind == "universal":
        return turning(X, q[0], v[0], a[0]) @ turning(Y, q[1], v[1], a[1])
    if kind == "planar":
        return sliding(X, q[0], v[0], a[0]) @ sliding(Y, q[1], v[1], a[1]) @ turning(Z, q[2], v[2], a[2])
    if kind == "curvilinear":
        return travelling(joint.get_trajectory(), q[0], v[0], a[0])
    if kind == "ball_rpy":
        return spin(rpy(q[:3]), o, v, a, o, o)
    if kind == "ball_quaternion":
        return spin(quaternion_rotation(q[:4]), o, v, a, o, o)
    if kind == "rpy_floating":
        return spin(rpy(q[:3]), q[3:], v[:3], a[:3], v[3:], a[3:])
    assert kind == "quaternion_floating", kind
    return spin(quaternion_rotation(q[:4]), q[4:], v[:3], a[:3], v[3:], a[3:])


def travelling(curve, s, rate, second):
    """Jet of M on a curve: from break to break M moves by the exponential of its constant twist in M."""

    def twist(k):
        return bordered(skew([0.0, 0.0, curve.curvature(breaks[k])]), X)

    breaks = curve.get_segment_times()
    if curve.is_periodic():
        s = s - curve.length() * np.floor(np.real(s) / curve.length())
    last = max([k for k in range(len(breaks) - 1) if breaks[k] <= np.real(s)], default=0)
    value = curve.CalcPose(0.0).GetAsMatrix4()
    for k in range(last):
        value = value @ expm(twist(k) * (breaks[k + 1] - breaks[k]))
    T = twist(last)
    value = value @ expm(T * (s - breaks[last]))
    return Jet(value, value @ T * rate, value @ (T @ T * rate**2 + T * second))


def rpy(angles):
    return turn(Z, angles[2]) @ turn(Y, angles[1]) @ turn(X, angles[0])


def quaternion_rotation(wxyz):
    """Of the normalised quaternion: (w^2 - u.u) 1 + 2 u u^T + 2 w [u], over its square."""
    w, u = wxyz[0], wxyz[1:]
    R = (w * w - u @ u) * np.eye(3) + 2.0 * np.outer(u, u) + 2.0 * w * skew(u)
    return R / (w * w + u @ u)


class Oracle:
    """The dynamics of one finalized plant."""

    def __init__(self, plant):
        self.plant = plant
        self.nq, self.nv = plant.num_positions(), plant.num_velocities()
        self.joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
        self.bodies = [plant.get_body(i) for i in range(plant.num_bodies())]
        self.inertias = [b.default_spatial_inertia().CopyToFullMatrix6() for b in self.bodies]
        self.order = self._order()
        self.across = {joint: _ends(joint) for joint in self.joints}
        self._jacobians = {}
        self.armature = np.zeros(self.nv)
        for i in plant.GetJointActuatorIndices():
            actuator = plant.get_joint_actuator(i)
            rotor = actuator.default_rotor_inertia() * actuator.default_gear_ratio() ** 2
            self.armature[actuator.joint().velocity_start()] += rotor
        self.damping = np.zeros(self.nv)
        for joint in self.joints:
            self.damping[self._slice(joint)] = joint.default_damping_vector() if joint.num_velocities() else []
        elements = [plant.get_force_element(i) for i in range(plant.num_force_elements())]
        self.springs = [e for e in elements if isinstance(e, (RevoluteSpring, PrismaticSpring))]
        self.gravity = plant.gravity_field().gravity_vector()
        self.heavy = [plant.is_gravity_enabled(b.model_instance()) for b in self.bodies]

    def _slice(self, joint):
        return slice(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())

    def _order(self):
        """(joint, whether it is crossed from child to parent, body reached), outwards from World."""
        reached, order, left = {0}, [], list(self.joints)
        while left:
            for joint in list(left):
                parent, child = int(joint.parent_body().index()), int(joint.child_body().index())
                if (parent in reached) != (child in reached):
                    order.append((joint, child in reached, parent if child in reached else child))
                    reached.add(order[-1][2])
                    left.remove(joint)
        assert reached == set(range(len(self.bodies)))
        return order

    # kinematics

    def motion(self, q, v, vdot):
        """Jets of all bodies by index: X_WB = X_WP X_PF X_FM X_BM^-1, and its inverse form across reversed joints."""
        jets = [Jet(np.eye(4)) for _ in self.bodies]
        for joint, backwards, body in self.order:
            i, d = joint.position_start(), joint.velocity_start()
            nq, nv = joint.num_positions(), joint.num_velocities()
            X_PF, X_MC = self.across[joint]
            X_PC = X_PF @ X_FM(joint, q[i : i + nq], v[d : d + nv], vdot[d : d + nv]) @ X_MC
            if backwards:
                jets[body] = jets[int(joint.child_body().index())] @ X_PC.inverse()
            else:
                jets[body] = jets[int(joint.parent_body().index())] @ X_PC
        return jets

    def poses(self, q):
        """X_WB (n, 4, 4)"""
        rest = np.zeros(self.nv)
        return np.array([jet.value for jet in self.motion(q, rest, rest)])

    def velocities(self, q, v):
        """V_WB (n, 6) at Bo in W"""
        return np.array([_velocity(jet) for jet in self.motion(q, v, np.zeros(self.nv))])

    def accelerations(self, q, v, vdot):
        """A_WB (n, 6): angular acceleration and the acceleration of the point Bo, in W"""
        return np.array([_acceleration(jet) for jet in self.motion(q, v, vdot)])

    def jacobians(self, q):
        """J (n, 6, nv): V_WB = J v, column by column; found once for each q"""
        key = (q.dtype, q.tobytes())
        if key not in self._jacobians:
            self._jacobians[key] = np.stack([self.velocities(q, e) for e in np.eye(self.nv)], axis=-1)
        return self._jacobians[key]

    def rates_map(self, q):
        """N (nq, nv): the smallest qdot under which each pose across a joint changes as v says it does."""
        N = np.zeros((self.nq, self.nv))
        for joint in self.joints:
            i, d, nq, nv = joint.position_start(), joint.velocity_start(), joint.num_positions(), joint.num_velocities()
            if not nv:
                continue
            rest = np.zeros(nv)
            by_q = []
            for k in range(nq):
                moved = q[i : i + nq].astype(complex)
                moved[k] += 1j * COMPLEX_STEP
                by_q.append(X_FM(joint, moved, rest, rest).value.imag.ravel() / COMPLEX_STEP)
            by_v = [X_FM(joint, q[i : i + nq], e, rest).rate.ravel() for e in np.eye(nv)]
            N[i : i + nq, d : d + nv] = np.linalg.lstsq(np.array(by_q).T, np.array(by_v).T, rcond=1e-9)[0]
        return N

    # dynamics

    def spatial_inertia(self, jet, n):
        """M_BBo_W (6, 6)"""
        R = np.kron(np.eye(2), jet.value[:3, :3])
        return R @ self.inertias[n] @ R.T

    def mass_matrix(self, q):
        """Sum over bodies of J^T M_B J, and rotors."""
        rest = np.zeros(self.nv)
        J = self.jacobians(q)
        M = np.diag(self.armature).astype(J.dtype)
        for n, jet in enumerate(self.motion(q, rest, rest)):
            M = M + J[n].T @ self.spatial_inertia(jet, n) @ J[n]
        return M

    def inertial_forces(self, q, v, vdot):
        """M vdot + C v: what the motion takes, projected on the velocities (Newton, Euler, virtual power)."""
        J = self.jacobians(q)
        tau = self.armature * vdot
        for n, jet in enumerate(self.motion(q, v, vdot)):
            M = self.spatial_inertia(jet, n)
            (w, _), A = np.split(_velocity(jet), 2), _acceleration(jet)
            moment = unskew(M[:3, 3:])  # mass times the arm of the centre of mass
            gyroscopic = np.concatenate([np.cross(w, M[:3, :3] @ w), np.cross(w, np.cross(w, moment))])
            tau = tau + J[n].T @ (M @ A + gyroscopic)
        return tau

    def bias(self, q, v):
        return self.inertial_forces(q, v, np.zeros(self.nv))

    def kinetic_energy(self, q, v):
        rest = np.zeros(self.nv)
        energy = 0.5 * (self.armature * v) @ v
        for n, jet in enumerate(self.motion(q, v, rest)):
            V = _velocity(jet)
            energy = energy + 0.5 * V @ self.spatial_inertia(jet, n) @ V
        return energy

    def potential_energy(self, q, *, of_springs=True):
        energy = 0.0
        for n, X_WB in enumerate(self.poses(q)):
            if n and self.heavy[n]:
                inertia = self.bodies[n].default_spatial_inertia()
                p_WoBcm = X_WB[:3, 3] + X_WB[:3, :3] @ inertia.get_com()
                energy = energy - inertia.get_mass() * (self.gravity @ p_WoBcm)
        for spring in self.springs if of_springs else ():
            nominal = getattr(spring, "default_nominal_angle", None) or spring.default_nominal_position
            stretch = q[spring.joint().position_start()] - nominal()
            energy = energy + 0.5 * spring.default_stiffness() * stretch**2
        return energy

    def conservative_forces(self, q, *, of_springs=True):
        """-dV/dq N: tau_g, and springs."""
        gradient = np.zeros(self.nq)
        for i in range(self.nq):
            moved = q.astype(complex)
            moved[i] += 1j * COMPLEX_STEP
            gradient[i] = self.potential_energy(moved, of_springs=of_springs).imag / COMPLEX_STEP
        return -gradient @ self.rates_map(q)

    def forward_dynamics(self, q, v, tau, diagonal=0.0):
        """vdot under tau, gravity, springs and damping; `diagonal` adds to the diagonal of M."""
        forces = tau + self.conservative_forces(q) - self.damping * v - self.bias(q, v)
        return np.linalg.solve(self.mass_matrix(q) + np.diag(np.broadcast_to(diagonal, self.nv)), forces)


def _ends(joint):
    """Jets of X_PF and X_MC of a joint, which do not move."""
    frames = joint.frame_on_parent(), joint.frame_on_child()
    X_PF, X_CM = (Jet(frame.GetFixedPoseInBodyFrame().GetAsMatrix4()) for frame in frames)
    return X_PF, X_CM.inverse()


def _velocity(jet):
    R = jet.value[:3, :3]
    return np.concatenate([unskew(jet.rate[:3, :3] @ R.T), jet.rate[:3, 3]])


def _acceleration(jet):
    # the skew part of d2R/dt2 R^T is the angular acceleration, the symmetric part [w]^2
    R = jet.value[:3, :3]
    return np.concatenate([unskew(jet.second[:3, :3] @ R.T), jet.second[:3, 3]])

"""Joints: the base class and every type. A joint connects frame F on its parent with frame M on its child."""

import numpy as np

from mbcli.engine.joints import (
    ball_rpy,
    planar,
    prismatic,
    quaternion_floating,
    revolute,
    rpy_floating,
    screw,
    universal,
    weld,
)
from mbcli.math import Quaternion, RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.multibody.tree.element import NamedElement

SMALLEST_AXIS = float(np.sqrt(np.finfo(float).eps))  # below this length a direction is no direction


class Joint(NamedElement):
    """A joint of some type.

    Args:
        name: unique among the joints of its model instance.
        frame_on_parent: F.
        frame_on_child: M.
        damping: viscous coefficients, one per velocity, not negative.
        lower, upper: position limits, one per position.
    """

    kinematics = None  # module of mbcli.engine.joints: counts, suffixes, zero configuration
    _type_name = ""
    _ephemeral = False

    def __init__(self, name, frame_on_parent, frame_on_child, damping=(), lower=None, upper=None):
        self._name = name
        self._frame_on_parent = frame_on_parent
        self._frame_on_child = frame_on_child
        nq, nv = self.num_positions(), self.num_velocities()
        self._damping = np.zeros(nv)
        self.set_default_damping_vector(
            np.broadcast_to(np.asarray(damping, float), nv) if np.size(damping) else np.zeros(nv)
        )
        self._position_limits = (np.full(nq, -np.inf), np.full(nq, np.inf))
        self._velocity_limits = (np.full(nv, -np.inf), np.full(nv, np.inf))
        self._acceleration_limits = (np.full(nv, -np.inf), np.full(nv, np.inf))
        if lower is not None:
            self.set_position_limits(np.atleast_1d(lower), np.atleast_1d(upper))
        self._default_positions = np.array(self.kinematics.ZERO_POSITIONS)
        self._position_start = self._velocity_start = None

    # identity and structure

    def type_name(self):
        return self._type_name

    def is_ephemeral(self):
        return self._ephemeral

    def parent_body(self):
        return self._frame_on_parent.body()

    def child_body(self):
        return self._frame_on_child.body()

    def frame_on_parent(self):
        return self._frame_on_parent

    def frame_on_child(self):
        return self._frame_on_child

    def num_positions(self):
        return self.kinematics.NUM_POSITIONS

    def num_velocities(self):
        return self.kinematics.NUM_VELOCITIES

    def position_start(self):
        """Index in q of the first position. After Finalize()."""
        return self._after_finalize(self._position_start)

    def velocity_start(self):
        """Index in v of the first velocity. After Finalize()."""
        return self._after_finalize(self._velocity_start)

    def _after_finalize(self, value):
        if value is None:
            raise RuntimeError(f"joint '{self._name}': the plant must be finalized first")
        return value

    def position_suffix(self, position_index_in_joint):
        return self.kinematics.POSITION_SUFFIXES[position_index_in_joint]

    def velocity_suffix(self, velocity_index_in_joint):
        return self.kinematics.VELOCITY_SUFFIXES[velocity_index_in_joint]

    # limits, defaults, damping

    def position_lower_limits(self):
        return self._position_limits[0].copy()

    def position_upper_limits(self):
        return self._position_limits[1].copy()

    def velocity_lower_limits(self):
        return self._velocity_limits[0].copy()

    def velocity_upper_limits(self):
        return self._velocity_limits[1].copy()

    def acceleration_lower_limits(self):
        return self._acceleration_limits[0].copy()

    def acceleration_upper_limits(self):
        return self._acceleration_limits[1].copy()

    def set_position_limits(self, lower_limits, upper_limits):
        """[rad or m], (nq,) each; they do not change the default positions."""
        self._position_limits = self._limits("position", lower_limits, upper_limits, self.num_positions())

    def set_velocity_limits(self, lower_limits, upper_limits):
        """[rad/s or m/s], (nv,) each."""
        self._velocity_limits = self._limits("velocity", lower_limits, upper_limits, self.num_velocities())

    def set_acceleration_limits(self, lower_limits, upper_limits):
        """[rad/s^2 or m/s^2], (nv,) each."""
        self._acceleration_limits = self._limits("acceleration", lower_limits, upper_limits, self.num_velocities())

    def _limits(self, kind, lower, upper, size):
        lower, upper = (np.array(x, dtype=float, ndmin=1) for x in (lower, upper))
        if lower.shape != (size,) or upper.shape != (size,):
            raise RuntimeError(f"joint '{self._name}': {kind} limits must have {size} elements")
        if not (lower <= upper).all():
            raise RuntimeError(f"joint '{self._name}': lower {kind} limit {lower} is above the upper limit {upper}")
        return lower, upper

    def default_positions(self):
        return self._default_positions.copy()

    def set_default_positions(self, default_positions):
        """Positions of a new context, (nq,); limits do not bind them."""
        value = np.array(default_positions, dtype=float, ndmin=1)
        if value.shape != (self.num_positions(),):
            raise RuntimeError(f"joint '{self._name}' has {self.num_positions()} positions, not {value.size}")
        self._default_positions = value

    def default_damping_vector(self):
        """[N m s or N s/m], (nv,)"""
        return self._damping.copy()

    def set_default_damping_vector(self, damping):
        value = np.array(damping, dtype=float, ndmin=1)
        if value.shape != (self.num_velocities(),):
            raise RuntimeError(f"joint '{self._name}' has {self.num_velocities()} velocities, not {value.size}")
        if not (value >= 0.0).all():
            raise RuntimeError(f"joint '{self._name}': damping must not be negative, it is {value}")
        self._damping = value

    def GetDampingVector(self, context):
        return self._damping.copy()

    # state

    def _check_context(self, context):
        self.GetParentPlant()._check_context(context)

    def GetPositions(self, context):
        self._check_context(context)
        i = self.position_start()
        return context._q[i : i + self.num_positions()].copy()

    def GetVelocities(self, context):
        self._check_context(context)
        d = self.velocity_start()
        return context._v[d : d + self.num_velocities()].copy()

    def SetPositions(self, context, positions):
        self._check_context(context)
        i = self.position_start()
        context._set_q_slice(i, self._sized(positions, self.num_positions()))

    def SetVelocities(self, context, velocities):
        self._check_context(context)
        d = self.velocity_start()
        context._set_v_slice(d, self._sized(velocities, self.num_velocities()))

    def _sized(self, value, size):
        value = np.array(value, dtype=float, ndmin=1)
        if value.shape != (size,):
            raise RuntimeError(f"joint '{self._name}' takes {size} values here, not {value.size}")
        return value

    def GetOnePosition(self, context):
        self._require_one_dof()
        self._check_context(context)
        return float(context._q[self.position_start()])

    def GetOneVelocity(self, context):
        self._require_one_dof()
        self._check_context(context)
        return float(context._v[self.velocity_start()])

    def _require_one_dof(self):
        if self.num_velocities() != 1:
            raise RuntimeError(f"joint '{self._name}' has {self.num_velocities()} degrees of freedom, not one")

    # forces

    def AddInOneForce(self, context, joint_dof, joint_tau, forces):
        """Adds a generalized force along one velocity of the joint [N m or N]."""
        if not 0 <= joint_dof < self.num_velocities():
            raise RuntimeError(f"joint '{self._name}' has no degree of freedom {joint_dof}")
        forces.mutable_generalized_forces()[self.velocity_start() + joint_dof] += joint_tau

    def AddInDamping(self, context, forces):
        """Adds the viscous forces -damping * v."""
        self._check_context(context)
        d, n = self.velocity_start(), self.num_velocities()
        forces.mutable_generalized_forces()[d : d + n] -= self._damping * context._v[d : d + n]


def unit_axis(axis, joint_name):
    """The direction of an axis as a unit vector (3,); RuntimeError where it has none."""
    axis = np.array(axis, dtype=float)
    length = float(np.linalg.norm(axis)) if axis.shape == (3,) else 0.0
    if not length > SMALLEST_AXIS:
        raise RuntimeError(f"joint '{joint_name}': axis {axis} is not a direction")
    return axis / length


class _AxisJoint(Joint):
    """One velocity along or about one axis that is fixed in F and in M."""

    def __init__(self, name, frame_on_parent, frame_on_child, axis, lower, upper, damping):
        self._axis = unit_axis(axis, name)
        super().__init__(name, frame_on_parent, frame_on_child, damping, lower, upper)

    def axis(self):
        return self._axis.copy()

    def damping(self):
        return float(self._damping[0])

    default_damping = damping

    def set_default_damping(self, damping):
        self.set_default_damping_vector([damping])

    def position_lower_limit(self):
        return float(self._position_limits[0][0])

    def position_upper_limit(self):
        return float(self._position_limits[1][0])

    def velocity_lower_limit(self):
        return float(self._velocity_limits[0][0])

    def velocity_upper_limit(self):
        return float(self._velocity_limits[1][0])

    def acceleration_lower_limit(self):
        return float(self._acceleration_limits[0][0])

    def acceleration_upper_limit(self):
        return float(self._acceleration_limits[1][0])

    def _get(self, context):
        return self.GetOnePosition(context)

    def _set(self, context, value):
        self.SetPositions(context, [value])
        return self


class RevoluteJoint(_AxisJoint):
    """Rotation by an angle [rad] about an axis; damping in N m s."""

    kinematics = revolute
    _type_name = "revolute"

    def __init__(
        self,
        name,
        frame_on_parent,
        frame_on_child,
        axis,
        pos_lower_limit=-np.inf,
        pos_upper_limit=np.inf,
        damping=0.0,
    ):
        super().__init__(name, frame_on_parent, frame_on_child, axis, pos_lower_limit, pos_upper_limit, damping)

    def revolute_axis(self):
        return self._axis.copy()

    def get_angle(self, context):
        return self._get(context)

    def set_angle(self, context, angle):
        return self._set(context, angle)

    def get_angular_rate(self, context):
        return self.GetOneVelocity(context)

    def set_angular_rate(self, context, angle_dot):
        self.SetVelocities(context, [angle_dot])
        return self

    def get_default_angle(self):
        return float(self._default_positions[0])

    def set_default_angle(self, angle):
        self.set_default_positions([angle])


class PrismaticJoint(_AxisJoint):
    """Translation [m] along an axis; damping in N s/m."""

    kinematics = prismatic
    _type_name = "prismatic"

    def __init__(
        self,
        name,
        frame_on_parent,
        frame_on_child,
        axis,
        pos_lower_limit=-np.inf,
        pos_upper_limit=np.inf,
        damping=0.0,
    ):
        super().__init__(name, frame_on_parent, frame_on_child, axis, pos_lower_limit, pos_upper_limit, damping)

    def translation_axis(self):
        return self._axis.copy()

    def get_translation(self, context):
        return self._get(context)

    def set_translation(self, context, translation):
        return self._set(context, translation)

    def get_translation_rate(self, context):
        return self.GetOneVelocity(context)

    def set_translation_rate(self, context, translation_dot):
        self.SetVelocities(context, [translation_dot])
        return self

    def get_default_translation(self):
        return float(self._default_positions[0])

    def set_default_translation(self, translation):
        self.set_default_positions([translation])


class ScrewJoint(_AxisJoint):
    """Rotation [rad] about an axis with `screw_pitch` [m] of translation per revolution; damping in N m s."""

    kinematics = screw
    _type_name = "screw"

    def __init__(self, name, frame_on_parent, frame_on_child, axis=(0.0, 0.0, 1.0), screw_pitch=0.0, damping=0.0):
        self._pitch = float(screw_pitch)
        super().__init__(name, frame_on_parent, frame_on_child, axis, -np.inf, np.inf, damping)

    def screw_axis(self):
        return self._axis.copy()

    def screw_pitch(self):
        return self._pitch

    def get_rotation(self, context):
        return self._get(context)

    def set_rotation(self, context, theta):
        return self._set(context, theta)

    def get_translation(self, context):
        return self._get(context) * self._pitch / (2.0 * np.pi)

    def set_translation(self, context, translation):
        if abs(self._pitch) < np.finfo(float).eps:
            raise RuntimeError(f"joint '{self._name}' has no pitch: its translation cannot be set")
        return self._set(context, 2.0 * np.pi * translation / self._pitch)

    def get_angular_velocity(self, context):
        return self.GetOneVelocity(context)

    def set_angular_velocity(self, context, theta_dot):
        self.SetVelocities(context, [theta_dot])
        return self


class UniversalJoint(Joint):
    """Rotations [rad] about x of F, then about y of M; one damping [N m s] for both."""

    kinematics = universal
    _type_name = "universal"

    def __init__(self, name, frame_on_parent, frame_on_child, damping=0.0):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def default_damping(self):
        return float(self._damping[0])

    def get_angles(self, context):
        return self.GetPositions(context)

    def set_angles(self, context, angles):
        self.SetPositions(context, angles)
        return self

    def get_angular_rates(self, context):
        return self.GetVelocities(context)

    def set_angular_rates(self, context, theta_dot):
        self.SetVelocities(context, theta_dot)
        return self


class PlanarJoint(Joint):
    """x, y [m] along F and a rotation [rad] about z; damping (3,) in N s/m, N s/m, N m s."""

    kinematics = planar
    _type_name = "planar"

    def __init__(self, name, frame_on_parent, frame_on_child, damping=(0.0, 0.0, 0.0)):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def get_translation(self, context):
        return self.GetPositions(context)[:2]

    def set_translation(self, context, p_FoMo_F):
        return self.set_pose(context, p_FoMo_F, self.get_rotation(context))

    def get_rotation(self, context):
        return float(self.GetPositions(context)[2])

    def set_rotation(self, context, theta):
        return self.set_pose(context, self.get_translation(context), theta)

    def set_pose(self, context, p_FoMo_F, theta):
        self.SetPositions(context, [*self._sized(p_FoMo_F, 2), theta])
        return self

    def get_translational_velocity(self, context):
        return self.GetVelocities(context)[:2]

    def set_translational_velocity(self, context, v_FoMo_F):
        self.SetVelocities(context, [*self._sized(v_FoMo_F, 2), self.get_angular_velocity(context)])
        return self

    def get_angular_velocity(self, context):
        return float(self.GetVelocities(context)[2])

    def set_angular_velocity(self, context, theta_dot):
        self.SetVelocities(context, [*self.get_translational_velocity(context), theta_dot])
        return self


class _NoOneForce:
    def AddInOneForce(self, context, joint_dof, joint_tau, forces):
        raise RuntimeError(f"joint '{self._name}' of type {self._type_name} takes no force along one coordinate")


class BallRpyJoint(_NoOneForce, Joint):
    """Roll, pitch, yaw [rad]; velocities are w_FM in F [rad/s]; damping in N m s."""

    kinematics = ball_rpy
    _type_name = "ball_rpy"

    def __init__(self, name, frame_on_parent, frame_on_child, damping=0.0):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def default_damping(self):
        return float(self._damping[0])

    def get_angles(self, context):
        return self.GetPositions(context)

    def set_angles(self, context, angles):
        self.SetPositions(context, angles)
        return self

    def get_angular_velocity(self, context):
        return self.GetVelocities(context)

    def set_angular_velocity(self, context, w_FM):
        self.SetVelocities(context, w_FM)
        return self


class _FloatingJoint(_NoOneForce, Joint):
    """Six degrees of freedom; velocities (w_FM, v_FM) in F; damping: angular [N m s], translational [N s/m]."""

    def __init__(self, name, frame_on_parent, frame_on_child, angular_damping=0.0, translational_damping=0.0):
        super().__init__(name, frame_on_parent, frame_on_child, [angular_damping] * 3 + [translational_damping] * 3)

    def get_angular_velocity(self, context):
        return self.GetVelocities(context)[:3]

    def set_angular_velocity(self, context, w_FM):
        self.SetVelocities(context, [*self._sized(w_FM, 3), *self.GetVelocities(context)[3:]])
        return self

    def get_translational_velocity(self, context):
        return self.GetVelocities(context)[3:]

    def set_translational_velocity(self, context, v_FM):
        self.SetVelocities(context, [*self.GetVelocities(context)[:3], *self._sized(v_FM, 3)])
        return self

    def get_translation(self, context):
        return self.GetPositions(context)[-3:]

    def SetTranslation(self, context, p_FM):
        self.SetPositions(context, [*self.GetPositions(context)[:-3], *self._sized(p_FM, 3)])
        return self

    def SetPose(self, context, X_FM):
        self.SetPositions(context, self._positions_of(X_FM))
        return self

    def GetPose(self, context):
        return self._pose_of(self.GetPositions(context))

    def SetDefaultPose(self, X_FM):
        self.set_default_positions(self._positions_of(X_FM))

    def GetDefaultPose(self):
        return self._pose_of(self._default_positions)


class QuaternionFloatingJoint(_FloatingJoint):
    """Positions: unit quaternion (w, x, y, z) of R_FM and p_FM [m]."""

    kinematics = quaternion_floating
    _type_name = "quaternion_floating"

    @staticmethod
    def _positions_of(X_FM):
        return np.concatenate([X_FM.rotation().ToQuaternion().wxyz(), X_FM.translation()])

    @staticmethod
    def _pose_of(positions):
        return RigidTransform(Quaternion(positions[:4] / np.linalg.norm(positions[:4])), positions[4:])

    def get_quaternion(self, context):
        return Quaternion(self.GetPositions(context)[:4])

    def SetQuaternion(self, context, q_FM):
        self.SetPositions(context, [*q_FM.wxyz(), *self.GetPositions(context)[4:]])
        return self

    def SetOrientation(self, context, R):
        return self.SetQuaternion(context, R.ToQuaternion())


class RpyFloatingJoint(_FloatingJoint):
    """Positions: roll, pitch, yaw [rad] of R_FM and p_FM [m]; velocities are not their rates."""

    kinematics = rpy_floating
    _type_name = "rpy_floating"

    @staticmethod
    def _positions_of(X_FM):
        return np.concatenate([RollPitchYaw(X_FM.rotation()).vector(), X_FM.translation()])

    @staticmethod
    def _pose_of(positions):
        return RigidTransform(RollPitchYaw(positions[:3]), positions[3:])

    def get_angles(self, context):
        return self.GetPositions(context)[:3]

    def set_angles(self, context, angles):
        self.SetPositions(context, [*self._sized(angles, 3), *self.GetPositions(context)[3:]])
        return self

    def SetOrientation(self, context, R):
        return self.set_angles(
            context, RollPitchYaw(R if isinstance(R, RotationMatrix) else RotationMatrix(R)).vector()
        )


class WeldJoint(_NoOneForce, Joint):
    """No motion: M stays at X_FM in F."""

    kinematics = weld
    _type_name = "weld"

    def __init__(self, name, frame_on_parent_F, frame_on_child_M, X_FM=None):
        self._X_FM = RigidTransform() if X_FM is None else X_FM
        super().__init__(name, frame_on_parent_F, frame_on_child_M)

    def X_FM(self):
        return self._X_FM

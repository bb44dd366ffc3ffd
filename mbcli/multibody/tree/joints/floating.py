"""The common base of joints of six degrees of freedom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mbcli.math import RigidTransform
from mbcli.math.rigid_transform import transform_of
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.tree.joints.no_one_force import NoOneForce
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector, Vector3
    from mbcli.math.quaternion import Quaternion
    from mbcli.math.rotation_matrix import RotationMatrix
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.parsers.spec import JointSpec


class FloatingJoint(NoOneForce):
    """Any pose of M in F; velocities (w_FM, v_FM) in F; damping: angular [N m s], translational [N s/m].

    Its last three positions are p_FM [m]; those before, `_rotation_size` of them, give R_FM.
    """

    _rotates = _translates = True
    _rotation_size: int

    @classmethod
    def from_spec(cls, spec: JointSpec, frame_on_parent: Frame, frame_on_child: Frame) -> Self:
        """The joint of a JointSpec, by its angular and translational damping."""
        return cls(spec.name, frame_on_parent, frame_on_child, *spec.damping)

    def held_rows(self, rows: Any) -> Any:
        """No rows: nothing is held."""
        return ()

    @staticmethod
    def _rotation_positions(rotation: RotationMatrix | Quaternion) -> Vector:
        """The positions of a rotation R_FM."""
        raise NotImplementedError

    @staticmethod
    def _rotation_of(positions: Vector) -> RotationMatrix:
        """R_FM of these positions."""
        raise NotImplementedError

    def __init__(self, name, frame_on_parent, frame_on_child, angular_damping=0.0, translational_damping=0.0):
        damping = np.concatenate([np.full(3, angular_damping), np.full(3, translational_damping)])
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def default_angular_damping(self) -> float:
        """[N m s]"""
        return float(self._damping[0])

    def default_translational_damping(self) -> float:
        """[N s/m]"""
        return float(self._damping[3])

    # velocity

    def get_angular_velocity(self, context: Context) -> Vector3:
        """w_FM_F (3,) [rad/s]"""
        return self.GetVelocities(context)[:3]

    def set_angular_velocity(self, context: Context, w_FM: ArrayLike) -> Self:
        """Replaces w_FM_F (3,) [rad/s] in a context; returns the joint."""
        self.check_context(context)
        context.state.set_v_slice(self.velocity_start(), self._sized(w_FM, 3, context))
        return self

    def get_translational_velocity(self, context: Context) -> Vector3:
        """v_FM_F (3,) [m/s]"""
        return self.GetVelocities(context)[3:]

    def set_translational_velocity(self, context: Context, v_FM: ArrayLike) -> Self:
        """Replaces v_FoMo_F (3,) [m/s] in a context; returns the joint."""
        self.check_context(context)
        context.state.set_v_slice(self.velocity_start() + 3, self._sized(v_FM, 3, context))
        return self

    def GetSpatialVelocity(self, context: Context) -> SpatialVelocity:
        """V_FM_F"""
        return SpatialVelocity(V=self.GetVelocities(context))

    def SetSpatialVelocity(self, context: Context, V_FM: SpatialVelocity) -> Self:
        """Velocities from V_FM_F."""
        self.SetVelocities(context, V_FM.get_coeffs())
        return self

    # pose

    def get_translation(self, context: Context) -> Vector3:
        """p_FM (3,) [m]"""
        return self.GetPositions(context)[-3:]

    def SetTranslation(self, context: Context, p_FM: ArrayLike) -> Self:
        """Replaces p_FoMo_F (3,) [m] in a context; returns the joint."""
        self.check_context(context)
        context.state.set_q_slice(self.position_start() + self._rotation_size, self._sized(p_FM, 3, context))
        return self

    @also_named(R="R_FM")
    def SetOrientation(self, context: Context, R_FM: RotationMatrix) -> Self:
        """R_FM as a RotationMatrix."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        rotation = self._sized(self._rotation_positions(R_FM), self._rotation_size, context)
        state.set_q_slice(self.position_start(), rotation)
        return self

    def GetPose(self, context: Context) -> RigidTransform:
        """X_FM"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        pose = state.position_cache.get(self)
        if pose is None:
            pose = state.position_cache[self] = self._pose_of(self.GetPositions(context))
        return transform_of(pose.R_array, pose.p_array)

    def SetPose(self, context: Context, X_FM: RigidTransform) -> Self:
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        n, first = self._rotation_size, self.position_start()
        rotation = self._sized(self._rotation_positions(X_FM.rotation()), n, context)
        p = self._sized(X_FM.p_array, 3, context)
        state.data.q[first : first + n] = rotation
        state.data.q[first + n : first + n + 3] = p
        state.forget_positions()
        return self

    @classmethod
    def _positions_of(cls, X_FM):
        return np.concatenate([cls._rotation_positions(X_FM.rotation()), X_FM.translation()])

    @classmethod
    def _pose_of(cls, positions):
        return RigidTransform(cls._rotation_of(positions[:-3]), positions[-3:])

    # default and random pose

    def SetDefaultPose(self, X_FM: RigidTransform) -> None:
        self.set_default_positions(self._positions_of(X_FM))

    def GetDefaultPose(self) -> RigidTransform:
        """X_FM at the default positions."""
        return self._pose_of(self._default_positions)

    def SetDefaultPosePair(self, q_FM: Quaternion, p_FM: ArrayLike) -> None:
        """A Quaternion and a position (3,) [m]."""
        self.set_default_positions([*self._rotation_positions(q_FM), *self._sized(p_FM, 3)])

    def GetDefaultPosePair(self) -> tuple[Quaternion, Vector3]:
        """X_FM at the default positions as a Quaternion and a position (3,) [m]."""
        X_FM = self.GetDefaultPose()
        return X_FM.rotation().ToQuaternion(), X_FM.translation()

    def get_default_translation(self) -> Vector3:
        """p_FM (3,) [m]"""
        return self._default_positions[-3:].copy()

    @also_named(translation="p_FM")
    def set_default_translation(self, p_FM: ArrayLike) -> None:
        """Replaces p_FoMo_F (3,) [m] of new contexts."""
        self._set_default_part(self._rotation_size, p_FM, 3)

    @also_named(p_FM="translation")
    def set_random_translation_distribution(self, translation: Any) -> None:
        """Distribution of plant.SetRandomState() for p_FM; see mbcli.multibody.tree.random_distribution.

        The rotation is zero then, unless it is random too.
        """
        self._set_random_parts((self._rotation_size, translation, 3))

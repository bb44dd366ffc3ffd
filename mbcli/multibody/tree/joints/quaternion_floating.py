"""QuaternionFloatingJoint."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.smooth.joints import quaternion_floating
from mbcli.math import Quaternion, RotationMatrix, UniformlyRandomQuaternion
from mbcli.math.quaternion import quaternion_of
from mbcli.math.rotation_array import quaternion_from_matrix
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.joints.floating import FloatingJoint
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector, Vector3
    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.state.context import Context


class QuaternionFloatingJoint(FloatingJoint):
    """Positions: unit quaternion (w, x, y, z) of R_FM and p_FM [m]."""

    kinematics = quaternion_floating
    kTypeName = "quaternion_floating"
    _rotation_size = 4

    @staticmethod
    def _rotation_positions(rotation: RotationMatrix | Quaternion) -> Vector:
        return quaternion_from_matrix(rotation.R_array) if isinstance(rotation, RotationMatrix) else rotation.wxyz()

    @staticmethod
    def _rotation_of(positions: Vector) -> RotationMatrix:
        return RotationMatrix(Quaternion(unit(positions)))

    def SetPose(self, context: Context, X_FM: RigidTransform) -> QuaternionFloatingJoint:
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        R, p = X_FM.R_array, X_FM.p_array
        if not (_is_simple(R, context) and _is_simple(p, context) and all(map(isfinite, p.tolist()))):
            return super().SetPose(context, X_FM)
        state.calls.set_pose(self.first_position, R, p)
        state.forget_positions()
        return self

    @also_named(R="R_FM")
    def SetOrientation(self, context: Context, R_FM: RotationMatrix | Quaternion) -> QuaternionFloatingJoint:
        """R_FM as a RotationMatrix."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        if type(R_FM) is not RotationMatrix or not _is_simple(R_FM.R_array, context):
            return super().SetOrientation(context, R_FM)  # type: ignore[arg-type]  # quaternions too, here
        state.calls.set_rotation(self.first_position, R_FM.R_array)
        state.forget_positions()
        return self

    def get_quaternion(self, context: Context) -> Quaternion:
        """q_FM, of unit length: a step of a discrete plant leaves the quaternion of the context a little off."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        wxyz = state.position_cache.get((self, "wxyz"))
        if wxyz is None:
            if not state.parameters_current:
                state.ready_parameters()
            wxyz = unit(state.q[self.first_position : self.first_position + 4])
            state.position_cache[self, "wxyz"] = wxyz
        return quaternion_of(wxyz)

    def SetQuaternion(self, context: Context, q_FM: Quaternion) -> QuaternionFloatingJoint:
        """Replaces the orientation by q_FM in a context; returns the joint."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        i = self.first_position
        try:
            state.q_memory[i : i + 4] = q_FM.wxyz_array
        except (AttributeError, TypeError, ValueError):
            return self.SetOrientation(context, q_FM)
        state.forget_positions()
        state.look_for_zero_quaternions()
        return self

    def GetDefaultPosePair(self) -> tuple[Quaternion, Vector3]:
        """The default quaternion as it was set, and p_FM (3,) [m]."""
        return self.get_default_quaternion(), self.get_default_translation()

    def get_default_quaternion(self) -> Quaternion:
        """q_FM in new contexts."""
        return Quaternion(self._default_positions[:4])

    def set_default_quaternion(self, q_FM: Quaternion) -> None:
        """Replaces q_FM of new contexts."""
        self._set_default_part(0, q_FM.wxyz(), 4)

    def set_random_quaternion_distribution(self, q_FM: Any) -> None:
        """Distribution of plant.SetRandomState() for w, x, y, z, which it then scales to a unit quaternion.

        See mbcli.multibody.tree.random_distribution. Four uniform numbers do not give a uniform rotation: that is
        set_random_quaternion_distribution_to_uniform(). The translation is zero then, unless it is random too.
        """
        self._set_random_parts((0, q_FM.wxyz() if isinstance(q_FM, Quaternion) else q_FM, 4))

    def set_random_quaternion_distribution_to_uniform(self) -> None:
        """Rotations of uniform probability."""
        self._set_random_parts((0, lambda generator: UniformlyRandomQuaternion(generator).wxyz(), 4))

    def draw_positions(self, generator: Any) -> Any:
        """Random positions (nq,) by the distributions of the joint."""
        positions = super().draw_positions(generator)
        if 0 in self._random_positions:
            if not np.linalg.norm(positions[:4]) > 0.0:
                raise RuntimeError(f"joint '{self._name}': the random quaternion {positions[:4]} is not a rotation")
            positions[:4] = unit(positions[:4])
        return positions


def _is_simple(array, context):
    """Whether a kernel can take the array of a rotation or position: floats in C order, for a context of floats."""
    return array.dtype is context.state.dtype is FLOAT.dtype and array.flags.c_contiguous


def unit(wxyz):
    return wxyz / wxyz.dot(wxyz) ** 0.5

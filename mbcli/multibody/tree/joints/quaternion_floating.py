"""QuaternionFloatingJoint."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from mbcli.engine.smooth.joints import quaternion_floating
from mbcli.math import Quaternion, RotationMatrix
from mbcli.math.rotation_array import quaternion_from_matrix
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.joints.floating import FloatingJoint
from mbcli.multibody.tree.joints.with_quaternion import WithQuaternion, unit
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector, Vector3
    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.state.context import Context


class QuaternionFloatingJoint(FloatingJoint, WithQuaternion):
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
        state.calls.set_pose(self.position_start(), R, p)
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
        state.calls.set_rotation(self.position_start(), R_FM.R_array)
        state.forget_positions()
        return self

    def SetQuaternion(self, context: Context, q_FM: Quaternion) -> QuaternionFloatingJoint:
        """Replaces the orientation by q_FM in a context; returns the joint."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        i = self.position_start()
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


def _is_simple(array, context):
    """Whether a kernel can take the array of a rotation or position: floats in C order, for a context of floats."""
    return array.dtype is context.state.dtype is FLOAT.dtype and array.flags.c_contiguous

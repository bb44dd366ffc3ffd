"""QuaternionFloatingJoint."""

import numpy as np

from mbcli.engine.joints import quaternion_floating
from mbcli.math import Quaternion, RotationMatrix, UniformlyRandomQuaternion
from mbcli.math.quaternion import quaternion_of
from mbcli.math.rotation_array import quaternion_from_matrix
from mbcli.multibody.tree.joints.floating import FloatingJoint


class QuaternionFloatingJoint(FloatingJoint):
    """Positions: unit quaternion (w, x, y, z) of R_FM and p_FM [m]."""

    kinematics = quaternion_floating
    kTypeName = "quaternion_floating"
    _rotation_size = 4

    @staticmethod
    def _rotation_positions(rotation):
        return quaternion_from_matrix(rotation._R) if isinstance(rotation, RotationMatrix) else rotation.wxyz()

    @staticmethod
    def _rotation_of(wxyz):
        return RotationMatrix(Quaternion(unit(wxyz)))

    def get_quaternion(self, context):
        """q_FM as the context holds it."""
        if context._plant is not self._plant:
            self._check_context(context)
        return quaternion_of(context._q[self._position_start : self._position_start + 4].copy())

    def SetQuaternion(self, context, q_FM):
        return self.SetOrientation(context, q_FM)

    def GetDefaultPosePair(self):
        """The default quaternion as it was set, and p_FM (3,) [m]."""
        return self.get_default_quaternion(), self.get_default_translation()

    def get_default_quaternion(self):
        return Quaternion(self._default_positions[:4])

    def set_default_quaternion(self, q_FM):
        self._set_default_part(0, q_FM.wxyz(), 4)

    def set_random_quaternion_distribution(self, q_FM):
        """From what plant.SetRandomState() draws w, x, y, z, which it then scales to a unit quaternion.

        See mbcli.multibody.tree.random_distribution. Four uniform numbers do not give a uniform rotation: that is
        set_random_quaternion_distribution_to_uniform(). The translation is zero then, unless it is random too.
        """
        self._set_random_parts((0, q_FM.wxyz() if isinstance(q_FM, Quaternion) else q_FM, 4))

    def set_random_quaternion_distribution_to_uniform(self):
        """Rotations of uniform probability."""
        self._set_random_parts((0, lambda generator: UniformlyRandomQuaternion(generator).wxyz(), 4))

    def _draw_positions(self, generator):
        positions = super()._draw_positions(generator)
        if 0 in self._random_positions:
            if not np.linalg.norm(positions[:4]) > 0.0:
                raise RuntimeError(f"joint '{self._name}': the random quaternion {positions[:4]} is not a rotation")
            positions[:4] = unit(positions[:4])
        return positions


def unit(wxyz):
    return wxyz / np.linalg.norm(wxyz)

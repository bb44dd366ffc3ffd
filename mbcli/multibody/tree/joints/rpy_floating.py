"""RpyFloatingJoint."""

from mbcli.engine.smooth.joints import rpy_floating
from mbcli.math import RollPitchYaw, RotationMatrix
from mbcli.multibody.tree.joints.floating import FloatingJoint


class RpyFloatingJoint(FloatingJoint):
    """Positions: roll, pitch, yaw [rad] of R_FM and p_FM [m]; velocities are not their rates."""

    kinematics = rpy_floating
    kTypeName = "rpy_floating"
    _rotation_size = 3

    @staticmethod
    def _rotation_positions(rotation):
        return RollPitchYaw(rotation).vector()

    @staticmethod
    def _rotation_of(angles):
        return RotationMatrix(RollPitchYaw(angles))

    def get_angles(self, context):
        """(3,) [rad]"""
        return self.GetPositions(context)[:3]

    def set_angles(self, context, angles):
        self.SetPositions(context, [*self._sized(angles, 3, context), *self.GetPositions(context)[3:]])
        return self

    def get_default_angles(self):
        return self.default_positions()[:3]

    def set_default_angles(self, angles):
        self._set_default_part(0, angles, 3)

    def set_random_angles_distribution(self, angles):
        """From what plant.SetRandomState() draws all three; see mbcli.multibody.tree.random_distribution.

        The translation is zero then, unless it is random too. Pitch near 90 deg is a singularity of this joint.
        """
        self._set_random_parts((0, angles, 3))

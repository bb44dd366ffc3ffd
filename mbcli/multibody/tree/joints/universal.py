"""UniversalJoint."""

from mbcli.engine.joints import universal
from mbcli.multibody.tree.joint import Joint


class UniversalJoint(Joint):
    """Rotations [rad] about x of F, then about y of M; one damping [N m s] for both.

    Forces on its coordinates are torques [N m] about x of F and about y of M.
    """

    kinematics = universal
    kTypeName = "universal"
    _rotates = True

    def __init__(self, name, frame_on_parent, frame_on_child, damping=0.0):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def default_damping(self):
        """[N m s]"""
        return float(self._damping[0])

    def get_angles(self, context):
        """(2,) [rad]"""
        return self.GetPositions(context)

    def set_angles(self, context, angles):
        self.SetPositions(context, angles)
        return self

    def get_angular_rates(self, context):
        """(2,) [rad/s]"""
        return self.GetVelocities(context)

    def set_angular_rates(self, context, theta_dot):
        self.SetVelocities(context, theta_dot)
        return self

    def get_default_angles(self):
        return self.default_positions()

    def set_default_angles(self, angles):
        self.set_default_positions(angles)

    def set_random_angles_distribution(self, angles):
        """From what plant.SetRandomState() draws both; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, angles, 2))

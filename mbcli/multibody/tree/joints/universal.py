"""UniversalJoint."""

from mbcli.engine.smooth.joints import universal
from mbcli.multibody.tree.joints.angles import AnglesJoint


class UniversalJoint(AnglesJoint):
    """Rotations [rad] about x of F, then about y of M; one damping [N m s] for both.

    Forces on its coordinates are torques [N m] about x of F and about y of M.
    """

    kinematics = universal
    kTypeName = "universal"

    def get_angular_rates(self, context):
        """(2,) [rad/s]"""
        return self.GetVelocities(context)

    def set_angular_rates(self, context, theta_dot):
        self.SetVelocities(context, theta_dot)
        return self

"""BallRpyJoint."""

from mbcli.engine.smooth.joints import ball_rpy
from mbcli.multibody.tree.joints.angles import AnglesJoint
from mbcli.multibody.tree.joints.no_one_force import NoOneForce


class BallRpyJoint(NoOneForce, AnglesJoint):
    """Roll, pitch, yaw [rad]; velocities are w_FM in F [rad/s], not their rates; damping in N m s."""

    kinematics = ball_rpy
    kTypeName = "ball_rpy"
    damping = AnglesJoint.default_damping  # its name in earlier releases

    def get_angular_velocity(self, context):
        """w_FM_F (3,) [rad/s]"""
        return self.GetVelocities(context)

    def set_angular_velocity(self, context, w_FM):
        self.SetVelocities(context, w_FM)
        return self

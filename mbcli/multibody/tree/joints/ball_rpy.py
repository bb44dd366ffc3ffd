"""BallRpyJoint."""

from mbcli.engine.joints import ball_rpy
from mbcli.multibody.tree.joint import Joint
from mbcli.multibody.tree.joints.no_one_force import NoOneForce


class BallRpyJoint(NoOneForce, Joint):
    """Roll, pitch, yaw [rad]; velocities are w_FM in F [rad/s], not their rates; damping in N m s."""

    kinematics = ball_rpy
    kTypeName = "ball_rpy"
    _rotates = True

    def __init__(self, name, frame_on_parent, frame_on_child, damping=0.0):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def default_damping(self):
        """[N m s]"""
        return float(self._damping[0])

    damping = default_damping  # its name in earlier releases

    def get_angles(self, context):
        """(3,) [rad]"""
        return self.GetPositions(context)

    def set_angles(self, context, angles):
        self.SetPositions(context, angles)
        return self

    def get_angular_velocity(self, context):
        """w_FM_F (3,) [rad/s]"""
        return self.GetVelocities(context)

    def set_angular_velocity(self, context, w_FM):
        self.SetVelocities(context, w_FM)
        return self

    def get_default_angles(self):
        return self.default_positions()

    def set_default_angles(self, angles):
        self.set_default_positions(angles)

    def set_random_angles_distribution(self, angles):
        """From what plant.SetRandomState() draws all three; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, angles, 3))

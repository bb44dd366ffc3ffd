"""PlanarJoint."""

from mbcli.engine.smooth.joints import planar
from mbcli.multibody.tree.joint import Joint


class PlanarJoint(Joint):
    """x, y [m] along F and a rotation [rad] about z; damping (3,) in N s/m, N s/m, N m s.

    Forces on its coordinates act on Mo along x and y of F [N], and as a torque about z [N m].
    """

    kinematics = planar
    kTypeName = "planar"
    _rotates = _translates = True

    def __init__(self, name, frame_on_parent, frame_on_child, damping=(0.0, 0.0, 0.0)):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def default_damping(self):
        """(3,) [N s/m, N s/m, N m s]"""
        return self.default_damping_vector()

    damping = default_damping  # its name in earlier releases

    def get_translation(self, context):
        """p_FoMo_F: x and y (2,) [m]"""
        return self.GetPositions(context)[:2]

    def set_translation(self, context, p_FoMo_F):
        return self.set_pose(context, p_FoMo_F, self.get_rotation(context))

    def get_rotation(self, context):
        """[rad]"""
        return context.state.scalar.number(self.GetPositions(context)[2])

    def set_rotation(self, context, theta):
        return self.set_pose(context, self.get_translation(context), theta)

    def set_pose(self, context, p_FoMo_F, theta):
        self.SetPositions(context, [*self._sized(p_FoMo_F, 2, context), theta])
        return self

    def get_translational_velocity(self, context):
        """v_FoMo_F: along x and y (2,) [m/s]"""
        return self.GetVelocities(context)[:2]

    def set_translational_velocity(self, context, v_FoMo_F):
        self.SetVelocities(context, [*self._sized(v_FoMo_F, 2, context), self.get_angular_velocity(context)])
        return self

    def get_angular_velocity(self, context):
        """[rad/s]"""
        return context.state.scalar.number(self.GetVelocities(context)[2])

    def set_angular_velocity(self, context, theta_dot):
        self.SetVelocities(context, [*self.get_translational_velocity(context), theta_dot])
        return self

    def get_default_translation(self):
        return self.default_positions()[:2]

    def set_default_translation(self, p_FoMo_F):
        self._set_default_part(0, p_FoMo_F, 2)

    def get_default_rotation(self):
        return float(self._default_positions[2])

    def set_default_rotation(self, theta):
        self._set_default_part(2, theta, 1)

    def set_default_pose(self, p_FoMo_F, theta):
        self.set_default_positions([*self._sized(p_FoMo_F, 2), theta])

    def set_random_pose_distribution(self, p_FoMo_F, theta):
        """From what plant.SetRandomState() draws x and y, and the angle; see random_distribution."""
        self._set_random_parts((0, p_FoMo_F, 2), (2, theta, 1))

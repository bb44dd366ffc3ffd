"""What joints have in common whose positions are angles about several axes, with one damping for all."""

from mbcli.multibody.tree.joint import Joint


class AnglesJoint(Joint):
    """Positions are angles [rad]; one damping [N m s]."""

    _rotates = True

    def __init__(self, name, frame_on_parent, frame_on_child, damping=0.0):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def default_damping(self):
        """[N m s]"""
        return float(self._damping[0])

    def get_angles(self, context):
        """(nq,) [rad]"""
        return self.GetPositions(context)

    def set_angles(self, context, angles):
        self.SetPositions(context, angles)
        return self

    def get_default_angles(self):
        """(nq,) [rad]"""
        return self.default_positions()

    def set_default_angles(self, angles):
        self.set_default_positions(angles)

    def set_random_angles_distribution(self, angles):
        """From what plant.SetRandomState() draws all of them; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, angles, self.num_positions()))

"""PrismaticJoint."""

import numpy as np

from mbcli.engine.smooth.joints import prismatic
from mbcli.multibody.tree.joints.one_dof import AxisJoint


class PrismaticJoint(AxisJoint):
    """Translation [m] along an axis; damping in N s/m. A force on its coordinate acts on Mo along the axis [N]."""

    kinematics = prismatic
    kTypeName = "prismatic"
    _translates = True

    def __init__(
        self,
        name,
        frame_on_parent,
        frame_on_child,
        axis,
        pos_lower_limit=-np.inf,
        pos_upper_limit=np.inf,
        damping=0.0,
    ):
        super().__init__(name, frame_on_parent, frame_on_child, axis, pos_lower_limit, pos_upper_limit, damping)

    def translation_axis(self):
        """Unit vector (3,), in F and in M."""
        return self.axis()

    def get_translation(self, context):
        """[m]"""
        return self.GetOnePosition(context)

    def set_translation(self, context, translation):
        return self._set_position(context, translation)

    def get_translation_rate(self, context):
        """[m/s]"""
        return self.GetOneVelocity(context)

    def set_translation_rate(self, context, translation_dot):
        return self._set_velocity(context, translation_dot)

    def get_default_translation(self):
        return self._default_position()

    def set_default_translation(self, translation):
        self.set_default_positions([translation])

    def set_random_translation_distribution(self, translation):
        """From what plant.SetRandomState() draws it; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, translation, 1))

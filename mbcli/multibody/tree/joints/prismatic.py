"""PrismaticJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.smooth.joints import prismatic
from mbcli.multibody.tree.joint import X, Y, Z
from mbcli.multibody.tree.joints.one_dof import AxisJoint

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame


class PrismaticJoint(AxisJoint):
    """Translation [m] along an axis. A force on its coordinate acts on Mo along the axis [N].

    Args:
      name: of it.
      frame_on_parent: F.
      frame_on_child: M.
      axis: (3,) [1] of any length, the same in F and M.
      pos_lower_limit: [m].
      pos_upper_limit: [m].
      damping: 0 or more [N s/m].

    Raises:
      RuntimeError: the axis is zero, a limit or the damping is out of its range.

    Example:
      >>> slide = PrismaticJoint("slide", plant.world_frame(), plant.GetFrameByName("lower"), [1, 0, 0], -0.5, 0.5)
      >>> slide.position_upper_limit()
      0.5
    """

    kinematics = prismatic
    kTypeName = "prismatic"
    _translates = True

    def __init__(
        self,
        name: str,
        frame_on_parent: Frame,
        frame_on_child: Frame,
        axis: ArrayLike,
        pos_lower_limit: float = -np.inf,
        pos_upper_limit: float = np.inf,
        damping: float = 0.0,
    ) -> None:
        super().__init__(name, frame_on_parent, frame_on_child, axis, pos_lower_limit, pos_upper_limit, damping)

    def held_rows(self, rows: Any) -> Any:
        """The rows that hold all but travel along the axis."""
        return rows.slides(*rows.normals(self.axis())) + rows.twists(X, Y, Z)

    def translation_axis(self) -> Vector3:
        """Unit vector (3,), in F and in M."""
        return self.axis()

    def get_translation(self, context: Context) -> Scalar:
        """[m]"""
        return self.GetOnePosition(context)

    def set_translation(self, context: Context, translation: float) -> PrismaticJoint:
        """Replaces the translation [m] in a context; returns the joint."""
        return self._set_position(context, translation)

    def get_translation_rate(self, context: Context) -> Scalar:
        """[m/s]"""
        return self.GetOneVelocity(context)

    def set_translation_rate(self, context: Context, translation_dot: float) -> PrismaticJoint:
        """Replaces the rate of translation [m/s] in a context; returns the joint."""
        return self._set_velocity(context, translation_dot)

    def get_default_translation(self) -> float:
        """[m] in new contexts."""
        return self._default_position()

    def set_default_translation(self, translation: float) -> None:
        """Replaces the translation [m] of new contexts."""
        self.set_default_positions([translation])

    def set_random_translation_distribution(self, translation: Any) -> None:
        """Distribution of plant.SetRandomState() for it; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, translation, 1))

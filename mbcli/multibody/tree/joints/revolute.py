"""RevoluteJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.engine.smooth.joints import revolute
from mbcli.multibody.tree.joint import X, Y, Z
from mbcli.multibody.tree.joints.one_dof import AxisJoint, limits_and_damping

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame


class RevoluteJoint(AxisJoint):
    """Rotation by an angle [rad] about an axis. A force on its coordinate is a torque [N m].

    RevoluteJoint(name, F, M, axis, damping) or RevoluteJoint(name, F, M, axis, pos_lower_limit, pos_upper_limit,
    damping).

    Args:
      name: of it.
      frame_on_parent: F.
      frame_on_child: M.
      axis: (3,) [1] of any length, the same in F and M.
      arguments: the others, by position.
      pos_lower_limit: [rad]; default: -inf.
      pos_upper_limit: [rad]; default: inf.
      damping: 0 or more [N m s]; default: 0.

    Raises:
      RuntimeError: the axis is zero, a limit or the damping is out of its range.

    Example:
      >>> hinge = RevoluteJoint("hinge", plant.world_frame(), plant.GetFrameByName("lower"), [0, 0, 1], damping=0.1)
      >>> hinge.default_damping()
      0.1
    """

    kinematics = revolute
    kTypeName = "revolute"
    _rotates = True

    def __init__(
        self,
        name: str,
        frame_on_parent: Frame,
        frame_on_child: Frame,
        axis: ArrayLike,
        *arguments: Any,
        pos_lower_limit: float | None = None,
        pos_upper_limit: float | None = None,
        damping: float | None = None,
    ) -> None:
        lower, upper, damping = limits_and_damping(arguments, pos_lower_limit, pos_upper_limit, damping)
        super().__init__(name, frame_on_parent, frame_on_child, axis, lower, upper, damping)

    def held_rows(self, rows: Any) -> Any:
        """The rows that hold all but turns about the axis."""
        return rows.slides(X, Y, Z) + rows.alignments(rows.normals(self.axis()), self.axis())

    def revolute_axis(self) -> Vector3:
        """Unit vector (3,), in F and in M."""
        return self.axis()

    def get_angle(self, context: Context) -> Scalar:
        """[rad], not wrapped."""
        return self.GetOnePosition(context)

    def set_angle(self, context: Context, angle: float) -> RevoluteJoint:
        """Replaces the angle [rad] in a context; returns the joint."""
        return self._set_position(context, angle)

    def get_angular_rate(self, context: Context) -> Scalar:
        """[rad/s]"""
        return self.GetOneVelocity(context)

    def set_angular_rate(self, context: Context, angle: float) -> RevoluteJoint:
        """Sets the rate `angle` [rad/s] (the reference's name of it)."""
        return self._set_velocity(context, angle)

    def get_default_angle(self) -> float:
        """[rad] in new contexts."""
        return self._default_position()

    def set_default_angle(self, angle: float) -> None:
        """Replaces the angle [rad] of new contexts."""
        self.set_default_positions([angle])

    def set_random_angle_distribution(self, angle: Any) -> None:
        """Distribution of plant.SetRandomState() for the angle; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, angle, 1))

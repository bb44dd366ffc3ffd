"""The common base of ball joints, which turn freely about one point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mbcli.multibody.tree.joint import X, Y, Z
from mbcli.multibody.tree.joints.no_one_force import NoOneForce

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.parsers.spec import JointSpec


class BallJoint(NoOneForce):
    """Any rotation of M in F about their common origin; v = w_FM in F [rad/s]; one damping [N m s] for all of it."""

    _rotates = True

    def __init__(self, name, frame_on_parent, frame_on_child, damping=0.0):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    @classmethod
    def from_spec(cls, spec: JointSpec, frame_on_parent: Frame, frame_on_child: Frame) -> Self:
        """The joint of a JointSpec, by its one damping."""
        return cls(spec.name, frame_on_parent, frame_on_child, *spec.damping)

    def held_rows(self, rows: Any) -> Any:
        """The rows that hold the origin."""
        return rows.slides(X, Y, Z)

    def default_damping(self) -> float:
        """[N m s]"""
        return float(self._damping[0])

    damping = default_damping  # its name in earlier releases of pydrake

    def get_angular_velocity(self, context: Context) -> Vector3:
        """w_FM_F (3,) [rad/s]"""
        return self.GetVelocities(context)

    def set_angular_velocity(self, context: Context, w_FM: ArrayLike) -> Self:
        """Replaces w_FM (3,) [rad/s], expressed in F, in a context; returns the joint."""
        self.SetVelocities(context, w_FM)
        return self

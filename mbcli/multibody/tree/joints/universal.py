"""UniversalJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mbcli.engine.smooth.joints import universal
from mbcli.errors import ModelError
from mbcli.multibody.tree.joint import X, Y, Z
from mbcli.multibody.tree.joints.angles import AnglesJoint

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.parsers.spec import JointSpec


class UniversalJoint(AnglesJoint):
    """Rotations [rad] about x of F, then about y of M; one damping [N m s] for both.

    Forces on its coordinates are torques [N m] about x of F and about y of M.
    """

    kinematics = universal
    kTypeName = "universal"

    @classmethod
    def from_spec(cls, spec: JointSpec, frame_on_parent: Frame, frame_on_child: Frame) -> Self:
        """The joint of a JointSpec. ModelError if its axes have different dampings."""
        damping = {axis.damping for axis in spec.axes} or set(spec.damping) or {0.0}
        if len(damping) > 1:
            problem = f"joint '{spec.name}': a universal joint has one damping for both axes"
            raise ModelError(f"{spec.place}: error: {problem}")
        return cls(spec.name, frame_on_parent, frame_on_child, damping.pop())

    def held_rows(self, rows: Any) -> Any:
        """The rows that hold the origin, and x of F perpendicular to y of M."""
        return rows.slides(X, Y, Z) + rows.perpendicular(X, Y)

    def get_angular_rates(self, context: Context) -> Vector:
        """(2,) [rad/s]"""
        return self.GetVelocities(context)

    def set_angular_rates(self, context: Context, theta_dot: float) -> Self:
        """Replaces the rates of the two angles (2,) [rad/s] in a context; returns the joint."""
        self.SetVelocities(context, theta_dot)
        return self

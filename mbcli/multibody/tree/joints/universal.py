"""UniversalJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from mbcli.engine.smooth.joints import universal
from mbcli.multibody.tree.joints.angles import AnglesJoint

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.state.context import Context


class UniversalJoint(AnglesJoint):
    """Rotations [rad] about x of F, then about y of M; one damping [N m s] for both.

    Forces on its coordinates are torques [N m] about x of F and about y of M.
    """

    kinematics = universal
    kTypeName = "universal"

    def get_angular_rates(self, context: Context) -> Vector:
        """(2,) [rad/s]"""
        return self.GetVelocities(context)

    def set_angular_rates(self, context: Context, theta_dot: float) -> Self:
        """Replaces the rates of the two angles (2,) [rad/s] in a context; returns the joint."""
        self.SetVelocities(context, theta_dot)
        return self

"""The common base of joints whose positions are angles about several axes, with one damping for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mbcli.multibody.tree.joint import Joint

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.state.context import Context


class AnglesJoint(Joint):
    """Positions are angles [rad]; one damping [N m s]."""

    _rotates = True

    def __init__(self, name, frame_on_parent, frame_on_child, damping=0.0):
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def default_damping(self) -> float:
        """[N m s]"""
        return float(self._damping[0])

    def get_angles(self, context: Context) -> Vector:
        """(nq,) [rad]"""
        return self.GetPositions(context)

    def set_angles(self, context: Context, angles: ArrayLike) -> Self:
        """Replaces the angles [rad] in a context; returns the joint."""
        self.SetPositions(context, angles)
        return self

    def get_default_angles(self) -> Vector:
        """(nq,) [rad]"""
        return self.default_positions()

    def set_default_angles(self, angles: ArrayLike) -> None:
        """Replaces the angles [rad] of new contexts."""
        self.set_default_positions(angles)

    def set_random_angles_distribution(self, angles: Any) -> None:
        """Distribution of plant.SetRandomState() for all of them; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, angles, self.num_positions()))

"""The common base of joints whose first four positions are a quaternion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math import Quaternion, UniformlyRandomQuaternion
from mbcli.math.quaternion import quaternion_of
from mbcli.multibody.tree.joint import Joint

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.state.context import Context


class WithQuaternion(Joint):
    """Its first positions are w, x, y, z of R_FM."""

    def get_quaternion(self, context: Context) -> Quaternion:
        """q_FM, of unit length: a step of a discrete plant leaves the quaternion of the context a little off."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        wxyz = state.position_cache.get((self, "wxyz"))
        if wxyz is None:
            if not state.parameters_current:
                state.ready_parameters()
            wxyz = unit(state.q[self.position_start() : self.position_start() + 4])
            state.position_cache[self, "wxyz"] = wxyz
        return quaternion_of(wxyz)

    def get_default_quaternion(self) -> Quaternion:
        """q_FM in new contexts."""
        return Quaternion(self._default_positions[:4])

    def set_default_quaternion(self, q_FM: Quaternion) -> None:
        """Replaces q_FM of new contexts."""
        self._set_default_part(0, q_FM.wxyz(), 4)

    def set_random_quaternion_distribution(self, q_FM: Any) -> None:
        """Distribution of plant.SetRandomState() for w, x, y, z, which it then scales to a unit quaternion.

        See mbcli.multibody.tree.random_distribution. Four uniform numbers do not give a uniform rotation: that is
        set_random_quaternion_distribution_to_uniform(). A translation is zero then, unless it is random too.
        """
        self._set_random_parts((0, q_FM.wxyz() if isinstance(q_FM, Quaternion) else q_FM, 4))

    def set_random_quaternion_distribution_to_uniform(self) -> None:
        """Rotations of uniform probability."""
        self._set_random_parts((0, lambda generator: UniformlyRandomQuaternion(generator).wxyz(), 4))

    def draw_positions(self, generator: Any) -> Any:
        """Random positions (nq,) by the distributions of the joint."""
        positions = super().draw_positions(generator)
        if 0 in self._random_positions:
            if not np.linalg.norm(positions[:4]) > 0.0:
                raise RuntimeError(f"joint '{self._name}': the random quaternion {positions[:4]} is not a rotation")
            positions[:4] = unit(positions[:4])
        return positions


def unit(wxyz: Vector) -> Vector:
    """The quaternion (4,) scaled to unit length."""
    return wxyz / wxyz.dot(wxyz) ** 0.5

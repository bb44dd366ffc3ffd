"""Random states of a plant, drawn joint by joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.coordinates import Coordinates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.rotation_matrix import RotationMatrix
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.rigid_body import RigidBody


class RandomState(Coordinates):
    """The part of MultibodyPlant that draws states."""

    def SetRandomContext(self, context: Context, generator: np.random.Generator) -> None:
        """Draws the positions of every joint from its distribution; velocities become 0.

        A joint without a distribution takes its default positions. Joints draw in the order of their indices, so the
        seed of the numpy.random.Generator decides everything. Nothing changes if a distribution fails.
        """
        self.check_context(context)
        if not isinstance(generator, np.random.Generator):
            raise TypeError(f"expected a numpy.random.Generator, as numpy.random.default_rng(seed), not {generator!r}")
        q = np.zeros(self.num_positions())
        for joint in self.moving_joints():
            start = joint.position_start()
            q[start : start + joint.num_positions()] = joint.draw_positions(generator)
        state = context.state
        state.set_q(q)
        state.set_v(0.0)

    def SetRandomState(
        self, context: Context, *arguments: Any, state: Any = None, generator: np.random.Generator | None = None
    ) -> None:
        """SetRandomState(context, generator), or with the state of that context in between: as SetRandomContext()."""
        given: list[Any] = [*arguments]
        if generator is None and given:
            generator = given.pop()
        if len(given) + (state is not None) > 1:
            raise TypeError("SetRandomState takes a context, its state, and a generator")
        self.SetRandomContext(context, generator)  # type: ignore[arg-type]  # refused there if it is missing

    def SetFreeBodyRandomTranslationDistribution(self, body: RigidBody, translation: float) -> None:
        """The distribution of the position of a free body; see mbcli.multibody.tree.random_distribution."""
        self._floating_joint(body).set_random_translation_distribution(translation)

    def SetFreeBodyRandomRotationDistribution(self, body: RigidBody, rotation: RotationMatrix) -> None:
        """The distribution of w, x, y, z of a free body, if its joint has a quaternion."""
        self._floating_joint(body, "quaternion_floating").set_random_quaternion_distribution(rotation)

    def SetFreeBodyRandomRotationDistributionToUniform(self, body: RigidBody) -> None:
        """Rotations of uniform probability for a free body whose joint has a quaternion."""
        self._floating_joint(body, "quaternion_floating").set_random_quaternion_distribution_to_uniform()

    def SetFreeBodyRandomAnglesDistribution(self, body: RigidBody, angles: ArrayLike) -> None:
        """The distribution of roll, pitch, yaw of a free body, if its joint has these."""
        self._floating_joint(body, "rpy_floating").set_random_angles_distribution(angles)

    def _floating_joint(self, body: RigidBody, kind: str | None = None) -> Any:
        self._require_own(body, "random distribution")
        joint = body.required_free_joint()
        if kind not in (None, joint.type_name()):
            raise RuntimeError(f"body '{body.name()}' has a joint of type {joint.type_name()}, not {kind}")
        return joint

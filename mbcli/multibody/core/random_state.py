"""Random states of a plant, drawn joint by joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.coordinates import moving_joints, num_positions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.rotation_matrix import RotationMatrix
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.rigid_body import RigidBody


def SetRandomContext(plant: PlantData, context: Context, generator: np.random.Generator) -> None:
    """Draws the positions of every joint from its distribution; velocities become 0.

    A joint without a distribution takes its default positions. Joints draw in the order of their indices, so the
    seed of the generator decides everything. Nothing changes if a distribution fails.

    Args:
      context: of this plant; its q (nq,) [rad or m] and v (nv,) [rad/s or m/s] change.
      generator: as numpy.random.default_rng(seed).

    Raises:
      RuntimeError: the context is another plant's.
      TypeError: another kind of generator.

    Example:
      >>> plant.SetRandomContext(context, np.random.default_rng(0))
      >>> plant.GetPositionsAndVelocities(context)
      array([0., 0., 0., 0.])
    """
    plant.check_context(context)
    if not isinstance(generator, np.random.Generator):
        raise TypeError(f"expected a numpy.random.Generator, as numpy.random.default_rng(seed), not {generator!r}")
    q = np.zeros(num_positions(plant))
    for joint in moving_joints(plant):
        start = joint.position_start()
        q[start : start + joint.num_positions()] = joint.draw_positions(generator)
    state = context.state
    state.set_q(q)
    state.set_v(0.0)


def SetRandomState(
    plant: PlantData, context: Context, *arguments: Any, state: Any = None, generator: np.random.Generator | None = None
) -> None:
    """SetRandomState(context, generator), or with the state of that context in between: as SetRandomContext()."""
    given: list[Any] = [*arguments]
    if generator is None and given:
        generator = given.pop()
    if len(given) + (state is not None) > 1:
        raise TypeError("SetRandomState takes a context, its state, and a generator")
    SetRandomContext(plant, context, generator)  # type: ignore[arg-type]  # refused there if it is missing


def SetFreeBodyRandomTranslationDistribution(plant: PlantData, body: RigidBody, translation: float) -> None:
    """The distribution of the position of a free body; see mbcli.multibody.tree.random_distribution."""
    _floating_joint(plant, body).set_random_translation_distribution(translation)


def SetFreeBodyRandomRotationDistribution(plant: PlantData, body: RigidBody, rotation: RotationMatrix) -> None:
    """The distribution of w, x, y, z of a free body, if its joint has a quaternion."""
    _floating_joint(plant, body, "quaternion_floating").set_random_quaternion_distribution(rotation)


def SetFreeBodyRandomRotationDistributionToUniform(plant: PlantData, body: RigidBody) -> None:
    """Rotations of uniform probability for a free body whose joint has a quaternion."""
    _floating_joint(plant, body, "quaternion_floating").set_random_quaternion_distribution_to_uniform()


def SetFreeBodyRandomAnglesDistribution(plant: PlantData, body: RigidBody, angles: ArrayLike) -> None:
    """The distribution (3,) [rad] of roll, pitch, yaw of a free body, if its joint has these."""
    _floating_joint(plant, body, "rpy_floating").set_random_angles_distribution(angles)


def _floating_joint(plant: PlantData, body: RigidBody, kind: str | None = None) -> Any:
    plant.require_own(body, "random distribution")
    joint = body.required_free_joint()
    if kind not in (None, joint.type_name()):
        raise RuntimeError(f"body '{body.name()}' has a joint of type {joint.type_name()}, not {kind}")
    return joint

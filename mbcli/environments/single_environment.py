"""Environment: one world with the interface of gymnasium.Env."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.environments.vector_environment import VectorEnvironment
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import TypeAlias

    from gymnasium import Env

    from mbcli.math.array_types import Array, Vector

    Base: TypeAlias = Env[Vector, Vector]
else:
    Base = import_extra("gymnasium", "gymnasium", "mbcli.environments").Env


class Environment(Base):
    """A VectorEnvironment of one world, for code that takes single environments.

    Observations are (k,) and actions (m,) floats; an episode that has ended goes on by reset() alone.

    Args:
        model, task: as of VectorEnvironment.
        options: further arguments of VectorEnvironment, but for `autoreset`.

    Attributes:
        many: the VectorEnvironment.

    Raises: as VectorEnvironment.
    """

    def __init__(self, model: Any, task: Any, **options: Any) -> None:
        if "autoreset" in options:
            raise ArgumentError("autoreset is of vector environments: reset() begins the next episode here")
        self.many = VectorEnvironment(model, 1, task, autoreset="disabled", **options)
        self.metadata = {key: value for key, value in self.many.metadata.items() if key != "autoreset_mode"}
        self.render_mode = self.many.render_mode
        self.observation_space = self.many.single_observation_space
        self.action_space = self.many.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Vector, dict[str, Any]]:
        """The observation (k,) at the start of an episode, and an empty info.

        Args:
            seed: from which the start is drawn; None: the next one.
            options: "q" (nq,) and "v" (nv,), where it begins; default: what the task draws.
        """
        super().reset(seed=seed)
        observations, info = self.many.reset(seed=seed, options=options)
        return observations[0], info

    def step(self, action: Vector) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """The action (m,) for a period: observation, reward, whether terminated, whether truncated, info.

        info: {"failure": why the world could not go on}, if it could not. ArgumentError after the end of an episode.
        """
        try:
            observations, rewards, terminated, truncated, info = self.many.step(np.asarray(action)[None])
        except ArgumentError as error:
            if "has ended" in str(error):
                raise ArgumentError("the episode has ended: reset() begins another") from None
            raise
        told = {"failure": info["failure"][0]} if "failure" in info else {}
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), told

    def render(self) -> Array | None:
        """With render_mode="rgb_array" the picture (height, width, 3) of bytes of where the world is."""
        pictures = self.many.render()
        return None if pictures is None else pictures[0]

    def close(self) -> None:
        """Nothing stays open."""
        self.many.close()


def make_environment(
    task: str | os.PathLike[str] | Mapping[str, Any], *, model: Any = None, **options: Any
) -> Environment:
    """The Environment of a task file that names its model.

    Args:
        task: a task file (YAML), or a mapping with its keys.
        model: in place of that of the file.
        options: further arguments of Environment.

    Returns:
        An Environment of Gymnasium, of one world: observations (k,), actions (m,) [unit of each term].

    Raises:
        ModelError, ResourceError: of the task or its model.

    Example:
      >>> from mbcli.environments import make_environment
      >>> observation, info = make_environment("docs/examples/balance.task.yaml").reset(seed=0)
      >>> observation.shape
      (5,)
    """
    return Environment(model, task, **options)

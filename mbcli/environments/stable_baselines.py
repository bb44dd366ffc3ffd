"""Worlds with the interface of Stable-Baselines3's VecEnv, and its policies as files (extra `sb3`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from mbcli.environments.vector_environment import VectorEnvironment
    from mbcli.math.array_types import Array, BoolArray, FloatArray, Matrix, Vector

    Base: TypeAlias = Any
else:
    Base = import_extra("stable_baselines3.common.vec_env", "sb3", "mbcli.environments.stable_baselines").VecEnv


class StableBaselinesEnvironments(Base):
    """Many worlds for the algorithms of Stable-Baselines3, as `PPO("MlpPolicy", StableBaselinesEnvironments(many))`.

    Args:
        many: a VectorEnvironment whose `autoreset` is "same_step", as here the step that ends an episode begins the
            next one; infos have "terminal_observation" and "TimeLimit.truncated" of such steps.

    Raises:
        ArgumentError: `autoreset` is another.
    """

    def __init__(self, many: VectorEnvironment) -> None:
        if many.metadata["autoreset_mode"].name != "SAME_STEP":
            raise ArgumentError('Stable-Baselines3 takes environments with autoreset="same_step"')
        self.many = many
        self._actions: FloatArray = np.zeros((many.num_envs, *(many.single_action_space.shape or ())))
        super().__init__(many.num_envs, many.single_observation_space, many.single_action_space)

    def reset(self) -> Matrix:
        """Observations (n, k) of new episodes, whose seed is that of seed(), if it was called."""
        observations, _ = self.many.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: FloatArray) -> None:
        """Takes the actions (n, m) of step_wait()."""
        self._actions = actions

    def step_wait(self) -> tuple[Matrix, Vector, BoolArray, list[dict[str, Any]]]:
        """Observations (n, k), rewards (n,), whether an episode has ended (n,), infos."""
        observations, rewards, terminated, truncated, told = self.many.step(self._actions)
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": bool(late)} for late in truncated]
        for k in np.flatnonzero(terminated | truncated):
            infos[k]["terminal_observation"] = told["final_obs"][k]
            if "failure" in told and told["failure"][k] is not None:
                infos[k]["failure"] = told["failure"][k]
        return observations, rewards, terminated | truncated, infos

    def get_images(self) -> Sequence[Array | None]:
        """Pictures of the worlds, as of VectorEnvironment.render()."""
        return self.many.render() or [None] * self.num_envs

    def close(self) -> None:
        """Nothing stays open."""
        self.many.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the VectorEnvironment, once for each world."""
        return [getattr(self.many, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute of the VectorEnvironment. ArgumentError: of some worlds only."""
        self._require_all(indices)
        setattr(self.many, attr_name, value)

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **named: Any) -> list[Any]:
        """Calls a method of the VectorEnvironment once; its answer stands there for each world."""
        self._require_all(indices)
        return [getattr(self.many, method_name)(*arguments, **named)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No world has a wrapper of its own."""
        return [False] * len(list(self._get_indices(indices)))

    def _require_all(self, indices: Any) -> None:
        if indices is not None and len(list(self._get_indices(indices))) != self.num_envs:
            raise ArgumentError("all worlds are one VectorEnvironment: attributes and methods are of all of them")


def export_policy(model: Any, path: str | os.PathLike[str], normalizer: Any = None) -> None:
    """Writes the policy of a model of Stable-Baselines3 as a file that runs take, without the noise of exploration.

    It takes observations (n, k) and gives actions (n, m), clipped to the action space.

    Args:
        model: PPO, A2C, SAC, TD3 or another of these kinds.
        path: of an ONNX file (packages onnx and onnxscript), or with the suffix .pt of TorchScript.
        normalizer: a VecNormalize whose normalisation of observations becomes a part of the policy.

    ArgumentError: another suffix.
    """
    torch: Any = import_extra("torch", "sb3", "export_policy()")
    from mbcli.simulation.control.choices import TORCHSCRIPT

    class Exported(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.policy = model.policy.to("cpu").eval()
            width = model.observation_space.shape[0]
            mean, scale, most = np.zeros(width), np.ones(width), np.inf
            if normalizer is not None and normalizer.norm_obs:
                seen = normalizer.obs_rms
                mean, scale, most = seen.mean, 1.0 / np.sqrt(seen.var + normalizer.epsilon), normalizer.clip_obs
            self.most = most
            bounds = model.action_space.low, model.action_space.high
            for name, values in zip(("mean", "scale", "low", "high"), (mean, scale, *bounds), strict=True):
                self.register_buffer(name, torch.as_tensor(values, dtype=torch.float32))

        def forward(self, observation: Any) -> Any:
            seen = torch.clamp((observation - self.mean) * self.scale, -self.most, self.most)
            found = self.policy(seen, deterministic=True)
            actions = found[0] if isinstance(found, tuple) else found
            if getattr(self.policy, "squash_output", False):
                actions = self.low + 0.5 * (actions + 1.0) * (self.high - self.low)
            return torch.clamp(actions, self.low, self.high)

    torch.distributions.Distribution.set_default_validate_args(False)  # no branches on numbers
    exported, example = Exported().eval(), torch.zeros(2, model.observation_space.shape[0])
    if Path(path).suffix in TORCHSCRIPT:
        torch.jit.trace(exported, example).save(os.fspath(path))
        return
    torch.onnx.export(
        exported,
        (example,),
        os.fspath(path),
        input_names=["observation"],
        output_names=["action"],
        dynamic_shapes=({0: torch.export.Dim("worlds")},),
        external_data=False,
        dynamo=True,
    )

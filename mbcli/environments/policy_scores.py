"""What policies get in episodes of a task: returns, lengths, and by how much two of them differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.environments.policy import Policy
from mbcli.environments.vector_environment import VectorEnvironment
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import BoolArray, IntArray, Vector

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """The mean of a sample, and where that of all lies: low and high of its 95 % interval by Student's t, equal to it
    where the sample has one value."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class PolicyScore:
    """What a policy got.

    Attributes:
        policy: its name.
        returns: (n,) the sum of rewards of each episode.
        lengths: (n,) periods of each.
        terminated: (n,) whether the task or a failure ended it, and not the time limit.
    """

    policy: str
    returns: Vector
    lengths: IntArray
    terminated: BoolArray

    def as_dict(self) -> dict[str, Any]:
        """As the JSON document of `compare` has it."""
        found: dict[str, Any] = {"policy": self.policy}
        for name, values in (("return", self.returns), ("length", self.lengths.astype(float))):
            found[name] = asdict(mean_of(values)) | {"deviation": _deviation(values)}
        return found | {"terminated": int(self.terminated.sum()), "returns": self.returns, "lengths": self.lengths}


def scores(
    networks: Sequence[Any], task: Any, episodes: int, *, model: Any = None, seed: int = 0, threads: int | None = None
) -> list[PolicyScore]:
    """What each of some policies gets in the same episodes: starts, parameters, noise and commands are as drawn.

    Args:
        networks: files, or functions of observations (n, k) that give actions (n, m).
        task: a task file (YAML) or a mapping, with a time limit.
        episodes: how many; episode k is the first one of world k of an environment.
        model: in place of that of the file.
        seed, threads: as of VectorEnvironment.

    Raises:
        ArgumentError: the task has no time limit. ModelError: a network does not fit the task, or a file is none.
    """
    found = []
    for network in networks:
        policy = Policy(network, task)
        many = VectorEnvironment(model, episodes, policy.task, seed=seed, threads=threads, autoreset="next_step")
        if not np.isfinite(many.periods_to_limit):
            raise ArgumentError(
                f"{getattr(policy.task, 'name', 'task')}: episodes end by a time limit: key time_limit of the task"
            )
        spaces = many.single_observation_space, many.single_action_space
        policy.refuse_misfit(*((space.shape or (0,))[0] for space in spaces))
        many.worlds.learns = False
        found.append(_score(policy, many, seed))
    return found


def _score(policy: Policy, many: VectorEnvironment, seed: int) -> PolicyScore:
    count = many.num_envs
    returns, lengths = np.zeros(count), np.zeros(count, dtype=np.int64)
    runs, terminated = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    observations, _ = many.reset(seed=seed)
    while runs.any():
        observations, rewards, ended, truncated, _ = many.step(policy.actions(observations))
        returns[runs] += rewards[runs]
        lengths[runs] += 1
        terminated |= runs & ended
        runs &= ~(ended | truncated)  # who has ended goes on with an episode that does not count
    return PolicyScore(policy.name, returns, lengths, terminated)


def difference(one: PolicyScore, other: PolicyScore) -> Mean:
    """By how much the returns of one are larger than those of another, in the same episodes."""
    return mean_of(one.returns - other.returns)


def mean_of(values: Vector) -> Mean:
    """The Mean of numbers (n,)."""
    from scipy.special import stdtrit  # late: 40 ms

    count, mean = len(values), float(np.mean(values))
    half = float(stdtrit(count - 1, 0.5 + 0.5 * CONFIDENCE) * _deviation(values) / np.sqrt(count)) if count > 1 else 0.0
    return Mean(mean, mean - half, mean + half)


def _deviation(values: Vector) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

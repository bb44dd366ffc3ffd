"""What keys do that all observations, commands or actions may have: scale, noise, delay, strength, grow and others.

EXTRA has them for each section of a task file: {key: (kind of term_kinds.py, whether it must be there)}. What they draw
follows from the seed, the world, its episode and the label of the term; noise from the period too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.environments.term_registry import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.math.array_types import Array, FloatArray, Matrix

EXTRA: dict[str, dict[str, tuple[str, bool]]] = {
    "reward": {"weight": ("float", True)},
    "observation": {
        "scale": ("float", False),
        "noise": ("Positive", False),
        "bias": ("Positive", False),
        "delay": ("Periods", False),
        "history": ("Whole", False),
    },
    "action": {"delay": ("Periods", False), "strength": ("Range", False)},
    "command": {"grow": ("Whole", False)},
}


def modified_observation(
    call: Callable[[TaskWorlds], Matrix], label: str, extra: Mapping[str, Any]
) -> Callable[[TaskWorlds], Matrix]:
    """An observation as a policy gets it: with bias and noise, then late, with those before, then scaled."""
    scale, noise, bias = extra.get("scale", 1.0), extra.get("noise"), extra.get("bias")
    history, delay = extra.get("history", 1), extra.get("delay", (0, 0))

    def seen(worlds: TaskWorlds) -> Matrix:
        values = call(worlds)
        count, width = values.shape
        if bias is not None:
            values = values + worlds.random(f"{label} bias").uniform(-bias, bias, width)
        if noise is not None:
            values = values + worlds.random(f"{label} noise", worlds.periods).normal(noise, width)
        if delay[1] or history > 1:
            rows = worlds.kept(label, values, delay[1] + history, None)
            late = _late(worlds, label, delay)[:, np.newaxis] + np.arange(history)
            values = rows[np.arange(count)[:, np.newaxis], late].reshape(count, -1)
        return values if scale == 1.0 else scale * values

    return seen


def modified_command(call: Callable[[TaskWorlds], Matrix], extra: Mapping[str, Any]) -> Callable[[TaskWorlds], Matrix]:
    """A command that grows from episode to episode of a world, in proportion, until it is whole in the `grow`-th."""
    grow = extra.get("grow", 1)

    def asked(worlds: TaskWorlds) -> Matrix:
        if grow == 1 or not worlds.learns:
            return call(worlds)
        return np.minimum(worlds.episodes / grow, 1.0)[:, np.newaxis] * call(worlds)

    return asked


def modified_action(action: Action, label: str, extra: Mapping[str, Any]) -> Action:
    """An action as it acts: times the strength of an episode, and late; before the first of an episode stand zeros."""
    strength, delay = extra.get("strength"), extra.get("delay", (0, 0))
    if strength is None and not delay[1]:
        return action

    def apply(worlds: TaskWorlds, values: FloatArray) -> None:
        if strength is not None:
            values = values * worlds.random(f"{label} strength").uniform(strength[0], strength[1], values.shape[1])
        if delay[1]:
            rows = worlds.kept(label, values, delay[1] + 1, 0.0)
            values = rows[np.arange(len(values)), _late(worlds, label, delay)]
        action.apply(worlds, values)

    return Action(action.size, apply)


def _late(worlds: TaskWorlds, label: str, delay: tuple[int, int]) -> Array:
    """Periods (n,) of this episode, from the least to the largest delay."""
    low, high = delay
    drawn = worlds.random(f"{label} delay").uniform(low, high + 1.0, 1)[:, 0]
    return drawn.astype(np.int64)

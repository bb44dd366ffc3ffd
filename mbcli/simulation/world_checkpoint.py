"""What many worlds need to go on with, beside q and v: as arrays whose first axis is the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.simulation.world_ticks import OneByOne

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.math.array_types import Array, FloatArray
    from mbcli.simulation.worlds import Worlds

ARRAYS = ("u", "acting", "desired", "carried", "activations")  # of Worlds
TICK = "tick"


def checkpoint_of(worlds: Worlds) -> dict[str, Array]:
    """{name: (n, ...)}: steps and status of each, what controllers aim at and remember, the last tick of actors.

    An actor that is called world by world has its own names below `actor_K/`.
    """
    n = len(worlds)
    saved: dict[str, Array] = {name: getattr(worlds, name).copy() for name in ARRAYS}
    saved |= {"steps": worlds.steps.copy(), "status": worlds.status.copy()}
    for number, ticks in enumerate(worlds.ticks_of_actors):
        saved[f"actor_{number}/{TICK}"] = np.full(n, ticks.last)
        if isinstance(ticks.controller, OneByOne):
            saved |= {f"actor_{number}/{name}": values for name, values in ticks.controller.save().items()}
    return saved


def go_on(worlds: Worlds, q: FloatArray, v: FloatArray, saved: Mapping[str, Array], messages: Sequence[str]) -> None:
    """Puts worlds, which are at their starts, to where saved ones have come.

    q, v: (n, ...) there, of worlds that stopped anything. messages: why these did, "" of others. ValueError or KeyError
    for what is not saved of these worlds.
    """
    n = len(worlds)
    steps, status = (_numbers(saved, name, (n,)).astype(np.int64) for name in ("steps", "status"))
    stopped = np.array([bool(message) for message in messages])
    if ((status != 0) != stopped).any() or (steps < 0).any():
        raise ValueError("status")
    for number, ticks in enumerate(worlds.ticks_of_actors):
        own = {name.removeprefix(f"actor_{number}/"): values for name, values in saved.items()}
        last = int(_numbers(own, TICK, (n,))[0])
        if isinstance(ticks.controller, OneByOne):
            ticks.controller.load(own)
        ticks.go_on(int(steps.max(initial=0)))
        ticks.last = last
    for name in ARRAYS:
        values: Any = getattr(worlds, name)
        values[:] = _numbers(saved, name, values.shape)
    runs = ~stopped
    if not np.isfinite(q[runs]).all() or not np.isfinite(v[runs]).all():
        raise ValueError("the last row is not finite")
    worlds.q[runs], worlds.v[runs] = q[runs], v[runs]
    worlds.steps[:], worlds.status[:] = steps, status
    worlds.tell_failures({k: message for k, message in enumerate(messages) if message})


def _numbers(saved: Mapping[str, Array], name: str, shape: tuple[int, ...]) -> Array:
    values = saved[name]
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(name)
    return values

"""NextSteps: the next step of each of many worlds, which is not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine.stepping.loop import RUNNING
from mbcli.simulation.world_balances import NO_BALANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.math.array_types import Array, FloatArray

NOTHING_KEPT: dict[str, Array] = {
    "world_effort": np.empty((0, 0)),
    "world_places": np.empty((0, 2, 0)),
    "world_wrench": np.empty((0, 0, 6)),
}
CHANGED = ("world_q", "world_v", "world_carried", "world_activation", "world_status")  # by a step


class NextSteps:
    """Arrays in which the next step of worlds is tried, again and again.

    Args:
        arrays: of the worlds, by names of WORLD_FIELDS, whose numbers change in place.
        advance: takes the steps of such arrays.

    Attributes:
        began: (n,) number of the step that comes next in each world, for its time.
    """

    def __init__(self, arrays: Mapping[str, Array], advance: Callable[[dict[str, Array]], object]) -> None:
        self._worlds, self._advance = dict(arrays), advance
        self.began = self._worlds["world_began"]
        self._made: dict[tuple[str, ...], dict[str, Array]] = {}

    def kept(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, FloatArray]:
        """Fields of these names and shapes as the step of each world fills them; NaN where a world has none."""
        arrays = self._made.get(tuple(shapes))
        if arrays is None:
            own = {name: self._worlds[name].copy() for name in (*CHANGED, "world_steps")}
            own["world_until"] = np.ones(len(self.began), dtype=np.int64)
            arrays = self._worlds | own | NO_BALANCE | {name: np.empty(shape) for name, shape in shapes.items()}
            self._made[tuple(shapes)] = arrays
        for name in CHANGED:
            arrays[name][:] = self._worlds[name]
        arrays["world_steps"][:] = 0
        for name in shapes:
            arrays[name].fill(np.nan)
        self._advance(arrays)
        found: dict[str, FloatArray] = {name: arrays[name].copy() for name in shapes}
        for array in found.values():
            array[arrays["world_status"] != RUNNING] = np.nan
        return found

"""The efforts of actuators over the rows of a run: the largest, the last, and for how long the limit was reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

AT_LIMIT = 1.0 - 1e-9  # of the limit: an effort that has reached it


class EffortRecord:
    """Takes rows of efforts (n, nu) one block after another.

    Args:
        plant: finalized.
    """

    def __init__(self, plant: MultibodyPlant) -> None:
        self._plant, self._limits = plant, plant.GetEffortUpperLimits()
        self._most, self._last, self._time_at_limit = np.zeros((3, len(self._limits)))
        self._end: float | None = None  # [s] of the last row

    def see(self, time: FloatArray, efforts: FloatArray) -> None:
        """Takes the rows of a block; NaN where a run does not know them."""
        if not self._most.size or not np.isfinite(efforts).all():
            return
        row = np.abs(efforts).argmax(axis=0)
        largest = efforts[row, np.arange(efforts.shape[1])]
        self._most = np.where(np.abs(largest) > np.abs(self._most), largest, self._most)
        self._time_at_limit += np.diff(time) @ self._reached(efforts[:-1])
        if self._end is not None:  # the row before lasts until here
            self._time_at_limit += (time[0] - self._end) * self._reached(self._last)
        self._last, self._end = efforts[-1].copy(), float(time[-1])

    def _reached(self, efforts: FloatArray) -> BoolArray:
        return np.abs(efforts) >= AT_LIMIT * self._limits

    def of(self, names: list[str]) -> list[dict[str, Any]]:
        """For each of these actuators: most, last and limit [N m or N], time_at_limit [s]."""
        if not names or self._end is None:
            return []
        actuators = sorted((a.input_start(), a.name()) for a in self._plant.elements.actuators if a.name() in names)
        limits = self._limits
        return [
            {
                "actuator": name,
                "most": float(self._most[k]),
                "last": float(self._last[k]),
                "limit": float(limits[k]) if np.isfinite(limits[k]) else None,
                "time_at_limit": float(self._time_at_limit[k]),
            }
            for k, name in actuators
        ]

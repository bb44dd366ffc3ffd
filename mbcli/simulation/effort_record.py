"""The efforts of actuators over the rows of a run: the largest, the last, and for how long the limit was reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

AT_LIMIT = 1.0 - 1e-9  # of the limit: an effort that has reached it


class EffortRecord:
    """Takes rows of efforts (n, nu) one block after another.

    Args:
        size: number of actuators.
    """

    def __init__(self, size: int) -> None:
        self._most, self._last = np.zeros(size), np.zeros(size)
        self._times: list[FloatArray] = []
        self._sizes: list[FloatArray] = []

    def see(self, time: FloatArray, efforts: FloatArray) -> None:
        """Takes the rows of a block; NaN where a run does not know them."""
        if not self._most.size or not np.isfinite(efforts).all():
            return
        row = np.abs(efforts).argmax(axis=0)
        largest = efforts[row, np.arange(efforts.shape[1])]
        self._most = np.where(np.abs(largest) > np.abs(self._most), largest, self._most)
        self._last = efforts[-1].copy()
        self._times.append(time)
        self._sizes.append(np.abs(efforts))

    def of(self, plant: MultibodyPlant, names: list[str]) -> list[dict[str, Any]]:
        """For each of these actuators: most, last and limit [N m or N], time_at_limit [s]."""
        if not names or not self._times:
            return []
        times, limits = np.concatenate(self._times), plant.GetEffortUpperLimits()
        actuators = sorted((a.input_start(), a.name()) for a in plant.elements.actuators if a.name() in names)
        lasts = np.diff(times, append=times[-1])
        reached = np.concatenate(self._sizes) >= AT_LIMIT * limits
        return [
            {
                "actuator": name,
                "most": float(self._most[k]),
                "last": float(self._last[k]),
                "limit": float(limits[k]) if np.isfinite(limits[k]) else None,
                "time_at_limit": float(lasts @ reached[:, k]),
            }
            for k, name in actuators
        ]

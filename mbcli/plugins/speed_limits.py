"""Limits of the velocities that vehicles are asked for, of their changes and of the changes of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.file_settings import Number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.math.array_types import FloatArray

LIMITS = {
    f"{end}_{of}": Number(f"{end}_{of}", None) for of in ("velocity", "acceleration", "jerk") for end in ("min", "max")
}
"""SETTINGS of limits of all velocities."""


def limits_of_each(kinds: Iterable[str]) -> dict[str, Number]:
    """SETTINGS of limits of one kind of velocity: those of "linear" are min_linear_velocity and likewise."""
    names = [name.replace("_", f"_{kind}_") for kind in kinds for name in LIMITS]
    return {name: Number(name, None) for name in names}


class SpeedLimits(NamedTuple):
    """Least and greatest velocity, acceleration and jerk."""

    low: float = -np.inf
    high: float = np.inf
    slowest: float = -np.inf
    fastest: float = np.inf
    least_jerk: float = -np.inf
    most_jerk: float = np.inf

    @classmethod
    def of(cls, settings: dict[str, Any], kind: str) -> SpeedLimits:
        """Those of its kind in the settings, else those of all, else none."""
        stated = [(settings.get(name.replace("_", f"_{kind}_")), settings[name]) for name in LIMITS]
        values = [either if own is None else own for own, either in stated]
        return cls(*(without if value is None else value for value, without in zip(values, cls(), strict=True)))

    def next(self, memory: FloatArray, asked: float, period: float) -> None:
        """What follows after a period [s] if a velocity is asked for. memory: (2,) the last two, which it moves on.

        The limits act in this order (gz-math, SpeedLimiter): jerk, acceleration, velocity.
        """
        last, goes_on, squared = memory[0], 2.0 * memory[0] - memory[1], period * period
        asked = min(max(asked, goes_on + self.least_jerk * squared), goes_on + self.most_jerk * squared)
        asked = min(max(asked, last + self.slowest * period), last + self.fastest * period)
        memory[:] = min(max(asked, self.low), self.high), last

"""Limits of the velocities that vehicles are asked for: how fast, and how fast they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.file_settings import Number

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMITS = {name: Number(name, None) for name in ("min_velocity", "max_velocity", "min_acceleration", "max_acceleration")}
"""SETTINGS of limits of all velocities."""


def limits_of_each(kinds: Iterable[str]) -> dict[str, Number]:
    """SETTINGS of limits of one kind of velocity: those of "linear" are min_linear_velocity and likewise."""
    names = [name.replace("_", f"_{kind}_") for kind in kinds for name in LIMITS]
    return {name: Number(name, None) for name in names}


class SpeedLimits(NamedTuple):
    """Least and greatest velocity and acceleration."""

    low: float = -np.inf
    high: float = np.inf
    slowest: float = -np.inf
    fastest: float = np.inf

    @classmethod
    def of(cls, settings: dict[str, Any], kind: str) -> SpeedLimits:
        """Those of its kind in the settings, else those of all, else none."""
        stated = [(settings.get(name.replace("_", f"_{kind}_")), settings[name]) for name in LIMITS]
        values = [either if own is None else own for own, either in stated]
        return cls(*(without if value is None else value for value, without in zip(values, cls(), strict=True)))

    def next(self, now: float, asked: float, period: float) -> float:
        """What follows `now` after a period [s] if a velocity is asked for."""
        change = min(max(asked, self.low), self.high) - now
        return now + min(max(change, self.slowest * period), self.fastest * period)

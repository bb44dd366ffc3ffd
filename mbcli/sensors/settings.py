"""What the settings of sensors are read from: numbers, words and noises, as SDF_SETTINGS declares them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Number(NamedTuple):
    """A number; default where the file states none; kind: "real", "unsigned" or "count" (an integer of 1 or more)."""

    setting: str
    default: float
    kind: str = "real"

    def problem(self, value: float) -> str:
        """Why a value cannot be; "" if it can."""
        if self.kind == "count":
            return "" if value >= 1 and float(value).is_integer() else "must be an integer of 1 or more"
        if self.kind == "unsigned":
            return "" if value >= 0 else "must not be negative"
        return ""


class Word(NamedTuple):
    """One of some words, the first of which is the default."""

    setting: str
    words: tuple[str, ...]


class Vector(NamedTuple):
    """Three numbers."""

    setting: str
    default: tuple[float, float, float]


class Noise(NamedTuple):
    """A <noise> in it acts on these columns of the sensor; () all."""

    columns: tuple[int, ...] = ()


class NoiseSettings(NamedTuple):
    """Noise on columns of a sensor: gaussian of a mean and deviation, a bias that is drawn once, and one that drifts.

    columns: numbers of columns, () for all. precision: to whose multiples values are rounded, 0 for none. drift_stddev,
    drift_time [s]: of the bias that wanders as an Ornstein-Uhlenbeck process.
    """

    columns: tuple[int, ...] = ()
    mean: float = 0.0
    stddev: float = 0.0
    bias_mean: float = 0.0
    bias_stddev: float = 0.0
    precision: float = 0.0
    drift_stddev: float = 0.0
    drift_time: float = 0.0

    def acts(self) -> bool:
        """Whether it changes anything."""
        return any(self[1:7])


def no_problem(settings: dict[str, Any]) -> str:
    """Every value that the readers let pass makes sense."""
    return ""

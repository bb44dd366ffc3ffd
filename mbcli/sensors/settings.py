"""What sensors read from files beside numbers and words, as SDF_SETTINGS declares it: noises."""

from __future__ import annotations

from typing import NamedTuple


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


class SignalSettings(NamedTuple):
    """When values of a sensor arrive, and what becomes of them on the way.

    rate: [Hz] of its updates; 0: at every row. delay: [s] after which a value arrives. cutoff: beyond which values are
    cut, 0 for none. noise: what is added.
    """

    rate: float = 0.0
    delay: float = 0.0
    cutoff: float = 0.0
    noise: tuple[NoiseSettings, ...] = ()


EXACT = SignalSettings()

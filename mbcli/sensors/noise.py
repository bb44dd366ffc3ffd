"""Noise of sensors: numbers that follow from a seed, the sensor and the time alone, whatever was drawn before.

A run that is interrupted and goes on, or that is logged more often, has the same noise at the same time.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.split_mix import GOLDEN, mixed

if TYPE_CHECKING:
    from mbcli.math.array_types import Array, FloatArray
    from mbcli.sensors.settings import NoiseSettings

# what a number is drawn for
_WHITE, _BIAS, _SIGN, _DRIFT = range(4)


def uniforms(key: Any, words: Array) -> FloatArray:
    """One number in (0, 1) for each of the words (n,), by a key of 64 bits; (..., n) by keys (...,)."""
    bits = mixed(mixed(words.astype(np.uint64) + GOLDEN) + np.asarray(key, dtype=np.uint64)[..., np.newaxis])
    return ((bits >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53


def normals(key: Any, words: Array) -> FloatArray:
    """The same of a normal distribution with deviation 1, by Box and Muller."""
    keys = np.asarray(key, dtype=np.uint64)
    first, second = uniforms(np.stack([keys, keys ^ np.uint64(0x5851F42D4C957F2D)]), words)
    return np.sqrt(-2.0 * np.log(first)) * np.cos(2.0 * np.pi * second)


def words_of(time: FloatArray) -> Array:
    """A word for each time [s]: its bits."""
    return np.ascontiguousarray(time, dtype=float).view(np.uint64)


class SensorNoise:
    """The noise of a sensor in a run.

    Args:
        name: of the sensor, unique among those of the run; seed: of the run.
        settings: NoiseSettings of its columns.
        columns: how many these are.
    """

    def __init__(self, name: str, seed: int, settings: tuple[NoiseSettings, ...], columns: int) -> None:
        self._key = zlib.crc32(name.encode()) | (zlib.crc32(str(seed).encode()) << 32)
        self._of_columns: list[tuple[int, NoiseSettings]] = [
            (column, noise) for noise in settings if noise.acts() for column in (noise.columns or range(columns))
        ]
        self._biases = {column: self._bias(column, noise) for column, noise in self._of_columns}
        self._drifts = dict.fromkeys(self._biases, 0.0)
        self._columns = [column for column, _ in self._of_columns]
        self._keys = np.array([self._key_of(column, _WHITE) for column in self._columns], dtype=np.uint64)
        self._means = np.array([[noise.mean + self._biases[column]] for column, noise in self._of_columns])
        self._stddevs = np.array([[noise.stddev] for _, noise in self._of_columns])
        steps = any(noise.precision or (noise.drift_stddev and noise.drift_time) for _, noise in self._of_columns)
        self._at_once = not steps and len(set(self._columns)) == len(self._columns)
        self._last_time: float | None = None

    def _key_of(self, column: int, purpose: int) -> int:
        with np.errstate(over="ignore"):
            return int(mixed(np.uint64(self._key) + np.uint64(4 * column + purpose + 1) * GOLDEN))

    def _bias(self, column: int, noise: NoiseSettings) -> float:
        """Drawn once; as in Gazebo of either sign."""
        word = np.zeros(1, dtype=np.uint64)
        bias = noise.bias_mean + noise.bias_stddev * float(normals(self._key_of(column, _BIAS), word)[0])
        return bias if uniforms(self._key_of(column, _SIGN), word)[0] >= 0.5 else -bias

    @property
    def acts(self) -> bool:
        """Whether it changes values."""
        return bool(self._of_columns)

    def apply(self, time: FloatArray, values: FloatArray) -> FloatArray:
        """values (n, columns) of updates at times (n,), which go on from those of the last call."""
        result, words = values.copy(), words_of(time)
        added: Any = self._means
        if self._stddevs.any():
            added = added + self._stddevs * normals(self._keys, words)
        if self._at_once:
            result[:, self._columns] += added.T
        else:
            for own, (column, noise) in zip(added, self._of_columns, strict=True):
                self._add(own, column, noise, time, result)
        self._last_time = float(time[-1]) if len(time) else self._last_time
        return result

    def _add(self, added: FloatArray, column: int, noise: NoiseSettings, time: FloatArray, result: FloatArray) -> None:
        """Adds noise of a column to it, with its drift, and rounds it."""
        if noise.drift_stddev and noise.drift_time:
            added = added + self._drift(column, noise, time, words_of(time))
        result[:, column] += added
        if noise.precision:
            result[:, column] = np.round(result[:, column] / noise.precision) * noise.precision

    def save(self) -> dict[str, Any]:
        """What load() goes on from, of numbers and lists."""
        return {"drifts": list(self._drifts.values()), "time": self._last_time}

    def load(self, saved: dict[str, Any]) -> None:
        """The contrary of save()."""
        self._drifts = dict(zip(self._drifts, map(float, saved["drifts"]), strict=True))
        self._last_time = None if saved["time"] is None else float(saved["time"])

    def _drift(self, column: int, noise: NoiseSettings, time: FloatArray, words: Array) -> FloatArray:
        """An Ornstein-Uhlenbeck process, exact from one update to the next; 0 at the start."""
        before = time[0] if self._last_time is None else self._last_time
        steps = np.diff(time, prepend=before)
        keeps = np.exp(-steps / noise.drift_time)
        deviation = noise.drift_stddev * np.sqrt(-0.5 * noise.drift_time * np.expm1(-2.0 * steps / noise.drift_time))
        kicks = deviation * normals(self._key_of(column, _DRIFT), words)
        drift, found = self._drifts[column], np.empty(len(time))
        for k in range(len(time)):
            drift = found[k] = keeps[k] * drift + kicks[k]
        self._drifts[column] = drift
        return found

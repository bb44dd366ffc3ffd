"""SensorSignals: what the sensors of a plant give over time: at their rates, late and with noise as files say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.sensors.noise import SensorNoise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.math.array_types import BoolArray, FloatArray
    from mbcli.multibody.sensing.rows import SensedRows
    from mbcli.multibody.tree.sensor import Sensor

SAME_TIME = 1e-9  # of a period: an update that is due so soon takes place


class SensorSignals:
    """The signals of sensors, of rows whose times increase from one call to the next.

    Args:
        sensors: of one plant. seed: of their noise; None: they have none.
    """

    def __init__(self, sensors: list[Sensor], seed: int | None) -> None:
        self._streams = [_Stream(sensor, seed) for sensor in sensors]

    def values(self, rows: SensedRows) -> dict[str, FloatArray]:
        """{path of a sensor: its values at the rows, (n, columns), or (n,) of a sensor that gives one number}."""
        return self.of_exact(rows.time, {stream.sensor.path: stream.sensor.values(rows) for stream in self._streams})

    def of_exact(self, time: FloatArray, exact: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """As values(), of times (n,) [s] and exact values (n, columns) by path."""
        return {stream.sensor.path: stream.values(time, exact[stream.sensor.path]) for stream in self._streams}

    def pass_through(self) -> bool:
        """Whether values come as they are: no sensor has a rate, a delay or noise."""
        return not any(stream.changes() for stream in self._streams)

    def of_row(self, time: float, exact: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """{path: signal (columns,)} at the next time [s], of exact values (columns,) by path."""
        found = self.of_exact(np.array([time]), {path: values[None] for path, values in exact.items()})
        return {path: np.atleast_1d(values[0]) for path, values in found.items()}

    def late(self) -> list[Sensor]:
        """The sensors whose values arrive late: of them rows do not have what a run needs that goes on."""
        return [stream.sensor for stream in self._streams if stream.sensor.delay]

    def go_on(self, rows: Mapping[str, Any], exact: Mapping[str, FloatArray]) -> None:
        """Rows of the log that a run goes on with: "time" and the signals by their paths.

        exact: {path of each sensor of late(): its exact values (n, columns) there}.
        """
        for stream in self._streams:
            path = stream.sensor.path
            stream.go_on(np.asarray(rows["time"]), np.asarray(rows[path]), exact.get(path))

    def save(self) -> dict[str, Any]:
        """{path: what load() goes on from}, numbers and lists."""
        return {stream.sensor.path: stream.save() for stream in self._streams}

    def load(self, saved: dict[str, Any]) -> None:
        """The contrary of save(). KeyError, TypeError or ValueError for anything else."""
        for stream in self._streams:
            stream.load(saved[stream.sensor.path])


class _Stream:
    """One sensor over time."""

    def __init__(self, sensor: Sensor, seed: int | None) -> None:
        self.sensor = sensor
        columns = len(sensor.columns()[0])
        self._noise = None if seed is None else SensorNoise(sensor.path, seed, sensor.noise, columns)
        self._passes, self._is_number = not self.changes(), sensor.is_one_number()
        self._updates = -np.inf  # how many are due since time 0
        self._held = np.zeros((0, columns))  # the last value
        self._times, self._kept = np.zeros(0), np.zeros((0, columns))  # values that have not arrived

    def changes(self) -> bool:
        noisy = self._noise is not None and self._noise.acts
        return bool(self.sensor.rate or self.sensor.delay or noisy)

    def values(self, time: FloatArray, exact: FloatArray) -> FloatArray:
        """The signal (n, columns), (n,) of a sensor that gives one number, of exact values (n, columns)."""
        if self._passes:
            return exact[:, 0] if self._is_number else exact
        found = self._late(time, exact)
        if self.sensor.rate:
            due = self._due(time)
            held = np.concatenate([self._held, self._noisy(time[due], found[due])])
            found = held[np.cumsum(due) - 1 + len(self._held)] if len(held) else held
        else:
            held = found = self._noisy(time, found)
        self._held = held[-1:] if len(held) else self._held
        return found[:, 0] if self._is_number else found

    def _noisy(self, time: FloatArray, values: FloatArray) -> FloatArray:
        return self._noise.apply(time, values) if self._noise is not None and self._noise.acts else values

    def _due(self, time: FloatArray) -> BoolArray:
        """Whether the sensor has a new value in a row: at the first one at or after each multiple of its period."""
        if not self.sensor.rate:
            return np.ones(len(time), dtype=bool)
        count = np.floor(time * self.sensor.rate + SAME_TIME)
        due = np.diff(count, prepend=self._updates) > 0.0
        self._updates = count[-1] if len(count) else self._updates
        return due

    def _late(self, time: FloatArray, values: FloatArray) -> FloatArray:
        """The values of the last row that is at least the delay old; before there is one, those of the first."""
        if not self.sensor.delay or not len(time):
            return values
        self._times, self._kept = np.concatenate([self._times, time]), np.concatenate([self._kept, values])
        wanted = time - self.sensor.delay
        place = np.searchsorted(self._times, wanted + SAME_TIME * self.sensor.delay, side="right") - 1
        found = self._kept[np.maximum(place, 0)]
        first = max(int(place[-1]), 0)
        self._times, self._kept = self._times[first:], self._kept[first:]
        return found

    def go_on(self, time: FloatArray, values: FloatArray, exact: FloatArray | None) -> None:
        """As values(), of rows whose signals are known; exact: what was measured there, of a late sensor."""
        if exact is not None:
            self._late(time, exact)
        due = self._due(time)
        values = values.reshape(len(time), -1)
        if self._noise is not None and self._noise.acts and due.any():
            self._noise.apply(time[due], values[due])  # its drift goes on
        self._held = values[-1:] if len(values) else self._held

    def save(self) -> dict[str, Any]:
        noise = None if self._noise is None else self._noise.save()
        late = {"times": self._times.tolist(), "kept": self._kept.tolist()}
        return {"updates": float(self._updates), "held": self._held.tolist(), "noise": noise} | late

    def load(self, saved: dict[str, Any]) -> None:
        shape = -1, self._held.shape[1]
        self._updates, self._times = float(saved["updates"]), np.array(saved["times"], dtype=float)
        self._held = np.array(saved["held"], dtype=float).reshape(shape)
        self._kept = np.array(saved["kept"], dtype=float).reshape(shape)
        if self._noise is not None and saved["noise"] is not None:
            self._noise.load(saved["noise"])

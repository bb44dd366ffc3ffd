"""Which of many worlds gained energy, though nothing drives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.number_text import counted
from mbcli.engine.queries.state_batch import covers
from mbcli.multibody.contact.point_contact import contacts_of_state
from mbcli.multibody.core.energy import energies
from mbcli.multibody.plant.batch_functions import BatchFunctions
from mbcli.multibody.stepping.compliance_energy import compliance_energies
from mbcli.simulation.energy_gain import ROUNDING, SEEN, Gain, beyond_limits, gain_in_words, largest_turn, step_error

if TYPE_CHECKING:
    from mbcli.math.array_types import Array, FloatArray, Matrix, Vector
    from mbcli.simulation.worlds import Worlds

MOST_ROWS = 64  # of a world that are looked at, beside the last


class WorldGains:
    """Looks at some rows of worlds that nothing drives.

    Args:
        worlds: at their starts.
        rows: how many there will be of each.
    """

    def __init__(self, worlds: Worlds, rows: int) -> None:
        self._plant, self._context = worlds.plant, worlds.plant.CreateDefaultContext()
        self._batch = BatchFunctions(self._plant, self._context) if covers(self._plant.model) else None
        self._starts = worlds.q.copy(), worlds.v.copy()
        self._every, self._last, self._seen = max(1, -(-rows // MOST_ROWS)), rows - 1, 0
        T, V = self._energies(*self._starts).T
        n = len(worlds)
        self._start, self._potential, self._time = T + V, V, np.full(n, float(worlds.time[0]))
        self._kinetic, self._largest, self._power, self._rise = T.copy(), np.abs(V), np.zeros(n), np.zeros(n)
        self._rise_time, self._since = self._time.copy(), np.full(n, np.nan)
        self._fastest = np.abs(self._starts[1])

    def see(self, samples: Array, times: Vector) -> None:
        """[q; v] (n, rows, ...) at times (rows,) [s]; rows of worlds that stopped are not finite."""
        for k in range(samples.shape[1]):
            if (self._seen + k) % self._every == 0 or self._seen + k == self._last:
                self._see_row(samples[:, k], float(times[k]))
        self._seen += samples.shape[1]

    def _see_row(self, row: FloatArray, time: float) -> None:
        running = np.isfinite(row).all(axis=1)
        nq = self._plant.num_positions()
        T, V = self._energies(row[running, :nq], row[running, nq:]).T
        since = np.where(time > self._time[running], time - self._time[running], np.inf)
        power = np.abs(V - self._potential[running]) / since
        for most, found in (
            (self._kinetic, T),
            (self._largest, np.abs(V)),
            (self._power, power),
        ):
            most[running] = np.maximum(most[running], found)
        rising = running & np.isnan(self._since)
        self._fastest[rising] = np.maximum(self._fastest[rising], np.abs(row[rising, nq:]))
        self._potential[running], self._time[running] = V, time
        change = np.zeros(len(row))
        change[running] = T + V - self._start[running]
        higher = change > self._rise
        self._rise[higher], self._rise_time[higher] = change[higher], time
        self._since[(change > self._explained()) & np.isnan(self._since)] = time

    def _energies(self, q: Matrix, v: Matrix) -> Matrix:
        """(n, 2) [J] of states, kinetic and potential."""
        if self._batch is not None:
            return self._batch.energies(q, v)
        found = np.empty((len(q), 2))
        for k in range(len(q)):
            self._plant.SetPositions(self._context, q[k])
            self._plant.SetVelocities(self._context, v[k])
            found[k] = energies(self._plant, self._context)
        return found

    def _explained(self) -> FloatArray:
        swing = step_error(self._plant, self._power)
        return swing + SEEN * self._kinetic + ROUNDING * self._largest

    def in_words(self, advice: str) -> str | None:
        """The worlds that gained energy, and that which gained most; None if none did."""
        gained = [int(k) for k in np.flatnonzero(self._rise > self._explained()) if self._gain(int(k)) is not None]
        if not gained:
            return None
        most = max(gained, key=lambda k: float(self._rise[k]))
        gain = self._gain(most)
        assert gain is not None
        words = gain_in_words(self._plant, self._context, gain, advice)
        return f"{len(gained)} of {counted(len(self._rise), 'world')}; in world {most} {words}"

    def _gain(self, k: int) -> Gain | None:
        """That of a world, with what contact stored at its start."""
        plant, context = self._plant, self._context
        q, v = self._starts[0][k], self._starts[1][k]
        if beyond_limits(plant, q):
            return None
        stored = 0.0
        if plant.meets_contact():
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)
            stored = float(compliance_energies(contacts_of_state(plant, context)[1]).sum())
        if not self._rise[k] > stored + self._explained()[k]:
            return None
        turn = largest_turn(plant, self._fastest[k])
        rise, time, since, kinetic = (x[k] for x in (self._rise, self._rise_time, self._since, self._kinetic))
        return Gain(q, float(rise) - stored, float(time), float(since), float(kinetic), *turn)

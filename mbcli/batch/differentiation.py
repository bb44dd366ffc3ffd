"""Accelerations of recorded motion: rates of velocities or positions over time, without what is faster than a cut-off.

The values are brought to even times by cubic splines, filtered by a Butterworth low-pass of fourth order, forwards and
backwards so that nothing is delayed, and differentiated as cubic splines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbcli.batch.state_reader import StateChunk
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.math.array_types import Array

ORDER = 4
FEWEST_ROWS = 8
SHARE_OF_RATE = 0.25  # the cut-off by default, of the rows' rate: half of the highest frequency that they can hold


def default_cutoff(time: Array) -> float:
    """[Hz] of rows at these times [s]."""
    return SHARE_OF_RATE * (len(time) - 1) / float(time[-1] - time[0])


def rates(time: Array, values: Array, cutoff: float) -> tuple[Array, Array]:
    """(values without what is faster than the cut-off [Hz], their rates), each (n, k), at increasing times (n,) [s]."""
    from scipy.interpolate import CubicSpline
    from scipy.signal import butter, sosfiltfilt

    even = np.linspace(time[0], time[-1], len(time))
    at_even = CubicSpline(time, values)(even)
    rate = 1.0 / (even[1] - even[0])
    if cutoff < 0.5 * rate:
        filtered = sosfiltfilt(butter(ORDER, cutoff, fs=rate, output="sos"), at_even, axis=0, padtype="odd")
    else:
        filtered = at_even
    spline = CubicSpline(even, filtered)
    return spline(time), spline(time, 1)


def check_times(time: Array | None, source: str) -> Array:
    """The times of rows; ModelError if there are none, too few, or if they do not increase."""
    if time is None:
        raise ModelError(f"{source}: error: rates need the time of each row: a column 'time'")
    if len(time) < FEWEST_ROWS:
        raise ModelError(f"{source}: error: {len(time)} rows: rates need {FEWEST_ROWS} or more")
    steps = np.diff(time)
    if not (steps > 0.0).all():
        row = int(np.argmax(~(steps > 0.0))) + 2
        raise ModelError(f"{source}: error: row {row}: time {time[row - 1]:g} does not increase")
    return time


def with_rates(
    chunks: Iterable[StateChunk], source: str, cutoff: float | None, velocities: Callable[[Array, Array], Array]
) -> tuple[StateChunk, float]:
    """All rows as one chunk whose vdot are the rates of v; v are those of q where rows have none.

    Also the cut-off [Hz]. ModelError if the rows have no fit times.

    Args:
        velocities: (q (n, nq), their rates (n, nq)) -> v (n, nv).
    """
    parts = list(chunks)
    if not parts:
        raise ModelError(f"{source}: error: has no rows")
    time = check_times(None if parts[0].time is None else np.concatenate([c.time for c in parts]), source)
    q, v = (np.vstack([getattr(c, name) for c in parts]) for name in ("q", "v"))
    cutoff = default_cutoff(time) if cutoff is None else cutoff
    if "v" not in parts[0].given:
        v = velocities(q, rates(time, q, cutoff)[1])
    _, vdot = rates(time, v, cutoff)
    return StateChunk(q=q, v=v, vdot=vdot, tau=None, u=None, time=time, first_row=0, given=parts[0].given), cutoff


def pieces(chunk: StateChunk, rows: int = 4096) -> Iterator[StateChunk]:
    """A chunk in parts of at most so many rows."""
    for start in range(0, len(chunk), rows):
        part = slice(start, start + rows)
        yield StateChunk(
            q=chunk.q[part],
            v=chunk.v[part],
            vdot=None if chunk.vdot is None else chunk.vdot[part],
            tau=None,
            u=None,
            time=None if chunk.time is None else chunk.time[part],
            first_row=start,
        )

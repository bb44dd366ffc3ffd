"""Signals at even times, without phase and without what is faster than a cut-off that the data choose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.batch.differentiation import ORDER
from mbcli.identification.friction_signs import friction_sign, slow_speeds
from mbcli.identification.records import Record, given

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import FloatArray

GAP = 5.0  # times the usual step of time
FEWEST_SAMPLES = 40  # of a segment between gaps
SIGNAL_TO_NOISE = 4.0  # of power density: what is weaker is no motion
BANDS_AN_OCTAVE = 3  # over which power densities are averaged
RISES = 30.0  # times the least power density of positions, that more motion at higher frequencies would have
ALMOST_ALL, BEYOND = 0.999, 5.0  # of the velocities' power; times the frequency that this is below
SECONDS = 10.0  # of the stretches whose spectra are averaged
MOVES = 0.01  # [rad or m] that a joint moves, for its motion to count
QUIET_BAND = 0.7  # of half the rate: what is faster counts as noise
LOWEST, HIGHEST = 0.01, 0.25  # of the rate: bounds of a cut-off that is chosen
SAMPLES_A_PERIOD = 6.0  # of the cut-off, that are kept
EDGE = 0.5  # of a period of the cut-off, at each end, whose filtered values are not used
MOST_SAMPLES = 40_000  # in all
RUN_ARRAYS = (
    "time",
    "rows",
    "q",
    "v",
    "vdot",
    "tau",
    "raw_tau",
    "usable",
    "signs",
    "touch",
    "warmth",
)  # with one row a sample


@dataclass(frozen=True)
class Run:
    """A stretch of motion at even times, filtered.

    Attributes:
        source: name of its file. time (n,), q (n, nq), v, vdot, tau (n, nv); raw_tau: efforts before the filter.
        rows: (n,) the nearest row of the file. usable: (n, nv) whether the effort of a velocity may be used.
        rate: [1/s] of the samples. signs: (n, nv) of velocities, for friction, after the filter of the efforts; None:
        no filter. touch: (n, feet) of Feet.on(), whether unknown forces act on each; None: there are no feet.
        warmth: (n, nv) temperature of the joint of each velocity, None: not known.
    """

    source: str
    time: FloatArray
    rows: Any
    q: FloatArray
    v: FloatArray
    vdot: FloatArray
    tau: FloatArray
    raw_tau: FloatArray
    usable: Any
    rate: float
    signs: FloatArray | None = None
    touch: Any = None
    warmth: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.time)

    def signs_of(self, v: FloatArray, slow: FloatArray | None) -> FloatArray:
        """(n, nv) of its velocities v, as its efforts have them; slow (nv,): None: without a filter."""
        return friction_sign(v, slow) if self.signs is None or slow is None else self.signs

    def times(self, gains: FloatArray) -> Run:
        """With efforts (n, nv) times gains (nv,)."""
        return replace(self, tau=self.tau * gains, raw_tau=self.raw_tau * gains)

    def part(self, samples: Any) -> Run:
        """Some of the samples alone."""
        there = [name for name in RUN_ARRAYS if getattr(self, name) is not None]
        arrays: dict[str, Any] = {name: getattr(self, name)[samples] for name in there}
        return replace(self, **arrays)

    def thinned(self, cutoff: float | None, most: int = MOST_SAMPLES) -> Run:
        """One of several samples: as many as a signal below the cut-off [Hz] needs, and at most so many."""
        step = max(1, -(-len(self) // most))
        if cutoff is not None:
            step = max(step, int(self.rate / (SAMPLES_A_PERIOD * cutoff)))
        return replace(self.part(slice(None, None, step)), rate=self.rate / step)


def segments(record: Record) -> list[slice]:
    """The stretches of a record between gaps in time."""
    steps = np.diff(record.time)
    ends = [0, *(np.flatnonzero(steps > GAP * np.median(steps)) + 1).tolist(), len(record.time)]
    return [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def sample_rate(record: Record) -> float:
    """[1/s], of the usual step."""
    return 1.0 / float(np.median(np.diff(record.time)))


def choose_cutoff(records: list[Record]) -> float:
    """[Hz]: five times the frequency that nearly all power of the velocities is below.

    Of the fastest joint and record. Power counts as far as it stands out of the noise of the positions, which is taken
    to be white, as that of encoders: its level is read at high frequencies, where nothing moves. Times that are not as
    even as they say add noise at lower frequencies, too: see _end_of_motion().
    """
    from scipy.signal import welch

    rate, chosen = min(map(sample_rate, records)), 0.0
    for record in records:
        own = sample_rate(record)
        even, length = even_times(record, own), max(int(SECONDS * own), FEWEST_SAMPLES)
        for k in np.flatnonzero(given(record.q)):
            values = np.interp(even, record.time, record.q[:, k])
            if np.ptp(values) < MOVES:
                continue
            frequency, power = welch(values, own, nperseg=min(len(values), length), detrend="linear")
            quiet = power[frequency > QUIET_BAND * 0.5 * own]
            noise = float(np.median(quiet)) if len(quiet) else 0.0
            moves = (power > SIGNAL_TO_NOISE * noise) & (frequency < _end_of_motion(frequency, power))
            power = np.where(moves, power, 0.0)[frequency < HIGHEST * own]
            sums = np.cumsum(frequency[: len(power)] ** 2 * power)
            if len(sums) and sums[-1] > 0.0:
                chosen = max(chosen, BEYOND * float(frequency[int(np.searchsorted(sums, ALMOST_ALL * sums[-1]))]))
    return float(np.clip(chosen or HIGHEST * rate, LOWEST * rate, HIGHEST * rate))


def _end_of_motion(frequency: FloatArray, power: FloatArray) -> float:
    """[Hz] where the power of velocities is least, if that of positions does not rise again above; else infinite."""
    count = max(1, int(BANDS_AN_OCTAVE * np.log2(len(frequency))))
    # the last band has all to half the rate: the power of that frequency alone is small by chance now and then
    starts = np.unique(np.geomspace(1.0, len(frequency) - 1, count + 1).astype(int))[:-1]
    sizes = np.diff(np.append(starts, len(frequency)))
    of_positions = np.add.reduceat(power, starts) / sizes
    of_velocities = np.add.reduceat(frequency**2 * power, starts) / sizes
    least = int(np.argmin(of_velocities))
    if of_positions[least:].max() > RISES * of_positions[least]:
        return np.inf
    return float(frequency[starts[least]])


def even_times(record: Record, rate: float) -> FloatArray:
    return np.arange(record.time[0], record.time[-1] + 1e-9, 1.0 / rate)


def velocities_of(plant: Any, context: Any) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """(q (n, nq), their rates) -> v (n, nv)."""

    def velocities(q: FloatArray, qdot: FloatArray) -> FloatArray:
        v = np.empty((len(q), plant.num_velocities()))
        for k, row in enumerate(q):
            plant.SetPositions(context, row)
            v[k] = plant.MapQDotToVelocity(context, qdot[k])
        return v

    return velocities


def joined(runs: Sequence[Run]) -> Run:
    """The samples of runs one after another, as one."""
    there = [name for name in RUN_ARRAYS if getattr(runs[0], name) is not None]
    arrays: dict[str, Any] = {name: np.concatenate([getattr(run, name) for run in runs]) for name in there}
    return replace(runs[0], **arrays)


def runs_of(record: Record, cutoff: float | None, usable: Any, velocity_of: Any) -> list[Run]:
    """The Runs of a record, with a sample for each row or so: Run.thinned() leaves those that a fit needs.

    Args:
        cutoff: [Hz]; None: rows have accelerations, which are taken as they are.
        usable: (n, nv) which efforts may be used.
        velocity_of: (q (n, nq), their rates) -> v (n, nv), where the record has no velocities.
    """
    found = []
    for span in segments(record):
        part = record.part(span)
        if len(part.time) < FEWEST_SAMPLES:
            continue
        found.append(
            _as_it_is(part, usable[span]) if cutoff is None else _filtered(part, cutoff, usable[span], velocity_of)
        )
    return found


def _as_it_is(part: Record, usable: Any) -> Run:
    rate = sample_rate(part)
    return Run(part.source, part.time, part.rows, part.q, part.v, part.vdot, part.tau, part.tau, usable, rate)


def _filtered(part: Record, cutoff: float, usable: Any, velocity_of: Any) -> Run:
    from scipy.interpolate import CubicSpline
    from scipy.signal import butter, sosfiltfilt

    rate = sample_rate(part)
    even = even_times(part, rate)

    def low_pass(values: FloatArray) -> FloatArray:
        if cutoff >= 0.5 * rate:
            return values
        return sosfiltfilt(butter(ORDER, cutoff, fs=rate, output="sos"), values, axis=0, padtype="odd")

    def resampled(values: FloatArray) -> FloatArray:
        known = given(values)
        result = np.full((len(even), values.shape[1]), np.nan)
        if known.any():
            result[:, known] = CubicSpline(part.time, values[:, known])(even)
        return result

    nearest = np.clip(np.searchsorted(part.time, even - 0.5 / rate), 0, len(part.time) - 1)
    q = resampled(part.q)
    q[:, given(q)] = low_pass(q[:, given(q)])
    v = resampled(part.v)
    known: Any = given(v)
    v[:, known] = low_pass(v[:, known])
    if not known.all():
        from_positions = velocity_of(q, CubicSpline(even, q)(even, 1))
        v[:, ~known] = from_positions[:, ~known]
    vdot = CubicSpline(even, v)(even, 1)
    raw = np.full((len(even), part.tau.shape[1]), np.nan)
    for k in np.flatnonzero(given(part.tau)):
        raw[:, k] = np.interp(even, part.time, part.tau[:, k])
    tau = raw.copy()
    tau[:, given(raw)] = low_pass(raw[:, given(raw)])
    # friction jumps where a joint turns back, and its filtered effort rises and overshoots: so does what explains it
    signs = low_pass(friction_sign(v, slow_speeds(v)))
    edge = int(EDGE * rate / cutoff)
    ok = np.stack([np.interp(even, part.time, column) > 0.99 for column in usable.T.astype(float)], axis=1)
    ok[:edge] = ok[len(ok) - edge :] = False  # a filter knows one side of these
    return Run(part.source, even, part.rows[nearest], q, v, vdot, tau, raw, ok, rate, signs)

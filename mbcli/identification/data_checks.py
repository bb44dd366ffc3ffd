"""What a record shows of itself before anything is fitted: gaps, constants, units, signs, swaps, lags, saturation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.identification.findings import Finding
from mbcli.identification.records import Record, given
from mbcli.identification.signals import GAP, MOVES, even_times, sample_rate

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

DEGREES = 180.0 / np.pi
ALIKE = 0.9  # correlation of a velocity with a rate, above which they are of one joint
UNLIKE = 0.05  # less than that of its own column, for a column to be of another joint
STILL = 1e-9  # [rad or m] that a joint moves at least
STOP = 1e-3  # [rad or m] from a limit, where a joint may lean on it
FEWEST_SATURATED = 5  # equal largest efforts one after another
LONGEST_PEAK = 4.0  # times as long at the top of a motion as at values one step beside it, at most
MOSTLY = 0.7  # part of the rows in which a joint moves, that an effort with one value there is no measurement in
MOVING = 0.1  # of the usual speed: a joint that is slower stands, more or less
LONGEST_LAG = 0.3  # [s]
LONGEST_STEP = 0.75  # [s] from row to row


def checked(record: Record, plant: Any) -> tuple[list[Finding], Any, dict[str, int]]:
    """Findings, which efforts (n, nv) may be used, and how many may not for which reason."""
    names = plant.GetVelocityNames()
    usable = np.tile(given(record.tau) | ~driven(plant), (len(record.time), 1))
    left_out = {"saturated": 0, "at_stop": 0}
    usable[:, _dead_efforts(record, plant)] = False
    found = [*_clock(record, plant), *_gaps(record), *_constants(record, plant)]
    found += [*_rates(record, plant), *_ranges(record, plant)]
    for d in np.flatnonzero(given(record.tau)):
        bad = saturated(record.tau[:, d])
        if bad.any():
            k = int(np.argmax(bad))
            found.append(
                Finding(
                    "DATA_SATURATED",
                    f"the effort stays at {record.tau[k, d]:g} in {int(bad.sum())} rows, which are not used: it is "
                    "as large as can be measured, or given",
                    record.source,
                    record.line(k),
                    names[d],
                )
            )
            usable[bad, d] = False
            left_out["saturated"] += int(bad.sum())
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    for joint in plant.moving_joints():
        if joint.num_velocities() == 1:
            i, d = joint.position_start(), joint.velocity_start()
            if np.isnan(record.q[0, i]):
                continue
            at_stop = (record.q[:, i] <= lower[i] + STOP) | (record.q[:, i] >= upper[i] - STOP)
            left_out["at_stop"] += int((at_stop & usable[:, d]).sum())
            usable[at_stop, d] = False
    return found, usable, left_out


def _dead_efforts(record: Record, plant: Any) -> list[int]:
    """Velocities of joints that move under an effort that stays the same: no sensor shows that."""
    return [
        j.velocity_start()
        for j in plant.moving_joints()
        if j.num_velocities() == 1
        and np.ptp(record.q[:, j.position_start()]) > MOVES
        and np.ptp(record.tau[:, j.velocity_start()]) == 0.0
        and driven(plant)[j.velocity_start()]
    ]


def driven(plant: Any) -> Any:
    """(nv,) velocities that something drives: those of actuators; of a file without these all but followers.

    In closed chains without actuators nothing is known to be driven but what has efforts.
    """
    result = np.zeros(plant.num_velocities(), dtype=bool)
    for actuator in plant.elements.actuators:
        result[actuator.joint().velocity_start()] = True
    kinds = {constraint.kind for constraint in plant.elements.constraints}
    if result.any() or kinds - {"coupler"}:
        return result
    followers = {constraint.joint0 for constraint in plant.elements.constraints}
    for joint in plant.moving_joints():
        if joint.num_velocities() == 1 and joint not in followers:
            result[joint.velocity_start()] = True
    return result


def missing_efforts(record: Record, plant: Any, held: Any) -> list[str]:
    """Names of velocities with an actuator whose effort the record does not give; held: (nv,) that need none."""
    names = plant.GetVelocityNames()
    return [names[d] for d in np.flatnonzero(~(given(record.tau) | ~driven(plant) | held))]


def saturated(values: FloatArray) -> Any:
    """(n,) whether a value is the largest or smallest one, several times in succession, and much longer than near it.

    Values in steps, as of a sensor of few bits, stay at their peak, too, but for at most 2.4 times as long as one step
    below, as the top of a parabola does.
    """
    result = np.zeros(len(values), dtype=bool)
    quantum = float(np.diff(np.unique(values)).min(initial=np.inf))
    for extreme in (values.max(), values.min()):
        if extreme == 0.0 or np.ptp(values) == 0.0:
            continue
        at = np.concatenate(([0], (values == extreme).astype(int), [0]))
        starts, ends = np.flatnonzero(np.diff(at) == 1), np.flatnonzero(np.diff(at) == -1)
        far = np.concatenate(([-1], np.flatnonzero(np.abs(values - extreme) >= 1.5 * quantum), [len(values)]))
        for a, b in zip(starts, ends, strict=True):
            last = np.searchsorted(far, a)
            beside = a - far[last - 1] - 1 + far[last] - b
            if b - a >= FEWEST_SATURATED and b - a > LONGEST_PEAK * beside:
                result[a:b] = True
    return result


def _clock(record: Record, plant: Any) -> list[Finding]:
    """A finding if the time is not in seconds: velocities, or else steps, tell."""
    ratios = []
    for j in plant.moving_joints():
        q, v = record.q[:, j.position_start()], record.v[:, j.velocity_start()]
        if j.num_velocities() == 1 and not np.isnan(q).any() and np.ptp(q) > MOVES and np.ptp(v) > 0.0:
            rate, speed = _smooth(np.gradient(q, record.time)), _smooth(v)
            if abs(_correlation(rate, speed)) > ALIKE:
                ratios.append(abs(float(rate @ speed) / float(rate @ rate)))
    step = float(np.median(np.diff(record.time)))
    for factor, unit in ((1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")):
        if ratios and abs(float(np.median(ratios)) / factor - 1.0) < 0.1:
            message = f"the time is in {unit}: velocities are {np.median(ratios):.4g} times the rates of the positions"
        elif not ratios and LONGEST_STEP < step <= 1e3 * LONGEST_STEP and factor == 1e3:
            message = f"{step:g} s from row to row: the time is in {unit}, or the data are too slow"
        else:
            continue
        return [Finding("DATA_UNITS", message, record.source, record.line(0), "time")]
    return []


def _gaps(record: Record) -> list[Finding]:
    steps = np.diff(record.time)
    usual = float(np.median(steps))
    gaps = np.flatnonzero(steps > GAP * usual)
    if not len(gaps):
        return []
    k = int(gaps[0]) + 1
    more = f"; {len(gaps) - 1} more" if len(gaps) > 1 else ""
    message = (
        f"{steps[k - 1]:.3g} s without a row, where {usual:.3g} s are usual{more}: each part is filtered by itself"
    )
    return [Finding("DATA_GAP", message, record.source, record.line(k), "time")]


def _constants(record: Record, plant: Any) -> list[Finding]:
    found = []
    for joint in plant.moving_joints():
        if joint.num_velocities() != 1:
            continue
        i, d, name = joint.position_start(), joint.velocity_start(), joint.name()
        moves = not np.isnan(record.q[0, i]) and np.ptp(record.q[:, i]) > STILL
        much = not np.isnan(record.q[0, i]) and np.ptp(record.q[:, i]) > MOVES
        if not np.isnan(record.q[0, i]) and not moves:
            message = f"joint {name} does not move: the position is {record.q[0, i]:g} in every row"
            found.append(Finding("DATA_CONSTANT", message, record.source, record.line(0), name))
        for what, column in (("velocity", record.v[:, d]), ("effort", record.tau[:, d])):
            at_all = what == "velocity" or driven(plant)[d]
            if much and at_all and not np.isnan(column[0]) and np.ptp(column) == 0.0:
                message = f"the {what} of joint {name} is {column[0]:g} in every row, though it moves"
                found.append(Finding("DATA_DEAD", message, record.source, record.line(0), name))
            elif much and what == "effort" and not np.isnan(column[0]) and np.ptp(column) > 0.0:
                value, share = _usual_value(column, np.gradient(record.q[:, i], record.time))
                if share > MOSTLY:
                    message = f"the effort is {value:g} in {100 * share:.0f} % of the rows in which the joint moves"
                    found.append(Finding("DATA_DEAD", message, record.source, record.line(0), name))
    return found


def _usual_value(effort: FloatArray, rate: FloatArray) -> tuple[float, float]:
    """The most frequent value of an effort while its joint moves, and its part of these rows."""
    moves = np.abs(rate) > MOVING * np.percentile(np.abs(rate), 90.0)
    values, counts = np.unique(effort[moves], return_counts=True)
    return (float(values[counts.argmax()]), float(counts.max() / counts.sum())) if len(values) else (0.0, 0.0)


def _rates(record: Record, plant: Any) -> list[Finding]:
    """Findings of velocities that are not the rates of the positions."""
    joints = [
        j
        for j in plant.moving_joints()
        if j.num_velocities() == 1
        and not np.isnan(record.q[0, j.position_start()])
        and not np.isnan(record.v[0, j.velocity_start()])
        and np.ptp(record.q[:, j.position_start()]) > MOVES
        and np.ptp(record.v[:, j.velocity_start()]) > 0.0
    ]
    if not joints:
        return []
    rate = sample_rate(record)
    even = even_times(record, rate)
    rates = np.array(
        [_smooth(np.gradient(np.interp(even, record.time, record.q[:, j.position_start()]), even)) for j in joints]
    )
    speeds = np.array([_smooth(np.interp(even, record.time, record.v[:, j.velocity_start()])) for j in joints])
    lags = int(LONGEST_LAG * rate)
    found = []
    for k, joint in enumerate(joints):
        correlations = np.array([_correlation(rates[k], speed) for speed in speeds])
        own, name = correlations[k], joint.name()
        best = int(np.argmax(np.abs(correlations)))

        def add(code: str, message: str, name: str = name) -> None:
            found.append(Finding(code, message, record.source, record.line(0), name))

        slope = float(rates[k] @ speeds[k] / (speeds[k] @ speeds[k]))
        if own < -ALIKE:
            add("DATA_SIGN", f"the velocity is the rate of the position with the other sign (correlation {own:.2f})")
            slope = -slope
        elif abs(own) < ALIKE < abs(correlations[best]) - UNLIKE:
            add(
                "DATA_SWAPPED",
                f"the rate of the position is the velocity of joint {joints[best].name()} (correlation "
                f"{correlations[best]:.2f}, with its own {own:.2f})",
            )
            continue
        for factor, what in ((DEGREES, "the position is in degrees"), (1.0 / DEGREES, "the velocity is in degrees/s")):
            if abs(own) > ALIKE and abs(slope / factor - 1.0) < 0.1:
                add("DATA_UNITS", f"{what}: the rate of the position is {slope:.4g} times the velocity; --degrees")
        lag = _lag(rates[k], speeds[k], lags)
        if abs(lag) >= 2:
            add(
                "DATA_LAG",
                f"the velocity is {abs(lag) / rate * 1e3:.0f} ms {'behind' if lag > 0 else 'ahead of'} the rate of the "
                "position",
            )
    return found


def _smooth(values: FloatArray, width: int = 5) -> FloatArray:
    smooth = np.convolve(values, np.ones(width) / width, mode="same")
    return smooth - smooth.mean()


def _correlation(a: FloatArray, b: FloatArray) -> float:
    sizes = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / sizes if sizes > 0.0 else 0.0


def _lag(a: FloatArray, b: FloatArray, most: int) -> int:
    """By how many samples b is behind a; 0 if no shift makes them more alike."""
    best, at = _correlation(a, b), 0
    if abs(best) > 0.995 or most < 2:
        return 0
    for lag in range(-most, most + 1):
        value = _correlation(a[max(0, -lag) : len(a) - max(0, lag)], b[max(0, lag) : len(b) - max(0, -lag)])
        if value > best + 1e-3:
            best, at = value, lag
    return at if best > ALIKE else 0


def _ranges(record: Record, plant: Any) -> list[Finding]:
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    found = []
    for joint in plant.moving_joints():
        if joint.num_velocities() != 1:
            continue
        i, name = joint.position_start(), joint.name()
        q = record.q[:, i]
        angular = joint.is_angular()
        beyond = np.flatnonzero((q < lower[i] - 1e-3) | (q > upper[i] + 1e-3))
        if not len(beyond):
            continue
        k, range_of = int(beyond[0]), max(abs(lower[i]), abs(upper[i]))
        if angular and float(np.abs(q).max()) > max(3.0 * range_of, 4.0 * np.pi):
            message = f"{q[k]:g} is far outside of the limits {lower[i]:g} and {upper[i]:g} rad: in degrees? --degrees"
            found.append(Finding("DATA_UNITS", message, record.source, record.line(k), name))
        else:
            message = f"{q[k]:g} is outside of the limits {lower[i]:g} and {upper[i]:g} ({len(beyond)} rows)"
            found.append(Finding("DATA_LIMITS", message, record.source, record.line(k), name))
    return found

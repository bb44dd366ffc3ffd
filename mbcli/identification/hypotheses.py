"""What else data that do not fit could be: an effort with the other sign, swapped columns, a lag.

Each hypothesis changes a part of the data, and least squares tell whether the model explains them better then.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.identification.estimation import orthonormal, product
from mbcli.identification.findings import Finding
from mbcli.identification.signals import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.signals import Run
    from mbcli.identification.subject import Subject
    from mbcli.math.array_types import FloatArray

POOR = 0.12  # relative error of a fit, above which hypotheses are tried
BETTER = 0.6  # times the error: what a hypothesis has to reach
BETTER_LAG = 0.9
SAMPLES = 400  # of a file, that are looked at
EQUATIONS_AN_UNKNOWN = 2.0  # that are independent, at least
FEWEST_OF_A_LAG = 20  # samples in which efforts of earlier and later ones are known
LONGEST_LAG, SHORTEST_LAG = 0.2, 0.015  # [s]


def suspected(subject: Subject, runs: Sequence[Run], slow: FloatArray | None, cutoff: float | None) -> list[Finding]:
    """Findings of the runs of one file: the hypothesis that explains them best, if one is much better than none; a lag
    of efforts; or why none of that can be known.

    Args:
        runs: not thinned, that short recordings are tested too. cutoff: [Hz] of their filter, None: not filtered.
    """
    run = joined(runs)
    if subject.chains is not None:
        return [_unchecked(run, "the model has constraints or followers: a model of the moving tree alone would do")]
    picked = np.linspace(0, len(run) - 1, min(len(run), SAMPLES)).astype(int)
    part = run.part(picked)
    short = _too_short(subject, part, slow, len(run) / run.rate, cutoff)
    if short:
        return [_unchecked(run, short)]
    measured = _measured(subject, run)
    usual = _error(subject, part, slow)
    found = _lags(subject, runs, slow)
    if usual < POOR:
        return found
    names = subject.plant.GetVelocityNames()
    joints = [d for d in subject.joints if d in measured]
    tried: list[tuple[float, str, str, str]] = []
    for n, d in enumerate(joints):
        i = subject.joint_of[d].position_start()
        other = replace(part, tau=_times(part.tau, d, -1.0))
        tried.append((_error(subject, other, slow), "DATA_SIGN", "the effort has the other sign", names[d]))
        other = replace(part, q=_times(part.q, i, -1.0), v=_times(part.v, d, -1.0), vdot=_times(part.vdot, d, -1.0))
        tried.append((_error(subject, other, slow), "DATA_SIGN", "position and velocity have the other sign", names[d]))
        other = replace(other, tau=_times(part.tau, d, -1.0))
        tried.append((_error(subject, other, slow), "DATA_SIGN", "the joint turns the other way", names[d]))
        for e in joints[n + 1 :]:
            j = subject.joint_of[e].position_start()
            what = f"swapped with that of {names[e]}"
            other = replace(part, tau=_swapped(part.tau, d, e))
            tried.append((_error(subject, other, slow), "DATA_SWAPPED", f"the effort is {what}", names[d]))
            moved: dict[str, Any] = {
                "q": _swapped(part.q, i, j),
                "v": _swapped(part.v, d, e),
                "vdot": _swapped(part.vdot, d, e),
            }
            other = replace(part, **moved)
            tried.append((_error(subject, other, slow), "DATA_SWAPPED", f"the position is {what}", names[d]))
            other = replace(other, tau=_swapped(part.tau, d, e))
            tried.append((_error(subject, other, slow), "DATA_SWAPPED", f"all of the joint is {what}", names[d]))
    if tried:
        error, code, what, column = min(tried)
        if error < BETTER * usual:
            message = (
                f"{what}: the model explains the data to {100 * error:.1f} % then, as they are to {100 * usual:.1f} %"
            )
            found.append(Finding(code, message, run.source, 0, column))
    return found


def _measured(subject: Subject, run: Run) -> list[int]:
    """Velocities with efforts, whose equations count."""
    return [d for d in subject.independent.tolist() if not np.isnan(run.tau[0, d])]


def _unchecked(run: Run, why: str, what: str = "order, signs and lags of efforts and positions") -> Finding:
    return Finding("DATA_UNCHECKED", f"{what} were not checked: {why}", run.source)


def _too_short(subject: Subject, part: Run, slow: FloatArray | None, duration: float, cutoff: float | None) -> str:
    """Why data cannot tell a hypothesis from the truth, and what would do; empty if they can.

    Of a filtered signal, twice its cut-off in each second is independent. With about as many unknowns as that, least
    squares explain anything.
    """
    A, weights, _ = _system(subject, part, slow)
    A = A[:, A.any(axis=0)] * weights[:, None]
    unknowns = orthonormal(A[:, A.any(axis=0)])[0].shape[1]
    alone = 1.0 if cutoff is None else min(1.0, 2.0 * cutoff * duration / len(part))
    known = alone * np.count_nonzero(weights)
    wanted = EQUATIONS_AN_UNKNOWN * unknowns
    if known >= wanted and unknowns:
        return ""
    longer = f"{np.ceil(duration * wanted / known):.0f} s" if known >= 1.0 else "a longer one"
    return (
        f"{duration:.3g} s of motion have {known:.0f} independent equations for {unknowns} unknowns; a recording of "
        f"{longer} or more, in which all joints move, would do"
    )


def _lags(subject: Subject, runs: Sequence[Run], slow: FloatArray | None) -> list[Finding]:
    """A lag of all efforts, or of one."""
    run = joined(runs)
    most = int(LONGEST_LAG * run.rate)
    starts = np.cumsum([0, *map(len, runs)])
    inner = np.concatenate([np.arange(a + most, max(a, b - most)) for a, b in itertools.pairwise(starts)])
    inner = inner[np.linspace(0, len(inner) - 1, min(len(inner), SAMPLES)).astype(int)]
    if most < 1 or len(inner) < FEWEST_OF_A_LAG:
        why = (
            f"{run.rate:.3g} samples a second are too few: {np.ceil(1.0 / LONGEST_LAG):.0f} or more would do"
            if most < 1
            else f"stretches without gaps are too short: one of {2.0 * LONGEST_LAG + FEWEST_OF_A_LAG / run.rate:.3g} s "
            "would do"
        )
        return [_unchecked(run, why, "lags of efforts")]
    A, weights, known = _system(subject, run.part(inner), slow)
    A = A[:, A.any(axis=0)] * weights[:, None]
    Q = orthonormal(A[:, A.any(axis=0)])[0]
    names, measured = subject.plant.GetVelocityNames(), _measured(subject, run)
    step = max(1, int(SHORTEST_LAG / 2.0 * run.rate))
    shifts = np.arange(-(most // step) * step, most + 1, step)

    def errors(velocities: Sequence[int]) -> list[tuple[float, int]]:
        """(error, shift) of each shift of the efforts of some velocities."""
        columns = []
        for shift in shifts:
            tau = run.tau[inner].copy()
            tau[:, velocities] = run.tau[inner + shift][:, velocities]
            columns.append((_efforts(subject, tau) - known) * weights)
        y = np.stack(columns, axis=1)
        size = np.maximum((y**2).sum(axis=0), 1e-300)
        left = np.sqrt(np.maximum(size - (product(Q, y) ** 2).sum(axis=0), 0.0) / size)
        return list(zip(left.tolist(), shifts.tolist(), strict=True))

    everything = errors(measured)
    usual = {shift: error for error, shift in everything}[0]
    groups = [(*min(everything), "the efforts", "tau")]
    for d in measured if run.tau.shape[1] > 1 else ():
        groups.append((*min(errors([d])), "the effort", names[d]))
    best, shift, what, column = min(groups)
    if best < BETTER_LAG * usual and abs(shift) / run.rate > SHORTEST_LAG and abs(shift) < shifts[-1]:
        when = "behind" if shift > 0 else "ahead of"
        message = (
            f"{what} is {abs(shift) / run.rate * 1e3:.0f} ms {when} the motion: the model explains the data to "
            f"{100 * best:.1f} % then, as they are to {100 * usual:.1f} %"
        )
        return [Finding("DATA_LAG", message.replace("efforts is", "efforts are"), run.source, 0, column)]
    return []


def _system(subject: Subject, part: Run, slow: FloatArray | None) -> tuple[Any, Any, Any]:
    """A (n d, p), weights (n d,) of velocities by the size of their efforts, and what is known of tau (n d,)."""
    e = subject.equations(part, slow)
    scale = np.sqrt((e.tau**2).mean(axis=0))
    weights = np.where(e.usable, 1.0 / np.where(scale > 0.0, scale, 1.0), 0.0)
    return e.A.reshape(-1, e.A.shape[2]), weights.ravel(), (e.tau - e.y).ravel()


def _error(subject: Subject, part: Run, slow: FloatArray | None) -> float:
    A, weights, known = _system(subject, part, slow)
    y = (_efforts(subject, part.tau) - known) * weights
    Aw = A * weights[:, None]
    H = product(Aw, Aw)
    H[np.diag_indices(len(H))] += 1e-10 * max(float(np.trace(H)) / len(H), 1e-300)
    x = np.linalg.solve(H, Aw.T @ y)
    size = float(np.linalg.norm(y))
    return float(np.linalg.norm(Aw @ x - y)) / size if size > 0.0 else 0.0


def _efforts(subject: Subject, tau: FloatArray) -> FloatArray:
    """(n d,) of the equations, from (n, nv)."""
    return np.nan_to_num(tau[:, subject.independent]).ravel()


def _times(values: FloatArray, k: int, factor: float) -> FloatArray:
    result = values.copy()
    result[:, k] *= factor
    return result


def _swapped(values: FloatArray, k: int, m: int) -> FloatArray:
    result = values.copy()
    result[:, [k, m]] = values[:, [m, k]]
    return result

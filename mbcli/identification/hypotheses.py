"""What else data that do not fit could be: an effort with the other sign, swapped columns, a lag.

Each hypothesis changes a part of the data, and least squares tell whether the model explains them better then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.identification.estimation import orthonormal, product
from mbcli.identification.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.signals import Run
    from mbcli.identification.subject import Subject
    from mbcli.math.array_types import FloatArray

POOR = 0.12  # relative error of a fit, above which hypotheses are tried
BETTER = 0.6  # times the error: what a hypothesis has to reach
BETTER_LAG = 0.9
SAMPLES = 400
LONGEST_LAG, SHORTEST_LAG = 0.2, 0.015  # [s]


def suspected(subject: Subject, run: Run, slow: FloatArray | None) -> list[Finding]:
    """Findings of one run: the hypothesis that explains it best, if one is much better than none; a lag of efforts."""
    if subject.chains is not None or len(run) < SAMPLES:
        return []
    picked = np.linspace(0, len(run) - 1, SAMPLES).astype(int)
    part = run.part(picked)
    measured = _measured(subject, run)
    usual = _error(subject, part, slow)
    found = _lags(subject, run, picked, slow)
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


def _lags(subject: Subject, run: Run, picked: Any, slow: FloatArray | None) -> list[Finding]:
    """A lag of all efforts, or of one."""
    most = int(LONGEST_LAG * run.rate)
    inner = picked[(picked >= most) & (picked < len(run) - most)]
    if most < 1 or len(inner) < SAMPLES // 2:
        return []
    part = run.part(inner)
    A, weights, known = _system(subject, part, slow)
    A = A[:, A.any(axis=0)] * weights[:, None]
    Q = orthonormal(A[:, A.any(axis=0)])[0]
    names, nv = subject.plant.GetVelocityNames(), run.tau.shape[1]

    def error(shift: int, velocities: Sequence[int]) -> float:
        tau = run.tau[inner].copy()
        tau[:, velocities] = run.tau[inner + shift][:, velocities]
        y: Any = (_efforts(subject, tau) - known) * weights
        inside = Q.T @ y
        return float(np.sqrt(max(y @ y - inside @ inside, 0.0) / (y @ y))) if y.any() else 0.0

    measured = _measured(subject, run)
    usual = error(0, measured)
    everything = [(error(s, measured), s) for s in range(-most, most + 1)]
    best, shift = min(everything)
    groups = [(best, shift, "the efforts", "tau")]
    for d in measured if nv > 1 else ():
        groups += [(error(s, [d]), s, "the effort", names[d]) for s in range(-most, most + 1)]
    best, shift, what, column = min(groups)
    if best < BETTER_LAG * usual and abs(shift) / run.rate > SHORTEST_LAG and abs(shift) < most:
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

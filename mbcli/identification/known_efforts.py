"""Up to which speeds the result predicts efforts: standard errors say of what other motion the data tell enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.identification.findings import Finding
from mbcli.identification.signals import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.possible_bodies import Estimate
    from mbcli.identification.signals import Run
    from mbcli.identification.subject import Subject
    from mbcli.math.array_types import FloatArray

ENOUGH = 0.1  # of the efforts, that two of their standard errors may be
FAR = 1.5  # [rad or m] beyond the positions of the data, that others are
STATES = 100  # that are tried
SPEEDS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # times those of the data
FEWEST = 2.0  # times the speed of the data, up to which less is told


def known_efforts(subject: Subject, runs: Sequence[Run], found: Estimate) -> tuple[float, float]:
    """Times the speeds of the data up to which efforts are known to ENOUGH, 0 if not even there; and to which part of
    them they are known at the speeds of the data.

    Of states in which each joint is anywhere within its limits, and as fast as it was at some time in the data, but
    each at another time: what was alike in the data by chance does not count.
    """
    run, rng = joined(runs), np.random.default_rng(0)
    q, v, vdot = subject.complete(run.q, run.v, run.vdot)

    def mixed(values: FloatArray) -> FloatArray:
        return np.stack([column[rng.integers(len(column), size=STATES)] for column in values.T], axis=1)

    if subject.chains is None and q.shape[1] == v.shape[1]:
        lower, upper = _reach(subject, q)
        q, v, vdot = rng.uniform(lower, upper, (STATES, len(lower))), mixed(v), mixed(vdot)
    else:  # positions that belong together
        picked = np.linspace(0, len(run) - 1, STATES).astype(int)
        q, v, vdot = q[picked], v[picked], vdot[picked]
    known, first = 0.0, 0.0
    for factor in SPEEDS:
        A = subject.columns(q, factor * v, factor**2 * vdot)[:, subject.independent]
        size = float(np.linalg.norm(A @ found.x))
        part = 2.0 * float(np.linalg.norm(A @ found.root)) / size if size > 0.0 else 0.0
        first = first if known else part
        if part > ENOUGH:
            break
        known = factor
    return known, first


def _reach(subject: Subject, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(nq,) the least and largest positions that are tried: limits, but no more than FAR from the data, or held."""
    lower = np.maximum(subject.plant.GetPositionLowerLimits(), q.min(axis=0) - FAR)
    upper = np.minimum(subject.plant.GetPositionUpperLimits(), q.max(axis=0) + FAR)
    held = subject.held.positions
    lower[held], upper[held] = q[0, held], q[0, held]
    return np.minimum(lower, q.min(axis=0)), np.maximum(upper, q.max(axis=0))


def told_of_speeds(known: float, part: float, source: str) -> list[Finding]:
    """A finding if the data tell little of other motion."""
    if known >= FEWEST:
        return []
    what = "motion faster than the data" if known else f"other motion, even as slow ({100 * part:.0f} %)"
    message = (
        f"efforts of {what} cannot be known from these data to {100 * ENOUGH:.0f} %: record longer and faster motion "
        "of all joints, as excite plans it"
    )
    return [Finding("RESULT_UNKNOWN", message, source)]

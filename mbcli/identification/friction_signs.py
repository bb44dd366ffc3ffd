"""What friction does with the sign of a velocity: where that is known, and what falls within a speed."""

from __future__ import annotations

import numpy as np

from mbcli.math.array_types import FloatArray

SLOW = 0.02  # of the usual speed of a joint: slower, the sign of its velocity, and so its friction, is not known


def friction_sign(v: FloatArray, slow: FloatArray | None) -> FloatArray:
    """The sign of velocities; a part of it below the speed `slow`."""
    if slow is None:
        return np.sign(v)
    return np.tanh(2.0 * v / np.maximum(slow, 1e-12))


def stribeck_part(v: FloatArray, sign: FloatArray, speed: FloatArray | float) -> FloatArray:
    """The part of friction that falls within a speed: its sign where it stands, none where it is fast."""
    return np.array(sign * np.exp(-((v / speed) ** 2)))


def slow_speeds(v: FloatArray) -> FloatArray:
    """(nv,) speeds below which the sign of a velocity is not known, of v (n, nv): a part of the usual speed of each."""
    known = [np.abs(column[~np.isnan(column)]) for column in v.T]
    return SLOW * np.array([np.percentile(column, 90.0) if len(column) else 0.0 for column in known])

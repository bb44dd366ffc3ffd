"""Curves that begin and end at rest: Fourier series and B-splines, linear in their coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

DEGREE = 5  # of B-splines: accelerations change smoothly


class Curves(Protocol):
    """A family of curves on [0, T] [s]; count: of coefficients."""

    count: int

    def matrices(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(n, count) each: a curve's positions, velocities and accelerations at n times by its coefficients."""


class FourierSeries:
    """Sums of sines of one period T (Swevers 1997); any coefficients are brought to rest at the ends by projection."""

    def __init__(self, duration: float, harmonics: int) -> None:
        self.count = 2 * harmonics
        self._n = np.arange(1.0, harmonics + 1.0)
        self._frequency = 2.0 * np.pi / duration
        zero = np.zeros(harmonics)
        velocity, acceleration = np.concatenate((self._n, zero)), np.concatenate((zero, self._n**2))
        at_rest = np.vstack((velocity, acceleration))
        self._free = np.eye(self.count) - np.linalg.pinv(at_rest) @ at_rest

    def matrices(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """See Curves; the curves repeat themselves outside of [0, T]."""
        angle, w = np.outer(time, self._n) * self._frequency, self._n * self._frequency
        sine: FloatArray = np.sin(angle)
        cosine: FloatArray = np.cos(angle)
        return (
            np.hstack((sine, cosine)) @ self._free,
            np.hstack((cosine * w, -sine * w)) @ self._free,
            np.hstack((-sine * w * w, -cosine * w * w)) @ self._free,
        )


class BSplines:
    """B-splines of degree 5 on even knots, whose first and last three points are one: at rest, and where they began.

    points: that are free, that one among them.
    """

    def __init__(self, duration: float, points: int) -> None:
        from scipy.interpolate import BSpline

        self.count, self._duration = points, duration
        total = points + 5  # the first coefficient stands for six points
        inner = np.linspace(0.0, duration, total - DEGREE + 1)
        knots = np.concatenate((np.zeros(DEGREE), inner, np.full(DEGREE, duration)))
        same = np.zeros((total, points))
        same[[0, 1, 2, -3, -2, -1], 0] = 1.0
        same[np.arange(3, total - 3), np.arange(1, points)] = 1.0
        self._curves = BSpline(knots, same, DEGREE)

    def matrices(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """See Curves; before 0 and after T they stay where they are."""
        inside = np.clip(time, 0.0, self._duration)
        x, v, a = (np.asarray(self._curves(inside, nu=order)) for order in range(3))
        return x, v, a

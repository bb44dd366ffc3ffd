"""DiscreteTimeTrajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.trajectories.curve import Trajectory, increasing
from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial, sample_matrices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix


class DiscreteTimeTrajectory(Trajectory):
    """Values at times alone; others are errors.

    Args:
        values: a column for each time, or a matrix for each.
        time_comparison_tolerance: [s] by which a time may be off.
    """

    def __init__(
        self,
        times: ArrayLike,
        values: ArrayLike | Sequence[ArrayLike],
        time_comparison_tolerance: float = float(np.finfo(float).eps),
    ) -> None:
        self._times = increasing(times)
        self._values, self._tolerance = sample_matrices(self._times.size, values), float(time_comparison_tolerance)

    def num_times(self) -> int:
        """The number of times."""
        return int(self._times.size)

    def get_times(self) -> list[float]:
        """[s]"""
        return self._times.tolist()

    def time_comparison_tolerance(self) -> float:
        """[s]"""
        return self._tolerance

    def rows(self) -> int:
        """The number of rows."""
        return self._values.shape[1]

    def cols(self) -> int:
        """The number of columns."""
        return self._values.shape[2]

    def start_time(self) -> float:
        """[s]"""
        return float(self._times[0])

    def end_time(self) -> float:
        """[s]"""
        return float(self._times[-1])

    def value(self, t: float) -> Matrix:
        """The value at one of the times. RuntimeError for another one."""
        k = int(np.argmin(np.abs(self._times - t)))
        if not abs(self._times[k] - t) <= self._tolerance:
            raise RuntimeError(f"time {t} is none of the curve's: the nearest is {self._times[k]}")
        return self._values[k].copy()

    def ToZeroOrderHold(self) -> PiecewisePolynomial:
        """A PiecewisePolynomial that keeps each value until the next time."""
        return PiecewisePolynomial.ZeroOrderHold(self._times, list(self._values))

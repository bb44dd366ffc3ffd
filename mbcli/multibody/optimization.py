"""The fastest motion along a path, under the names of pydrake.multibody.optimization.

With s the place on the path, x = s'^2 and u = s'', limits of joints, torques and frames are linear in x and u, and
between gridpoints x changes by 2 u (s_b - s_a). Backwards along the grid go the x from which the end can be reached,
forwards the largest u that stays among them (Pham and Pham 2018, doi:10.1109/TRO.2018.2819195).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable
from mbcli.numbered_enum import NumberedEnum
from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.trajectories.curve import Trajectory

__all__ = ["CalcGridPointsOptions", "Toppra", "ToppraDiscretization"]

FASTEST = 1e8  # s', so that the reachable sets are bounded
ROUNDING = 1e-9  # by which bounds may cross, relative to their size

kV = JacobianWrtVariable.kV


class ToppraDiscretization(NumberedEnum):
    """Where limits hold: kCollocation at the start of each interval of the grid, kInterpolation at its end, too."""

    kCollocation = 0
    kInterpolation = 1


@dataclass
class CalcGridPointsOptions:
    """Of Toppra.CalcGridPoints(): the largest error of interpolation and distance, the least number of points, and how
    often intervals are halved at most.
    """

    max_err: float = 1e-3
    max_iter: int = 100
    max_seg_length: float = 0.05
    min_points: int = 100


@dataclass
class _Limits:
    """lower <= a u + b x <= upper, each (m, gridpoints)."""

    a: FloatArray
    b: FloatArray
    lower: FloatArray
    upper: FloatArray
    at_ends: bool


class Toppra:
    """Finds the fastest course s(t) along a path q(s) within limits that were added.

    Args:
        path: positions of the plant, which have two derivatives.
        plant: finalized, with velocities that are the rates of its positions.
        gridpoints: (n,), increasing, from the start of the path to its end.
    """

    def __init__(self, path: Trajectory, plant: MultibodyPlant, gridpoints: ArrayLike) -> None:
        s = np.array(gridpoints, dtype=float).reshape(-1)
        ends = path.start_time(), path.end_time()
        if s.size < 2 or not (np.diff(s) > 0.0).all() or not np.allclose((s[0], s[-1]), ends, rtol=0.0, atol=1e-9):
            raise RuntimeError(f"Toppra: gridpoints must increase from {ends[0]} to {ends[1]}, the ends of the path")
        if path.cols() != 1 or path.rows() != plant.num_positions():
            shape = path.rows(), path.cols()
            raise RuntimeError(f"Toppra: the path is {shape}, and the plant has {plant.num_positions()} positions")
        if plant.num_positions() != plant.num_velocities():
            raise RuntimeError("Toppra: the plant has quaternions, whose rates are no velocities")
        self._plant, self._s = plant, s
        self._q, self._slope, self._curvature = (
            np.array([path.EvalDerivative(t, order).reshape(-1) for t in s]).T for order in (0, 1, 2)
        )
        self._slowest, self._fastest = np.zeros(s.size), np.full(s.size, FASTEST)
        self._limits: list[_Limits] = []

    @staticmethod
    def CalcGridPoints(path: Trajectory, options: CalcGridPointsOptions) -> FloatArray:
        """Gridpoints (n,) of a path: intervals are halved that are too long, or where max |q''| length^2 / 2, the error
        of interpolation, is too large.
        """
        s = np.array([path.start_time(), path.end_time()])
        for _ in range(options.max_iter):
            length, middle = np.diff(s), 0.5 * (s[1:] + s[:-1])
            bend = np.array([np.abs(path.EvalDerivative(t, 2)).max() for t in middle])
            coarse = (length > options.max_seg_length) | (0.5 * bend * length**2 > options.max_err)
            if not coarse.any():
                break
            s = np.sort(np.concatenate([s, middle[coarse]]))
        while s.size < options.min_points:
            s = np.sort(np.concatenate([s, 0.5 * (s[1:] + s[:-1])]))
        return s

    def AddJointVelocityLimit(self, lower_limit: ArrayLike, upper_limit: ArrayLike) -> None:
        """Velocities are within limits (nv,)."""
        self._limit_velocity(self._slope, *self._vectors(lower_limit, upper_limit))

    def AddJointAccelerationLimit(
        self,
        lower_limit: ArrayLike,
        upper_limit: ArrayLike,
        discretization: ToppraDiscretization = ToppraDiscretization.kInterpolation,
    ) -> None:
        """Accelerations are within limits (nv,)."""
        limits = self._vectors(lower_limit, upper_limit)
        self._limit(self._slope, self._curvature, *limits, discretization)

    def AddJointTorqueLimit(
        self,
        lower_limit: ArrayLike,
        upper_limit: ArrayLike,
        discretization: ToppraDiscretization = ToppraDiscretization.kInterpolation,
    ) -> None:
        """Generalized forces that move the plant, contact and damping aside, are within limits (nv,)."""
        plant = self._plant

        def row(context: Context, slope: FloatArray, curvature: FloatArray) -> FloatArray:
            M, tau_g = plant.CalcMassMatrix(context), plant.CalcGravityGeneralizedForces(context)
            return np.array([M @ slope, M @ curvature + plant.CalcBiasTerm(context), tau_g])

        a, b, tau_g = self._along(row)
        lower, upper = self._vectors(lower_limit, upper_limit)
        self._limit(a, b, lower + tau_g, upper + tau_g, discretization)

    def AddFrameVelocityLimit(self, constraint_frame: Frame, lower_limit: ArrayLike, upper_limit: ArrayLike) -> None:
        """V_WF in World, rotational first, is within limits (6,)."""
        V, _ = self._motion_of(constraint_frame)
        self._limit_velocity(V, _column(lower_limit, 6), _column(upper_limit, 6))

    def AddFrameTranslationalSpeedLimit(self, constraint_frame: Frame, upper_limit: Any) -> None:
        """|v_WF| [m/s] is at most a number, or a Trajectory of one over s, which limits where it is defined."""
        speed = np.linalg.norm(self._motion_of(constraint_frame)[0][3:], axis=0, keepdims=True)
        upper = self._over_path(upper_limit, 1, np.inf)
        self._limit_velocity(speed, np.zeros_like(upper), upper)

    def AddFrameAccelerationLimit(
        self,
        constraint_frame: Frame,
        lower_limit: Any,
        upper_limit: Any,
        discretization: ToppraDiscretization = ToppraDiscretization.kInterpolation,
    ) -> None:
        """A_WF in World, rotational first, is within limits (6,) or Trajectories over s, which limit where they
        are defined.
        """
        lower, upper = self._over_path(lower_limit, 6, -np.inf), self._over_path(upper_limit, 6, np.inf)
        a, b = self._motion_of(constraint_frame)
        self._limit(a, b, lower, upper, discretization)

    def SolvePathParameterization(self, s_dot_start: float = 0, s_dot_end: float = 0) -> PiecewisePolynomial | None:
        """s(t) from the start of the path at t = s(t); None, and a line in the log, if no course is within limits."""
        reachable = self._backward(float(s_dot_end) ** 2)
        x = None if reachable is None else self._forward(float(s_dot_start) ** 2, *reachable)
        if x is None:
            logging.getLogger("drake").error("Toppra: no course along the path is within the limits")
            return None
        rate = np.sqrt(x)
        sums = rate[1:] + rate[:-1]
        if not (sums > 0.0).all():
            logging.getLogger("drake").error("Toppra: the limits let the path stand still")
            return None
        t = self._s[0] + np.concatenate([[0.0], np.cumsum(2.0 * np.diff(self._s) / sums)])
        return PiecewisePolynomial.CubicHermite(t, self._s[None], rate[None])

    # limits over the grid

    def _vectors(self, lower: ArrayLike, upper: ArrayLike) -> tuple[FloatArray, FloatArray]:
        return _column(lower, len(self._q)), _column(upper, len(self._q))

    def _over_path(self, limit: Any, size: int, beyond: float) -> FloatArray:
        """(size, gridpoints) of numbers or a Trajectory, outside of which it is `beyond`."""
        if not hasattr(limit, "value"):
            return np.broadcast_to(_column(limit, size), (size, self._s.size)).copy()
        start, end = limit.start_time(), limit.end_time()
        if end < self._s[0] or start > self._s[-1]:
            raise RuntimeError(f"Toppra: a limit from {start} to {end} is beyond the path")
        return np.column_stack(
            [_column(limit.value(t) if start <= t <= end else np.full(size, beyond), size) for t in self._s]
        )

    def _along(self, row: Callable[[Context, FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """(parts, m, gridpoints) of what a function gives where velocities are dq/ds."""
        context, found = self._plant.CreateDefaultContext(), []
        for q, slope, curvature in zip(self._q.T, self._slope.T, self._curvature.T, strict=True):
            self._plant.SetPositions(context, q)
            self._plant.SetVelocities(context, slope)
            found.append(row(context, slope, curvature))
        return np.moveaxis(np.array(found), 0, -1)

    def _motion_of(self, frame: Frame) -> FloatArray:
        """(2, 6, gridpoints): V_WF by s', which is A_WF by s'', and A_WF by s'^2."""
        plant, world = self._plant, self._plant.world_frame()

        def row(context: Context, slope: FloatArray, curvature: FloatArray) -> FloatArray:
            J = plant.CalcJacobianSpatialVelocity(context, kV, frame, np.zeros(3), world, world)
            bias = plant.CalcBiasSpatialAcceleration(context, kV, frame, np.zeros(3), world, world)
            return np.array([J @ slope, J @ curvature + bias.get_coeffs()])

        return self._along(row)

    def _limit_velocity(self, rate: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        """lower <= rate s' <= upper, (m, gridpoints)."""
        if (lower > upper).any():
            raise RuntimeError("Toppra: a lower limit is above the upper one")
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort([lower / rate, upper / rate], axis=0)
        moves = rate != 0.0
        slowest, fastest = np.where(moves, ends[0], -np.inf), np.where(moves, ends[1], np.inf)
        impossible = ~moves & ((lower > 0.0) | (upper < 0.0))
        self._slowest = np.maximum(self._slowest, slowest.max(axis=0))
        self._fastest = np.where(impossible.any(axis=0), -1.0, np.minimum(self._fastest, fastest.min(axis=0)))

    def _limit(
        self,
        a: FloatArray,
        b: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        discretization: ToppraDiscretization,
    ) -> None:
        if (lower > upper).any():
            raise RuntimeError("Toppra: a lower limit is above the upper one")
        lower, upper = (np.broadcast_to(x, a.shape) for x in (lower, upper))
        self._limits.append(_Limits(a, b, lower, upper, discretization is ToppraDiscretization.kInterpolation))

    # the two passes

    def _rows(self, k: int) -> FloatArray:
        """Rows (m, 3) [a, b, c], a u + b x <= c, of interval k, with x at its start."""
        step, rows = 2.0 * (self._s[k + 1] - self._s[k]), []
        for limits in self._limits:
            for place in (k, k + 1) if limits.at_ends and k + 2 < self._s.size else (k,):
                a, b = limits.a[:, place], limits.b[:, place]
                a = a + step * b if place > k else a
                rows += [
                    np.column_stack([a, b, limits.upper[:, place]]),
                    -np.column_stack([a, b, limits.lower[:, place]]),
                ]
        found = np.concatenate([np.zeros((0, 3)), *rows])
        return found[np.isfinite(found[:, 2])]

    def _backward(self, last: float) -> tuple[FloatArray, FloatArray] | None:
        """The least and the largest x at each gridpoint from which the end can be reached within limits."""
        if (self._slowest > self._fastest).any() or not self._slowest[-1] ** 2 <= last <= self._fastest[-1] ** 2:
            return None
        low, high = self._slowest**2, self._fastest**2
        low[-1] = high[-1] = last
        for k in range(self._s.size - 2, -1, -1):
            step = 2.0 * (self._s[k + 1] - self._s[k])
            onward = np.array([[step, 1.0, high[k + 1]], [-step, -1.0, -low[k + 1]]])
            below, above = _range_of_x(np.concatenate([self._rows(k), onward]))
            low[k], high[k] = max(low[k], below), min(high[k], above)
            if low[k] > high[k] + ROUNDING * max(1.0, abs(high[k])):
                return None
            low[k] = min(low[k], high[k])
        return low, high

    def _forward(self, first: float, low: FloatArray, high: FloatArray) -> FloatArray | None:
        """x at each gridpoint by the largest u."""
        if not low[0] - ROUNDING <= first <= high[0] * (1.0 + ROUNDING):
            return None
        x = np.full(self._s.size, first)
        for k in range(self._s.size - 1):
            step, rows = 2.0 * (self._s[k + 1] - self._s[k]), self._rows(k)
            rows = rows[rows[:, 0] > 0.0]
            most = ((rows[:, 2] - rows[:, 1] * x[k]) / rows[:, 0]).min(initial=np.inf)
            x[k + 1] = max(min(x[k] + step * most, high[k + 1]), low[k + 1])
        return x


def _range_of_x(rows: FloatArray) -> tuple[float, float]:
    """The least and the largest x for which some u holds a u + b x <= c, of rows [a, b, c]: Fourier's and Motzkin's
    elimination of u. The least is above the largest where there is none.
    """
    a, b, c = rows.T
    up, down, free = a > 0.0, a < 0.0, a == 0.0
    above, below = (np.column_stack([b, c])[which] / a[which, None] for which in (up, down))
    slope = np.concatenate([np.subtract.outer(above[:, 0], below[:, 0]).ravel(), b[free]])
    bound = np.concatenate([np.subtract.outer(above[:, 1], below[:, 1]).ravel(), c[free]])
    if (bound[slope == 0.0] < -ROUNDING).any():
        return np.inf, -np.inf
    ratio = bound[slope != 0.0] / slope[slope != 0.0]
    rises = slope[slope != 0.0] > 0.0
    return ratio[~rises].max(initial=-np.inf), ratio[rises].min(initial=np.inf)


def _column(limit: ArrayLike, size: int) -> FloatArray:
    column = np.asarray(limit, dtype=float).reshape(-1, 1)
    if len(column) != size or np.isnan(column).any():
        raise RuntimeError(f"Toppra: a limit of {len(column)} numbers is not one of {size}")
    return column

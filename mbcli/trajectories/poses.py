"""Orientations and poses over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math import RigidTransform, RotationMatrix
from mbcli.math.quaternion import AngleAxis, Quaternion
from mbcli.trajectories.combined import StackedTrajectory
from mbcli.trajectories.curve import PiecewiseTrajectory, Trajectory, increasing
from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector

LEAST_ANGLE = 1e-12  # [rad] between quaternions that are the same


class PiecewiseQuaternionSlerp(PiecewiseTrajectory):
    """Orientations that turn at constant speed about a fixed axis from each sample to the next, the shorter way.

    Args:
        breaks: [s]
        quaternions: a Quaternion, RotationMatrix, AngleAxis or rotation matrix (3, 3) for each break.
    """

    def __init__(
        self,
        breaks: ArrayLike = (),
        quaternions: Sequence[Any] = (),
        *,
        rotation_matrices: Sequence[Any] = (),
        angle_axes: Sequence[Any] = (),
    ) -> None:
        self.breaks = increasing(breaks).tolist()
        given = [*quaternions, *rotation_matrices, *angle_axes]
        if len(given) != len(self.breaks):
            raise RuntimeError(f"{len(self.breaks)} breaks have {len(given)} orientations")
        self.wxyz: list[Vector] = []
        for rotation in given:
            self.wxyz.append(self._next(rotation))

    def _next(self, rotation: Any) -> Vector:
        """The quaternion of an orientation that is nearer to the last one."""
        if isinstance(rotation, Quaternion):
            q = rotation.wxyz()
        elif isinstance(rotation, RotationMatrix):
            q = rotation.ToQuaternion().wxyz()
        elif isinstance(rotation, AngleAxis):
            q = rotation.quaternion().wxyz()
        else:
            q = RotationMatrix(rotation).ToQuaternion().wxyz()
        q = q / np.linalg.norm(q)
        return -q if self.wxyz and self.wxyz[-1] @ q < 0.0 else q

    def Append(self, time: float, quaternion: Any = None, **named: Any) -> None:
        """Adds an orientation at a later time."""
        (rotation,) = (quaternion,) if quaternion is not None else named.values()
        self.wxyz.append(self._next(rotation))
        self.breaks = increasing([*self.breaks, time]).tolist()

    def get_quaternion_samples(self) -> list[Quaternion]:
        """The orientations at the breaks."""
        return [Quaternion(q) for q in self.wxyz]

    def rows(self) -> int:
        """4"""
        return 4

    def cols(self) -> int:
        """1"""
        return 1

    def value(self, t: float) -> Matrix:
        """The quaternion (w, x, y, z) as a column (4, 1)."""
        return self._at(t).reshape(4, 1)

    def _at(self, t: float) -> Vector:
        if len(self.wxyz) == 1:
            return self.wxyz[0].copy()
        t = min(max(t, self.breaks[0]), self.breaks[-1])
        k = self.get_segment_index(t)
        a, b = self.wxyz[k], self.wxyz[k + 1]
        share = (t - self.breaks[k]) / self.duration(k)
        angle = math.acos(min(1.0, float(a @ b)))
        if angle < LEAST_ANGLE:
            q = (1.0 - share) * a + share * b
        else:
            q = (math.sin((1.0 - share) * angle) * a + math.sin(share * angle) * b) / math.sin(angle)
        return q / np.linalg.norm(q)

    def orientation(self, time: float) -> Quaternion:
        """The orientation at a time [s]."""
        return Quaternion(self._at(time))

    def angular_velocity(self, time: float) -> Vector:
        """w (3,) [rad/s] in the frame in which the orientations are given; that of the segment also beyond the ends."""
        k = self.get_segment_index(min(max(time, self.breaks[0]), self.breaks[-1]))
        turn = (Quaternion(self.wxyz[k + 1]) @ Quaternion(self.wxyz[k]).inverse()).wxyz()
        turn = -turn if turn[0] < 0.0 else turn
        size = float(np.linalg.norm(turn[1:]))
        if size < LEAST_ANGLE:
            return np.zeros(3)
        return 2.0 * math.atan2(size, turn[0]) / self.duration(k) * turn[1:] / size

    def angular_acceleration(self, time: float) -> Vector:
        """Zeros (3,)."""
        return np.zeros(3)

    def has_derivative(self) -> bool:
        """True: its derivatives are angular velocity and acceleration."""
        return True

    def _derivative(self, order: int) -> Trajectory:
        steps = [self.angular_velocity(t) for t in self.breaks[:-1]] if order == 1 else [np.zeros(3)]
        if order > 1:
            return PiecewisePolynomial.ZeroOrderHold([self.breaks[0], self.breaks[-1]], np.zeros((3, 2)))
        return PiecewisePolynomial.ZeroOrderHold(self.breaks, np.array([*steps, steps[-1]]).T)

    def is_approx(self, other: PiecewiseQuaternionSlerp, tol: float) -> bool:
        """Whether breaks and orientations are equal within a tolerance."""
        return np.allclose(self.breaks, other.breaks, rtol=0.0, atol=tol) and all(
            abs(abs(a @ b) - 1.0) <= tol for a, b in zip(self.wxyz, other.wxyz, strict=True)
        )


class PiecewisePose(PiecewiseTrajectory):
    """Poses: a PiecewisePolynomial of positions and a PiecewiseQuaternionSlerp of orientations."""

    def __init__(
        self,
        position_trajectory: PiecewisePolynomial | None = None,
        orientation_trajectory: PiecewiseQuaternionSlerp | None = None,
    ) -> None:
        self.positions = PiecewisePolynomial() if position_trajectory is None else position_trajectory
        self.orientations = PiecewiseQuaternionSlerp() if orientation_trajectory is None else orientation_trajectory
        self.breaks = self.positions.get_segment_times()

    @staticmethod
    def MakeLinear(times: ArrayLike, poses: Sequence[RigidTransform]) -> PiecewisePose:
        """Straight lines and turns about fixed axes between poses."""
        positions = np.array([X.translation() for X in poses]).T
        turns = PiecewiseQuaternionSlerp(times, [X.rotation() for X in poses])
        return PiecewisePose(PiecewisePolynomial.FirstOrderHold(times, positions), turns)

    @staticmethod
    def MakeCubicLinearWithEndLinearVelocity(
        times: ArrayLike,
        poses: Sequence[RigidTransform],
        start_vel: ArrayLike = (0.0, 0.0, 0.0),
        end_vel: ArrayLike = (0.0, 0.0, 0.0),
    ) -> PiecewisePose:
        """Cubic splines of positions with velocities at the ends, and turns about fixed axes."""
        positions = np.array([X.translation() for X in poses]).T
        curve = PiecewisePolynomial.CubicWithContinuousSecondDerivatives(times, positions, start_vel, end_vel)
        return PiecewisePose(curve, PiecewiseQuaternionSlerp(times, [X.rotation() for X in poses]))

    def get_position_trajectory(self) -> PiecewisePolynomial:
        """The positions (3, 1)."""
        return self.positions

    def get_orientation_trajectory(self) -> PiecewiseQuaternionSlerp:
        """The orientations."""
        return self.orientations

    def rows(self) -> int:
        """4"""
        return 4

    def cols(self) -> int:
        """4"""
        return 4

    def GetPose(self, time: float) -> RigidTransform:
        """The pose at a time [s]."""
        return RigidTransform(self.orientations.orientation(time), self.positions.value(time).reshape(3))

    def value(self, t: float) -> Matrix:
        """The pose as a matrix (4, 4)."""
        return self.GetPose(t).GetAsMatrix4()

    def GetVelocity(self, time: float) -> Vector:
        """Angular, then translational velocity (6,)."""
        return self._rate(time, 1)

    def GetAcceleration(self, time: float) -> Vector:
        """Angular, then translational acceleration (6,)."""
        return self._rate(time, 2)

    def _rate(self, time: float, order: int) -> Vector:
        if not self.is_time_in_range(time):
            return np.zeros(6)
        turn = self.orientations.angular_velocity(time) if order == 1 else np.zeros(3)
        return np.concatenate([turn, self.positions.EvalDerivative(time, order).reshape(3)])

    def has_derivative(self) -> bool:
        """True: its derivatives are velocity and acceleration."""
        return True

    def _derivative(self, order: int) -> Trajectory:
        stacked = StackedTrajectory()
        stacked.Append(self.orientations.MakeDerivative(order))
        stacked.Append(self.positions.derivative(order))
        return stacked

    def IsApprox(self, other: PiecewisePose, tol: float) -> bool:
        """Whether positions and orientations are equal within a tolerance."""
        return self.positions.isApprox(other.positions, tol) and self.orientations.is_approx(other.orientations, tol)

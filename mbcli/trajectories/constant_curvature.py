"""Plane curves of arcs and straight lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mbcli.engine.fields.model_fields import SEGMENT_RATE, SEGMENT_SIZE
from mbcli.engine.smooth.joints.curvilinear import pose_on_segment, segment_at, take_segment
from mbcli.math import RigidTransform, RotationMatrix
from mbcli.multibody.math import SpatialAcceleration, SpatialVelocity
from mbcli.trajectories.curve import PiecewiseTrajectory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, Matrix, Scalar

SHORTEST_SEGMENT = float(np.finfo(float).eps)  # [m]
LARGEST_COSINE = 1e-8  # between tangent and normal that count as perpendicular


class PiecewiseConstantCurvatureTrajectory(PiecewiseTrajectory):
    """A plane curve of arcs and straight lines with a continuous tangent, by its arc length s [m].

    Frame M travels on it: x along the tangent, z along the normal of the plane, y = z cross x. A segment [s_i, s_i+1)
    has the turning rate r_i [1/m]: dx/ds = r y, dy/ds = -r x; positive turns to the left about z. Before 0 and beyond
    the length the end segments go on, unless the curve is periodic: then X_AM(s) = X_AM(s + k L).

    Args:
        breaks: 0 = s_0 < s_1 < ... < s_n [m].
        turning_rates: (n,) [1/m], 0 for a straight line.
        initial_curve_tangent, plane_normal: (3,) of any length, perpendicular, expressed in A.
        initial_position: p_AoMo_A (3,) [m] at s = 0.
        is_periodic: whether it begins anew after its length; that its ends meet, EndpointsAreNearlyEqual() says.

    Attributes, as the engine takes them:
        X_AM0: rotation, row by row, and position (12,) at s = 0.
        segments: (n, SEGMENT_SIZE).
    """

    def __init__(
        self,
        breaks: ArrayLike = (),
        turning_rates: ArrayLike = (),
        initial_curve_tangent: ArrayLike = (1.0, 0.0, 0.0),
        plane_normal: ArrayLike = (0.0, 0.0, 1.0),
        initial_position: ArrayLike = (0.0, 0.0, 0.0),
        is_periodic: bool = False,
    ) -> None:
        s = _numbers(breaks, "breaks")
        self._rates = _numbers(turning_rates, "turning_rates")
        self._is_periodic = bool(is_periodic)
        if self._rates.size != max(0, s.size - 1):
            raise RuntimeError(f"{s.size} breaks need one turning rate less, not {self._rates.size}")
        if s.size and s[0] != 0.0:
            raise RuntimeError(f"the first break must be 0, it is {s[0]}")
        if not (np.diff(s) >= SHORTEST_SEGMENT).all():
            raise RuntimeError(f"breaks must increase, they are {s}")
        self.breaks: list[float] = s.tolist()
        self.X_AM0 = _initial_pose(initial_curve_tangent, plane_normal, initial_position)
        self.segments = _segments(s, self._rates)
        self._curves = np.array([[0, self._rates.size, int(self._is_periodic)]])

    # what it is made of

    def length(self) -> float:
        """[m]"""
        return self.end_time()

    def is_periodic(self) -> bool:
        """Whether distances beyond the length start over."""
        return self._is_periodic

    def rows(self) -> int:
        """3: the values are points."""
        return 3

    def cols(self) -> int:
        """1: the values are columns."""
        return 1

    def Clone(self) -> Self:
        """This curve: it cannot change."""
        return self

    # where it leads

    def _segment(self, s: Scalar) -> Any:
        if not self._rates.size:
            raise RuntimeError("the curve is empty")
        return segment_at(self.segments, self._curves, 0, self.length(), float(s))[0]

    def curvature(self, s: Scalar) -> float:
        """The signed turning rate [1/m] at s; at a break, that of the segment that starts."""
        return float(self.segments[self._segment(s), SEGMENT_RATE])

    def CalcPose(self, s: Scalar) -> RigidTransform:
        """X_AM(s)"""
        self._segment(s)
        q, chosen = np.array([float(s)]), np.zeros((1, SEGMENT_SIZE))
        take_segment(self.segments, self._curves, np.array([self.length()]), 0, q, 0, chosen)
        X = _pose_on_segment(chosen, self.X_AM0.reshape(1, 12), q[0])
        return RigidTransform.MakeUnchecked(np.column_stack([X[:9].reshape(3, 3), X[9:]]))

    def value(self, s: Scalar) -> Matrix:
        """p_AoMo_A(s) as a column (3, 1) [m]"""
        return self.CalcPose(s).translation().reshape(3, 1)

    def CalcSpatialVelocityInM(self, s: Scalar, s_dot: Scalar) -> SpatialVelocity:
        """V_AM_M for the speed s_dot [m/s]"""
        return SpatialVelocity([0.0, 0.0, s_dot * self.curvature(s)], [s_dot, 0.0, 0.0])

    def CalcSpatialVelocity(self, s: Scalar, s_dot: Scalar) -> SpatialVelocity:
        """V_AM_A for the speed s_dot [m/s]"""
        return self.CalcSpatialVelocityInM(s, s_dot).Rotate(self.CalcPose(s).rotation())

    def CalcSpatialAccelerationInM(self, s: Scalar, s_dot: Scalar, s_ddot: Scalar) -> SpatialAcceleration:
        """A_AM_M for the speed s_dot [m/s] and its rate s_ddot [m/s^2]"""
        rate = self.curvature(s)
        return SpatialAcceleration([0.0, 0.0, s_ddot * rate], [s_ddot, s_dot * s_dot * rate, 0.0])

    def CalcSpatialAcceleration(self, s: Scalar, s_dot: Scalar, s_ddot: Scalar) -> SpatialAcceleration:
        """A_AM_A for the speed s_dot [m/s] and its rate s_ddot [m/s^2]"""
        return self.CalcSpatialAccelerationInM(s, s_dot, s_ddot).Rotate(self.CalcPose(s).rotation())

    def EndpointsAreNearlyEqual(self, tolerance: float) -> bool:
        """Whether no element of the poses of M in the plane differs between the ends by more than the tolerance."""
        last = self._rates.size - 1
        if last < 0:
            raise RuntimeError("the curve is empty")
        end = _advance(self.segments[last], self.length())
        return bool((abs(end - self.segments[0, 4:]) <= tolerance).all())


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    values = np.array(values, dtype=float)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise RuntimeError(f"{name} must be finite numbers, they are {values}")
    return values


def _initial_pose(initial_curve_tangent: ArrayLike, plane_normal: ArrayLike, initial_position: ArrayLike) -> FloatArray:
    """Row of 12 numbers: the rotation with columns tangent, normal x tangent, normal; the position."""
    given = (initial_curve_tangent, plane_normal, initial_position)
    tangent, normal, position = (np.array(x, dtype=float) for x in given)
    for name, vector in (("initial_curve_tangent", tangent), ("plane_normal", normal)):
        if vector.shape != (3,) or not 0.0 < np.linalg.norm(vector) < np.inf:
            raise RuntimeError(f"{name} must be a direction, it is {vector}")
    if position.shape != (3,) or not np.isfinite(position).all():
        raise RuntimeError(f"initial_position must be three finite numbers, it is {position}")
    x, z = tangent / np.linalg.norm(tangent), normal / np.linalg.norm(normal)
    if not abs(x @ z) <= LARGEST_COSINE:
        raise RuntimeError(f"initial_curve_tangent {tangent} is not perpendicular to plane_normal {normal}")
    y = np.cross(z, x) / np.linalg.norm(np.cross(z, x))
    R = RotationMatrix.MakeFromOrthonormalColumns(np.cross(y, z), y, z).matrix()
    return np.concatenate([R.ravel(), position])


def _segments(breaks: FloatArray, rates: FloatArray) -> FloatArray:
    """(n, SEGMENT_SIZE) as the engine takes them: each segment starts where the one before ends."""
    segments = np.zeros((rates.size, SEGMENT_SIZE))
    heading_and_place = np.array([1.0, 0.0, 0.0, 0.0])
    for k, rate in enumerate(rates):
        with np.errstate(divide="ignore", over="ignore"):
            radius = 1.0 / rate
        straight = not np.isfinite(radius)
        segments[k] = [
            breaks[k],
            0.0 if straight else rate,
            0.0 if straight else radius,
            float(straight),
            *heading_and_place,
        ]
        heading_and_place = _advance(segments[k], breaks[k + 1])
    return segments


def _advance(segment: FloatArray, s: float) -> FloatArray:
    """(cos, sin, x, y) of M in the plane at distance s of a segment."""
    identity = np.array([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    return _pose_on_segment(segment.reshape(1, -1), identity, s)[[0, 3, 9, 10]]


def _pose_on_segment(segment: FloatArray, X_AM0: FloatArray, s: float) -> FloatArray:
    """X_AM (12,) at distance s of a segment (1, SEGMENT_SIZE)."""
    X, angle = np.zeros((1, 12)), np.zeros((1, 3))
    pose_on_segment(segment, 0, X_AM0, s, angle, X, 0)
    return X[0]

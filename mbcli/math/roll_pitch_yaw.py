"""Roll, pitch and yaw angles: rotations by roll about x, then pitch about y, then yaw about z, space-fixed.

R_AD = Rz(yaw) Ry(pitch) Rx(roll). D is the rotated (child) frame and A the fixed (parent) frame.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError, NumericalError
from mbcli.math import rotation_matrix
from mbcli.math.array_arguments import as_array, as_scalar, real_part, single_argument
from mbcli.math.cross_product import skew
from mbcli.math.quaternion import Quaternion
from mbcli.math.rotation_array import checked_rotation, matrix_from_quaternion, quaternion_from_matrix
from mbcli.math.sine_cosine import arctangent, sine_cosine, square_root

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3
    from mbcli.math.rotation_matrix import RotationMatrix

# Below this |cos(pitch)|, 0.46 degrees from +-90, rates are refused: one divides by cos(pitch).
GIMBAL_LOCK_COSINE = 0.008


class RollPitchYaw:
    """Roll, pitch and yaw [rad], space-fixed x-y-z (equal to body-fixed z-y-x).

    From an orientation, roll and yaw are in [-pi, pi] and pitch in [-pi/2, pi/2]; at gimbal lock roll and yaw share the
    rotation equally.

    Args:
      rpy: (3,) [rad]; or a RotationMatrix, a Quaternion or another one.
      pitch: [rad], with roll and yaw; roll is the first argument then.
      yaw: [rad].
      roll: [rad].
      other: RollPitchYaw.
      R: RotationMatrix.
      quaternion: Quaternion.
      matrix: (3, 3) [1] of a rotation.

    Raises:
      ModelError: an angle is not finite.

    Example:
      >>> RollPitchYaw(RotationMatrix.MakeZRotation(0.5)).vector().round(6) + 0.0
      array([0. , 0. , 0.5])
    """

    __slots__ = ("_roll", "_pitch", "_yaw")
    _roll: Scalar
    _pitch: Scalar
    _yaw: Scalar

    def __init__(
        self,
        rpy: RotationMatrix | Quaternion | RollPitchYaw | ArrayLike | None = None,
        pitch: Scalar = None,
        yaw: Scalar = None,
        *,
        roll: Scalar = None,
        other: RollPitchYaw | None = None,
        R: RotationMatrix | None = None,
        quaternion: Quaternion | None = None,
        matrix: ArrayLike | None = None,
    ) -> None:
        if pitch is not None or yaw is not None or roll is not None:
            first = single_argument("RollPitchYaw", rpy=rpy, roll=roll)
            alone = other is R is quaternion is matrix is None
            if first is None or pitch is None or yaw is None or not alone:
                raise TypeError("RollPitchYaw: expected roll, pitch and yaw")
            self._set_angles(first, pitch, yaw)
            return
        source = single_argument("RollPitchYaw", rpy=rpy, other=other, R=R, quaternion=quaternion, matrix=matrix)
        if source is None:
            raise TypeError("RollPitchYaw: expected angles, a rotation matrix or a quaternion")
        if isinstance(source, RollPitchYaw):
            self._roll, self._pitch, self._yaw = source._roll, source._pitch, source._yaw
        elif isinstance(source, Quaternion):
            self.SetFromQuaternion(source)
        elif isinstance(source, rotation_matrix.RotationMatrix):
            self.SetFromRotationMatrix(source)
        elif np.shape(source) == (3, 3):
            matrix = checked_rotation(as_array(source, (3, 3), "RollPitchYaw: matrix"))
            self._set_angles(*_angles_from(matrix, quaternion_from_matrix(matrix)))
        else:
            self._set_angles(*as_array(source, (3,), "RollPitchYaw: rpy").tolist())

    def _set_angles(self, *angles: Scalar) -> None:
        numbers = [as_scalar(angle, "RollPitchYaw: angle") for angle in angles]
        if any(real is not None and not math.isfinite(real) for real in map(real_part, numbers)):
            raise ModelError(f"RollPitchYaw: angles must be finite, got {numbers}")
        self._roll, self._pitch, self._yaw = numbers

    def set(
        self,
        rpy: RotationMatrix | Quaternion | RollPitchYaw | ArrayLike | None = None,
        pitch: Scalar = None,
        yaw: Scalar = None,
        *,
        roll: Scalar = None,
    ) -> RollPitchYaw:
        """Replace the angles by `rpy` (3,) or by roll, pitch and yaw [rad]; return this object."""
        value = RollPitchYaw(rpy, pitch, yaw, roll=roll)
        self._roll, self._pitch, self._yaw = value._roll, value._pitch, value._yaw
        return self

    def SetFromQuaternion(self, quaternion: Quaternion) -> None:
        """Replace the angles by those of a quaternion."""
        wxyz = quaternion.wxyz_array
        self._set_angles(*_angles_from(matrix_from_quaternion(wxyz), wxyz))

    def SetFromRotationMatrix(self, R: RotationMatrix) -> None:
        """Replace the angles by those of a RotationMatrix."""
        self._set_angles(*_angles_from(R.R_array, quaternion_from_matrix(R.R_array)))

    def vector(self) -> Vector3:
        """The three angles.

        Returns:
          (3,) [rad].

        Example:
          >>> RollPitchYaw(0.1, 0.2, 0.3).vector()
          array([0.1, 0.2, 0.3])
        """
        return np.array((self._roll, self._pitch, self._yaw))

    def roll_angle(self) -> Scalar:
        """Return the roll angle [rad]."""
        return self._roll

    def pitch_angle(self) -> Scalar:
        """Return the pitch angle [rad]."""
        return self._pitch

    def yaw_angle(self) -> Scalar:
        """Return the yaw angle [rad]."""
        return self._yaw

    def set_roll_angle(self, r: Scalar) -> None:
        """Replace the roll angle [rad]."""
        self._set_angles(r, self._pitch, self._yaw)

    def set_pitch_angle(self, p: Scalar) -> None:
        """Replace the pitch angle [rad]."""
        self._set_angles(self._roll, p, self._yaw)

    def set_yaw_angle(self, y: Scalar) -> None:
        """Replace the yaw angle [rad]."""
        self._set_angles(self._roll, self._pitch, y)

    def ToRotationMatrix(self) -> rotation_matrix.RotationMatrix:
        """Return the RotationMatrix R_AD of these angles."""
        return rotation_matrix.RotationMatrix.MakeUnchecked(self._matrix())

    def ToQuaternion(self) -> Quaternion:
        """Return the quaternion of these angles; its w may be negative."""
        (sr, cr), (sp, cp), (sy, cy) = (sine_cosine(0.5 * a) for a in (self._roll, self._pitch, self._yaw))
        return Quaternion(
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        )

    def IsNearlyEqualTo(self, other: RollPitchYaw, tolerance: float) -> bool:
        """Tell whether each angle equals the other's within the tolerance [rad]."""
        return bool(np.abs(self.vector() - other.vector()).max() <= tolerance)

    def IsNearlySameOrientation(self, other: RollPitchYaw, tolerance: float) -> bool:
        """Tell whether the rotation matrices agree within the tolerance, whatever the angles."""
        return bool(np.abs(self._matrix() - other._matrix()).max() <= tolerance)

    def IsRollPitchYawInCanonicalRange(self) -> bool:
        """Tell whether roll and yaw are in [-pi, pi] and pitch in [-pi/2, pi/2]."""
        half = 0.5 * math.pi
        return abs(self._roll) <= math.pi and abs(self._pitch) <= half and abs(self._yaw) <= math.pi

    @staticmethod
    def GimbalLockPitchAngleTolerance() -> float:
        """Return the angle [rad] from +-pi/2 within which rates are refused."""
        return 0.5 * math.pi - math.acos(GIMBAL_LOCK_COSINE)

    @staticmethod
    def DoesCosPitchAngleViolateGimbalLockTolerance(cos_pitch_angle: Scalar) -> bool:
        """Tell whether |cos(pitch)| is below 0.008."""
        return bool(abs(cos_pitch_angle) < GIMBAL_LOCK_COSINE)

    def DoesPitchAngleViolateGimbalLockTolerance(self) -> bool:
        """Tell whether the pitch angle is within 0.46 degrees of +-90 degrees."""
        return self.DoesCosPitchAngleViolateGimbalLockTolerance(sine_cosine(self._pitch)[1])

    def CalcRotationMatrixDt(self, rpyDt: ArrayLike) -> np.ndarray:
        """Return the time derivative in A of R_AD (3, 3) [1/s] from the rates of the angles (3,) [rad/s]."""
        w_AD_A = self.CalcAngularVelocityInParentFromRpyDt(rpyDt)
        return skew(w_AD_A).dot(self._matrix())

    def CalcAngularVelocityInParentFromRpyDt(self, rpyDt: ArrayLike) -> np.ndarray:
        """Return w_AD_A (3,) [rad/s] from the rates of the angles (3,) [rad/s]."""
        return self._parent_matrix().dot(as_array(rpyDt, (3,), "rpyDt"))

    def CalcAngularVelocityInChildFromRpyDt(self, rpyDt: ArrayLike) -> np.ndarray:
        """Return w_AD_D (3,) [rad/s] from the rates of the angles (3,) [rad/s]."""
        return self._child_matrix().dot(as_array(rpyDt, (3,), "rpyDt"))

    def CalcRpyDtFromAngularVelocityInParent(self, w_AD_A: ArrayLike) -> np.ndarray:
        """Return the rates of the angles (3,) [rad/s] from w_AD_A (3,); NumericalError at gimbal lock."""
        return self._rates_from_parent(as_array(w_AD_A, (3,), "w_AD_A"))

    def CalcRpyDtFromAngularVelocityInChild(self, w_AD_D: ArrayLike) -> np.ndarray:
        """Return the rates of the angles (3,) [rad/s] from w_AD_D (3,); NumericalError at gimbal lock."""
        return self._rates_from_child(as_array(w_AD_D, (3,), "w_AD_D"))

    def CalcRpyDDtFromRpyDtAndAngularAccelInParent(self, rpyDt: ArrayLike, alpha_AD_A: ArrayLike) -> np.ndarray:
        """Return the second derivatives of the angles (3,) [rad/s^2] from rpyDt (3,) and alpha_AD_A (3,).

        Raises NumericalError at gimbal lock.
        """
        (_, _), (sp, cp), (sy, cy) = self._sines_cosines()
        rates = as_array(rpyDt, (3,), "rpyDt")
        _, pDt, yDt = rates.tolist()
        matrix_dt = np.array(
            (
                (-sp * cy * pDt - cp * sy * yDt, -cy * yDt, 0.0),
                (-sp * sy * pDt + cp * cy * yDt, -sy * yDt, 0.0),
                (-cp * pDt, 0.0, 0.0),
            )
        )
        return self._rates_from_parent(as_array(alpha_AD_A, (3,), "alpha_AD_A") - matrix_dt.dot(rates))

    def CalcRpyDDtFromAngularAccelInChild(self, rpyDt: ArrayLike, alpha_AD_D: ArrayLike) -> np.ndarray:
        """Return the second derivatives of the angles (3,) [rad/s^2] from rpyDt (3,) and alpha_AD_D (3,).

        Raises NumericalError at gimbal lock.
        """
        (sr, cr), (sp, cp), (_, _) = self._sines_cosines()
        rates = as_array(rpyDt, (3,), "rpyDt")
        rDt, pDt, _ = rates.tolist()
        matrix_dt = np.array(
            (
                (0.0, 0.0, -cp * pDt),
                (0.0, -sr * rDt, cr * cp * rDt - sr * sp * pDt),
                (0.0, -cr * rDt, -sr * cp * rDt - cr * sp * pDt),
            )
        )
        return self._rates_from_child(as_array(alpha_AD_D, (3,), "alpha_AD_D") - matrix_dt.dot(rates))

    def _sines_cosines(self) -> tuple[tuple[Scalar, Scalar], tuple[Scalar, Scalar], tuple[Scalar, Scalar]]:
        return sine_cosine(self._roll), sine_cosine(self._pitch), sine_cosine(self._yaw)

    def _matrix(self) -> np.ndarray:
        """Return R_AD as a new array (3, 3)."""
        return np.array(rows_from_angles(self._roll, self._pitch, self._yaw))

    def _parent_matrix(self) -> np.ndarray:
        """Return the matrix (3, 3) that takes the rates of the angles to w_AD_A."""
        (_, _), (sp, cp), (sy, cy) = self._sines_cosines()
        return np.array(((cp * cy, -sy, 0.0), (cp * sy, cy, 0.0), (-sp, 0.0, 1.0)))

    def _child_matrix(self) -> np.ndarray:
        """Return the matrix (3, 3) that takes the rates of the angles to w_AD_D."""
        (sr, cr), (sp, cp), (_, _) = self._sines_cosines()
        return np.array(((1.0, 0.0, -sp), (0.0, cr, sr * cp), (0.0, -sr, cr * cp)))

    def _rates_from_parent(self, w: np.ndarray) -> np.ndarray:
        (_, _), (sp, cp), (sy, cy) = self._sines_cosines()
        self._refuse_gimbal_lock(cp)
        x, y, z = w.tolist()
        roll_dt = (cy * x + sy * y) / cp
        return np.array((roll_dt, cy * y - sy * x, z + sp * roll_dt))

    def _rates_from_child(self, w: np.ndarray) -> np.ndarray:
        (sr, cr), (sp, cp), (_, _) = self._sines_cosines()
        self._refuse_gimbal_lock(cp)
        x, y, z = w.tolist()
        yaw_dt = (sr * y + cr * z) / cp
        return np.array((x + sp * yaw_dt, cr * y - sr * z, yaw_dt))

    def _refuse_gimbal_lock(self, cos_pitch: Scalar) -> None:
        if self.DoesCosPitchAngleViolateGimbalLockTolerance(cos_pitch):
            degrees = math.degrees(self._pitch.real)
            margin = math.degrees(self.GimbalLockPitchAngleTolerance())
            raise NumericalError(
                f"RollPitchYaw: pitch {degrees:.6g} degrees is within {margin:.3g} degrees of gimbal lock; "
                "the rates of roll and yaw are not defined"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(roll={self._roll!r}, pitch={self._pitch!r}, yaw={self._yaw!r})"


def rows_from_angles(roll: Scalar, pitch: Scalar, yaw: Scalar) -> tuple[tuple[Scalar, Scalar, Scalar], ...]:
    """Return the rows of R_AD of three angles [rad]."""
    (sr, cr), (sp, cp), (sy, cy) = sine_cosine(roll), sine_cosine(pitch), sine_cosine(yaw)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def _angles_from(R: np.ndarray, wxyz: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch, yaw [rad] of an orientation given both as matrix and as quaternion.

    In half angles, (x + z, w - y) is (cos(p/2) - sin(p/2)) times (sin, cos) of (yaw + roll)/2, and
    (z - x, w + y) is (cos(p/2) + sin(p/2)) times (sin, cos) of (yaw - roll)/2. At p = +-90 degrees one of
    the two vanishes: its angle is free and taken as zero.
    """
    (R00, _, _), (R10, _, _), (R20, R21, R22) = R.tolist()
    pitch = arctangent(-R20, square_root(0.5 * (R00 * R00 + R10 * R10 + R21 * R21 + R22 * R22)))
    w, x, y, z = wxyz.tolist()
    half_sum = _angle_or_zero(x + z, w - y)
    half_difference = _angle_or_zero(z - x, w + y)
    return _wrapped(half_sum - half_difference), pitch, _wrapped(half_sum + half_difference)


def _angle_or_zero(sine: float, cosine: float) -> float:
    tiny = np.finfo(float).eps
    return 0.0 if abs(sine) <= tiny and abs(cosine) <= tiny else arctangent(sine, cosine)


def _wrapped(angle: float) -> float:
    if angle > math.pi:
        return angle - 2.0 * math.pi
    return angle + 2.0 * math.pi if angle < -math.pi else angle

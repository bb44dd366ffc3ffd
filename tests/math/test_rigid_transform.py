"""Rotations, quaternions and rigid transforms against identities, derivatives and pydrake."""

import copy
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mbcli.math as mbcli_math
from mbcli.errors import ModelError, NumericalError
from mbcli.math import (
    AngleAxis,
    Quaternion,
    RigidTransform,
    RollPitchYaw,
    RotationMatrix,
    UniformlyRandomRotationMatrix,
    UniformlyRandomRPY,
    VectorToSkewSymmetric,
    wrap_to,
)

ROUNDING = 1e-14


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def random_transform(rng):
    return RigidTransform(UniformlyRandomRotationMatrix(rng), rng.uniform(-3.0, 3.0, 3))


def near(a, b, tolerance=ROUNDING):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def elementary(axis, angle):
    """Return a rotation about x, y or z, written out."""
    s, c = math.sin(angle), math.cos(angle)
    rows = {
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }
    return np.array(rows[axis])


class TestRotationMatrix:
    def test_rotations_about_coordinate_axes(self):
        near(RotationMatrix.MakeXRotation(0.7).matrix(), elementary("x", 0.7))
        near(RotationMatrix.MakeYRotation(0.7).matrix(), elementary("y", 0.7))
        near(RotationMatrix.MakeZRotation(0.7).matrix(), elementary("z", 0.7))

    def test_all_descriptions_of_one_rotation_agree(self, rng):
        for _ in range(50):
            R = UniformlyRandomRotationMatrix(rng)
            for other in (
                RotationMatrix(R.matrix()),
                RotationMatrix(R.ToQuaternion()),
                RotationMatrix(R.ToRollPitchYaw()),
                RotationMatrix(R.ToAngleAxis()),
                RotationMatrix(Quaternion(R.matrix())),
                RotationMatrix(RollPitchYaw(R.ToQuaternion())),
                RotationMatrix(RollPitchYaw(R.matrix())),
                RotationMatrix(AngleAxis(R.matrix())),
                RotationMatrix(R.ToAngleAxis().rotation()),
                RotationMatrix(R.ToQuaternion().rotation()),
                RotationMatrix(R.ToRollPitchYaw().ToQuaternion()),
                RotationMatrix(R),
            ):
                near(other.matrix(), R.matrix(), 4e-15)
                assert other.IsValid()

    @pytest.mark.parametrize("axis", np.eye(3).tolist() + (np.ones((1, 3)) / math.sqrt(3.0)).tolist())
    @pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 1.0, math.pi - 1e-7, math.pi])
    def test_angle_axis_and_quaternion_are_accurate_at_every_angle(self, axis, angle):
        R = RotationMatrix(AngleAxis(angle, axis))
        found = R.ToAngleAxis()
        assert found.angle() == pytest.approx(angle, abs=1e-15)
        near(RotationMatrix(R.ToQuaternion()).matrix(), R.matrix(), 1e-15)
        assert R.ToQuaternion().w() >= 0.0
        if 0.0 < angle < math.pi:
            near(found.axis(), axis, 1e-8)

    def test_products_and_inverses(self, rng):
        R, S = UniformlyRandomRotationMatrix(rng), UniformlyRandomRotationMatrix(rng)
        near((R @ S).matrix(), R.matrix() @ S.matrix())
        near((R.multiply(S)).matrix(), R.matrix() @ S.matrix())
        near(R.inverse().matrix(), R.matrix().T)
        near(R.transpose().matrix(), R.matrix().T)
        near(R.InvertAndCompose(S).matrix(), R.matrix().T @ S.matrix())
        v, columns = rng.standard_normal(3), rng.standard_normal((3, 5))
        near(R @ v, R.matrix() @ v)
        near(R.multiply(v_B=columns), R.matrix() @ columns)
        assert (R @ columns[:, :1]).shape == (3, 1)
        for i in range(3):
            near(R.row(i), R.matrix()[i])
            near(R.col(i), R.matrix()[:, i])

    def test_matrices_that_are_no_rotations_are_refused(self):
        for wrong in (np.ones((3, 3)), np.diag([1.0, 1.0, -1.0]), np.full((3, 3), np.nan), 1.001 * np.eye(3)):
            with pytest.raises(ModelError):
                RotationMatrix(wrong)
            assert not RotationMatrix.MakeUnchecked(wrong).IsValid()
        for wrong in (np.eye(4), [1.0, 2.0, 3.0], "R", object(), [[1, 2], [3]]):
            with pytest.raises(TypeError):
                RotationMatrix(wrong)
        single = RotationMatrix.MakeXRotation(0.3).matrix().astype(np.float32)
        assert not RotationMatrix(single).IsValid()

    def test_validity_is_within_128_machine_epsilons(self):
        assert RotationMatrix.get_internal_tolerance_for_orthonormality() == 128 * np.finfo(float).eps
        assert RotationMatrix.MakeUnchecked(np.diag([1 + 1.4e-14, 1, 1])).IsValid()
        assert not RotationMatrix.MakeUnchecked(np.diag([1 + 1.5e-14, 1, 1])).IsValid()

    def test_projection_is_the_nearest_rotation(self, rng):
        R = UniformlyRandomRotationMatrix(rng)
        M = R.matrix() + 0.05 * rng.standard_normal((3, 3))
        best = RotationMatrix.ProjectToRotationMatrix(M)
        assert best.IsValid()
        distance = np.linalg.norm(best.matrix() - M)
        for _ in range(50):
            other = best @ RotationMatrix(AngleAxis(1e-3, UniformlyRandomRotationMatrix(rng).col(0)))
            assert np.linalg.norm(other.matrix() - M) > distance
        for wrong in (np.diag([1.0, 1.0, -1.0]), np.full((3, 3), np.inf)):
            with pytest.raises(ModelError):
                RotationMatrix.ProjectToRotationMatrix(wrong)

    def test_rotation_from_one_vector(self, rng):
        for index in range(3):
            for vector in (*rng.standard_normal((20, 3)), np.array([0.0, 0.0, 2.0]), np.array([1e-10, 0.0, 0.0])):
                R = RotationMatrix.MakeFromOneVector(vector, index)
                assert R.IsValid()
                near(R.col(index), vector / np.linalg.norm(vector))
        for wrong in ([0.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [np.inf, 0.0, 0.0], [1e-11, 0.0, 0.0]):
            with pytest.raises(ModelError):
                RotationMatrix.MakeFromOneVector(wrong, 0)
        with pytest.raises(ModelError):
            RotationMatrix.MakeFromOneVector([1.0, 0.0, 0.0], 3)

    def test_bases(self, rng):
        R = UniformlyRandomRotationMatrix(rng)
        assert RotationMatrix.MakeFromOrthonormalColumns(*(R.col(i) for i in range(3))).IsExactlyEqualTo(R)
        assert RotationMatrix.MakeFromOrthonormalRows(*(R.row(i) for i in range(3))).IsExactlyEqualTo(R)
        with pytest.raises(ModelError):
            RotationMatrix.MakeFromOrthonormalColumns(R.col(1), R.col(0), R.col(2))

    def test_comparisons(self, rng):
        R = UniformlyRandomRotationMatrix(rng)
        assert RotationMatrix().IsExactlyIdentity() and RotationMatrix.Identity().IsNearlyIdentity()
        small = RotationMatrix.MakeXRotation(1e-9)
        assert not small.IsExactlyIdentity() and not small.IsNearlyIdentity() and small.IsNearlyIdentity(1e-8)
        assert (R @ small).IsNearlyEqualTo(R, 1e-8) and not (R @ small).IsNearlyEqualTo(R, 1e-12)
        assert 0.0 < (R @ small).GetMaximumAbsoluteDifference(R) < 1e-8

    def test_changing_a_result_does_not_change_the_rotation(self):
        R = RotationMatrix()
        R.matrix()[0, 0] = R.col(0)[0] = R.row(0)[0] = 5.0
        S = copy.copy(R)
        R.set(RotationMatrix.MakeXRotation(0.1).matrix())
        assert S.IsExactlyIdentity() and RotationMatrix().IsExactlyIdentity() and not R.IsExactlyIdentity()


class TestRollPitchYaw:
    def test_is_space_fixed_x_then_y_then_z(self):
        r, p, y = 0.3, -0.8, 2.1
        expected = elementary("z", y) @ elementary("y", p) @ elementary("x", r)
        near(RollPitchYaw(r, p, y).ToRotationMatrix().matrix(), expected)
        near(RollPitchYaw([r, p, y]).ToQuaternion().rotation(), expected)
        near(RollPitchYaw(RotationMatrix(expected)).vector(), [r, p, y])

    def test_angles_out_of_range_come_back_in_range(self, rng):
        for _ in range(100):
            rpy = RollPitchYaw(rng.uniform(-10.0, 10.0, 3))
            back = rpy.ToRotationMatrix().ToRollPitchYaw()
            assert back.IsRollPitchYawInCanonicalRange()
            assert back.IsNearlySameOrientation(rpy, 1e-14)
            assert RollPitchYaw(rpy.ToQuaternion()).IsNearlySameOrientation(rpy, 1e-14)

    @pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
    @pytest.mark.parametrize("offset", [0.0, 1e-15, 1e-12, 1e-8, 1e-4])
    def test_orientation_survives_gimbal_lock(self, pitch, offset):
        rpy = RollPitchYaw(1.0, pitch - math.copysign(offset, pitch), 2.0)
        for back in (RollPitchYaw(rpy.ToRotationMatrix()), RollPitchYaw(rpy.ToQuaternion())):
            assert back.IsNearlySameOrientation(rpy, 1e-14)

    def test_rates_against_derivatives_of_the_rotation(self, rng):
        for _ in range(20):
            q, q_dt, q_ddt = rng.uniform(-1.2, 1.2, (3, 3))
            rpy = RollPitchYaw(q)
            R = rpy.ToRotationMatrix()
            R_dt = RollPitchYaw(q + 1e-30j * q_dt).ToRotationMatrix().matrix().imag / 1e-30
            near(rpy.CalcRotationMatrixDt(q_dt), R_dt)
            w_A = rpy.CalcAngularVelocityInParentFromRpyDt(q_dt)
            near(VectorToSkewSymmetric(w_A), R_dt @ R.matrix().T)
            w_D = rpy.CalcAngularVelocityInChildFromRpyDt(q_dt)
            near(w_D, R.inverse() @ w_A)
            near(rpy.CalcRpyDtFromAngularVelocityInParent(w_A), q_dt, 1e-13)
            near(rpy.CalcRpyDtFromAngularVelocityInChild(w_D), q_dt, 1e-13)

            def derivative(angular_velocity, q=q, q_dt=q_dt, q_ddt=q_ddt):
                step = 1e-30j
                return angular_velocity(RollPitchYaw(q + step * q_dt), q_dt + step * q_ddt).imag / 1e-30

            alpha_A = derivative(RollPitchYaw.CalcAngularVelocityInParentFromRpyDt)
            alpha_D = derivative(RollPitchYaw.CalcAngularVelocityInChildFromRpyDt)
            near(alpha_D, R.inverse() @ alpha_A, 1e-13)
            near(rpy.CalcRpyDDtFromRpyDtAndAngularAccelInParent(q_dt, alpha_A), q_ddt, 1e-12)
            near(rpy.CalcRpyDDtFromAngularAccelInChild(q_dt, alpha_D), q_ddt, 1e-12)

    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_rates_near_gimbal_lock_raise(self, sign):
        """Within 0.46 degrees of +-90: at 0.45 degrees it raises, at 0.47 it does not."""
        one = np.ones(3)
        for degrees, locked in ((0.45, True), (0.47, False)):
            rpy = RollPitchYaw(0.2, sign * math.radians(90.0 - degrees), 0.1)
            assert rpy.DoesPitchAngleViolateGimbalLockTolerance() is locked
            for call in (
                lambda rpy=rpy: rpy.CalcRpyDtFromAngularVelocityInParent(one),
                lambda rpy=rpy: rpy.CalcRpyDtFromAngularVelocityInChild(one),
                lambda rpy=rpy: rpy.CalcRpyDDtFromRpyDtAndAngularAccelInParent(one, one),
                lambda rpy=rpy: rpy.CalcRpyDDtFromAngularAccelInChild(one, one),
            ):
                if locked:
                    with pytest.raises(NumericalError, match="gimbal lock"):
                        call()
                else:
                    assert np.isfinite(call()).all()
        assert RollPitchYaw.DoesCosPitchAngleViolateGimbalLockTolerance(0.0079)
        assert not RollPitchYaw.DoesCosPitchAngleViolateGimbalLockTolerance(-0.008)

    def test_arguments(self):
        for rpy in (
            RollPitchYaw(1, 2, 3),
            RollPitchYaw(rpy=[1, 2, 3]),
            RollPitchYaw(roll=1, pitch=2, yaw=3),
            RollPitchYaw([[1], [2], [3]]),
            RollPitchYaw(other=RollPitchYaw(1, 2, 3)),
            RollPitchYaw(0, 0, 0).set(1, 2, 3),
        ):
            near(rpy.vector(), [1.0, 2.0, 3.0], 0.0)
            assert (rpy.roll_angle(), rpy.pitch_angle(), rpy.yaw_angle()) == (1.0, 2.0, 3.0)
        for wrong in ((), (1, 2), ([1, 2],), ("abc",), (1, 2, 3, 4)):
            with pytest.raises(TypeError):
                RollPitchYaw(*wrong)
        for wrong in ((math.nan, 0.0, 0.0), (0.0, math.inf, 0.0)):
            with pytest.raises(ModelError):
                RollPitchYaw(*wrong)
        with pytest.raises(ModelError):
            RollPitchYaw(np.ones((3, 3)))


class TestQuaternion:
    def test_product_and_rotated_vectors(self, rng):
        q, r = mbcli_math.UniformlyRandomQuaternion(rng), mbcli_math.UniformlyRandomQuaternion(rng)
        near((q @ r).rotation(), q.rotation() @ r.rotation())
        v = rng.standard_normal((3, 4))
        near(q @ v, q.rotation() @ v)
        near(q.multiply(vector=v[:, 0]), q.rotation() @ v[:, 0])
        near((q @ q.inverse()).wxyz(), [1, 0, 0, 0])
        near(q.conjugate().wxyz(), q.wxyz() * [1, -1, -1, -1])
        i, j, k = (Quaternion(0, *e) for e in np.eye(3))
        near((i @ j).wxyz(), k.wxyz())

    def test_slerp_turns_by_a_share_of_the_angle_the_shorter_way(self, rng):
        axis = UniformlyRandomRotationMatrix(rng).col(1)
        start, end = Quaternion(), AngleAxis(1.2, axis).quaternion()
        for t in (-0.5, 0.0, 0.3, 1.0, 1.5):
            near(start.slerp(t, end).wxyz(), AngleAxis(1.2 * t, axis).quaternion().wxyz())
            near(start.slerp(t, Quaternion(-end.wxyz())).rotation(), AngleAxis(1.2 * t, axis).rotation())
        near(end.slerp(0.4, end).wxyz(), end.wxyz())

    def test_derivative_and_angular_velocity(self, rng):
        q, w = mbcli_math.UniformlyRandomQuaternion(rng), rng.standard_normal(3)
        rate = mbcli_math.CalculateQuaternionDtFromAngularVelocityExpressedInB(q, w)
        step = 1e-7
        ahead = q @ AngleAxis(step * np.linalg.norm(w), w / np.linalg.norm(w)).quaternion()
        near((ahead.wxyz() - q.wxyz()) / step, rate, 1e-6)
        near(mbcli_math.CalculateAngularVelocityExpressedInBFromQuaternionDt(q, rate), w)
        assert mbcli_math.CalculateQuaternionDtConstraintViolation(q, rate) == pytest.approx(0.0, abs=ROUNDING)
        assert mbcli_math.IsBothQuaternionAndQuaternionDtOK(q, rate, 1e-12)
        assert not mbcli_math.IsBothQuaternionAndQuaternionDtOK(q, q.wxyz(), 1e-12)

    def test_signs(self):
        q = Quaternion(-0.5, 0.5, 0.5, 0.5)
        assert not mbcli_math.is_quaternion_in_canonical_form(q)
        near(mbcli_math.QuaternionToCanonicalForm(q).wxyz(), [0.5, -0.5, -0.5, -0.5], 0.0)
        near(mbcli_math.ClosestQuaternion(Quaternion(), q).wxyz(), [0.5, -0.5, -0.5, -0.5], 0.0)
        assert mbcli_math.AreQuaternionsEqualForOrientation(q, Quaternion(-q.wxyz()), 0.0)
        assert not mbcli_math.AreQuaternionsEqualForOrientation(q, Quaternion(), 0.1)

    def test_lengths_other_than_one_are_refused(self):
        for wrong in ([2, 0, 0, 0], [0, 0, 0, 0], [1 + 2e-5, 0, 0, 0], [math.nan, 0, 0, 0]):
            with pytest.raises(ModelError):
                Quaternion(wrong)
            with pytest.raises(ModelError):
                Quaternion(*wrong)
            with pytest.raises(ModelError):
                Quaternion().set_wxyz(wrong)
        with pytest.raises(ModelError):
            AngleAxis(1.0, [0.0, 0.0, 2.0])
        with pytest.raises(ModelError):
            Quaternion(np.ones((3, 3)))
        for wrong in ((1, 2), ([1, 2, 3],), ("wxyz",)):
            with pytest.raises(TypeError):
                Quaternion(*wrong)

    def test_angle_axis(self, rng):
        a = AngleAxis(0.4, UniformlyRandomRotationMatrix(rng).col(0))
        near((a @ a).rotation(), AngleAxis(0.8, a.axis()).rotation())
        near(a.inverse().rotation(), a.rotation().T)
        assert AngleAxis().angle() == 0.0 and AngleAxis.Identity().axis().tolist() == [1.0, 0.0, 0.0]
        b = AngleAxis(Quaternion(-0.5, 0.5, 0.5, 0.5))
        assert b.angle() == pytest.approx(2.0 * math.pi / 3.0)
        near(b.axis(), -np.ones(3) / math.sqrt(3.0))


class TestRigidTransform:
    def test_composition_is_the_product_of_homogeneous_matrices(self, rng):
        for _ in range(20):
            X, Y = random_transform(rng), random_transform(rng)
            near((X @ Y).GetAsMatrix4(), X.GetAsMatrix4() @ Y.GetAsMatrix4())
            near(X.multiply(Y).GetAsMatrix34(), (X.GetAsMatrix4() @ Y.GetAsMatrix4())[:3])
            near(X.inverse().GetAsMatrix4(), np.linalg.inv(X.GetAsMatrix4()), 1e-13)
            near((X @ X.inverse()).GetAsMatrix4(), np.eye(4), 4e-15)
            near(X.InvertAndCompose(Y).GetAsMatrix4(), (X.inverse() @ Y).GetAsMatrix4(), 4e-15)

    def test_points_directions_and_columns(self, rng):
        X = random_transform(rng)
        R, p = X.rotation().matrix(), X.translation()
        q, columns = rng.standard_normal(3), rng.standard_normal((3, 6))
        near(X @ q, R @ q + p)
        near(X.multiply(p_BoQ_B=columns), R @ columns + p[:, np.newaxis])
        near(X @ [*q, 1.0], [*(R @ q + p), 1.0])
        near(X.multiply(vec_B=[*q, 0.0]), [*(R @ q), 0.0])
        assert (X @ columns[:, :1]).shape == (3, 1)
        assert (X @ np.ones((4, 1))).shape == (4, 1)
        with pytest.raises(ModelError, match="neither 0 nor 1"):
            X @ [1.0, 1.0, 1.0, 2.0]
        for wrong in (np.ones((1, 3)), np.ones((4, 3)), np.ones(2), X.rotation(), "abc", None, 3.0):
            with pytest.raises(TypeError):
                X @ wrong

    def test_constructors(self, rng):
        R, p = UniformlyRandomRotationMatrix(rng), [1.0, 2.0, 3.0]
        X = RigidTransform(R, p)
        for Y in (
            RigidTransform(X),
            RigidTransform(other=X),
            RigidTransform(R.ToQuaternion(), p),
            RigidTransform(R.ToRollPitchYaw(), p),
            RigidTransform(R.ToAngleAxis(), p),
            RigidTransform(quaternion=R.ToQuaternion(), p=p),
            RigidTransform(rpy=R.ToRollPitchYaw(), p=p),
            RigidTransform(theta_lambda=R.ToAngleAxis(), p=p),
            RigidTransform(X.GetAsMatrix4()),
            RigidTransform(pose=X.GetAsMatrix34()),
            RigidTransform(R=R, p=p),
            RigidTransform(p=p) @ RigidTransform(R),
            RigidTransform(np.reshape(p, (3, 1))) @ RigidTransform(R=R),
            RigidTransform.MakeUnchecked(X.GetAsMatrix34()),
            copy.copy(X),
            copy.deepcopy(X),
            pickle.loads(pickle.dumps(X)),
        ):
            assert Y.IsNearlyEqualTo(X, 4e-15)
        assert RigidTransform().IsExactlyIdentity() and RigidTransform.Identity().IsExactlyIdentity()

    def test_wrong_arguments(self, rng):
        R = UniformlyRandomRotationMatrix(rng)
        bottom = np.eye(4)
        bottom[3, 0] = 1.0
        for wrong in (np.ones((4, 4)), np.ones((3, 4)), bottom, [1.0, 2.0], np.eye(3), np.full((3, 4), np.nan)):
            with pytest.raises(ModelError):
                RigidTransform(wrong)
        for wrong in (
            (R, [1.0, 2.0]),
            (R.matrix(), [1.0, 2.0, 3.0]),
            ([1.0, 2.0, 3.0], R),
            (R.ToQuaternion(),),
            (R.ToRollPitchYaw(),),
            (["a", "b", "c"],),
        ):
            with pytest.raises(TypeError):
                RigidTransform(*wrong)
        with pytest.raises(TypeError):
            RigidTransform(R, quaternion=R.ToQuaternion(), p=np.zeros(3))
        with pytest.raises(TypeError):
            RigidTransform().set_rotation(R.matrix())

    def test_setters_and_sharing(self, rng):
        X = random_transform(rng)
        Y, R = copy.copy(X), UniformlyRandomRotationMatrix(rng)
        p = np.array([4.0, 5.0, 6.0])
        X.set_translation(p)
        p[0] = 9.0
        near(X.translation(), [4.0, 5.0, 6.0], 0.0)
        for source in (R, R.ToQuaternion(), R.ToRollPitchYaw(), R.ToAngleAxis()):
            X.set_rotation(source)
            near(X.rotation().matrix(), R.matrix(), 4e-15)
        assert not Y.IsNearlyEqualTo(X, 1e-3)
        X.set(R, [0.0, 0.0, 1.0])
        assert X.SetIdentity() is X and X.IsExactlyIdentity()
        X.set_translation([1.0, 0.0, 0.0])
        assert RigidTransform().IsExactlyIdentity()
        with pytest.raises(ValueError):
            X.translation()[0] = 3.0

    def test_comparisons(self):
        X = RigidTransform([1e-10, 0.0, 0.0])
        assert X.IsNearlyIdentity(1e-9) and not X.IsNearlyIdentity(1e-11) and not X.IsExactlyIdentity()
        assert not RigidTransform(RotationMatrix.MakeXRotation(1e-9)).IsNearlyIdentity(1.0)
        a, b = RigidTransform([3.0, 4.0, 5.0]), RigidTransform(RotationMatrix.MakeXRotation(math.pi), [3.0, 3.5, 5.0])
        assert a.GetMaximumAbsoluteTranslationDifference(b) == 0.5
        assert a.GetMaximumAbsoluteDifference(b) == pytest.approx(2.0)
        assert a.IsExactlyEqualTo(RigidTransform([3, 4, 5])) and not a.IsExactlyEqualTo(b)

    def test_derivatives_pass_through_by_complex_step(self, rng):
        q, dq = rng.standard_normal((2, 3))
        point = rng.standard_normal(3)

        def track(s):
            X = RigidTransform(RollPitchYaw(q + s * dq), q * s)
            return (X @ X).InvertAndCompose(X.inverse()) @ point

        h = 1e-5
        near(track(1e-30j).imag / 1e-30, (track(h) - track(-h)) / (2 * h), 1e-8)


def test_wrap_to():
    assert wrap_to(7.25, 0.0, 1.0) == 0.25
    assert wrap_to(-0.25, 0.0, 1.0) == 0.75
    assert wrap_to(1.0, 0.0, 1.0) == 0.0
    assert wrap_to(4.0, -math.pi, math.pi) == pytest.approx(4.0 - 2.0 * math.pi)
    assert 0.0 <= wrap_to(-1e-20, 0.0, 1.0) < 1.0
    for low, high in ((1.0, 1.0), (1.0, 0.0), (0.0, math.inf), (math.nan, 1.0)):
        with pytest.raises(ModelError):
            wrap_to(0.5, low, high)


def test_random_rotations_are_uniform():
    """The mean of R is zero, and the angle theta has the distribution (theta - sin theta)/pi."""
    rng = np.random.default_rng(1)
    n = 2000
    R = [UniformlyRandomRotationMatrix(rng) for _ in range(n)]
    assert np.abs(sum(r.matrix() for r in R) / n).max() < 4.0 / math.sqrt(3.0 * n)
    angles = np.sort([r.ToAngleAxis().angle() for r in R])
    distribution = (angles - np.sin(angles)) / math.pi
    assert np.abs(distribution - (np.arange(n) + 0.5) / n).max() < 1.63 / math.sqrt(n)
    assert (
        UniformlyRandomRPY(np.random.default_rng(3)).tolist() == UniformlyRandomRPY(np.random.default_rng(3)).tolist()
    )


def test_importing_loads_numpy_only():
    code = (
        "import sys, mbcli.math, mbcli.multibody.math\n"
        "heavy = {'scipy', 'numba', 'h5py', 'lxml', 'yaml', 'click'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reprs():
    assert repr(RollPitchYaw(1, 2, 3)) == "RollPitchYaw(roll=1.0, pitch=2.0, yaw=3.0)"
    assert repr(Quaternion()) == "Quaternion(w=1.0, x=0.0, y=0.0, z=0.0)"
    assert repr(AngleAxis()) == "AngleAxis(angle=0.0, axis=[1.0, 0.0, 0.0])"


@pytest.fixture
def pydrake_math():
    import pydrake.math

    return pydrake.math


@pytest.fixture
def eigen_geometry():
    import pydrake.common.eigen_geometry

    return pydrake.common.eigen_geometry


@pytest.mark.peers("pydrake")
class TestPydrake:
    def test_transforms_and_rotations(self, pydrake_math, rng):
        theirs = pydrake_math
        for _ in range(50):
            X, Y = random_transform(rng), random_transform(rng)
            dX, dY = (theirs.RigidTransform(Z.GetAsMatrix4()) for Z in (X, Y))
            points = rng.standard_normal((3, 4))
            for a, b in (
                (X @ Y, dX @ dY),
                (X.inverse(), dX.inverse()),
                (X.InvertAndCompose(Y), dX.InvertAndCompose(dY)),
            ):
                near(a.GetAsMatrix4(), b.GetAsMatrix4())
            near(X @ points, dX @ points)
            R, dR = X.rotation(), dX.rotation()
            near(R.ToQuaternion().wxyz(), dR.ToQuaternion().wxyz(), 1e-13)
            near(R.ToRollPitchYaw().vector(), dR.ToRollPitchYaw().vector(), 1e-13)
            near(R.ToAngleAxis().angle(), dR.ToAngleAxis().angle(), 1e-13)
            near(R.ToAngleAxis().axis(), dR.ToAngleAxis().axis(), 1e-12)
            assert repr(X) == repr(dX)
            M = R.matrix() + 0.1 * rng.standard_normal((3, 3))
            near(
                RotationMatrix.ProjectToRotationMatrix(M).matrix(),
                theirs.RotationMatrix.ProjectToRotationMatrix(M).matrix(),
            )
            for i in range(3):
                ours = RotationMatrix.MakeFromOneVector(points[:, 0], i).matrix()
                near(ours, theirs.RotationMatrix.MakeFromOneVector(points[:, 0], i).matrix())
        for vector in ([1, 1, 1], [-1, 1, -1], [0, 0, 1], [0, 2, 2], [0, 1, 0], [1, 0, 0], [3, 0, -3]):
            for i in range(3):
                ours = RotationMatrix.MakeFromOneVector(vector, i).matrix()
                near(ours, theirs.RotationMatrix.MakeFromOneVector(vector, i).matrix())

    def test_roll_pitch_yaw(self, pydrake_math, rng):
        theirs = pydrake_math
        samples = [*rng.uniform(-3.0, 3.0, (50, 3)), [1, math.pi / 2, 2], [1, -math.pi / 2, 2], [0, 0, 0], [4, 0, -4]]
        for angles in samples:
            ours, other = RollPitchYaw(angles), theirs.RollPitchYaw(angles)
            near(ours.ToRotationMatrix().matrix(), other.ToRotationMatrix().matrix())
            near(ours.ToQuaternion().wxyz(), other.ToQuaternion().wxyz())
            R = other.ToRotationMatrix()
            near(RollPitchYaw(R.matrix()).vector(), theirs.RollPitchYaw(R).vector(), 1e-13)
            q = other.ToQuaternion()
            near(RollPitchYaw(Quaternion(q.wxyz())).vector(), theirs.RollPitchYaw(q).vector(), 1e-13)
            u, v = rng.standard_normal((2, 3))
            near(ours.CalcRotationMatrixDt(u), other.CalcRotationMatrixDt(u))
            for name, arguments in (
                ("CalcAngularVelocityInParentFromRpyDt", (u,)),
                ("CalcAngularVelocityInChildFromRpyDt", (u,)),
                ("CalcRpyDtFromAngularVelocityInParent", (u,)),
                ("CalcRpyDtFromAngularVelocityInChild", (u,)),
                ("CalcRpyDDtFromRpyDtAndAngularAccelInParent", (u, v)),
                ("CalcRpyDDtFromAngularAccelInChild", (u, v)),
            ):
                try:
                    expected = getattr(other, name)(*arguments)
                except RuntimeError:
                    with pytest.raises(RuntimeError):
                        getattr(ours, name)(*arguments)
                else:
                    near(getattr(ours, name)(*arguments), expected, 1e-12)

    def test_quaternions(self, pydrake_math, eigen_geometry, rng):
        Q, theirs = eigen_geometry.Quaternion, pydrake_math
        for _ in range(50):
            q, r = (mbcli_math.UniformlyRandomQuaternion(rng) for _ in range(2))
            dq, dr = Q(q.wxyz()), Q(r.wxyz())
            u, rate, t = rng.standard_normal(3), rng.standard_normal(4), rng.uniform(-1.0, 2.0)
            for a, b in (
                (q @ r, dq @ dr),
                (q.inverse(), dq.inverse()),
                (q.conjugate(), dq.conjugate()),
                (q.slerp(t, r), dq.slerp(t, dr)),
                (mbcli_math.QuaternionToCanonicalForm(q), theirs.QuaternionToCanonicalForm(dq)),
                (mbcli_math.ClosestQuaternion(q, r), theirs.ClosestQuaternion(dq, dr)),
            ):
                near(a.wxyz(), b.wxyz(), 1e-13)
            near(q @ u, dq @ u)
            near(q.rotation(), dq.rotation())
            near(AngleAxis(q).axis(), eigen_geometry.AngleAxis(dq).axis(), 1e-12)
            near(AngleAxis(q).angle(), eigen_geometry.AngleAxis(dq).angle(), 1e-12)
            for name, argument in (
                ("CalculateQuaternionDtFromAngularVelocityExpressedInB", u),
                ("CalculateAngularVelocityExpressedInBFromQuaternionDt", rate),
                ("CalculateQuaternionDtConstraintViolation", rate),
            ):
                near(getattr(mbcli_math, name)(q, argument), getattr(theirs, name)(dq, argument), 1e-13)
        near(AngleAxis(0.3, [0, 1, 0]).rotation(), eigen_geometry.AngleAxis(0.3, [0, 1, 0]).rotation())

    def test_wrong_arguments_raise_the_same_kind_of_error(self, pydrake_math, eigen_geometry):
        ours = {n: getattr(mbcli_math, n) for n in mbcli_math.__all__} | {"np": np}
        theirs = {n: getattr(pydrake_math, n) for n in dir(pydrake_math) if not n.startswith("_")} | {"np": np}
        theirs |= {"Quaternion": eigen_geometry.Quaternion, "AngleAxis": eigen_geometry.AngleAxis}
        for expression in (
            "RigidTransform([1, 2])",
            "RigidTransform(RotationMatrix(), [1, 2])",
            "RigidTransform(np.eye(3), [1, 2, 3])",
            "RigidTransform(np.eye(3))",
            "RigidTransform(Quaternion())",
            "RigidTransform(RollPitchYaw(1, 2, 3))",
            "RigidTransform([1, 2, 3], RotationMatrix())",
            "RigidTransform() * RigidTransform()",
            "RigidTransform() @ np.ones((1, 3))",
            "RigidTransform() @ np.ones(2)",
            "RigidTransform() @ np.array([1, 1, 1, 2.0])",
            "RigidTransform() @ RotationMatrix()",
            "RigidTransform().set_rotation(np.eye(3))",
            "RigidTransform().IsNearlyIdentity()",
            "RigidTransform.MakeUnchecked(np.ones((4, 4)))",
            "RotationMatrix(np.eye(4))",
            "RotationMatrix([1, 2, 3])",
            "RotationMatrix() @ np.ones(4)",
            "RotationMatrix() @ RigidTransform()",
            "RotationMatrix.ProjectToRotationMatrix(np.diag([1, 1, -1.0]))",
            "RotationMatrix.MakeFromOneVector([0, 0, 0], 0)",
            "RotationMatrix.MakeFromOneVector([np.nan, 0, 0], 0)",
            "RollPitchYaw()",
            "RollPitchYaw(1, 2)",
            "RollPitchYaw(1, np.pi / 2, 2).CalcRpyDtFromAngularVelocityInParent([1, 2, 3])",
            "RollPitchYaw(1, 1.57, 2).CalcRpyDDtFromAngularAccelInChild([1, 2, 3], [1, 2, 3])",
            "Quaternion([2, 0, 0, 0])",
            "Quaternion([0, 0, 0, 0])",
            "Quaternion([1 + 1.1e-5, 0, 0, 0])",
            "Quaternion(1, 2, 3, 4)",
            "Quaternion(RotationMatrix())",
            "Quaternion() * Quaternion()",
            "Quaternion().set_wxyz([2, 0, 0, 0])",
            "AngleAxis(0.3, [0, 0, 2])",
            "AngleAxis().set_axis([0, 0, 0])",
            "AngleAxis() @ [1, 2, 3]",
        ):
            raised = []
            for names in (theirs, ours):
                with pytest.raises((TypeError, RuntimeError)) as info:
                    eval(expression, dict(names))
                raised.append(RuntimeError if issubclass(info.type, RuntimeError) else TypeError)
            assert raised[0] is raised[1], expression

    def test_every_public_name_is_here(self, pydrake_math, eigen_geometry):
        """All but Isometry3 and the casts between scalar types, which have no meaning here."""
        absent = {"GetAsIsometry3", "SetFromIsometry3"}
        for module, names in (
            (pydrake_math, ("RigidTransform", "RotationMatrix", "RollPitchYaw")),
            (eigen_geometry, ("Quaternion", "AngleAxis")),
        ):
            for name in names:
                expected = {n for n in dir(getattr(module, name)) if not n.startswith(("_", "cast"))}
                assert expected - absent <= set(dir(getattr(mbcli_math, name))), name

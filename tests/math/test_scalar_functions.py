"""Functions of pydrake.math for every scalar type, matrices, meshes of interpolation, derivatives, polynomials."""

import copy
import math
import pickle

import numpy as np
import pytest

from mbcli import forwarddiff
from mbcli.autodiffutils import AutoDiffXd, InitializeAutoDiff, autodiff_equal_to
from mbcli.common import ToleranceType
from mbcli.common.eigen_geometry import Isometry3, Isometry3_, Quaternion_
from mbcli.common.test_utilities import numpy_compare
from mbcli.common.test_utilities.deprecation import catch_drake_warnings
from mbcli.common.test_utilities.pickle_compare import assert_pickle
from mbcli.math import (
    BalanceQuadraticForms,
    BarycentricMesh,
    DecomposePositiveQuadraticForm,
    DecomposePSDmatrixIntoXtransposeTimesX,
    ExtractPrincipalSubmatrix,
    IsPositiveDefinite,
    IsSymmetric,
    RigidTransform,
    RigidTransform_,
    RotationMatrix_,
    SoftOverMax,
    SoftOverMin,
    SoftUnderMax,
    SoftUnderMin,
    ToLowerTriangularColumnsFromMatrix,
    ToSymmetricMatrixFromLowerTriangularColumns,
    elementary,
    ne,
    wrap_to,
)
from mbcli.polynomial import Polynomial, Polynomial_
from mbcli.symbolic import Expression, Formula, Variable

UNARY = ["log", "exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "abs"]
STEP = 1e-6


@pytest.mark.parametrize("name", UNARY)
def test_a_function_has_its_value_and_slope_for_every_scalar_type(name):
    function, x = getattr(elementary, name), 0.3
    expected = getattr(math, name, math.fabs)(x)
    slope = (function(x + STEP) - function(x - STEP)) / (2 * STEP)
    dual = function(AutoDiffXd(x, [1.0]))
    assert function(x) == expected == dual.value()
    np.testing.assert_allclose(dual.derivatives(), [slope], rtol=1e-8)
    t = Variable("t")
    assert float(function(t).subs(t, x)) == pytest.approx(expected, rel=1e-15)
    np.testing.assert_array_equal(function(np.array([x, x])), [expected, expected])


@pytest.mark.parametrize("name", ["atan2", "pow", "min", "max"])
def test_a_function_of_two_numbers_takes_scalars_of_two_types(name):
    function, a, b = getattr(elementary, name), 0.4, 0.7
    expected = {"atan2": math.atan2(a, b), "pow": a**b, "min": a, "max": b}[name]
    for x in (a, AutoDiffXd(a, [1.0, 0.0])):
        for y in (b, AutoDiffXd(b, [0.0, 1.0])):
            assert numpy_compare.to_float(function(x, y)) == pytest.approx(expected, rel=1e-15)
    t = Variable("t")
    assert float(function(t, b).subs(t, a)) == pytest.approx(expected, rel=1e-15)


def test_whole_numbers_have_no_derivatives_and_nan_is_seen():
    assert (elementary.ceil(AutoDiffXd(1.2, [1.0])), elementary.floor(AutoDiffXd(1.2, [1.0]))) == (2.0, 1.0)
    assert np.ceil(np.array([AutoDiffXd(1.2, [1.0])]))[0] == 2.0
    assert elementary.isnan(AutoDiffXd(math.nan)) and not elementary.isnan(1.0)


def test_the_inverse_of_a_matrix_of_dual_numbers_has_the_slopes_of_differences():
    A = np.array([[2.0, 0.3], [-0.4, 1.0]])
    X = InitializeAutoDiff(A)
    inverse = elementary.inv(X)
    assert all(isinstance(x, AutoDiffXd) for x in inverse.flat)
    for k, (i, j) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):  # by columns
        D = np.zeros((2, 2))
        D[i, j] = STEP
        slope = (np.linalg.inv(A + D) - np.linalg.inv(A - D)) / (2 * STEP)
        found = [[x.derivatives()[k] for x in row] for row in inverse]
        np.testing.assert_allclose(found, slope, rtol=1e-7, atol=1e-9)
    t = Variable("t")
    assert elementary.inv(np.array([[t, 0], [0, 2]]))[0, 0] == 1 / t


def test_wrapping_and_inequality_know_all_scalars():
    assert wrap_to(AutoDiffXd(1.5, [1.0]), AutoDiffXd(0.0), AutoDiffXd(1.0)).derivatives() == [1.0]
    assert wrap_to(1.5, 0.0, 1.0) == 0.5
    t = Variable("t")
    assert str(ne(t, 1.0).item()) == "Ne(t, 1.0)" and ne(1, 2).item() is True


def test_matrices_are_told_and_taken_apart():
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert not IsSymmetric(A) and IsSymmetric(A @ A.T) and not IsPositiveDefinite(A) and IsPositiveDefinite(A @ A.T)
    assert not IsPositiveDefinite(np.diag([1.0, 0.0]))
    lower = np.arange(1.0, 7.0)
    S = ToSymmetricMatrixFromLowerTriangularColumns(lower)
    np.testing.assert_array_equal(S, [[1, 2, 3], [2, 4, 5], [3, 5, 6]])
    np.testing.assert_array_equal(ToLowerTriangularColumnsFromMatrix(S), lower)
    np.testing.assert_array_equal(ExtractPrincipalSubmatrix(S, {2, 0}), [[1, 3], [3, 6]])
    with pytest.raises(TypeError, match="no lower triangle"):
        ToSymmetricMatrixFromLowerTriangularColumns([1.0, 2.0])


def test_quadratic_forms_are_sums_of_squares():
    rng = np.random.default_rng(3)
    B = rng.normal(size=(2, 4))
    Y = B.T @ B
    X = DecomposePSDmatrixIntoXtransposeTimesX(Y, 1e-10)
    assert X.shape == (2, 4)
    np.testing.assert_allclose(X.T @ X, Y, atol=1e-12)
    with pytest.raises(RuntimeError, match="negative|semidefinite"):
        DecomposePSDmatrixIntoXtransposeTimesX(-np.eye(2), 1e-10)
    assert DecomposePSDmatrixIntoXtransposeTimesX(-np.eye(2), 1e-10, True).shape == (0, 2)
    b, x = rng.normal(size=4) @ Y, rng.normal(size=4)
    c = 0.25 * b @ np.linalg.pinv(Y) @ b + 1.0
    R, d = DecomposePositiveQuadraticForm(Y, b, c)
    assert np.sum((R @ x + d[:, 0]) ** 2) == pytest.approx(x @ Y @ x + b @ x + c, rel=1e-12)
    M = rng.normal(size=(3, 3))
    S, P = M @ M.T + np.eye(3), rng.normal(size=(3, 3))
    P = P + P.T
    T = BalanceQuadraticForms(S, P)
    D = T.T @ S @ T
    np.testing.assert_allclose(D, np.diag(np.diag(D)), atol=1e-12)
    np.testing.assert_allclose(np.abs(T.T @ P @ T), np.linalg.inv(D), atol=1e-12)


def test_soft_extremes_stand_on_their_side_and_do_not_overflow():
    for x in ([1.0, 2.0, 3.0], [1e4, 1e4 + 1.0, -1e4]):
        assert SoftUnderMax(x, 2.0) < max(x) < SoftOverMax(x, 2.0) or x[0] == 1e4
        assert SoftUnderMin(x, 2.0) <= min(x) <= SoftOverMin(x, 2.0)
        assert SoftOverMax(x, 50.0) == pytest.approx(max(x), abs=1e-2)
    x = [AutoDiffXd(1.0, [1.0, 0.0]), AutoDiffXd(2.0, [0.0, 1.0])]
    weights = SoftOverMax(x).derivatives()  # those of a softmax
    np.testing.assert_allclose(weights, np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum(), rtol=1e-14)


def test_a_barycentric_mesh_gives_linear_functions_back():
    mesh = BarycentricMesh([{0.0, 1.0, 3.0}, {-1.0, 2.0}, {0.5}])
    assert (mesh.get_num_mesh_points(), mesh.get_num_interpolants(), mesh.get_input_size()) == (6, 3, 3)
    assert mesh.get_input_grid() == [{0.0, 1.0, 3.0}, {-1.0, 2.0}, {0.5}]
    values = mesh.MeshValuesFrom(lambda x: [2.0 * x[0] - x[1] + 1.0, x[0]])
    rng = np.random.default_rng(1)
    for x, y in rng.uniform([0.0, -1.0], [3.0, 2.0], size=(50, 2)):
        points, weights = mesh.EvalBarycentricWeights([x, y, 0.5])
        assert weights.min() >= 0.0 and weights.sum() == pytest.approx(1.0) and len(points) == 3
        np.testing.assert_allclose(mesh.Eval(values, [x, y, 0.5]), [2.0 * x - y + 1.0, x], rtol=1e-12)
    np.testing.assert_allclose(mesh.Eval(values, [9.0, -7.0, 0.0]), [8.0, 3.0])  # the corner (3, -1)
    with pytest.raises(RuntimeError, match="3 dimensions"):
        mesh.Eval(values, [1.0])


def test_derivatives_by_forwarddiff_are_those_of_closed_forms():
    assert forwarddiff.derivative(lambda x: forwarddiff.sin(x) * x, 0.5) == pytest.approx(
        math.sin(0.5) + 0.5 * math.cos(0.5)
    )
    np.testing.assert_array_equal(forwarddiff.gradient(lambda x: x.dot(x), [1.0, 2.0]), [2.0, 4.0])
    J = forwarddiff.jacobian(lambda x: [[x[0] * x[1], 3.0]], [2.0, 5.0])
    np.testing.assert_array_equal(J, [[[5.0, 2.0], [0.0, 0.0]]])
    with pytest.raises(AssertionError, match="x must be a vector"):
        forwarddiff.gradient(lambda x: x, [[1.0]])


def test_polynomials_of_one_variable():
    p = Polynomial([1.0, 2.0, 3.0])
    assert p.EvaluateUnivariate(2.0) == 17.0 and p.EvaluateUnivariate(2.0, 1) == 14.0
    assert p.Derivative() == Polynomial([2.0, 6.0]) and p.Integral(5.0).Derivative() == p
    assert (p - p).GetCoefficients().tolist() == [0.0] and (2 - p).GetCoefficients().tolist() == [1.0, -2.0, -3.0]
    assert (p * p).EvaluateUnivariate(2.0) == 17.0**2 and (p / 2).GetDegree() == 2 and not p.IsAffine()
    close = Polynomial([1.0, 2.0, 3.0 + 1e-9])
    assert p.CoefficientsAlmostEqual(close, 1e-8, ToleranceType.kRelative) and p != close
    dual = Polynomial_[AutoDiffXd]([AutoDiffXd(1.0, [1.0]), AutoDiffXd(2.0)])
    assert dual.EvaluateUnivariate(3.0).derivatives() == [1.0]
    assert pickle.loads(pickle.dumps(dual)) == dual


def test_values_of_every_scalar_type_are_cast_pickled_and_shown():
    X = RigidTransform([1.0, 2.0, 3.0])
    for scalar, name in ((float, ""), (AutoDiffXd, "_[AutoDiffXd]"), (Expression, "_[Expression]")):
        other = X.cast[scalar]()
        assert isinstance(other, RigidTransform_[scalar]) and repr(other).startswith(f"RigidTransform{name}(")
        again = pickle.loads(pickle.dumps(other))
        assert type(again) is type(other) and again.IsExactlyEqualTo(other) and copy.copy(other) is not other
    with pytest.raises(TypeError, match="not cast"):
        X.cast[AutoDiffXd]().cast[float]()
    R = RotationMatrix_[Expression]()
    assert isinstance(R.IsExactlyIdentity(), Formula) and R.IsExactlyIdentity()
    assert RotationMatrix_[Expression](R.matrix()).ToQuaternion().w() - 1 == 0  # of numbers, if not symbols


def test_an_isometry_is_the_transform_that_it_was_made_of():
    X = RigidTransform(p=[1.0, 2.0, 3.0], R=RotationMatrix_[float].MakeZRotation(0.3))
    Y = X.GetAsIsometry3()
    np.testing.assert_array_equal(Y.matrix(), X.GetAsMatrix4())
    assert RigidTransform(Y).IsExactlyEqualTo(X)
    np.testing.assert_allclose((Y @ Y.inverse()).matrix(), np.eye(4), atol=1e-15)
    np.testing.assert_allclose(Y.multiply([1.0, 0.0, 0.0]), X @ [1.0, 0.0, 0.0])
    assert Isometry3_[float] is Isometry3 and Isometry3(quaternion=Quaternion_[float](), translation=[1, 0, 0])


def test_dual_numbers_are_equal_with_their_derivatives():
    a, b = AutoDiffXd(1.0, [1.0]), AutoDiffXd(1.0, [2.0])
    assert autodiff_equal_to(a, a) and not autodiff_equal_to(a, b)
    assert autodiff_equal_to([a, b], a).tolist() == [True, False]
    assert autodiff_equal_to(AutoDiffXd(1.0), AutoDiffXd(1.0, [0.0]), semantic=True)
    with pytest.raises(AssertionError):
        autodiff_equal_to(a, 1.0)
    assert str(a) == "AD{1.0, nderiv=1}" and repr(a) == "<AutoDiffXd 1.0 nderiv=1>"


def test_comparisons_fail_where_numbers_differ(capsys):
    a, b = AutoDiffXd(1.0, [1.0]), AutoDiffXd(1.0, [2.0])
    numpy_compare.assert_equal(a, a)
    numpy_compare.assert_not_equal([a, a], [a, b])
    numpy_compare.assert_float_equal(np.array([a, b]), [1.0, 1.0])
    for wrong in (
        lambda: numpy_compare.assert_equal(a, b),
        lambda: numpy_compare.assert_allclose(a, b),
        lambda: numpy_compare.assert_float_equal(a, 2.0),
        lambda: numpy_compare.assert_float_allclose([1.0], [1.1]),
        lambda: numpy_compare.assert_not_equal([1.0], [1.0]),
        lambda: numpy_compare.assert_float_not_equal(a, 1.0),
        lambda: numpy_compare.resolve_type(np.array([1.0, a])),
    ):
        with pytest.raises(AssertionError):
            wrong()
    seen = []
    numpy_compare.check_all_types(lambda T: seen.append(T))()
    numpy_compare.check_nonsymbolic_types(lambda T: seen.append(T))()
    assert seen == [float, AutoDiffXd, Expression, float, AutoDiffXd]
    with pytest.raises(ValueError), numpy_compare.soft_sub_test("where it was"):
        raise ValueError
    assert "where it was" in capsys.readouterr().out
    with pytest.raises(ValueError, match="expected 1 warnings"), catch_drake_warnings(expected_count=1):
        pass
    import unittest

    assert_pickle(unittest.TestCase(), {"x": np.arange(3.0)}, lambda x: x)

"""Curves over time pass through their samples, have the derivatives of their values, and change as they are told to."""

import numpy as np
import pytest

from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.math.bspline_basis import BsplineBasis
from mbcli.math.quaternion import Quaternion
from mbcli.trajectories import (
    BezierCurve,
    BsplineTrajectory,
    CompositeTrajectory,
    DerivativeTrajectory,
    DiscreteTimeTrajectory,
    FunctionHandleTrajectory,
    PathParameterizedTrajectory,
    PiecewisePolynomial,
    PiecewisePose,
    PiecewiseQuaternionSlerp,
    StackedTrajectory,
)

TIMES = [0.5, 1.0, 1.7, 2.1]
SAMPLES = np.array([[1.0, -0.4, 0.3, 2.0], [0.2, 0.1, -1.0, -1.1]])  # (rows, a column for each time)
RATES = np.array([[0.5, -1.0, 0.3, 2.0], [0.0, 0.7, 0.0, -1.0]])
WITHIN = [0.6, 0.9, 1.3, 2.0]  # [s], none of TIMES
ROUNDING = 1e-12
DIFFERENCES = 1e-6


def hermite():
    return PiecewisePolynomial.CubicHermite(TIMES, SAMPLES, RATES)


def lines():
    return PiecewisePolynomial.FirstOrderHold(TIMES, SAMPLES)


def spline(end=2.1):
    """A cubic B-spline from 0.5 s on."""
    basis = BsplineBasis(4, [0.5] * 4 + [1.2] + [end] * 4)
    return BsplineTrajectory(basis, np.array([[1.0, 2.0, -1.0, 0.5, 3.0], [0.0, 1.0, 1.0, -2.0, 0.5]]))


def bezier():
    return BezierCurve(0.5, 2.1, [[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, 4.0, -1.0]])


def beside():
    stacked = StackedTrajectory(rowwise=False)
    for curve in (hermite(), lines()):
        stacked.Append(curve)
    return stacked


def stacked():
    made = StackedTrajectory()
    for curve in (hermite(), spline()):
        made.Append(curve)
    return made


def slowed():
    """The Hermite curve along t^2."""
    t = PiecewisePolynomial.of_coefficients([0.75, 1.4], np.array([1.0, 1.5, 0.5625]).reshape(3, 1, 1, 1))
    return PathParameterizedTrajectory(hermite(), t)


def handle():
    curve = FunctionHandleTrajectory(lambda t: [np.sin(t), t**2], 2, 1, 0.5, 2.1)
    curve.set_derivative(lambda t, k: [np.sin(t + k * np.pi / 2), (2 * t, 2.0, 0.0)[min(k, 3) - 1]])
    return curve


THROUGH = {  # curves through SAMPLES at TIMES
    "lines": lines,
    "cubics with given rates": hermite,
    "cubics that keep the shape": lambda: PiecewisePolynomial.CubicShapePreserving(TIMES, SAMPLES),
    "cubics that begin and end at rest": lambda: PiecewisePolynomial.CubicShapePreserving(TIMES, SAMPLES, True),
    "spline": lambda: PiecewisePolynomial.CubicWithContinuousSecondDerivatives(TIMES, SAMPLES),
    "spline with rates at its ends": lambda: PiecewisePolynomial.CubicWithContinuousSecondDerivatives(
        TIMES, SAMPLES, RATES[:, 0], RATES[:, -1]
    ),
    "one polynomial": lambda: PiecewisePolynomial.LagrangeInterpolatingPolynomial(TIMES, SAMPLES),
}
CURVES = {
    **THROUGH,
    "B-spline": spline,
    "Bezier curve": bezier,
    "curves beside each other": beside,
    "curves above each other": stacked,
    "another course of time": slowed,
    "a function": handle,
    "one after another": lambda: CompositeTrajectory.AlignAndConcatenate([lines(), hermite()]),
    "a derivative": lambda: DerivativeTrajectory(hermite()),
}


def slope(curve, t, step=1e-5):
    return (curve.value(t + step) - curve.value(t - step)) / (2.0 * step)


@pytest.mark.parametrize("name", THROUGH)
def test_a_curve_passes_through_its_samples(name):
    curve = THROUGH[name]()
    np.testing.assert_allclose(curve.vector_values(TIMES), SAMPLES, atol=ROUNDING)
    assert (curve.start_time(), curve.end_time(), curve.rows(), curve.cols()) == (0.5, 2.1, 2, 1)
    for beyond, column in ((0.0, 0), (3.0, -1)):
        np.testing.assert_allclose(curve.value(beyond)[:, 0], SAMPLES[:, column], atol=ROUNDING)


@pytest.mark.parametrize("name", CURVES)
def test_derivatives_are_those_of_the_values(name):
    curve = CURVES[name]()
    ends = curve.start_time(), curve.end_time()
    for share in (0.1, 0.3, 0.62, 0.9):
        t = ends[0] + share * (ends[1] - ends[0])
        assert curve.value(t).shape == (curve.rows(), curve.cols())
        first = curve.EvalDerivative(t)
        np.testing.assert_allclose(first, slope(curve, t), atol=DIFFERENCES)
        rate = curve.MakeDerivative()
        np.testing.assert_allclose(rate.value(t), first, atol=ROUNDING)
        second = curve.EvalDerivative(t, 2)
        np.testing.assert_allclose(second, slope(rate, t), atol=20 * DIFFERENCES)
        np.testing.assert_allclose(curve.MakeDerivative(2).value(t), second, atol=1e-10)
        np.testing.assert_array_equal(curve.EvalDerivative(t, 0), curve.value(t))
    assert curve.has_derivative() and not np.allclose(curve.EvalDerivative(ends[0] + 0.2), 0.0)


@pytest.mark.parametrize("name", CURVES)
def test_a_copy_is_the_same_curve(name):
    curve = CURVES[name]()
    for copy in (curve.Clone(), curve.MakeDerivative(0)):
        assert copy is not curve and copy.end_time() == curve.end_time()
        np.testing.assert_array_equal(copy.value(1.1), curve.value(1.1))


def test_rates_of_cubics_are_those_that_were_given():
    np.testing.assert_allclose(hermite().derivative().vector_values(TIMES[:-1]), RATES[:, :-1], atol=ROUNDING)
    ends = THROUGH["spline with rates at its ends"]().derivative()
    np.testing.assert_allclose(ends.vector_values([0.5, 2.1]), RATES[:, [0, -1]], atol=ROUNDING)
    rest = THROUGH["cubics that begin and end at rest"]().derivative()
    np.testing.assert_allclose(rest.vector_values([0.5, 2.1]), 0.0, atol=ROUNDING)
    periodic = PiecewisePolynomial.CubicWithContinuousSecondDerivatives(TIMES, [1.0, 2.0, -1.0, 1.0], True)
    for order in (1, 2):
        rate = periodic.derivative(order)
        np.testing.assert_allclose(rate.value(0.5), rate.value(2.1), atol=1e-10)


def test_held_samples_stay_until_the_next():
    held = PiecewisePolynomial.ZeroOrderHold(TIMES, SAMPLES)
    np.testing.assert_array_equal(held.vector_values([0.5, 0.99, 1.0, 1.2, 1.8, 2.1]), SAMPLES[:, [0, 0, 1, 1, 2, 2]])
    assert [held.get_segment_index(t) for t in (0.0, 0.5, 1.0, 2.1, 9.0)] == [0, 0, 1, 2, 2]
    assert held.duration(1) == pytest.approx(0.7) and held.get_segment_times() == TIMES
    assert held.is_time_in_range(0.5) and not held.is_time_in_range(2.2)
    with pytest.raises(RuntimeError, match="no segment 3"):
        held.start_time(3)


def test_an_integral_has_the_curve_as_its_derivative():
    curve = hermite()
    total = curve.integral(0.25)
    np.testing.assert_allclose(total.value(0.5), 0.25, atol=ROUNDING)
    for t in WITHIN:
        np.testing.assert_allclose(total.EvalDerivative(t), curve.value(t), atol=ROUNDING)
        np.testing.assert_allclose(total.value(t + 1e-9), total.value(t), atol=1e-8)
    before, after = total.value(1.0 - 1e-12), total.value(1.0)
    np.testing.assert_allclose(before, after, atol=1e-10)


def test_sums_and_multiples_are_those_of_the_values():
    one, two = hermite(), lines()
    for t in WITHIN:
        np.testing.assert_allclose((one + two).value(t), one.value(t) + two.value(t), atol=ROUNDING)
        np.testing.assert_allclose((two - one).value(t), two.value(t) - one.value(t), atol=ROUNDING)
        np.testing.assert_allclose((2.0 * -one + 1.5).value(t), 1.5 - 2.0 * one.value(t), atol=ROUNDING)
    with pytest.raises(RuntimeError, match="other breaks"):
        one + one.slice(0, 2)


def test_parts_and_other_shapes_have_the_elements_of_the_curve():
    curve = hermite()
    for t in WITHIN[:2]:
        np.testing.assert_array_equal(curve.Transpose().value(t), curve.value(t).T)
        np.testing.assert_array_equal(curve.Block(1, 0, 1, 1).value(t), curve.value(t)[1:])
        other = curve.Clone()
        other.Reshape(1, 2)
        np.testing.assert_array_equal(other.value(t), curve.value(t).reshape(1, 2))
    assert curve.slice(1, 2).get_segment_times() == TIMES[1:]
    np.testing.assert_array_equal(curve.slice(1, 2).value(1.3), curve.value(1.3))
    assert curve.getSegmentPolynomialDegree(0) == 3 and lines().getSegmentPolynomialDegree(1, 1) == 1
    assert curve.getPolynomialMatrix(1)[1, 0].EvaluateUnivariate(0.3) == pytest.approx(curve.value(1.3)[1, 0])


def test_times_are_shifted_scaled_and_turned_round():
    curve = hermite()
    moved, longer, turned = curve.Clone(), curve.Clone(), curve.Clone()
    moved.shiftRight(2.0)
    longer.ScaleTime(3.0)
    turned.ReverseTime()
    for t in WITHIN:
        np.testing.assert_allclose(moved.value(t + 2.0), curve.value(t), atol=ROUNDING)
        np.testing.assert_allclose(longer.value(3.0 * t), curve.value(t), atol=ROUNDING)
        np.testing.assert_allclose(turned.value(-t), curve.value(t), atol=ROUNDING)
    assert curve.isApprox(curve.Clone(), 1e-12) and not curve.isApprox(moved - moved, 1e-3)
    with pytest.raises(RuntimeError, match="positive"):
        curve.ScaleTime(0.0)


def test_segments_are_appended_and_taken_away():
    curve, before = hermite(), hermite()
    curve.AppendCubicHermiteSegment(3.0, [5.0, 6.0], [0.5, -0.5])
    np.testing.assert_allclose(curve.value(3.0)[:, 0], [5.0, 6.0], atol=ROUNDING)
    np.testing.assert_allclose(curve.EvalDerivative(3.0)[:, 0], [0.5, -0.5], atol=ROUNDING)
    np.testing.assert_allclose(curve.EvalDerivative(2.1), RATES[:, [-1]], atol=1e-10)
    curve.RemoveFinalSegment()
    assert curve.isApprox(before, 1e-12)
    other = lines()
    other.shiftRight(1.6)
    curve.ConcatenateInTime(other)
    np.testing.assert_allclose(curve.value(2.1 + 0.4), lines().value(0.9), atol=ROUNDING)
    with pytest.raises(RuntimeError, match="ends at 3.7"):
        curve.ConcatenateInTime(lines())
    with pytest.raises(RuntimeError, match="not after the end"):
        curve.AppendCubicHermiteSegment(3.7, [5.0, 6.0], [0.5, -0.5])


def test_control_points_that_are_added_leave_the_curve():
    curve, same, higher = spline(), spline(), bezier()
    same.InsertKnots([0.8, 1.9])
    higher.ElevateOrder()
    assert same.num_control_points() == 7 and higher.order() == 4
    for t in WITHIN:
        np.testing.assert_allclose(same.value(t), curve.value(t), atol=ROUNDING)
        np.testing.assert_allclose(higher.value(t), bezier().value(t), atol=ROUNDING)
        np.testing.assert_array_equal(curve.CopyHead(1).value(t), curve.value(t)[:1])
    np.testing.assert_allclose(curve.InitialValue(), curve.control_points()[0], atol=ROUNDING)
    np.testing.assert_allclose(curve.FinalValue(), curve.control_points()[-1], atol=ROUNDING)
    np.testing.assert_allclose(bezier().value(0.5)[:, 0], bezier().control_points()[:, 0], atol=ROUNDING)
    assert sum(bezier().BernsteinBasis(i, 1.1) for i in range(4)) == pytest.approx(1.0)
    assert not spline().MakeDerivative(4).value(1.0).any()


def test_curves_that_do_not_fit_are_refused():
    short = lines().slice(0, 1)
    with pytest.raises(RuntimeError, match="same start and end"):
        stacked().Append(short)
    with pytest.raises(RuntimeError, match="stacked curves fit"):
        stacked().Append(hermite().Transpose())
    with pytest.raises(RuntimeError, match="the next starts at"):
        CompositeTrajectory([short, lines()])
    with pytest.raises(RuntimeError, match="different shapes"):
        CompositeTrajectory([short, short.Transpose()])
    with pytest.raises(RuntimeError, match="one number"):
        PathParameterizedTrajectory(lines(), lines())
    with pytest.raises(RuntimeError, match="must increase"):
        PiecewisePolynomial.FirstOrderHold([0.0, 0.0], SAMPLES[:, :2])
    with pytest.raises(RuntimeError, match="no derivative"):
        FunctionHandleTrajectory(lambda t: [t], 1).EvalDerivative(0.0)


def test_one_after_another_keeps_times_and_values():
    both = CompositeTrajectory.AlignAndConcatenate([lines(), hermite()])
    assert both.get_number_of_segments() == 2 and both.end_time() == pytest.approx(3.7)
    np.testing.assert_allclose(both.value(1.3), lines().value(1.3), atol=ROUNDING)
    np.testing.assert_allclose(both.value(2.1 + 0.8), hermite().value(1.3), atol=ROUNDING)


def test_values_at_times_alone():
    curve = DiscreteTimeTrajectory(TIMES, SAMPLES, 1e-6)
    assert (curve.num_times(), curve.get_times(), curve.start_time(), curve.end_time()) == (4, TIMES, 0.5, 2.1)
    np.testing.assert_array_equal(curve.value(1.7 + 1e-7)[:, 0], SAMPLES[:, 2])
    np.testing.assert_array_equal(curve.ToZeroOrderHold().value(1.5)[:, 0], SAMPLES[:, 1])
    with pytest.raises(RuntimeError, match="the nearest is 1.7"):
        curve.value(1.6)


# ------------------------------------------------------------------------------------------ orientations and poses

TURNS = [RotationMatrix(RollPitchYaw(*rpy)) for rpy in ([0.1, 0.2, 0.3], [1.0, -0.4, 0.2], [1.2, 0.1, -2.0])]


def test_orientations_turn_at_constant_speed_from_sample_to_sample():
    curve = PiecewiseQuaternionSlerp([0.0, 1.0, 3.0], TURNS)
    for t, R in zip((0.0, 1.0, 3.0, 9.0), (*TURNS, TURNS[-1]), strict=True):
        assert RotationMatrix(curve.orientation(t)).IsNearlyEqualTo(R, 1e-12)
    h = 1e-6
    for t in (0.3, 2.0):
        R, dR = (RotationMatrix(curve.orientation(t + k * h)).matrix() for k in (-1, 1))
        W = (dR - R) / (2.0 * h) @ R.T
        w = curve.angular_velocity(t)
        np.testing.assert_allclose([W[2, 1], W[0, 2], W[1, 0]], w, atol=1e-5)
        np.testing.assert_allclose(curve.MakeDerivative().value(t)[:, 0], w, atol=ROUNDING)
        assert not curve.angular_acceleration(t).any() and not curve.MakeDerivative(2).value(t).any()
    assert curve.is_approx(curve.Clone(), 1e-12)
    longer = PiecewiseQuaternionSlerp([0.0, 1.0], TURNS[:2])
    longer.Append(3.0, Quaternion(-TURNS[2].ToQuaternion().wxyz()))  # the same orientation
    assert longer.is_approx(curve, 1e-9)
    assert not PiecewiseQuaternionSlerp([0.0, 1.0, 3.0], [TURNS[0]] * 3).angular_velocity(0.5).any()


def test_poses_have_the_velocities_of_their_parts():
    places = np.array([[0.0, 1.0, 2.0], [1.0, -1.0, 0.5], [0.5, 2.0, 2.5]])
    poses = [RigidTransform(R, p) for R, p in zip(TURNS, places, strict=True)]
    for curve in (
        PiecewisePose.MakeLinear([0.0, 1.0, 3.0], poses),
        PiecewisePose.MakeCubicLinearWithEndLinearVelocity([0.0, 1.0, 3.0], poses, [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]),
    ):
        for t, X in zip((0.0, 1.0, 3.0), poses, strict=True):
            assert curve.GetPose(t).IsNearlyEqualTo(X, 1e-12)
            np.testing.assert_allclose(curve.value(t), X.GetAsMatrix4(), atol=ROUNDING)
        turns, positions = curve.get_orientation_trajectory(), curve.get_position_trajectory()
        for t in (0.4, 2.2):
            V, A = curve.GetVelocity(t), curve.GetAcceleration(t)
            np.testing.assert_allclose(V, [*turns.angular_velocity(t), *slope(positions, t)[:, 0]], atol=DIFFERENCES)
            np.testing.assert_allclose(A, [0.0] * 3 + [*positions.EvalDerivative(t, 2)[:, 0]], atol=ROUNDING)
            np.testing.assert_allclose(curve.MakeDerivative().value(t)[:, 0], V, atol=ROUNDING)
        assert not curve.GetVelocity(3.1).any() and curve.IsApprox(curve.Clone(), 1e-12)
    np.testing.assert_allclose(curve.GetVelocity(0.0)[3:], [1.0, 0.0, 0.0], atol=ROUNDING)


def test_a_piecewise_polynomial_is_made_of_polynomials_and_read_from_yaml():
    from mbcli.common.yaml import yaml_dump_typed, yaml_load_typed
    from mbcli.polynomial import Polynomial

    made = PiecewisePolynomial([Polynomial([1.0, 2.0]), Polynomial([3.0, 0.0, 4.0])], [0.0, 1.0, 3.0])
    assert [made.value(t)[0, 0] for t in (0.5, 1.5)] == [2.0, 4.0]
    assert made.getPolynomial(1, 0, 0) == Polynomial([3.0, 0.0, 4.0])
    text = "breaks: [0.0, 1.0, 3.0]\npolynomials: [[[[1, 2, 0]]], [[[3, 0, 4]]]]\n"
    for read in (yaml_load_typed(schema=PiecewisePolynomial, data=text), made):
        again = yaml_load_typed(schema=PiecewisePolynomial, data=yaml_dump_typed(read))
        assert again.isApprox(made, 0.0)

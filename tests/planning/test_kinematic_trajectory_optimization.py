"""Paths by control points: closed forms, bounds that hold at all times, and pydrake's optima."""

from importlib import import_module

import numpy as np
import pytest

pytest.importorskip("sympy")
pytest.importorskip("clarabel")

START, END = np.array([-1.0, 0.0, 1.0]), np.array([1.0, 0.25, -0.5])


def program(library="mbcli", middle=True):
    kto = import_module(f"{library}.planning").KinematicTrajectoryOptimization(3, 10)
    kto.AddPathPositionConstraint(START, START, 0)
    kto.AddPathPositionConstraint(END, END, 1)
    if middle:
        kto.AddPathPositionConstraint(np.full(3, 0.6), np.full(3, 0.9), 0.4)
    return kto


def solved(kto, library="mbcli"):
    result = import_module(f"{library}.solvers").Solve(kto.prog())
    assert result.is_success()
    return result, kto.ReconstructTrajectory(result)


@pytest.mark.parametrize("conic", [False, True])
def test_the_shortest_path_is_a_line(conic):
    kto = program(middle=False)
    costs = kto.AddPathLengthCost(2.0, conic)
    result, curve = solved(kto)
    assert result.get_optimal_cost() == pytest.approx(2.0 * np.linalg.norm(END - START), rel=1e-6)
    assert len(costs) == kto.num_control_points() - 1 and result.get_solver_id().name() == "Clarabel"
    for t in np.linspace(0.0, curve.end_time(), 5):
        off = curve.value(t)[:, 0] - START
        assert np.linalg.norm(np.cross(off, END - START)) < 1e-3


def test_energy_spaces_control_points_evenly():
    kto = program(middle=False)
    kto.AddPathEnergyCost(3.0)
    result, _ = solved(kto)
    points = np.array(result.GetSolution(kto.control_points()))
    np.testing.assert_allclose(np.diff(points, axis=1), np.tile((END - START)[:, None] / 9.0, 9), atol=1e-6)
    assert result.get_optimal_cost() == pytest.approx(3.0 * (END - START) @ (END - START) / 9.0, rel=1e-6)


def test_bounds_hold_at_all_times():
    kto = program()
    kto.AddDurationCost()
    kto.AddPositionBounds([-1.0] * 3, [1.2] * 3)
    kto.AddVelocityBounds([-1.0] * 3, [1.5] * 3)
    kto.AddAccelerationBounds([-3.0] * 3, [2.0] * 3)
    kto.AddJerkBounds([-15.0] * 3, [15.0] * 3)
    kto.AddDurationConstraint(0.5, None)
    for s in (0.0, 1.0):
        kto.AddPathVelocityConstraint(np.zeros(3), np.zeros(3), s)
    _, curve = solved(kto)
    times = np.linspace(0.0, curve.end_time(), 60)
    for order, low, high in ((0, -1.0, 1.2), (1, -1.0, 1.5), (2, -3.0, 2.0), (3, -15.0, 15.0)):
        values = np.array([curve.EvalDerivative(t, order) for t in times])
        assert values.min() > low - 1e-5 and values.max() < high + 1e-5
    np.testing.assert_allclose([curve.value(times[0])[:, 0], curve.value(times[-1])[:, 0]], [START, END], atol=1e-6)


def test_constraints_of_rates_are_by_time():
    from mbcli.solvers import Binding, Constraint, LinearConstraint

    kto = program(middle=False)
    kto.AddPathEnergyCost()
    kto.AddDurationConstraint(2.0, 2.0)
    rate = LinearConstraint(np.array([[1.0, 0.0]]), [3.0], [3.0])
    kto.AddVelocityConstraintAtNormalizedTime(Binding(rate, kto.qdot()[:2]), 0.5)
    kto.AddVelocityConstraintAtNormalizedTime(Constraint(lambda x: [x[4] * x[4]], [1.0], [1.0], 6), s=0.0)
    kto.prog().SetInitialGuess(kto.control_points()[1, 1], 1.0)
    _, curve = solved(kto)
    assert curve.EvalDerivative(1.0)[0, 0] == pytest.approx(3.0, abs=1e-6)
    assert abs(curve.EvalDerivative(0.0)[1, 0]) == pytest.approx(1.0, abs=1e-6)


def test_slopes_are_derivatives():
    from mbcli.autodiffutils import ExtractGradient, InitializeAutoDiff
    from mbcli.planning.kinematic_trajectory_optimization import DerivativeConstraint

    random = np.random.default_rng(0)
    made, x = DerivativeConstraint(random.normal(size=(4, 6)), 2, -1.0, 1.0), random.uniform(0.5, 2.0, 7)
    np.testing.assert_allclose(made.jacobian(x), ExtractGradient(made.Eval(InitializeAutoDiff(x).ravel())), atol=1e-12)


def test_a_trajectory_is_taken_as_it_is_and_given_back():
    from mbcli.math import BsplineBasis
    from mbcli.planning import KinematicTrajectoryOptimization
    from mbcli.trajectories import BsplineTrajectory

    points = np.random.default_rng(2).normal(size=(6, 2, 1))
    curve = BsplineTrajectory(BsplineBasis(4, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0]), list(points))
    kto = KinematicTrajectoryOptimization(curve)
    kto.prog().AddQuadraticErrorCost(np.eye(13), kto.prog().initial_guess(), kto.prog().decision_variables())
    _, found = solved(kto)
    for t in (0.0, 0.7, 2.5, 4.0):
        np.testing.assert_allclose(found.value(t), curve.value(t), atol=1e-6)
    with pytest.raises(RuntimeError, match="control points"):
        program().SetInitialGuess(curve)
    with pytest.raises(RuntimeError, match="0 to 1"):
        kto.AddPathVelocityConstraint([0.0, 0.0], [0.0, 0.0], 1.5)


def fastest(library, costs):
    kto = program(library)
    kto.AddDurationConstraint(1.0, 20.0)
    if costs == "length":
        kto.AddPathLengthCost(2.0)
        kto.AddPositionBounds([-1.5] * 3, [1.5] * 3)
    elif costs == "energy":
        kto.AddPathEnergyCost()
    else:
        kto.AddDurationCost()
        kto.AddVelocityBounds([-1.0] * 3, [1.0] * 3)
        if costs == "accelerations":
            kto.AddAccelerationBounds([-3.0] * 3, [2.0] * 3)
    for s in (0.0, 1.0) if costs != "length" else ():
        kto.AddPathVelocityConstraint(np.zeros(3), np.zeros(3), s)
    return solved(kto, library)[0].get_optimal_cost()


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("costs", ["length", "energy", "duration", "accelerations"])
def test_costs_are_those_of_pydrake(costs):
    assert fastest("mbcli", costs) == pytest.approx(fastest("pydrake", costs), rel=1e-5)

"""Quadratic programs and cones by Clarabel, beside SLSQP and conditions of optimality."""

import numpy as np
import pytest

pytest.importorskip("sympy")
pytest.importorskip("clarabel")

from mbcli.solvers import MathematicalProgram, SolutionResult, Solve, solve


def controller(n=7, seed=0):
    """Accelerations v and efforts u of M v - u = b with bounds on both, the nearest to 1."""
    random = np.random.default_rng(seed)
    M = random.normal(size=(n, n))
    M, b = M @ M.T + np.eye(n), random.normal(size=n)
    prog = MathematicalProgram()
    v, u = prog.NewContinuousVariables(n), prog.NewContinuousVariables(n)
    prog.AddLinearEqualityConstraint(np.hstack([M, -np.eye(n)]), b, np.concatenate([v, u]))
    prog.Add2NormSquaredCost(np.eye(n), np.ones(n), v)
    prog.AddBoundingBoxConstraint(-2.0, 2.0, v)
    prog.AddBoundingBoxConstraint(-4.0, 4.0, u)
    return prog


@pytest.mark.parametrize("seed", range(4))
def test_a_quadratic_program_has_the_solution_of_slsqp(seed, monkeypatch):
    found = Solve(controller(seed=seed))
    assert found.is_success() and found.get_solver_id().name() == "Clarabel"
    monkeypatch.setattr(solve, "takes_constraints", lambda prog: False)
    other = Solve(controller(seed=seed))
    assert other.is_success() and other.get_solver_id().name() == "SLSQP"
    np.testing.assert_allclose(found.get_x_val(), other.get_x_val(), atol=1e-4)  # where SLSQP stops
    assert found.get_optimal_cost() <= other.get_optimal_cost() + 1e-9


def test_the_nearest_point_of_a_cone():
    """Of p = (0, 3, 4) it is (5/2, 3/2, 2): half way to the surface, along (1, 3/5, 4/5)."""
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(3)
    prog.AddLorentzConeConstraint(np.eye(3), np.zeros(3), x)
    prog.AddQuadraticErrorCost(np.eye(3), [0.0, 3.0, 4.0], x)
    found = Solve(prog)
    assert found.is_success() and found.get_solver_id().name() == "Clarabel"
    np.testing.assert_allclose(found.get_x_val(), [2.5, 1.5, 2.0], atol=1e-7)


def test_what_has_no_solution_is_told():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    prog.AddQuadraticErrorCost(np.eye(2), np.zeros(2), x)
    prog.AddLinearConstraint(np.array([[1.0, 1.0], [-1.0, -1.0]]), [1.0, 1.0], [np.inf, np.inf], x)
    assert Solve(prog).get_solution_result() is SolutionResult.kInfeasibleConstraints
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    prog.AddQuadraticErrorCost([[1.0, 0.0], [0.0, 0.0]], np.zeros(2), x)
    prog.AddLinearCost([0.0, 1.0], 0.0, x)
    prog.AddLinearConstraint(np.eye(2), [-1.0, -np.inf], [1.0, 1.0], x)
    result = Solve(prog)
    assert result.get_solution_result() is SolutionResult.kDualInfeasible and result.get_optimal_cost() == -np.inf

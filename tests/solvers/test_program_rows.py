"""Rows of constraints: evaluated once at the same values, and searches that end where they hold or are least off."""

import numpy as np
import pytest

from mbcli.solvers import MathematicalProgram, Solve
from mbcli.solvers.constraint_rows import CLOSE, ConstraintRows


def wavy(seed, n=5, m=3):
    """(program, variables, values of it at which all holds): m sines of n variables, some as intervals."""
    rng = np.random.default_rng(seed)
    A, inside = rng.normal(size=(m, n)), rng.uniform(-1.0, 1.0, n)
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(n, "x")
    prog.AddBoundingBoxConstraint(-1.0, 1.0, x)
    y, width = np.sin(A @ inside), rng.integers(0, 2, m) * 0.1
    prog.AddConstraint(lambda x: np.array([np.sin(row @ x) for row in A]), y - width, y + width, x)
    return prog, x, inside


def rows_of(prog):
    return ConstraintRows(prog, prog.generic_constraints())


@pytest.mark.parametrize("seed", range(20))
def test_a_search_ends_within_bounds_where_all_constraints_hold(seed):
    prog, _, inside = wavy(seed)
    rows, box = rows_of(prog), np.ones(5)
    found = rows.nearly_feasible(inside + np.random.default_rng(seed).uniform(-0.3, 0.3, 5), -box, box)
    assert (np.abs(found) <= 1.0).all()
    assert np.abs(rows.off(found)).max() < 1e-7


def test_where_nothing_holds_the_squares_are_least_within_the_bounds():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2, "x")
    prog.AddConstraint(lambda x: np.array([x[0] + 2.0 * x[1], x[0] * x[0]]), [9.0, -1.0], [9.0, 0.25], x)
    found = rows_of(prog).nearly_feasible(np.zeros(2), np.array([-1.0, -1.0]), np.array([1.0, 2.0]))
    # x[1] at its bound; x[0] where the derivative of (x0 - 5)^2 + (x0^2 - 0.25)^2 would be zero: beyond its own
    np.testing.assert_allclose(found, [1.0, 2.0], atol=1e-9)


def test_a_fixed_variable_stays_where_it_is():
    prog, _, inside = wavy(3)
    low, high = -np.ones(5), np.ones(5)
    low[2] = high[2] = inside[2]
    rows = rows_of(prog)
    found = rows.nearly_feasible(np.zeros(5), low, high)
    assert found[2] == inside[2]
    assert np.abs(rows.off(found)).max() <= CLOSE


def test_a_constraint_with_two_bounds_is_called_once_at_the_same_values():
    calls = []
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2, "x")

    def bent(x):
        if x.dtype != object:
            calls.append(tuple(x))
        return np.array([x[0] * x[1]])

    prog.AddConstraint(bent, [0.5], [0.6], x)
    rows = rows_of(prog)
    for _ in range(3):
        rows.values(np.array([1.0, 0.3])), rows.off(np.array([1.0, 0.3]))
    assert len(calls) == 1
    rows.values(np.array([1.0, 0.4]))
    assert len(calls) == 2


def test_no_solution_within_bounds_is_told_with_the_best_values():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2, "x")
    prog.AddBoundingBoxConstraint(-1.0, 1.0, x)
    prog.AddConstraint(lambda x: np.array([x @ x]), [9.0], [9.0], x)
    result = Solve(prog, [0.3, 0.2])
    assert not result.is_success()
    assert np.isfinite(result.get_x_val()).all()


def test_a_place_is_stationary_where_what_it_touches_holds_the_cost():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    prog.AddConstraint(lambda x: [x @ x], [-np.inf], [2.0], x)
    rows, free = rows_of(prog), (np.full(2, -np.inf), np.full(2, np.inf))
    gradient = np.array([-1.0, -1.0])  # the least of -x - y is at (1, 1)
    assert rows.is_stationary(np.ones(2), gradient, free)
    assert not rows.is_stationary(np.ones(2), -gradient, free)  # the circle pushes inwards alone
    assert not rows.is_stationary(np.array([np.sqrt(2.0), 0.0]), gradient, free)
    assert rows.is_stationary(np.zeros(2), np.array([-1.0, 2.0]), (np.array([-1.0, 0.0]), np.array([0.0, 1.0])))

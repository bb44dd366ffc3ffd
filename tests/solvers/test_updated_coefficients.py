"""Costs whose coefficients are replaced, and the forms of arguments that pydrake's tutorials use."""

import numpy as np
import pytest

from mbcli.autodiffutils import ExtractGradient, ExtractValue, InitializeAutoDiff
from mbcli.solvers import MathematicalProgram, Solve
from mbcli.systems.framework import BasicVector


def test_a_cost_with_new_coefficients_leads_elsewhere():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2, "x")
    prog.AddBoundingBoxConstraint(-1.0, 1.0, x)
    cost = prog.AddLinearCost([1.0, 1.0], 0.0, x).evaluator()
    assert Solve(prog).get_optimal_cost() == pytest.approx(-2.0)
    cost.UpdateCoefficients([1.0, -2.0], 5.0)
    assert Solve(prog).get_optimal_cost() == pytest.approx(2.0)
    with pytest.raises(RuntimeError, match="3 coefficients"):
        cost.UpdateCoefficients([1.0, 2.0, 3.0])


def test_a_quadratic_cost_with_new_coefficients_leads_elsewhere():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2, "x")
    cost = prog.AddQuadraticCost(x @ x, True).evaluator()
    np.testing.assert_allclose(Solve(prog).GetSolution(x), [0.0, 0.0], atol=1e-9)
    cost.UpdateCoefficients(np.diag([2.0, 4.0]), [-2.0, 8.0], 1.0)
    result = Solve(prog)
    np.testing.assert_allclose(result.GetSolution(x), [1.0, -2.0], atol=1e-7)
    assert result.get_optimal_cost() == pytest.approx(-8.0)


def test_gradients_are_given_as_the_second_argument():
    found = InitializeAutoDiff([1.0, 2.0], [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    np.testing.assert_array_equal(ExtractValue(found), [[1.0], [2.0]])
    np.testing.assert_array_equal(ExtractGradient(found), [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])


def test_vectors_are_printed_as_lists():
    assert (str(BasicVector([1.0, 2.5])), repr(BasicVector([1.0]))) == ("[1.0, 2.5]", "BasicVector([1.0])")


def test_a_program_is_written_in_latex():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2, "x")
    prog.AddLinearCost([1.0, 2.5], 3.0, x)
    prog.AddCost(lambda z: z[0] ** 4, vars=x[:1])
    prog.AddLinearConstraint(x[0] + x[1] <= 1)
    prog.AddBoundingBoxConstraint(0.0, np.inf, x[:1])
    assert prog.ToLatex().splitlines() == [
        r"\begin{align*}",
        r"\min_{x(0), x(1)} \quad & (x(0) + 2.500 x(1) + 3)\\",
        r" &  + \text{PyFunctionCost}(x(0))\\",
        r" \text{subject to}\quad & x(0) + x(1) \le 1\\",
        r" & 0 \le x(0)",
        r"\end{align*}",
    ]
    assert str(prog).startswith("Decision variables: x(0) x(1)\n")


def test_costs_and_constraints_are_printed_as_pydrake_does():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2, "x")
    linear = prog.AddLinearCost([1.0, 2.0], 3.0, x)
    quadratic = prog.AddQuadraticCost(x[0] ** 2 + 2 * x[1] ** 2 + x[0] * x[1] + 1)
    function = prog.AddCost(lambda z: z[0] ** 2, vars=x)
    assert str(linear) == "LinearCost (3 + x(0) + 2 * x(1))"
    assert str(quadratic) == ("QuadraticCost (1 + (x(0) * (x(0) + 0.5 * x(1))) + (x(1) * (0.5 * x(0) + 2 * x(1))))")
    assert str(function) == "PyFunctionCost with 2 decision variables x(0) x(1)\n"
    assert str(prog.AddLinearConstraint(x[0] + x[1] <= 1)) == "LinearConstraint\n-inf <= (x(0) + x(1)) <= 1\n"
    bounds = prog.AddBoundingBoxConstraint(0.0, 1.0, x)
    assert str(bounds) == "BoundingBoxConstraint\n0 <= x(0) <= 1\n0 <= x(1) <= 1\n"
    bounds.evaluator().set_description("box")
    assert str(bounds).startswith("BoundingBoxConstraint described as 'box'\n")
    assert str(prog.AddLinearCost([1.0, -2.0], -3.0, x)) == "LinearCost (-3 + x(0) - 2 * x(1))"
    linear.evaluator().UpdateCoefficients([2.0, 0.0])
    linear.evaluator().set_description("mine")
    assert str(linear) == "LinearCost (2 * x(0)) described as 'mine'"

"""Mathematical programs: solutions against conditions of optimality, derivatives, and beside pydrake's."""

import itertools

import numpy as np
import pytest
from programs import PROGRAMS, apart, chosen, cone, functions, linear, rosenbrock

import mbcli.math
from mbcli import solvers
from mbcli.autodiffutils import AutoDiffXd
from mbcli.math import eq, ge
from mbcli.solvers import (
    Binding,
    CommonSolverOption,
    MathematicalProgram,
    MosekSolver,
    SolutionResult,
    Solve,
    SolverOptions,
)

TOLERANCE = 2e-5  # of solutions where costs are flat


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_a_solution_holds_and_no_near_point_costs_less(make):
    prog, _ = make(solvers, mbcli.math)
    result = Solve(prog)
    if make is apart:
        assert result.get_solution_result() is SolutionResult.kInfeasibleConstraints
        return
    assert result.is_success(), result.get_solver_details()
    x, rng = result.get_x_val(), np.random.default_rng(4)
    assert prog.CheckSatisfied(prog.GetAllConstraints(), x, 1e-6)
    assert result.GetInfeasibleConstraints(prog) == []
    binary, cost = prog.binary_indices(), result.get_optimal_cost()
    for _ in range(300):
        near = x + rng.normal(0.0, 10.0 ** rng.uniform(-4, -1), x.size)
        near[binary] = rng.integers(0, 2, len(binary))
        if prog.CheckSatisfied(prog.GetAllConstraints(), near, 0.0):
            assert sum(prog.EvalBinding(c, near)[0] for c in prog.GetAllCosts()) >= cost - 1e-7


def test_the_best_of_all_choices_is_found():
    prog, _ = chosen(solvers, mbcli.math)
    costs = []
    for choice in itertools.product((0.0, 1.0), repeat=5):
        for x in (0.0, 0.8, 1.0, 1.3):  # the bounds, and what the weights leave over is whole or nothing
            values = np.array([*choice, x])
            if prog.CheckSatisfied(prog.GetAllConstraints(), values, 0.0):
                costs.append(prog.EvalBinding(prog.GetAllCosts()[0], values)[0])
    assert Solve(prog).get_optimal_cost() == pytest.approx(min(costs))


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("make", [m for m in PROGRAMS if m is not chosen], ids=lambda make: make.__name__)
def test_solutions_are_pydrakes(make):
    """But of programs with binary variables, for which pydrake has no solver without a license."""
    from pydrake import math as their_math, solvers as theirs

    prog, variables = make(theirs, their_math)
    reference = theirs.Solve(prog)
    own, own_variables = make(solvers, mbcli.math)
    result = Solve(own)
    assert result.is_success() == reference.is_success()
    assert own.num_vars() == prog.num_vars()
    assert [len(own.linear_costs()), len(own.quadratic_costs())] == [
        len(prog.linear_costs()),
        len(prog.quadratic_costs()),
    ]
    if result.is_success():
        within = 1e-4 if make is cone else TOLERANCE  # pydrake's interior points stop 6e-5 from the corner
        np.testing.assert_allclose(
            result.GetSolution(own_variables), reference.GetSolution(variables), atol=within, rtol=within
        )
        np.testing.assert_allclose(result.get_optimal_cost(), reference.get_optimal_cost(), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("make", [rosenbrock, functions, linear], ids=lambda make: make.__name__)
def test_derivatives_are_those_of_the_functions(make):
    prog, _ = make(solvers, mbcli.math)
    x = np.random.default_rng(1).uniform(0.3, 1.2, prog.num_vars())
    for binding in [*prog.GetAllCosts(), *prog.GetAllConstraints()]:
        c, own = binding.evaluator(), x[prog.positions_of(binding)]
        slopes = [(c.values(own + h) - c.values(own - h)) / 2e-6 for h in 1e-6 * np.eye(own.size)]
        np.testing.assert_allclose(c.jacobian(own), np.transpose(slopes), atol=1e-7)


def test_variables_of_one_name_are_different_ones():
    prog = MathematicalProgram()
    x, other = prog.NewContinuousVariables(1, "x"), prog.NewContinuousVariables(1, "x")
    prog.AddConstraint(eq(x[0], 1.0))
    prog.AddConstraint(eq(other[0] - x[0], 2.0))
    result = Solve(prog)
    assert (result.GetSolution(x[0]), result.GetSolution(other[0])) == pytest.approx((1.0, 3.0))
    assert str(x[0]) == "x(0)" and result.GetSolution(x[0] + other[0] ** 2) == pytest.approx(10.0)


def test_a_constraint_has_the_kind_that_its_formula_has():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    kinds = [
        (x[0] >= 1.0, "BoundingBoxConstraint"),
        (-2.0 * x[1] >= 1.0, "BoundingBoxConstraint"),
        (x[0] + x[1] >= 1.0, "LinearConstraint"),
        (eq(x, [1.0, 2.0]), "LinearEqualityConstraint"),
        (x[0] * x[1] <= 2.0, "QuadraticConstraint"),
        (x[0] ** 3 <= 2.0, "ExpressionConstraint"),
    ]
    for formula, kind in kinds:
        assert type(prog.AddConstraint(formula).evaluator()).__name__ == kind
    bound = prog.bounding_box_constraints()[1].evaluator()
    assert bound.upper_bound() == [-0.5] and bound.lower_bound() == [-np.inf]


def test_the_second_of_two_bounds_of_one_variable_counts_too():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(1)
    prog.AddConstraint(ge([x[0], x[0]], [1.0, 2.0]))
    prog.AddLinearCost(x[0])
    assert Solve(prog).GetSolution(x[0]) == pytest.approx(2.0)


def test_what_is_not_a_constraint_is_refused():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    with pytest.raises(TypeError, match=r"eq\(a, b\)"):
        prog.AddConstraint(x[0] == 1.0)
    with pytest.raises(RuntimeError, match="not a LinearConstraint"):
        prog.AddLinearConstraint(x[0] ** 2 <= 1.0)
    assert prog.GetAllConstraints() == []
    with pytest.raises(RuntimeError, match="no variable of this program"):
        prog.AddLinearCost([1.0], MathematicalProgram().NewContinuousVariables(1))
    with pytest.raises(AttributeError, match="has no AddMoon"):
        prog.AddMoon(x)
    with pytest.raises(RuntimeError, match="2 values, not 1"):
        prog.AddConstraint(lambda z: [z[0], z[1]], [0.0], [1.0], x)
        Solve(prog)
    assert not MosekSolver().available()
    with pytest.raises(RuntimeError, match="MOSEK is not in mbcli"):
        MosekSolver().Solve(prog)


def test_binary_variables_need_a_linear_program():
    prog, b = chosen(solvers, mbcli.math)
    prog.AddQuadraticCost(b[0] * b[1])
    with pytest.raises(RuntimeError, match="binary"):
        Solve(prog)


def test_bindings_are_evaluated_with_derivatives():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    binding = prog.AddCost(x[0] ** 3 + x[1])
    assert isinstance(binding, Binding)
    duals = [AutoDiffXd(2.0, [1.0, 0.0]), AutoDiffXd(1.0, [0.0, 1.0])]
    np.testing.assert_array_equal(prog.EvalBinding(binding, duals)[0].derivatives(), [12.0, 1.0])
    np.testing.assert_array_equal(prog.EvalBindingVectorized(binding, np.array([[1.0, 2.0], [0.0, 1.0]])), [[1.0, 9.0]])


def test_how_a_program_ended_is_told_and_printed_where_options_say_so(tmp_path, capsys):
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    constraint = prog.AddConstraint(lambda z: [z.dot(z)], [1.0], [2.0], x)
    np.testing.assert_array_equal(constraint.evaluator().Eval(np.array([[1.0], [2.0]])), [5.0])  # of a column
    options = SolverOptions()
    options.SetOption(CommonSolverOption.kPrintFileName, str(tmp_path / "log.txt"))
    options.SetOption(CommonSolverOption.kPrintToConsole, 1)
    result = Solve(prog, np.array([0.5, 0.5]), options)
    details = result.get_solver_details()
    assert details.status == 0 and details.ConvertStatusToString() == str(details) and result.is_success()
    line = f"{result.get_solver_id().name()}: {details}\n"
    assert (tmp_path / "log.txt").read_text() == line == capsys.readouterr().out


@pytest.mark.parametrize("has_cost", [True, False])
def test_equations_that_say_the_same_twice_do_not_stop_a_solver(has_cost):
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(4)
    for scale in (1.0, 2.0):  # a unit quaternion, twice
        prog.AddConstraint(lambda z, scale=scale: [scale * z.dot(z)], [scale], [scale], x)
    prog.AddConstraint(lambda z: [z[0] * z[1]], [0.3], [0.4], x)
    if has_cost:
        prog.AddQuadraticCost(np.eye(1), np.array([-1.0]), x[3:])
    result = Solve(prog, np.array([1.0, 0.0, 0.0, 0.0]))
    found = result.GetSolution(x)
    assert result.is_success()
    assert found @ found == pytest.approx(1.0, abs=1e-6) and 0.3 - 1e-6 <= found[0] * found[1] <= 0.4 + 1e-6
    if has_cost:  # as large as the product leaves it: x0 = x1 and x2 = 0
        assert found[3] == pytest.approx(np.sqrt(0.4), abs=1e-4)


def test_a_visualization_callback_sees_the_way_to_the_solution():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    prog.AddCost(lambda z: (z[0] - 1.0) ** 4 + z[1] ** 2, x)
    seen = []
    prog.AddVisualizationCallback(lambda z: seen.append(z.copy()), x)
    result = Solve(prog, np.array([3.0, 2.0]))
    assert len(seen) > 2 and seen[-1].tolist() == result.GetSolution(x).tolist()

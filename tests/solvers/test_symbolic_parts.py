"""Expressions become matrices as their values say, without SymPy where they are sums of monomials."""

import random

import numpy as np
import pytest
import sympy

from mbcli.autodiffutils import ExtractGradient, InitializeAutoDiff
from mbcli.math import eq
from mbcli.solvers import MathematicalProgram
from mbcli.solvers.cost_sum import CostSum
from mbcli.solvers.symbolic_parts import DecisionVariable, Difference, Form, named_variables, polynomials


@pytest.fixture
def x():
    """Four variables."""
    return [DecisionVariable(f"x{k}", real=True) for k in range(4)]


def an_expression(choose, x, depth):
    """Sums and products of variables and numbers, of any degree."""
    if depth == 0 or choose.random() < 0.2:
        return choose.choice([*x, sympy.Float(choose.uniform(-2.0, 2.0)), sympy.Integer(choose.randint(-2, 3))])
    a, b = (an_expression(choose, x, depth - 1) for _ in range(2))
    return choose.choice([a + b, a + b, a - b, a * b, a**2])


def test_polynomials_have_the_values_of_expressions_and_none_is_of_degree_three(x):
    choose, found, none = random.Random(1), 0, 0
    for _ in range(200):
        e = Difference(an_expression(choose, x, 3), an_expression(choose, x, 2))
        whole, values = sympy.expand(e.expression()), {v: choose.uniform(-1.0, 1.0) for v in x}
        result = polynomials([e])
        if result is None:
            assert sympy.Poly(whole, *x).total_degree() > 2
            none += 1
            continue
        assert sympy.Poly(whole, *x).total_degree() <= 2
        at = np.array([values[v] for v in result.variables])
        value = result.A[0] @ at + result.c[0] + 0.5 * at @ result.quadratic[0] @ at
        assert value == pytest.approx(float(whole.subs(values)), abs=1e-9)
        found += 1
    assert found > 50 and none > 20


def test_variables_that_go_away_are_none_of_the_constraint():
    program = MathematicalProgram()
    a, b = program.NewContinuousVariables(2)
    binding = program.AddConstraint(eq(a + b, a + 1.0)[()])
    assert list(binding.variables()) == [b]


def test_equations_are_added_without_sums_of_sympy(monkeypatch):
    """What takes milliseconds an equation: no sum, difference or expansion is made of linear sides."""
    program, random_numbers = MathematicalProgram(), np.random.default_rng(2)
    x, A = program.NewContinuousVariables(6), random_numbers.normal(size=(6, 6))
    formulas = eq(A @ x, x + 1.0)
    monkeypatch.setattr(sympy, "expand", None)
    monkeypatch.setattr(sympy.Add, "flatten", None)
    binding = program.AddConstraint(formulas)
    np.testing.assert_allclose(binding.evaluator().GetDenseA(), A - np.eye(6), atol=1e-15)
    assert binding.evaluator().lower_bound().tolist() == [1.0] * 6


def test_expressions_of_one_form_share_a_function_and_others_do_not(monkeypatch):
    rng = np.random.default_rng(4)
    x = named_variables(6, None, "x")
    forms = [
        lambda a, b, c: a**b + c,
        lambda a, b, c: a**2 + b * c,  # 2 is no place
        lambda a, b, c: sympy.sin(a) * b - 0.5 * c,
        lambda a, b, c: sympy.sin(a) * b - 0.25 * c,
        lambda a, b, c: Difference(a * (b + c), sympy.cos(c) + 1.0),
        lambda a, b, c: Difference(sympy.cos(c) + 1.0, a * (b + c)),
    ]
    monkeypatch.setattr(Form, "known", {})
    for a, b, c in ((x[0], x[1], x[2]), (x[3], x[4], x[5])):
        for form in forms:
            numbers = rng.uniform(0.5, 2.0, 3)
            whole = form(a, b, c)
            value = whole.expression() if isinstance(whole, Difference) else whole
            expected = float(value.subs(dict(zip((a, b, c), numbers, strict=True))))
            np.testing.assert_allclose(Form.of([whole], [a, b, c]).values(numbers), [expected], rtol=1e-14)
    assert len(Form.known) == len(forms)


@pytest.mark.parametrize("number", [2.5, -1e-300, 1.0, 0.0, -0.0, float("inf"), np.float64(0.1), np.pi])
def test_multiples_of_variables_are_those_of_sympy(number):
    x = DecisionVariable("x", real=True)
    expected = sympy.Mul(sympy.sympify(number), x)
    for found in (number * x, x * number, (np.array([[number]]) @ np.array([x]))[0]):
        assert found == expected and hash(found) == hash(expected) and sympy.srepr(found) == sympy.srepr(expected)


def test_what_goes_away_when_products_are_written_out_counts_not():
    x, y = named_variables(2, None, "x")
    linear = polynomials([Difference(x * (sympy.sin(y) + 2.0), x * sympy.sin(y) - y)])
    np.testing.assert_array_equal(linear.A, [[2.0, 1.0]])
    assert polynomials([Difference(x + sympy.sin(y), y)]) is None


def test_expressions_of_one_form_are_compiled_once_and_have_the_slopes_of_autodiff(monkeypatch):
    prog, calls = MathematicalProgram(), []
    made = sympy.lambdify
    monkeypatch.setattr(sympy, "lambdify", lambda *args, **named: calls.append(args) or made(*args, **named))
    x = prog.NewContinuousVariables(30)
    monkeypatch.setattr(Form, "known", {})
    bindings = [prog.AddConstraint(sympy.sin(x[k]) * x[k + 1] ** 3 + x[k + 2] <= 0.25) for k in range(28)]
    assert len(calls) == 1
    at = np.array([0.3, -0.7, 1.1])
    for b in (bindings[0], bindings[-1], prog.AddConstraint(sympy.Abs(sympy.sin(x[0])) + x[1] * x[2] <= 1.0)):
        c = b.evaluator()
        duals = c.Eval(InitializeAutoDiff(at).reshape(-1))
        np.testing.assert_allclose(c.jacobian(at), ExtractGradient(duals), atol=1e-14)


def test_the_sum_of_costs_is_that_of_each():
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(4)
    prog.AddCost(3.0 * x[0] - x[2] + 2.0)
    prog.AddCost((x[1] - x[0]) ** 2 + x[3] * x[0] + 5.0)
    prog.AddCost(sympy.exp(x[2]) * x[1])
    prog.AddQuadraticErrorCost(np.eye(2), [1.0, -1.0], x[[3, 0]])
    whole, at = CostSum(prog), np.array([0.2, -0.4, 0.9, 1.3])
    assert whole.value(at) == pytest.approx(sum(b.evaluator().values(at[prog.positions_of(b)])[0] for b in prog.costs))
    for k in range(4):
        e = 1e-6 * np.eye(4)[k]
        assert whole.gradient(at)[k] == pytest.approx((whole.value(at + e) - whole.value(at - e)) / 2e-6, abs=1e-7)

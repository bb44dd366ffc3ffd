"""Functions of symbolic expressions, named views and matrix equations, alone and beside pydrake's."""

import numpy as np
import pytest

from mbcli import symbolic
from mbcli.common.containers import namedview
from mbcli.math import (
    ContinuousAlgebraicRiccatiEquation,
    DiscreteAlgebraicRiccatiEquation,
    RealContinuousLyapunovEquation,
    RealDiscreteLyapunovEquation,
    eq,
    ge,
)


def some(module):
    """What functions of one library give for the same expressions, as numbers and text."""
    x, a = module.MakeVectorVariable(2, "x"), module.Variable("a")
    f = np.array([x[0] * x[0] * x[1] + 2.0 * x[1], module.sin(x[0]) * x[1]])
    env = {x[0]: 0.3, x[1]: 1.7}
    taylor = module.TaylorExpand(module.exp(x[0]) * x[1], {x[0]: 0.1, x[1]: 2.0}, 2)
    numbers = [
        module.Evaluate(f, env),
        module.Evaluate(module.Jacobian(f, x), env),
        module.Evaluate(module.Substitute(f, {x[0]: x[1] + 1.0, x[1]: x[0]}), env),
        module.Evaluate(np.array([taylor]), env),
    ]
    latex = [module.ToLatex(e) for e in (a, 2.5 * a, a**2)]
    return numbers, [*latex, module.ToLatex(np.array([[1.0, 2.5], [3.0, 0.12345]]))]


def test_expressions_have_the_values_of_their_functions():
    (f, J, swapped, taylor), _ = some(symbolic)
    x, y = 0.3, 1.7
    np.testing.assert_allclose(f, [[x * x * y + 2.0 * y], [np.sin(x) * y]])
    np.testing.assert_allclose(J, [[2.0 * x * y, x * x + 2.0], [np.cos(x) * y, np.sin(x)]])
    np.testing.assert_allclose(swapped, [[(y + 1.0) ** 2 * x + 2.0 * x], [np.sin(y + 1.0) * x]])
    dx, dy = 0.2, -0.3
    np.testing.assert_allclose(taylor, [[np.exp(0.1) * (2.0 + 2.0 * dx + dy + dx * dx + dx * dy)]])
    with pytest.raises(RuntimeError, match="no value for"):
        symbolic.Evaluate(symbolic.MakeVectorVariable(1, "z"), {})


@pytest.mark.peers("pydrake")
def test_expressions_are_pydrakes():
    from pydrake import symbolic as theirs

    (numbers, latex), (expected, their_latex) = some(symbolic), some(theirs)
    for own, reference in zip(numbers, expected, strict=True):
        np.testing.assert_allclose(own, reference, rtol=1e-14)
    assert latex == their_latex


def test_a_named_view_is_its_vector():
    State = namedview("State", ["x-position", "x_dot", "2nd"])
    value = np.array([1.0, 2.0, 3.0])
    view = State(value)
    view.x_position = 10.0
    value[1] = 20.0
    assert (view[0], view.x_dot, view._2nd, State.get_fields()) == (10.0, 20.0, 3.0, ("x_position", "x_dot", "_2nd"))
    view[:] = 5.0
    np.testing.assert_array_equal(value, 5.0)
    assert np.asarray(view) is value or np.shares_memory(np.asarray(view), value)
    with pytest.raises(AttributeError, match="there are"):
        view.y = 1.0


def test_formulas_of_arrays_go_element_by_element():
    x = symbolic.MakeVectorVariable(2, "x")
    assert [f.subs({x[0]: 1.0, x[1]: 2.0}) for f in ge(x, [1.0, 3.0])] == [True, False]
    assert eq(x, 1.0).shape == (2,) and eq([1.0, 2.0], [1.0, 3.0]).tolist() == [True, False]


def test_solutions_of_matrix_equations_satisfy_them():
    rng = np.random.default_rng(2)
    A, B, Q, R = 0.4 * rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), np.diag([1.0, 2.0, 3.0]), np.eye(2)
    S = ContinuousAlgebraicRiccatiEquation(A, B, Q, R)
    np.testing.assert_allclose(S @ A + A.T @ S - S @ B @ B.T @ S + Q, 0.0, atol=1e-10)
    S = DiscreteAlgebraicRiccatiEquation(A, B, Q, R)
    inner = np.linalg.solve(B.T @ S @ B + R, B.T @ S @ A)
    np.testing.assert_allclose(A.T @ S @ A - S - A.T @ S @ B @ inner + Q, 0.0, atol=1e-10)
    X = RealContinuousLyapunovEquation(A, Q)
    np.testing.assert_allclose(A.T @ X + X @ A + Q, 0.0, atol=1e-10)
    X = RealDiscreteLyapunovEquation(A, Q)
    np.testing.assert_allclose(A.T @ X @ A - X + Q, 0.0, atol=1e-10)
    with pytest.raises(RuntimeError, match="no solution"):
        ContinuousAlgebraicRiccatiEquation([[1.0]], [[0.0]], [[1.0]], [[1.0]])

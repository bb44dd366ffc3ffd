"""Polynomials and monomials of symbolic variables, and methods of expressions that scripts for pydrake call."""

import subprocess
import sys

import numpy as np
import pytest

from mbcli.symbolic import MakeVectorVariable, Monomial, MonomialBasis, Polynomial, Variable, sin

x, y, a = Variable("x"), Variable("y"), Variable("a")


def test_a_polynomial_knows_its_terms_and_degrees():
    p = Polynomial(a * x**2 * y + 3 * y + 1e-9, [x, y])
    assert p.monomial_to_coefficient_map()[Monomial({x: 2, y: 1})].equals(a)
    assert (p.TotalDegree(), p.Degree(x), p.Degree(y)) == (3, 2, 1)
    assert p.decision_variables() == {a} and p.indeterminates() == {x, y}
    assert p.RemoveTermsWithSmallCoefficients(1e-6).EqualTo(Polynomial(1.0 * a * x**2 * y + 3.0 * y, [x, y]))
    assert p.Evaluate({x: 2.0, y: 1.0, a: 0.5}) == pytest.approx(5.0)
    with pytest.raises(RuntimeError, match="no value for a"):
        p.Evaluate({x: 2.0, y: 1.0})
    with pytest.raises(RuntimeError, match="not a polynomial"):
        Polynomial(sin(x))


def test_numbers_take_the_place_of_some_variables():
    p = Polynomial((a + 2 * y) * x**2 * y + 3 * a * x - 1, [x, y])
    assert p.EvaluatePartial({x: 2.0}).EqualTo(Polynomial(4.0 * (a + 2 * y) * y + 6.0 * a - 1, [y]))
    assert p.EvaluatePartial({y: 1.0, a: 0.5}).EqualTo(Polynomial(2.5 * x**2 + 1.5 * x - 1, [x]))
    assert p.EvaluatePartial({x: 0.0, y: 1.0}).EqualTo(Polynomial(-1.0))
    assert (p + p).EqualTo(2 * p) and (p + (-1) * p).terms == {}


def test_polynomials_are_added_multiplied_and_differentiated():
    p, q = Polynomial(x + 1), Polynomial(y - 1)
    assert (p * q).EqualTo(Polynomial((x + 1) * (y - 1)))
    assert (2 * p - q + 1).EqualTo(Polynomial(2 * x - y + 4))
    assert (p**2).Differentiate(x).EqualTo(Polynomial(2 * x + 2))
    assert [str(d) for d in Polynomial(x * y**2).Jacobian([x, y])] == ["y**2", "2*x*y"]
    np.testing.assert_allclose((p * q).EvaluateIndeterminates([x, y], [[0.0, 1.0], [2.0, 3.0]]), [1.0, 4.0])
    assert p.CoefficientsAlmostEqual(Polynomial(x + 1.0001), 1e-3)


def test_a_basis_has_all_monomials_up_to_a_degree():
    assert [str(m) for m in MonomialBasis(MakeVectorVariable(2, "z"), 2)] == [
        *("z(0)**2", "z(0)*z(1)", "z(1)**2", "z(0)", "z(1)", "1")
    ]


SCRIPT = """
import numpy as np
from pydrake.symbolic import Expression, Variable, cos
t = Variable("t")
e = np.sin(t) * np.sqrt(t + 1)
print(e.Evaluate({t: 3.0}), (t + 1).Substitute(t, 2 * t).to_string().replace(" ", ""))
print((t**2).Differentiate(t), cos(t).Jacobian([t])[0])
print(t.get_name(), (t > 1).Evaluate({t: 2.0}), Expression.Evaluate(Expression(2.5)))
try:
    e.Evaluate()
except RuntimeError as error:
    print(error)
"""


def test_expressions_of_scripts_have_the_methods_of_pydrake(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "mbcli.pydrake", str(tmp_path / "script.py")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    value, substituted = lines[0].split()
    assert float(value) == pytest.approx(2.0 * np.sin(3.0))
    assert substituted == "2*t+1"
    assert lines[1:] == ["2*t -sin(t)", "t True 2.5", "Evaluate: there is no value for t"]


def test_monomials_times_numbers_and_monomials():
    from mbcli.symbolic import Monomial, Polynomial, Variable

    x, y = Variable("x"), Variable("y")
    m = Monomial(x, 2)
    assert isinstance(x, Variable) and not isinstance(2 * x, Variable)
    assert (m * Monomial({x: 1, y: 1})).get_powers() == {x: 3, y: 1} and (m**2).degree(x) == 4
    assert (2.0 * m).EqualTo(Polynomial(2.0 * x**2)) and (m * 3).EqualTo(Polynomial(3 * x**2))
    assert (1 - m).EqualTo(Polynomial(1 - x**2)) and str(m + y) == "x**2 + y"
    assert Polynomial((x + 2 * y - 1) ** 4).Evaluate({x: 0.1, y: 0.3}) == pytest.approx((0.1 + 0.6 - 1) ** 4)


def test_evaluation_is_compiled_and_tells_what_is_missing():
    from mbcli.symbolic import Evaluate, Jacobian, MakeVectorVariable, if_then_else, sin

    x = MakeVectorVariable(2, "x")
    J = Jacobian([sin(x[0]) * x[1], x[1] ** 3], x)
    found = Evaluate(J, {x[0]: 0.3, x[1]: 2.0})
    assert found == pytest.approx(np.array([[2 * np.cos(0.3), np.sin(0.3)], [0.0, 12.0]]))
    assert Evaluate([if_then_else(x[0] > 1.0, x[0], 0.0), 7], {x[0]: 2.0}).tolist() == [[2.0], [7.0]]
    with pytest.raises(RuntimeError, match=r"no value for x\(1\)"):
        Evaluate(J, {x[0]: 0.3})
    with pytest.raises(RuntimeError, match="division by zero"):
        Evaluate([1 / x[0]], {x[0]: 0.0})


def test_parts_of_polynomials_have_the_values_of_the_whole():
    from mbcli.symbolic import Monomial, MonomialBasis, Polynomial, Variable, Variables, intersect

    x, y, a = Variable("x"), Variable("y"), Variable("a")
    m = Monomial({x: 3, y: 1})
    assert m.Evaluate({x: 2.0, y: 3.0}) == 24.0
    assert m.Evaluate(vars=[x, y], vars_values=[[1, 2], [4, 5]]).tolist() == [4, 40]
    assert m.EvaluatePartial({x: 2.0}) == (8.0, Monomial(y))
    with pytest.raises(RuntimeError, match="x is NaN"):
        m.Evaluate({x: float("nan"), y: 1.0})
    p = Polynomial((a + 1) * x**2 + 3 * a * x * y, [x, y])
    A, decision, b = p.EvaluateWithAffineCoefficients([x, y], np.array([[1.0, 2.0], [0.5, -1.0]]))
    for k, (at_x, at_y) in enumerate(((1.0, 0.5), (2.0, -1.0))):
        value = p.Evaluate({x: at_x, y: at_y, a: 0.7})
        assert A[k] @ [0.7] + b[k] == pytest.approx(value)
    assert list(decision) == [a] and p.IsEven() and not p.IsOdd()
    assert np.sort(Polynomial(x**2 - 3 * x + 2).Roots()).tolist() == pytest.approx([1.0, 2.0])
    assert p.Integrate(x).Differentiate(x).EqualTo(p)
    assert Polynomial(x**2).Integrate(x, -1, 1).ToExpression() == pytest.approx(2.0 / 3.0)
    assert Polynomial(1 + x**2).SubstituteAndExpand({x: Polynomial(a**2 - 1)}).EqualTo(Polynomial(a**4 - 2 * a**2 + 2))
    assert len(MonomialBasis(vars_degree={Variables([x]): 2, Variables([y]): 1})) == 6
    both = Variables([x, y])
    assert (both + a).size() == 3 and (both - x) == Variables([y]) and intersect(both, [y, a]) == Variables([y])
    assert both.erase(x) == 1 and both.to_string() == "{y}"


def test_quotients_of_polynomials_are_a_field():
    from mbcli.symbolic import Polynomial, RationalFunction, Variable

    x, y = Variable("x"), Variable("y")
    f, g = RationalFunction(Polynomial(x + y), Polynomial(x**2 + 1)), RationalFunction(Polynomial(y - 2), Polynomial(x))
    env = {x: 0.7, y: -1.3}
    for made, value in (
        (f + g, f.Evaluate(env) + g.Evaluate(env)),
        (f - g, f.Evaluate(env) - g.Evaluate(env)),
        (f * g, f.Evaluate(env) * g.Evaluate(env)),
        (f / g, f.Evaluate(env) / g.Evaluate(env)),
        (2 / f, 2 / f.Evaluate(env)),
        (Polynomial(x) * f + 1, 0.7 * f.Evaluate(env) + 1),
    ):
        assert made.Evaluate(env) == pytest.approx(value)
        assert float(made.ToExpression().subs(env)) == pytest.approx(value)
    assert (f * g / g).EqualTo(f) and not f.EqualTo(g)
    with pytest.raises(RuntimeError, match="denominator"):
        RationalFunction(1, 0)


def test_random_variables_are_drawn_by_their_kind():
    from mbcli.symbolic import Evaluate, Variable

    kinds = Variable.Type
    u, g, e = (Variable("v", kind) for kind in (kinds.RANDOM_UNIFORM, kinds.RANDOM_GAUSSIAN, kinds.RANDOM_EXPONENTIAL))
    assert u != g and Variable("v") != u and Variable("v", kinds.RANDOM_UNIFORM) == u
    rng = np.random.default_rng(0)
    draws = np.array([Evaluate([u, g, e], {}, rng).ravel() for _ in range(4000)])
    assert draws.mean(axis=0) == pytest.approx([0.5, 0.0, 1.0], abs=0.06)
    assert draws.std(axis=0) == pytest.approx([12.0**-0.5, 1.0, 1.0], abs=0.06)
    assert Evaluate([u + 1], {u: 0.25}, lambda: 1)[0, 0] == 1.25

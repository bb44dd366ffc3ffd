"""Semidefinite, exponential and rotated cones, sums of squares, complementarity: theorems and closed forms."""

import itertools

import numpy as np
import pytest
import scipy.linalg

from mbcli.errors import ResourceError
from mbcli.solvers import (
    L1NormCost,
    LInfNormCost,
    MathematicalProgram,
    PerspectiveQuadraticCost,
    Solve,
    conic,
)
from mbcli.symbolic import Polynomial, Variables

pytest.importorskip("clarabel")


def solved(prog, close_to, of, tolerance=1e-5):
    result = Solve(prog)
    assert result.is_success(), result.get_solver_details()
    np.testing.assert_allclose(result.GetSolution(of), close_to, atol=tolerance)
    return result


def test_a_least_trace_with_a_fixed_element_is_the_geometric_mean():
    prog = MathematicalProgram()
    X = prog.NewSymmetricContinuousVariables(2)
    prog.AddPositiveSemidefiniteConstraint(X)
    prog.AddLinearConstraint(X[0, 1] >= 1.0)
    prog.AddLinearCost(X[0, 0] + 4.0 * X[1, 1])
    result = solved(prog, [[2.0, 1.0], [1.0, 0.5]], X)
    assert result.get_solver_id().name() == "Clarabel"
    assert prog.CheckSatisfied(prog.positive_semidefinite_constraints(), result.get_x_val())
    assert not prog.CheckSatisfied(prog.positive_semidefinite_constraints(), -result.get_x_val())


@pytest.mark.parametrize("by", ["variables", "inequality", "expressions"])
def test_a_lyapunov_matrix_is_that_of_the_equation(by):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((3, 3)) - 3.0 * np.eye(3)
    prog = MathematicalProgram()
    P = prog.NewSymmetricContinuousVariables(3)
    slope = -(A.T @ P + P @ A) - np.eye(3)
    if by == "expressions":
        prog.AddPositiveSemidefiniteConstraint(np.array([[e.expand() for e in row] for row in slope]))
    elif by == "inequality":
        variables = P[np.triu_indices(3)]
        at = [{v: float(v is w) for v in variables} for w in (None, *variables)]
        F = [np.array([[float(e.subs(each)) for e in row] for row in slope]) for each in at]
        prog.AddLinearMatrixInequalityConstraint([F[0], *(f - F[0] for f in F[1:])], variables)
    else:
        S = prog.NewSymmetricContinuousVariables(3, "S")
        prog.AddPositiveSemidefiniteConstraint(S)
        for i, j in itertools.combinations_with_replacement(range(3), 2):
            prog.AddLinearEqualityConstraint(S[i, j] - slope[i, j], 0.0)
    prog.AddLinearCost(np.trace(P))
    solved(prog, scipy.linalg.solve_continuous_lyapunov(A.T, -np.eye(3)), P)


def test_the_largest_entropy_with_a_given_mean_is_an_exponential_distribution():
    prog = MathematicalProgram()
    p, t = prog.NewContinuousVariables(4), prog.NewContinuousVariables(4)
    for k in range(4):
        prog.AddExponentialConeConstraint([1.0, p[k], t[k]])  # t <= -p log p
    prog.AddLinearEqualityConstraint(np.ones((1, 4)), [1.0], p)
    prog.AddLinearEqualityConstraint(np.arange(4.0)[None], [1.0], p)
    prog.AddLinearCost(-np.ones(4), 0.0, t)
    found = Solve(prog).GetSolution(p)
    ratios = found[1:] / found[:-1]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-4)
    assert found @ np.arange(4.0) == pytest.approx(1.0)


def test_determinants_and_means_are_largest_in_the_middle():
    prog = MathematicalProgram()
    X = prog.NewSymmetricContinuousVariables(2)
    for point in np.array([[1.0, 1.0], [1.0, -1.0]]):
        prog.AddLinearConstraint(point @ X @ point <= 1.0)
    prog.AddMaximizeLogDeterminantCost(X)
    solved(prog, np.eye(2) / 2.0, X)
    prog = MathematicalProgram()
    X = prog.NewSymmetricContinuousVariables(2)
    prog.AddLogDeterminantLowerBoundConstraint(X, np.log(4.0))
    prog.AddLinearCost(np.trace(X))
    solved(prog, 2.0 * np.eye(2), X, 1e-4)
    prog = MathematicalProgram()
    a = prog.NewContinuousVariables(3)
    prog.AddLinearConstraint(a.sum() <= 6.0)
    prog.AddMaximizeGeometricMeanCost(a, 1.0)
    solved(prog, [2.0, 2.0, 2.0], a, 1e-4)
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(1)
    prog.AddMaximizeGeometricMeanCost([[1.0], [-1.0]], [1.0, 3.0], x)
    solved(prog, [1.0], x, 1e-4)


def test_convex_quadratic_constraints_and_rotated_cones_are_one():
    points = []
    for kind in ("quadratic", "cone", "expressions"):
        prog = MathematicalProgram()
        x = prog.NewContinuousVariables(2)
        prog.AddLinearCost(x[0] + x[1])
        Q, b = np.array([[2.0, 1.0], [1.0, 4.0]]), np.array([0.3, -0.2])
        if kind == "quadratic":
            prog.AddQuadraticConstraint(Q, b, -np.inf, 1.0, x)
        elif kind == "cone":
            prog.AddQuadraticAsRotatedLorentzConeConstraint(Q, b, -1.0, x)
        else:
            prog.AddRotatedLorentzConeConstraint(1.0 - b @ x, 1.0 + 0.0 * x[0], 0.5 * (x @ Q @ x).expand())
        result = Solve(prog)
        assert result.is_success()
        points.append(result.GetSolution(x))
    np.testing.assert_allclose(points, points[:1] * 3, atol=1e-6)
    stretch = np.linalg.solve(Q, np.ones(2))  # the gradient is along the cost
    center = -np.linalg.solve(Q, b)
    radius = np.sqrt((2.0 + b @ np.linalg.solve(Q, b)) / (np.ones(2) @ stretch))
    best = center - radius * stretch
    assert points[0].sum() == pytest.approx(best.sum(), abs=1e-8)
    np.testing.assert_allclose(points[0], best, atol=2e-5)  # along the curve the cost changes by its square


def test_norms_as_costs_have_their_least_values():
    A, b = np.array([[1.0], [1.0], [1.0]]), np.array([0.0, -1.0, -5.0])
    for kind, value in ((L1NormCost, 1.0), (LInfNormCost, 2.5)):  # the median, the middle
        prog = MathematicalProgram()
        x = prog.NewContinuousVariables(1)
        prog.AddCost(kind(A, b), x)
        solved(prog, [value], x)
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(1)
    slack, _, _ = prog.AddL1NormCostInEpigraphForm(A, b, x)
    result = solved(prog, [1.0], x)
    np.testing.assert_allclose(result.GetSolution(slack), [1.0, 0.0, 4.0], atol=1e-6)
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(1)
    prog.AddCost(PerspectiveQuadraticCost([[1.0], [1.0]], [0.0, 2.0]), x)  # (x + 2)^2 / x
    prog.AddLinearConstraint(x[0] >= 0.1)
    solved(prog, [2.0], x)


def lower_bound(p, kind=None):
    prog = MathematicalProgram()
    x = prog.NewIndeterminates(2)
    (low,) = prog.NewContinuousVariables(1)
    prog.AddSosConstraint(prog.MakePolynomial(p(*x) - low), **({"type": kind} if kind else {}))
    prog.AddLinearCost(-low)
    result = Solve(prog)
    return result.GetSolution(low) if result.is_success() else None


def test_lower_bounds_of_polynomials_are_their_least_values():
    assert lower_bound(lambda x, y: x**4 - 2 * x**2 + y**2) == pytest.approx(-1.0, abs=1e-6)
    six_humps = lower_bound(lambda x, y: 4 * x**2 - 2.1 * x**4 + x**6 / 3 + x * y - 4 * y**2 + 4 * y**4)
    assert six_humps == pytest.approx(-1.0316284, abs=1e-5)  # the six-hump camel function, literature
    kinds = MathematicalProgram.NonnegativePolynomial
    bounds = [lower_bound(lambda x, y: 2 * x**4 + 2 * x**3 * y - x**2 * y**2 + 5 * y**4, k) for k in reversed(kinds)]
    assert bounds[0] is None or bounds[0] <= bounds[1] + 1e-6 <= bounds[2] + 2e-6  # dsos, sdsos, sos


def test_motzkins_polynomial_is_no_sum_of_squares_and_a_multiple_is():
    prog = MathematicalProgram()
    x, y = prog.NewIndeterminates(2)
    motzkin = x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1
    prog.AddSosConstraint(motzkin)
    assert not Solve(prog).is_success()
    prog = MathematicalProgram()
    prog.AddIndeterminates([x, y])
    p = (motzkin * (x**2 + y**2)).expand()
    Q, m = prog.AddSosConstraint(p)
    result = Solve(prog)
    assert result.is_success()
    Q = result.GetSolution(Q)
    assert np.linalg.eigvalsh(Q).min() > -1e-7
    at = {x: 0.7, y: -1.2}
    values = np.array([float(each.ToExpression().subs(at)) for each in m])
    assert values @ Q @ values == pytest.approx(float(p.subs(at)), abs=1e-6)


def test_the_region_of_attraction_of_a_cubic_is_found():
    prog = MathematicalProgram()
    (x,) = prog.NewIndeterminates(1)
    (rho,) = prog.NewContinuousVariables(1)
    V, f = x**2, -x + x**3
    slope = (V.diff(x) * f).expand()
    multiplier = prog.NewFreePolynomial(Variables([x]), 4)
    inside = Polynomial((V - rho) * x**2, [x]) - multiplier * Polynomial(slope, [x])
    prog.AddSosConstraint(prog.MakePolynomial(inside.ToExpression()))
    prog.AddLinearCost(-rho)
    assert Solve(prog).GetSolution(rho) == pytest.approx(1.0, abs=1e-4)  # |x| < 1


def test_polynomials_of_decision_variables():
    prog = MathematicalProgram()
    x = prog.NewIndeterminates(1)
    a = prog.NewContinuousVariables(2, "a")
    found = prog.AddEqualityConstraintBetweenPolynomials(
        Polynomial(2 * a[0] * x[0] + a[1] + 2, x), Polynomial(2 * x[0] + 4, x)
    )
    assert len(found) == 2
    solved(prog, [1.0, 2.0], a)
    p = Polynomial((a[0] + 1) * x[0] ** 2, [a[0]])
    assert p.TotalDegree() == 1
    prog.Reparse(p)
    assert p.TotalDegree() == 2
    assert prog.num_indeterminates() == 1
    assert prog.FindIndeterminateIndex(x[0]) == 0
    with pytest.raises(RuntimeError, match="even degree, not 3"):
        prog.NewSosPolynomial(Variables(x), 3)
    with pytest.raises(RuntimeError, match="not affine"):
        prog.AddSosConstraint(a[0] ** 2 * x[0] ** 2)
    p, odd, even = prog.NewEvenDegreeSosPolynomial(Variables(x), 4)
    assert (odd.shape, even.shape, p.TotalDegree()) == ((1, 1), (2, 2), 4)


@pytest.mark.parametrize("seed", range(8))
def test_linear_complementarity_is_solved_where_the_matrix_is_positive(seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((6, 6))
    M, q = B @ B.T + 0.1 * np.eye(6) + (B - B.T), rng.standard_normal(6)
    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(6)
    b = prog.AddLinearComplementarityConstraint(M, q, x)
    result = Solve(prog)
    assert result.is_success()
    assert prog.CheckSatisfied(b, result.get_x_val(), 1e-9)


def test_what_does_not_go_with_cones_is_refused(monkeypatch):
    prog = MathematicalProgram()
    X = prog.NewSymmetricContinuousVariables(2)
    prog.AddPositiveSemidefiniteConstraint(X)
    with pytest.raises(RuntimeError, match="square and symmetric"):
        prog.AddPositiveSemidefiniteConstraint(np.array([[X[0, 0], X[0, 1]], [X[1, 1], X[0, 0]]]))
    with pytest.raises(RuntimeError, match="linear expressions"):
        prog.AddLorentzConeConstraint([X[0, 0] ** 2, X[0, 1]])
    prog.AddQuadraticConstraint(-(X[0, 0] ** 2), -1.0, np.inf)
    assert Solve(prog).is_success()  # X00^2 <= 1 is convex
    cost = prog.AddQuadraticCost(-(X[0, 0] ** 2))
    with pytest.raises(RuntimeError, match="are convex, not QuadraticCost"):
        Solve(prog)
    prog.RemoveCost(cost)
    monkeypatch.setattr(conic, "find_spec", lambda name: None)
    with pytest.raises(ResourceError, match="mbcli"):
        Solve(prog)


def camel(mp, sym):
    prog = mp.MathematicalProgram()
    x, y = prog.NewIndeterminates(2)
    (low,) = prog.NewContinuousVariables(1)
    prog.AddSosConstraint(sym.Polynomial(4 * x**2 - 2.1 * x**4 + x**6 / 3 + x * y - 4 * y**2 + 4 * y**4 - low, [x, y]))
    prog.AddLinearCost(-low)
    return prog, [low]


def covering_ellipsoid(mp, sym):
    prog = mp.MathematicalProgram()
    X = prog.NewSymmetricContinuousVariables(3)
    for point in np.random.default_rng(1).standard_normal((8, 3)):
        prog.AddLinearConstraint(point @ X @ point <= 1.0)
    prog.AddMaximizeLogDeterminantCost(X)
    return prog, X


def common_lyapunov(mp, sym):
    rng = np.random.default_rng(2)
    prog = mp.MathematicalProgram()
    P = prog.NewSymmetricContinuousVariables(3)
    (t,) = prog.NewContinuousVariables(1)
    for _ in range(2):
        A = 0.2 * rng.standard_normal((3, 3)) - np.eye(3)
        prog.AddLinearMatrixInequalityConstraint(-(A.T @ P + P @ A) - np.eye(3))
    prog.AddLinearMatrixInequalityConstraint(t * np.eye(3) - P)
    prog.AddLinearCost(t)
    return prog, [t]


def cut_of_a_graph(mp, sym):
    weights = np.random.default_rng(3).uniform(0.0, 1.0, (5, 5))
    prog = mp.MathematicalProgram()
    X = prog.NewSymmetricContinuousVariables(5)
    prog.AddPositiveSemidefiniteConstraint(X)
    for k in range(5):
        prog.AddLinearConstraint(X[k, k] >= 1.0)
        prog.AddLinearConstraint(X[k, k] <= 1.0)
    prog.AddLinearCost(np.sum((weights + weights.T) * X))
    return prog, X


def ellipse_of_means(mp, sym):
    prog = mp.MathematicalProgram()
    a = prog.NewContinuousVariables(5)
    for point in np.random.default_rng(4).standard_normal((7, 5)):
        prog.AddLinearConstraint(point @ (a * point) <= 1.0)
    prog.AddMaximizeGeometricMeanCost(a, 1.0)
    return prog, a


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("make", [camel, covering_ellipsoid, common_lyapunov, cut_of_a_graph, ellipse_of_means])
def test_conic_solutions_are_pydrakes(make):
    import pydrake.solvers
    import pydrake.symbolic

    from mbcli import solvers, symbolic

    prog, of = make(solvers, symbolic)
    theirs, their_of = make(pydrake.solvers, pydrake.symbolic)
    result, wanted = Solve(prog), pydrake.solvers.Solve(theirs)
    assert result.is_success() and wanted.is_success()
    assert result.get_optimal_cost() == pytest.approx(wanted.get_optimal_cost(), abs=2e-5)
    np.testing.assert_allclose(result.GetSolution(of), wanted.GetSolution(their_of), atol=2e-3)

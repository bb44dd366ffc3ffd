"""Norms, second-order, exponential and semidefinite cones of a program, and what they can say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from mbcli.math.matrices import DecomposePositiveQuadraticForm
from mbcli.other_names import also_named
from mbcli.solvers.basic_program import BasicProgram
from mbcli.solvers.complementarity import LinearComplementarityConstraint
from mbcli.solvers.cones import (
    ExponentialConeConstraint,
    LinearMatrixInequalityConstraint,
    LorentzConeConstraint,
    PositiveSemidefiniteConstraint,
    RotatedLorentzConeConstraint,
)
from mbcli.solvers.given_arguments import flat_variables, ordered_arguments
from mbcli.solvers.norms import L2NormCost
from mbcli.solvers.symbolic_parts import polynomials, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray
    from mbcli.solvers.binding import Binding

NEGLIGIBLE = 1e-8  # of eigenvalues and coefficients of an expression that is to be a length


class ConicProgram(BasicProgram):
    """What Clarabel takes beside linear constraints and quadratic costs."""

    # norms

    def bind_expression(self, e: Any) -> Binding:
        if e.is_Pow and e.exp == sympy.Rational(1, 2):
            try:
                return self.AddL2NormCost(e)
            except RuntimeError:  # the root of something else
                pass
        return super().bind_expression(e)

    def AddL2NormCost(self, *given: Any, **named: Any) -> Binding:
        """AddL2NormCost(A, b, vars): |A x + b|, or AddL2NormCost(e), e the root of a quadratic form that it is."""
        if len(given) + len(named) >= 3 and "e" not in named:
            A, b, vars = ordered_arguments(given, named, ("A", "b", "vars"))
            return self._bind_cost(L2NormCost(A, b), vars)
        e, tolerance, _ = ordered_arguments(given, named, ("e", "psd_tol", "coefficient_tol"))
        A, b, variables = _length_of(e, tolerance)
        return self._bind_cost(L2NormCost(A, b), variables)

    def AddL2NormCostUsingConicConstraint(self, A: ArrayLike, b: ArrayLike, vars: Any) -> tuple[Any, Binding, Binding]:
        """(t, cost, cone): |A x + b| as the cost t of a new variable, t >= |A x + b|."""
        A, b, slack = np.atleast_2d(A), np.ravel(b), self.NewContinuousVariables(1, "slack")
        rows = np.r_[np.eye(1, 1 + A.shape[1]), np.pad(A, ((0, 0), (1, 0)))]
        cone = self.AddLorentzConeConstraint(rows, np.pad(b, (1, 0)), np.r_[slack, flat_variables(vars)])
        return slack[0], self.AddLinearCost([1.0], 0.0, slack), cone

    def AddL1NormCostInEpigraphForm(self, A: ArrayLike, b: ArrayLike, vars: Any) -> tuple[Array, Binding, Binding]:
        """(s (m,), cost, constraint): |A x + b|_1 as the sum of new variables that are at least the magnitudes."""
        A, b = np.atleast_2d(np.asarray(A, dtype=float)), np.ravel(np.asarray(b, dtype=float))
        m = len(b)
        slack = self.NewContinuousVariables(m, "slack")
        rows = np.block([[np.eye(m), -A], [np.eye(m), A]])
        bound = self.AddLinearConstraint(rows, np.r_[b, -b], np.full(2 * m, np.inf), np.r_[slack, flat_variables(vars)])
        return slack, self.AddLinearCost(np.ones(m), 0.0, slack), bound

    # second-order and exponential cones

    def AddLorentzConeConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddLorentzConeConstraint(v), (A, b, vars), (f) or (linear_expression, quadratic_expression).

        z[0] >= |z[1:]| of the expressions v or of A x + b; what a formula f says; linear >= the root of quadratic.

        Args:
          given: these, by position: A (m, n), b (m,), vars (n,), v (m,) expressions.
          named: the same by name; psd_tol, coefficient_tol or tol say what of a quadratic form may be negative.

        Returns:
          The Binding.

        Raises:
          RuntimeError: the expressions are not affine, or no length.

        Example:
          >>> prog = MathematicalProgram()
          >>> x = prog.NewContinuousVariables(2)
          >>> disk = prog.AddLorentzConeConstraint([1.0, x[0], x[1]])
          >>> cost = prog.AddCost(-x[0] - x[1])
          >>> Solve(prog).GetSolution(x).round(3)
          array([0.707, 0.707])
        """
        kinds = [named.pop("eval_type")] if "eval_type" in named else []
        tolerance = named.pop("psd_tol", named.pop("tol", None))
        named.pop("coefficient_tol", None)
        if "linear_expression" in named or (len(given) == 2 and not named):
            linear, quadratic = ordered_arguments(given, named, ("linear_expression", "quadratic_expression"))
            return self._at_least(linear, sympy.sqrt(quadratic), tolerance, kinds)
        if "f" in named or (len(given) == 1 and isinstance(given[0], sympy.core.relational.Relational)):
            f: Any = named.get("f", given[0] if given else None)
            more, less = (f.lhs, f.rhs) if isinstance(f, (sympy.Ge, sympy.Gt)) else (f.rhs, f.lhs)
            return self._at_least(more, less, tolerance, kinds)
        if len(given) + len(named) == 1:
            A, b, variables = self._affine("a Lorentz cone", [*given, *named.values()][0])
            return self._bind(self.constraints, LorentzConeConstraint(A, b, *kinds), variables)
        A, b, vars = ordered_arguments(given, named, ("A", "b", "vars"))
        return self._bind(self.constraints, LorentzConeConstraint(A, b, *kinds), vars)

    def _at_least(self, linear: Any, length: Any, tolerance: float | None, kinds: list[Any]) -> Binding:
        """linear >= length"""
        A, b, variables = _length_of(length, tolerance)
        more = self._affine("the larger side of a Lorentz cone", [linear])
        every = variables_of([linear, length])
        rows = np.concatenate([_columns(more[0], more[2], every), _columns(A, variables, every)])
        cone = LorentzConeConstraint(rows, np.concatenate([more[1], b]), *kinds)
        return self._bind(self.constraints, cone, every)

    def AddRotatedLorentzConeConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddRotatedLorentzConeConstraint(v), (A, b, vars) or (linear1, linear2, quadratic expression).

        z[0] z[1] >= |z[2:]|^2 with both factors not negative, of z = v or A x + b; or linear1 linear2 >= quadratic.
        """
        tolerance = named.pop("tol", None)
        keys = ("linear_expression1", "linear_expression2", "quadratic_expression")
        if keys[0] in named or (len(given) == 3 and isinstance(given[0], sympy.Expr)):
            first, second, quadratic = ordered_arguments(given, named, keys)
            A, b, variables = _length_of(sympy.sqrt(quadratic), tolerance)
            factors = self._affine("the larger side of a rotated cone", [first, second])
            every = variables_of([first, second, quadratic])
            rows = np.concatenate([_columns(factors[0], factors[2], every), _columns(A, variables, every)])
            cone = RotatedLorentzConeConstraint(rows, np.concatenate([factors[1], b]))
            return self._bind(self.constraints, cone, every)
        if len(given) + len(named) == 1:
            A, b, variables = self._affine("a rotated Lorentz cone", [*given, *named.values()][0])
            return self._bind(self.constraints, RotatedLorentzConeConstraint(A, b), variables)
        A, b, vars = ordered_arguments(given, named, ("A", "b", "vars"))
        return self._bind(self.constraints, RotatedLorentzConeConstraint(A, b), vars)

    def AddQuadraticAsRotatedLorentzConeConstraint(
        self, Q: ArrayLike, b: ArrayLike, c: float, vars: Any, psd_tol: float = 0.0
    ) -> Binding:
        """0.5 x' Q x + b' x + c <= 0 for Q without negative eigenvalues; RuntimeError for another one."""
        Q, b = np.asarray(Q, dtype=float), np.ravel(np.asarray(b, dtype=float))
        root, _ = DecomposePositiveQuadraticForm(0.25 * (Q + Q.T), np.zeros(b.size), 0.0, psd_tol)
        A = np.concatenate([-b[None], np.zeros((1, b.size)), root])
        cone = RotatedLorentzConeConstraint(A, np.concatenate([[-float(c), 1.0], np.zeros(len(root))]))
        return self._bind(self.constraints, cone, vars)

    def AddExponentialConeConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddExponentialConeConstraint(z) or (A, b, vars): z[0] >= z[1] exp(z[2] / z[1]), z[1] > 0, of z = A x + b."""
        if len(given) + len(named) == 1:
            A, b, variables = self._affine("an exponential cone", [*given, *named.values()][0])
            return self._bind(self.constraints, ExponentialConeConstraint(A, b), variables)
        A, b, vars = ordered_arguments(given, named, ("A", "b", "vars"))
        return self._bind(self.constraints, ExponentialConeConstraint(A, b), vars)

    def _affine(self, what: str, expressions: Any) -> tuple[FloatArray, FloatArray, list[Any]]:
        """(A, b, variables) of expressions. RuntimeError if they are not affine."""
        found = polynomials(list(flat_variables(expressions)))
        if found is None or not found.is_linear:
            raise RuntimeError(f"{what} is one of linear expressions")
        return found.A, found.c, found.variables

    def AddLinearComplementarityConstraint(self, M: ArrayLike, q: ArrayLike, vars: Any) -> Binding:
        """x >= 0, M x + q >= 0 and x' (M x + q) = 0."""
        return self._bind(self.constraints, LinearComplementarityConstraint(M, q), vars)

    # semidefinite matrices

    def AddPositiveSemidefiniteConstraint(self, X: Any) -> Binding:
        """A symmetric matrix (n, n) of variables or of affine expressions has no negative eigenvalue.

        Args:
          X: (n, n), as of NewSymmetricContinuousVariables().

        Returns:
          The Binding, of a PositiveSemidefiniteConstraint, or for expressions of a LinearMatrixInequalityConstraint.

        Raises:
          RuntimeError: it is not square and symmetric, or an expression is not affine.

        Example:
          >>> prog = MathematicalProgram()
          >>> X = prog.NewSymmetricContinuousVariables(2)
          >>> parts = prog.AddPositiveSemidefiniteConstraint(X), prog.AddLinearConstraint(X[0, 1] >= 1.0)
          >>> cost = prog.AddLinearCost(X[0, 0] + 4.0 * X[1, 1])
          >>> Solve(prog).GetSolution(X).round(3)
          array([[2. , 1. ],
                 [1. , 0.5]])
        """
        X = np.asarray(X, dtype=object)
        of_variables = all(self.has_variable(e) for e in X.flat)
        if X.ndim != 2 or X.shape[0] != X.shape[1] or (of_variables and not (X == X.T).all()):
            raise RuntimeError(f"a semidefinite matrix is square and symmetric, not of shape {X.shape}")
        if of_variables:
            return self._bind(self.constraints, PositiveSemidefiniteConstraint(len(X)), X.ravel(order="F"))
        A, b, variables = self._affine("a semidefinite matrix", X)
        F = np.concatenate([b[None], A.T]).reshape(-1, *X.shape)
        rounding = 1e-10 * max(1.0, np.abs(F).max())
        return self._bind(self.constraints, LinearMatrixInequalityConstraint(list(F), rounding), variables)

    def AddPrincipalSubmatrixIsPsdConstraint(self, X: Any, minor_indices: Iterable[int]) -> Binding:
        """The rows and columns of these numbers of a symmetric matrix are positive semidefinite."""
        chosen = sorted(minor_indices)
        return self.AddPositiveSemidefiniteConstraint(np.asarray(X, dtype=object)[np.ix_(chosen, chosen)])

    def AddLinearMatrixInequalityConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddLinearMatrixInequalityConstraint(F, vars) or (X): F[0] + x[0] F[1] + ... has no negative eigenvalue, or a
        matrix X of affine expressions."""
        tolerance = named.pop("symmetry_tolerance", 1e-10)
        if len(given) + len(named) == 1:
            return self.AddPositiveSemidefiniteConstraint([*given, *named.values()][0])
        F, vars = ordered_arguments(given, named, ("F", "vars"))
        return self._bind(self.constraints, LinearMatrixInequalityConstraint(F, tolerance), vars)

    def AddPositiveDiagonallyDominantMatrixConstraint(self, X: Any) -> Array:
        """Each diagonal element of X (n, n) is at least the sum of the magnitudes beside it: so it is semidefinite.

        Returns (n, n) with the diagonal of X and variables that are at least the magnitudes of the other elements.
        """
        X = np.asarray(X, dtype=object)
        n, Y = len(X), X.copy()
        for i in range(n):
            for j in range(i + 1, n):
                (Y[i, j],) = self.NewContinuousVariables(1, "slack")
                Y[j, i] = Y[i, j]
                self._add_symbolic([Y[i, j] - X[i, j], Y[i, j] + X[i, j]], 0.0, np.inf)
        self._add_symbolic([X[i, i] - sum(Y[i, j] for j in range(n) if j != i) for i in range(n)], 0.0, np.inf)
        return Y

    def AddPositiveDiagonallyDominantDualConeMatrixConstraint(self, X: Any) -> Binding:
        """v' X v >= 0 for all v with one or two elements that are 1 or -1: the dual cone of the dominant matrices."""
        X = np.asarray(X, dtype=object)
        n = len(X)
        rays = [X[i, i] for i in range(n)]
        rays += [X[i, i] + X[j, j] + s * 2 * X[i, j] for i in range(n) for j in range(i + 1, n) for s in (1, -1)]
        A, b, variables = self._affine("a matrix of the dual cone", rays)
        return self.AddLinearConstraint(A, -b, np.full(len(b), np.inf), np.array(variables, dtype=object))

    def AddScaledDiagonallyDominantMatrixConstraint(self, X: Any) -> list[list[Any]]:
        """X (n, n) is a sum of semidefinite matrices with two rows and columns each, so it is semidefinite.

        Returns a list of rows with these matrices (2, 2), above the diagonal; None elsewhere.
        """
        X = np.asarray(X, dtype=object)
        n = len(X)
        parts: list[list[Any]] = [[None] * n for _ in range(n)]
        diagonal: list[Any] = [0] * n
        for i in range(n):
            for j in range(i + 1, n):
                (a, d) = self.NewContinuousVariables(2, "M")
                parts[i][j] = np.array([[a, X[i, j]], [X[i, j], d]], dtype=object)
                self.AddRotatedLorentzConeConstraint([a, d, X[i, j]])
                diagonal[i], diagonal[j] = diagonal[i] + a, diagonal[j] + d
        if n == 1:
            self._add_symbolic([X[0, 0]], 0.0, np.inf)
        else:
            self._add_symbolic([X[i, i] - diagonal[i] for i in range(n)], 0.0, 0.0)
        return parts

    def AddScaledDiagonallyDominantDualConeMatrixConstraint(self, X: Any) -> list[Binding]:
        """All rows and columns of X taken by two are semidefinite: the dual cone of the scaled dominant matrices."""
        X = np.asarray(X, dtype=object)
        pairs = [(i, j) for i in range(len(X)) for j in range(i + 1, len(X))]
        return [self.AddRotatedLorentzConeConstraint([X[i, i], X[j, j], X[i, j]]) for i, j in pairs]

    def TightenPsdConstraintToDd(self, constraint: Binding) -> Array:
        """A diagonally dominant matrix in place of a semidefinite one."""
        return self.AddPositiveDiagonallyDominantMatrixConstraint(self._taken_away(constraint))

    def TightenPsdConstraintToSdd(self, constraint: Binding) -> list[list[Any]]:
        """A scaled diagonally dominant matrix in place of a semidefinite one."""
        return self.AddScaledDiagonallyDominantMatrixConstraint(self._taken_away(constraint))

    def RelaxPsdConstraintToDdDualCone(self, constraint: Binding) -> Binding:
        """The dual cone of diagonally dominant matrices in place of a semidefinite one."""
        return self.AddPositiveDiagonallyDominantDualConeMatrixConstraint(self._taken_away(constraint))

    def RelaxPsdConstraintToSddDualCone(self, constraint: Binding) -> list[Binding]:
        """The dual cone of scaled diagonally dominant matrices in place of a semidefinite one."""
        return self.AddScaledDiagonallyDominantDualConeMatrixConstraint(self._taken_away(constraint))

    def _taken_away(self, constraint: Binding) -> Array:
        """The matrix of a constraint, which is no more."""
        if not self.RemoveConstraint(constraint):
            raise RuntimeError(f"{constraint!r} is no constraint of this program")
        rows = constraint.evaluator().matrix_rows()
        return constraint.variables().reshape(rows, rows, order="F")

    # determinants and means

    def AddMaximizeLogDeterminantCost(self, X: Any) -> tuple[Binding, Array, Array]:
        """(cost, t (n,), Z (n, n)): the largest log det X, as the sum of t, of a symmetric matrix X (n, n).

        Z is lower triangular with [[X, Z], [Z', diag(Z)]] semidefinite, and t[i] <= log Z[i, i].
        """
        t, Z = self._log_determinant(X)
        return self.AddLinearCost(-np.ones(len(t)), 0.0, t), t, Z

    def AddLogDeterminantLowerBoundConstraint(self, X: Any, lower: float) -> tuple[Binding, Array, Array]:
        """(constraint, t (n,), Z (n, n)): log det X >= lower; t and Z as of AddMaximizeLogDeterminantCost()."""
        t, Z = self._log_determinant(X)
        return self.AddLinearConstraint(np.ones((1, len(t))), [lower], [np.inf], t), t, Z

    def _log_determinant(self, X: Any) -> tuple[Array, Array]:
        X = np.asarray(X, dtype=object)
        n = len(X)
        t, Z = self.NewContinuousVariables(n, "t"), np.zeros((n, n), dtype=object)
        for i in range(n):
            Z[i, : i + 1] = self.NewContinuousVariables(i + 1, "Z")
        self.AddPositiveSemidefiniteConstraint(np.block([[X, Z], [Z.T, np.diag(np.diag(Z))]]))
        for i in range(n):
            self.AddExponentialConeConstraint([Z[i, i], 1, t[i]])
        return t, Z

    @also_named(c="b")
    def AddMaximizeGeometricMeanCost(self, A: Any, b: Any = 1.0, x: Any = None) -> Binding:
        """AddMaximizeGeometricMeanCost(A, b, x) or (x, c): the largest product of A x + b to the power 1 / 2^k.

        2^k is the number of factors, or the next power of two. With x and c the mean of x counts c times.
        """
        if x is None:
            variables = flat_variables(A)
            rows, offset, factor = np.eye(variables.size), np.zeros(variables.size), float(b)
        else:
            variables, rows = flat_variables(x), np.asarray(A, dtype=float)
            rows = rows.reshape(-1, variables.size) if rows.ndim < 2 else rows
            offset, factor = np.ravel(np.asarray(b, dtype=float)), 1.0
        level: list[Any] = [row @ variables + c for row, c in zip(rows, offset, strict=True)]
        if len(level) < 2:
            raise RuntimeError("a geometric mean is of two numbers at least")
        while len(level) > 1:
            pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
            roots = self.NewContinuousVariables(len(pairs), "w")
            for root, pair in zip(roots, pairs, strict=True):
                self.AddRotatedLorentzConeConstraint([pair[0], pair[1] if len(pair) == 2 else 1, root])
            level = list(roots)
        return self.AddLinearCost([-factor], 0.0, np.array(level, dtype=object))


def _length_of(e: Any, tolerance: float | None) -> tuple[FloatArray, FloatArray, Sequence[Any]]:
    """(A, b, variables) with e = |A x + b|. RuntimeError if it is no such length."""
    found = polynomials([sympy.sympify(e) ** 2])
    if found is None:
        raise RuntimeError(f"{e} is not the length of affine expressions")
    form = 0.5 * found.quadratic[0], found.A[0], float(found.c[0]), NEGLIGIBLE if tolerance is None else tolerance
    A, b = DecomposePositiveQuadraticForm(*form)
    return A, np.ravel(b), found.variables


def _columns(A: FloatArray, own: Sequence[Any], every: Sequence[Any]) -> FloatArray:
    """A of some variables as one of more."""
    whole = np.zeros((len(A), len(every)))
    whole[:, [every.index(v) for v in own]] = A
    return whole

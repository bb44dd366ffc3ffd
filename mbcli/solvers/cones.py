"""Constraints that put affine functions of the variables into convex cones, as Clarabel and others take them.

Each says what it is as a cone: KIND and rows (A, b), where A x + b is to be in the cone of that kind. A solver of
nonlinear programs takes the values of Eval() between bounds instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import AutoDiffXd, ExtractValue
from mbcli.numbered_enum import NumberedEnum
from mbcli.solvers.affine_argument import AffineArgument
from mbcli.solvers.cone_rows import EXPONENTIAL, SECOND_ORDER, SEMIDEFINITE
from mbcli.solvers.evaluators import Constraint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray

ROOT = np.sqrt(2.0)


class ConeConstraint(Constraint, ABC):
    """A constraint with KIND: that of the cone of Clarabel's."""

    KIND = ""

    @abstractmethod
    def cone(self) -> tuple[FloatArray, FloatArray]:
        """(A (m, n), b (m,)): A x + b is to be in the cone."""


class _AffineCone(AffineArgument, ConeConstraint):
    """z = A x + b in a cone."""

    def __init__(self, A: Any, b: ArrayLike, num_values: int) -> None:
        self._take(A, b)
        super().__init__(self._values, np.zeros(num_values), np.full(num_values, np.inf), self._A.shape[1])

    def A(self) -> Any:
        """(m, n), a scipy.sparse.csc_matrix as in pydrake."""
        from scipy.sparse import csc_matrix

        return csc_matrix(self._A)

    @abstractmethod
    def _values(self, x: Any) -> Any:
        """What is to be positive, at x."""


class _EvalType(NumberedEnum):
    """How values of a Lorentz cone are to be written for solvers of nonlinear programs; here always as kNonconvex."""

    kConvex = 0
    kConvexSmooth = 1
    kNonconvex = 2


class LorentzConeConstraint(_AffineCone):
    """z[0] >= |z[1:]| of z = A x + b, as z[0] >= 0 and z[0]^2 >= |z[1:]|^2."""

    EvalType, KIND, SIZES = _EvalType, SECOND_ORDER, 2

    def __init__(self, A: Any, b: ArrayLike, eval_type: _EvalType = _EvalType.kConvexSmooth) -> None:
        self._type = eval_type
        super().__init__(A, b, 2)

    def eval_type(self) -> _EvalType:
        """As it was given."""
        return self._type

    def cone(self) -> tuple[FloatArray, FloatArray]:
        """(A, b)"""
        return self._A, self._b

    def _values(self, x: Any) -> Any:
        z = self._argument(x)
        return np.array([z[0], z[0] * z[0] - z[1:] @ z[1:]])


class RotatedLorentzConeConstraint(_AffineCone):
    """z[0] z[1] >= |z[2:]|^2, z[0] >= 0 and z[1] >= 0 of z = A x + b."""

    KIND, SIZES = SECOND_ORDER, 3

    def __init__(self, A: Any, b: ArrayLike) -> None:
        super().__init__(A, b, 3)

    def cone(self) -> tuple[FloatArray, FloatArray]:
        """Half the sum of both factors is at least the length of half their difference and the rest."""
        turn = np.eye(len(self._b))
        turn[:2, :2] = [[0.5, 0.5], [0.5, -0.5]]
        return turn @ self._A, turn @ self._b

    def _values(self, x: Any) -> Any:
        z = self._argument(x)
        return np.array([z[0], z[1], z[0] * z[1] - z[2:] @ z[2:]])


class ExponentialConeConstraint(_AffineCone):
    """z[0] >= z[1] exp(z[2] / z[1]), z[1] > 0 of z = A x + b (3,)."""

    KIND, SIZES = EXPONENTIAL, 3

    def __init__(self, A: Any, b: ArrayLike) -> None:
        super().__init__(A, b, 2)
        if self._b.size != 3:
            raise RuntimeError(f"an exponential cone is of 3 numbers, not of {self._b.size}")

    def A(self) -> FloatArray:
        """(3, n)"""
        return self._A.copy()

    def cone(self) -> tuple[FloatArray, FloatArray]:
        """Clarabel's has them in the other order."""
        return self._A[::-1], self._b[::-1]

    def _values(self, x: Any) -> Any:
        z = self._argument(x)
        return np.array([z[0] - z[1] * np.exp(z[2] / z[1]), z[1]])


class _Semidefinite(ConeConstraint):
    """A symmetric matrix without negative eigenvalues; its values are the eigenvalues, which are to be positive."""

    KIND = SEMIDEFINITE

    def __init__(self, rows: int, num_vars: int) -> None:
        self._rows = rows
        super().__init__(self._eigenvalues, np.zeros(rows), np.full(rows, np.inf), num_vars)

    def matrix_rows(self) -> int:
        """The number of rows of the matrix."""
        return self._rows

    @abstractmethod
    def _matrix(self, x: Any) -> Any:
        """(n, n) at x."""

    def _eigenvalues(self, x: Any) -> Array:
        M = np.asarray(self._matrix(x))
        if M.dtype != object:
            return np.linalg.eigvalsh(0.5 * (M + M.T))
        values, vectors = np.linalg.eigh(0.5 * (ExtractValue(M) + ExtractValue(M).T))
        found = [v @ M @ v for v in vectors.T]  # the derivative of an eigenvalue: v' dM v
        return np.array(
            [e + (y - y.value()) if isinstance(y, AutoDiffXd) else e for e, y in zip(values, found, strict=True)]
        )

    def _of_triangle(self, matrices: Sequence[FloatArray]) -> FloatArray:
        """Columns: the upper triangle of each matrix column by column, with roots of 2 beside the diagonal."""
        places = [(i, j) for j in range(self._rows) for i in range(j + 1)]
        scale = np.array([1.0 if i == j else ROOT for i, j in places])
        return np.array([[0.5 * (M[i, j] + M[j, i]) for i, j in places] * scale for M in matrices]).T


class PositiveSemidefiniteConstraint(_Semidefinite):
    """A symmetric matrix (rows, rows) of variables, column by column, is positive semidefinite."""

    def __init__(self, rows: int) -> None:
        super().__init__(int(rows), int(rows) ** 2)

    def cone(self) -> tuple[FloatArray, FloatArray]:
        """Each variable is an element."""
        units = np.eye(self._n).reshape(-1, self._rows, self._rows)  # of a symmetric matrix rows and columns are one
        return self._of_triangle(list(units)), np.zeros(self._rows * (self._rows + 1) // 2)

    def _matrix(self, x: Any) -> Any:
        return np.reshape(x, (self._rows, self._rows))


class LinearMatrixInequalityConstraint(_Semidefinite):
    """F[0] + x[0] F[1] + x[1] F[2] + ... is positive semidefinite, of symmetric matrices F."""

    def __init__(self, F: Sequence[ArrayLike], symmetry_tolerance: float = 1e-10) -> None:
        self._F = [np.array(each, dtype=float) for each in F]
        shapes = {each.shape for each in self._F}
        if len(shapes) != 1 or len(shape := shapes.pop()) != 2 or shape[0] != shape[1]:
            raise RuntimeError("the matrices of a linear matrix inequality are square, of one size")
        if any(np.abs(each - each.T).max(initial=0.0) > symmetry_tolerance for each in self._F):
            raise RuntimeError("the matrices of a linear matrix inequality are symmetric")
        super().__init__(shape[0], len(self._F) - 1)

    def F(self) -> list[FloatArray]:
        """The matrices."""
        return self._F

    def cone(self) -> tuple[FloatArray, FloatArray]:
        """A column for each variable."""
        columns = self._of_triangle(self._F)
        return columns[:, 1:], columns[:, 0]

    def _matrix(self, x: Any) -> Any:
        return self._F[0] + sum((a * F for a, F in zip(x, self._F[1:], strict=True)), np.zeros_like(self._F[0]))

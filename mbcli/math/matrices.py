"""Symmetric matrices and quadratic forms, under the names of pydrake.math."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray, Matrix


def IsSymmetric(matrix: ArrayLike, precision: float = 0.0) -> bool:
    """Whether a matrix is square and differs from its transpose by at most a number."""
    A = np.asarray(matrix)
    return A.ndim == 2 and A.shape[0] == A.shape[1] and bool(np.all(np.abs(A - A.T) <= precision))


def IsPositiveDefinite(matrix: ArrayLike, tolerance: float = 0.0, symmetry_tolerance: float = 0.0) -> bool:
    """Whether a matrix is symmetric and no eigenvalue is below the tolerance, or zero."""
    A = np.asarray(matrix, dtype=float)
    return IsSymmetric(A, symmetry_tolerance) and bool(np.linalg.eigvalsh(A)[0] >= max(tolerance, np.finfo(float).tiny))


def ToSymmetricMatrixFromLowerTriangularColumns(lower_triangular_columns: ArrayLike) -> Array:
    """The symmetric matrix (n, n) of its lower triangle, column after column. TypeError for another number of them."""
    given = np.asarray(lower_triangular_columns)
    n = int((np.sqrt(8 * given.size + 1) - 1) / 2)
    if given.ndim != 1 or n * (n + 1) // 2 != given.size:
        raise TypeError(f"{given.size} numbers are no lower triangle of a matrix")
    rows, columns = np.triu_indices(n)
    result = np.empty((n, n), dtype=given.dtype)
    result[rows, columns] = result[columns, rows] = given
    return result


def ToLowerTriangularColumnsFromMatrix(matrix: ArrayLike) -> Array:
    """The lower triangle of a square matrix, column after column."""
    A = np.asarray(matrix)
    rows, columns = np.triu_indices(len(A))
    return A[columns, rows]


def ExtractPrincipalSubmatrix(matrix: ArrayLike, indices: Iterable[int]) -> Array:
    """The rows and columns of some indices, in increasing order."""
    chosen = sorted(set(indices))
    return np.asarray(matrix)[np.ix_(chosen, chosen)]


def DecomposePSDmatrixIntoXtransposeTimesX(
    Y: ArrayLike, zero_tol: float, return_empty_if_not_psd: bool = False
) -> Matrix:
    """X (rank, n) with Y = X' X, by eigenvalues; those of a size up to zero_tol count as zero.

    RuntimeError if Y has an eigenvalue below -zero_tol, or an empty matrix (0, n) if that is wanted.
    """
    A = np.asarray(Y, dtype=float)
    values, vectors = np.linalg.eigh(0.5 * (A + A.T))
    if values[0] < -zero_tol:
        if return_empty_if_not_psd:
            return np.empty((0, len(A)))
        raise RuntimeError(f"Y is not positive semidefinite: it has the eigenvalue {values[0]}")
    kept = values > zero_tol
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T


def DecomposePositiveQuadraticForm(Q: ArrayLike, b: ArrayLike, c: float, tol: float = 0.0) -> tuple[Matrix, FloatArray]:
    """R (k, n), d (k, 1) with |R x + d|^2 = x' Q x + b' x + c. RuntimeError if the form is negative somewhere."""
    Q, b = np.asarray(Q, dtype=float), np.asarray(b, dtype=float)
    n = len(Q)
    whole = np.block([[0.5 * (Q + Q.T), 0.5 * b[:, None]], [0.5 * b[None], np.array([[c]])]])
    X = DecomposePSDmatrixIntoXtransposeTimesX(whole, tol)
    return X[:, :n], X[:, n:]


def matmul(A: ArrayLike, B: ArrayLike) -> Matrix:
    """The product (m, n) of matrices of numbers of any kind; a vector is a column."""
    left, right = (x[:, None] if x.ndim == 1 else x for x in (np.asarray(A), np.asarray(B)))
    return left @ right


def BalanceQuadraticForms(S: ArrayLike, P: ArrayLike) -> Matrix:
    """T so that T' S T is diagonal and T' P T is it or, where that form is negative, minus it.

    S is positive definite, P symmetric and of full rank. RuntimeError if not.
    """
    S, P = np.asarray(S, dtype=float), np.asarray(P, dtype=float)
    if not IsPositiveDefinite(S, symmetry_tolerance=1e-8) or not IsSymmetric(P, 1e-8):
        raise RuntimeError("S is not positive definite or P is not symmetric")
    L = np.linalg.cholesky(S)
    inverse = np.linalg.inv(L)
    values, vectors = np.linalg.eigh(inverse @ P @ inverse.T)
    if np.any(values == 0.0):
        raise RuntimeError("P is singular")
    order = np.argsort(-np.abs(values), kind="stable")
    return inverse.T @ vectors[:, order] / np.abs(values[order]) ** 0.25


def SoftOverMax(x: Any, alpha: float = 1.0) -> Any:
    """A smooth function that is not below the maximum: log(sum(exp(alpha x))) / alpha."""
    return _log_sum_exp(np.asarray(x), alpha)


def SoftUnderMax(x: Any, alpha: float = 1.0) -> Any:
    """A smooth function that is not above the maximum: the mean of x weighted by exp(alpha x)."""
    return _weighted_mean(np.asarray(x), alpha)


def SoftOverMin(x: Any, alpha: float = 1.0) -> Any:
    """A smooth function that is not below the minimum: the mean of x weighted by exp(-alpha x)."""
    return _weighted_mean(np.asarray(x), -alpha)


def SoftUnderMin(x: Any, alpha: float = 1.0) -> Any:
    """A smooth function that is not above the minimum: -log(sum(exp(-alpha x))) / alpha."""
    return _log_sum_exp(np.asarray(x), -alpha)


def _log_sum_exp(x: Array, alpha: float) -> Any:
    from mbcli.math.elementary import log

    largest, weights = _exponentials(x, alpha)
    return log(sum(weights)) / alpha + largest


def _weighted_mean(x: Array, alpha: float) -> Any:
    _, weights = _exponentials(x, alpha)
    return sum(w * each for w, each in zip(weights, x, strict=True)) / sum(weights)


def _exponentials(x: Array, alpha: float) -> tuple[Any, list[Any]]:
    """The element of the largest alpha x, and exp(alpha (x - it)), which does not overflow."""
    from mbcli.math.elementary import exp

    if alpha == 0.0:
        raise RuntimeError("alpha is 0")
    largest = max(x, key=lambda each: alpha * each)
    return largest, [exp(alpha * (each - largest)) for each in x]

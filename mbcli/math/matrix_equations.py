"""Riccati and Lyapunov equations, solved by SciPy, under the names of pydrake.math."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


def ContinuousAlgebraicRiccatiEquation(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) -> FloatArray:
    """S of S A + A' S - S B R^-1 B' S + Q = 0. RuntimeError if no S makes it stable."""
    from scipy.linalg import solve_continuous_are

    return _solved(solve_continuous_are, A, B, Q, R)


def DiscreteAlgebraicRiccatiEquation(
    A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, N: ArrayLike | None = None
) -> FloatArray:
    """S of A' S A - S - (A' S B + N) (B' S B + R)^-1 (B' S A + N') + Q = 0. RuntimeError if no S makes it stable."""
    from scipy.linalg import solve_discrete_are

    return _solved(solve_discrete_are, A, B, Q, R, *(() if N is None else (None, N)))


def RealContinuousLyapunovEquation(A: ArrayLike, Q: ArrayLike) -> FloatArray:
    """X of A' X + X A + Q = 0."""
    from scipy.linalg import solve_continuous_lyapunov

    return _solved(solve_continuous_lyapunov, np.transpose(A), np.negative(Q))


def RealDiscreteLyapunovEquation(A: ArrayLike, Q: ArrayLike) -> FloatArray:
    """X of A' X A - X + Q = 0."""
    from scipy.linalg import solve_discrete_lyapunov

    return _solved(solve_discrete_lyapunov, np.transpose(A), Q)


def _solved(solve: Any, *matrices: Any) -> FloatArray:
    try:
        return np.asarray(solve(*(M if M is None else np.atleast_2d(np.asarray(M, dtype=float)) for M in matrices)))
    except (np.linalg.LinAlgError, ValueError) as error:
        raise RuntimeError(f"the equation has no solution: {error}") from None

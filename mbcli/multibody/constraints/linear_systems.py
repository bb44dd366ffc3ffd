"""The linear systems of constrained dynamics, [H G^T; G 0] [x; -y] = [c; gamma], as dense systems of their own.

All return (x, y): accelerations and multipliers, or velocities after an impact and impulses.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.errors import NumericalError, UnsolvableError
from mbcli.multibody.assembly.orthogonal_factors import RANK_TOLERANCE, OrthogonalFactors, lapack
from mbcli.multibody.compilation.compile_constraints import Given, compile_constraints
from mbcli.multibody.compilation.constrained_model import DEPENDENT, ConstrainedModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

CONTRADICTION = 1e-7  # [1], relative: residuals above it


class LinearSolver(enum.Enum):
    """How dense systems are solved. The least-squares solver takes singular ones: the shortest solution."""

    LinearSolverPartialPivLU = "lu"
    LinearSolverColPivHouseholderQR = "qr-pivot"
    LinearSolverHouseholderQR = "qr"
    LinearSolverLLT = "llt"
    LinearSolverLeastSquares = "lstsq"


def SolveConstrainedSystemDirect(
    H: Matrix,
    G: Matrix,
    c: Vector,
    gamma: Vector,
    linear_solver: LinearSolver | str = LinearSolver.LinearSolverColPivHouseholderQR,
) -> tuple[Vector, Vector]:
    """Both unknowns at once, from the matrix (nv + size, nv + size).

    ValueError for LinearSolverLLT, which this indefinite matrix has no factor for; NumericalError if it is singular
    and the solver is not that of least squares: the constraints depend on one another, or H is singular along them.
    """
    require_finite_numbers(H=H, G=G, c=c, gamma=gamma)
    return solve_direct(H, G, c, gamma, linear_solver)


def solve_direct(H, G, c, gamma, linear_solver, dense=None):
    """As SolveConstrainedSystemDirect(); dense: DenseSolver, if there is one."""
    if dense is not None and linear_solver is LinearSolver.LinearSolverColPivHouseholderQR:
        found = dense.solve_directly(H, G, c, gamma)
        if found is not None:
            return found
    n, m = len(c), len(gamma)
    A, b = np.zeros((n + m, n + m)), np.concatenate([c, gamma])
    A[:n, :n], A[:n, n:], A[n:, :n] = H, np.transpose(G), G
    if not np.isfinite(A.sum() + b.sum()):
        require_finite_numbers(H=H, G=G, c=c, gamma=gamma)
    solver = LinearSolver(linear_solver)
    if solver is LinearSolver.LinearSolverLLT:
        raise ValueError("the matrix of the direct method is indefinite: LinearSolverLLT cannot factorize it")
    x = solve_dense(A, b, solver, "the system of the direct method")
    return x[:n], -x[n:]


def SolveConstrainedSystemRangeSpaceSparse(
    model: MultibodyPlant, H: Matrix, G: Matrix, c: Vector, gamma: Vector
) -> tuple[Vector, Vector]:
    """First y, from G H^-1 G^T, then x, with the factor H = L^T L that has the sparsity of the model's tree.

    Elements of H that are zero by the tree are not read. Dependent rows of G are found by their pivots; of the many
    solutions y that of the shortest length is returned. NumericalError: H is singular, the rows contradict each other.
    """
    require_finite_numbers(H=H, G=G, c=c, gamma=gamma)
    constraints = compile_constraints(model.model, [Given(tuple(range(len(gamma))))])
    compiled = compiled_by_default(not model.prefers_interpreted)
    constrained = ConstrainedModel(model.model, constraints, compiled)
    constrained.set_packed_matrix(np.asarray(H, dtype=float))
    constrained.set_dense(range(len(gamma)), G)
    constrained.data.tau[:] = c
    constrained.set_rows("gamma", gamma)
    return solve_range_space(constrained, np.diag(H))


def solve_range_space(constrained, diagonal_of_H):
    """(x, y) from the contents of a ConstrainedModel: packed_H, G, bias, tau, gamma."""
    constrained.run("solve_constrained_system", DEPENDENT)
    check_factor(constrained, diagonal_of_H)
    x, y = constrained.data.vdot.copy(), constrained.rows("force")
    check_rows(constrained, x, constrained.rows("gamma"))
    return x, shortest_multipliers(constrained, y)


def finish_range_space(constrained, answer, H, x, wanted, y):
    """After a kernel of the range-space method: which rows (size,) are independent, and the shortest multipliers.

    answer: of the kernel. NumericalError as SolveConstrainedSystemRangeSpaceSparse().
    """
    if answer == 0:
        return np.ones(len(y), dtype=bool), y
    check_factor(constrained, H.diagonal())
    check_rows(constrained, x, wanted)
    return constrained.independent(), shortest_multipliers(constrained, y)


def check_factor(constrained, diagonal_of_H):
    """NumericalError if a pivot of H is zero, or what rounding leaves of it."""
    pivots = constrained.work.L_inverse**-2
    bad = ~(pivots > 1e-13 * np.maximum(diagonal_of_H, np.finfo(float).tiny)) | ~np.isfinite(pivots)
    if bad.any():
        raise UnsolvableError(
            f"the mass matrix is singular at velocity {int(np.argmax(bad))}: the range-space method needs its inverse",
            "use the null-space method",
        )


def check_rows(constrained, x, wanted):
    """NumericalError if the rows that were taken out as dependent are not fulfilled by the others."""
    if not constrained.independent().all():
        require_fulfilled(constrained.dense("G"), x, wanted)


def require_fulfilled(G, x, wanted):
    residual = np.abs(G @ x - wanted)
    scale = np.abs(G) @ np.abs(x) + np.abs(wanted)
    bad = residual > CONTRADICTION * np.maximum(scale, 1.0)
    if bad.any():
        raise NumericalError(
            f"the constraints contradict one another: row {int(np.argmax(bad))} of G is a combination of others, "
            f"and misses its right-hand side by {residual.max():.3g}"
        )


def shortest_multipliers(constrained, y):
    """Of all multipliers with the same G^T y the shortest ones."""
    if constrained.independent().all():
        return y
    G_T = constrained.dense("G").T
    return np.linalg.lstsq(G_T, G_T @ y, rcond=RANK_TOLERANCE)[0]


def SolveConstrainedSystemNullSpace(
    H: Matrix, G: Matrix, c: Vector, gamma: Vector, Y: ArrayLike | None = None, Z: ArrayLike | None = None
) -> tuple[Vector, Vector]:
    """First x in the range of G^T and in the null space of G, then y.

    Y (nv, rank), Z (nv, nv - rank): bases of both, orthonormal; found by a QR decomposition with pivoting if they
    are not given. H needs to be positive definite on the null space only, G may have dependent rows: then y is the
    shortest one. NumericalError: H is not positive definite there, the rows contradict one another.
    """
    H, G = np.asarray(H, dtype=float), np.asarray(G, dtype=float)
    require_finite_numbers(H=H, G=G, c=c, gamma=gamma)
    c, gamma = np.asarray(c, dtype=float), np.asarray(gamma, dtype=float)
    if Y is None or Z is None:
        return solve_null_space(H, G, c, gamma)
    return _solution_on_bases(H, G, c, gamma, Y, Z)


def solve_null_space(H, G, c, gamma, dense=None):
    """As SolveConstrainedSystemNullSpace() without bases, for arrays of floats; dense: DenseSolver, if there is one."""
    found = None if dense is None else dense.solve_in_null_space(H, G, c, gamma)
    if found is not None:
        return found
    if not np.isfinite(H.sum() + G.sum() + c.sum() + gamma.sum()):
        require_finite_numbers(H=H, G=G, c=c, gamma=gamma)
    factors = OrthogonalFactors(G.T)
    if not factors.is_clear:
        return _solution_on_bases(H, G, c, gamma, *range_and_null_space(G))
    x = _with_null_space(H, c, factors.shortest(gamma), factors.null_space())
    return x, factors.least_squares(H @ x - c)


def _solution_on_bases(H, G, c, gamma, Y, Z):
    GY = G @ Y
    x = Y @ np.linalg.lstsq(GY, gamma, rcond=RANK_TOLERANCE)[0]
    require_fulfilled(G, x, gamma)
    x = _with_null_space(H, c, x, Z)
    return x, np.linalg.lstsq(GY.T, Y.T @ (H @ x - c), rcond=RANK_TOLERANCE)[0]


def _with_null_space(H, c, x, Z):
    """x with its part in the null space, so that Z^T (H x - c) = 0. NumericalError as the null-space method."""
    if not Z.shape[1]:
        return x
    factor, failed = lapack().dpotrf(Z.T @ H @ Z, lower=1)
    if failed:
        raise NumericalError("the mass matrix is not positive definite on the null space of G")
    return x + Z @ lapack().dpotrs(factor, Z.T @ (c - H @ x), lower=1)[0]


def range_and_null_space(G):
    """Orthonormal Y (n, rank) and Z (n, n - rank): bases of the range of G^T and of the null space of G."""
    from scipy.linalg import qr

    Q, R, _ = qr(np.transpose(G), pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > RANK_TOLERANCE * diagonal.max(initial=0.0)))
    return Q[:, :rank], Q[:, rank:]


def require_finite_numbers(**arrays):
    """ValueError that names the array with numbers that are not finite: NaN reaches LAPACK under other names."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, it is {np.asarray(array).tolist()}")


def solve_dense(A, b, linear_solver, what):
    """A x = b. NumericalError for a singular matrix, unless by least squares."""
    solver = LinearSolver(linear_solver)
    if solver is LinearSolver.LinearSolverLeastSquares:
        return np.linalg.lstsq(A, b, rcond=RANK_TOLERANCE * 1e-3)[0]
    if solver is LinearSolver.LinearSolverLLT:
        try:
            L = np.linalg.cholesky(A)
        except np.linalg.LinAlgError:
            raise _singular(what) from None
        return np.linalg.solve(L.T, np.linalg.solve(L, b))
    scale = np.sqrt(np.maximum(np.abs(A).max(axis=1, initial=0.0), np.finfo(float).tiny))
    scaled = A / np.outer(scale, scale)
    x = SOLVERS[solver](scaled, b / scale)
    if x is None or not np.isfinite(x).all():
        raise _singular(what)
    return x / scale


def _singular(what):
    return UnsolvableError(
        f"{what} is singular: its constraints depend on one another",
        "use the null-space or range-space method, or LinearSolverLeastSquares",
    )


def _lu(A, b):
    factors, pivots, info = lapack().dgetrf(A)
    if info or lapack().dgecon(factors, np.abs(A).sum(axis=0).max())[0] < SINGULAR:
        return None
    return lapack().dgetrs(factors, pivots, b)[0]


def _qr(A, b, pivoting=False):
    n = len(A)
    if n == 0:
        return np.zeros(0)
    if pivoting:
        factors, order, tau, _, _ = lapack().dgeqp3(A)
    else:
        (factors, tau, _, _), order = lapack().dgeqrf(A), None
    diagonal = np.abs(factors.diagonal())
    if not diagonal.min() > SINGULAR * diagonal.max():
        return None
    turned, _, _ = lapack().dormqr("L", "T", factors, tau, b.reshape(n, 1), 64)
    solution = lapack().dtrtrs(factors, turned)[0][:, 0]
    if order is None:
        return solution
    x = np.empty(n)
    x[order - 1] = solution
    return x


SINGULAR = 1e-14  # one over the condition number of a matrix that counts as singular

SOLVERS = {
    LinearSolver.LinearSolverPartialPivLU: _lu,
    LinearSolver.LinearSolverHouseholderQR: _qr,
    LinearSolver.LinearSolverColPivHouseholderQR: lambda A, b: _qr(A, b, pivoting=True),
}

"""From equations to parameters: weighted and robust least squares, and what they can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

ALIKE, MOST_LAGS = 0.05, 400  # correlation of errors that counts, and over how many samples
HUBER = 2.5  # standard deviations beyond which an error counts by its size, not its square
BISQUARE = 4.685  # beyond which it does not count at all, once the noise is known
MOST_PASSES = 20  # of each kind of weights
ALMOST_AS_BEFORE = 0.9  # a noise that is not less than this part of what it was is settled
SETTLED_ROUGHLY, SETTLED = 0.5, 0.1  # standard errors: a smaller step ends Huber's weights, and Tukey's
LEAST_WEIGHT = 0.1  # the mean weight of a velocity's equations is not taken to be less in a step
FIRST_NOISE = 1e-3  # the least that the noise of an effort is at first taken to be, of the size of the largest
SMALLEST_NOISE = 1e-11  # of the size of efforts: noise is not taken to be less, that data without noise can be weighed
TOLERANCE = 1e-9  # of the largest column: what is smaller is rounding
RANK_TOLERANCE = 1e-8  # the same of exact equations, of which combinations are made
NOTHING = 1e-12  # of the longest column of a velocity
WEAKEST = 1e-4  # of the diagonal of a Cholesky factor, that is trusted
ONE_THREAD = 250_000  # products of numbers, fewer than those for which OpenBLAS takes several threads
ROWS_AT_ONCE = 400  # of a factorization


@dataclass
class Equations:
    """Equations A x = y of one run.

    Attributes:
        A (n, d, p). y (n, d): the efforts tau less what is known of them beside x. usable (n, d). raw_tau: tau before
        the filter. time (n,), source, rate: of the run. judged: (n, d) which efforts the errors of a result are of.
        turns: (columns (c,), values (n, d, c + 1)) what these columns of A, and what is known of the efforts, have more
            before the filter: it rounds friction where a joint turns back. None: nothing.
    """

    A: FloatArray
    y: FloatArray
    usable: Any
    tau: FloatArray
    raw_tau: FloatArray
    time: FloatArray
    source: str
    rate: float
    judged: Any
    turns: tuple[Any, FloatArray] | None = None


@dataclass
class Weighted:
    """The equations of runs with their weights.

    Attributes:
        noise: (d,) standard deviation of the errors of each equation. inflation: how many samples have the information
            of one, since errors of neighbours are alike.
        weights: for each run (n, d), 0 where an equation is not used.
        R, c: (r, p), (r,): |R x - c|^2 is the weighted sum of squares, less a constant, over `inflation`.
        outliers: how many equations count for less. near: whether the noise of each joint is taken to be nearer to that
            of the noisiest.
    """

    noise: FloatArray
    weights: list[FloatArray]
    R: FloatArray
    c: FloatArray
    inflation: float
    outliers: int
    near: bool = False


def weigh(
    equations: Sequence[Equations], sizes: FloatArray, columns: Any, combinations: FloatArray, near: bool = False
) -> Weighted:
    """Finds noise and weights by repeated least squares (Huber's weights, then Tukey's).

    All but the last take the mean weight of a velocity for the matrix, and each equation's own for the gradient: that
    changes how quickly they converge, not what to.

    sizes: (p,) of the unknowns. columns (r,), combinations (r, p): of base_combinations(), or all_alone().
    near: whether joints with little noise count for less than by that, as nearer_noise() says.
    """
    bases = Bases(equations, columns, sizes)
    scale = np.array([_root_mean_square(b.y) for b in bases.of_velocity])
    largest = float(scale.max(initial=0.0)) or 1.0
    floor = SMALLEST_NOISE * largest
    noise = np.maximum(scale, FIRST_NOISE * largest)
    # nothing drives these: their errors vanish if all parameters do, and so are no measure of their noise
    silent = np.array([not any(e.tau[:, k].any() for e in equations) for k in range(len(scale))])
    x, errors = np.zeros(len(columns)), [-b.y for b in bases.of_velocity]
    robust = [np.ones(len(b.y)) for b in bases.of_velocity]
    for weight_of, settled in ((_huber, SETTLED_ROUGHLY), (_bisquare, SETTLED)):
        for _ in range(MOST_PASSES):
            before = noise.copy()
            R, c = bases.step(errors, robust, noise)
            x = x + least_squares(R, c, bases.sizes)
            errors = bases.errors(x)
            for k, own in enumerate(errors):
                if len(own):
                    noise[k] = max(1.4826 * _median(np.abs(own)), 0.1 * _root_mean_square(own), floor)
            if silent.any() and not silent.all():
                noise[silent] = noise[~silent].max()
            robust = [weight_of(np.abs(own) / noise[k]) for k, own in enumerate(errors)]
            if c @ c < settled**2 * len(c) and (noise > ALMOST_AS_BEFORE * before).all():
                break
        robust = [_bisquare(np.abs(own) / noise[k]) for k, own in enumerate(errors)]
    noise = nearer_noise(noise) if near else noise
    R, c = bases.triangle(robust, noise)
    inflation = _inflation(bases.of_runs(errors), equations, noise)
    outliers = int(sum((h < 0.5).sum() for h in robust))
    weights = bases.of_runs([np.sqrt(h) / s for h, s in zip(robust, noise, strict=True)])
    shrunk = 1.0 / np.sqrt(inflation)
    return Weighted(noise, weights, R @ combinations * shrunk, c * shrunk, inflation, outliers, near)


def nearer_noise(noise: FloatArray) -> FloatArray:
    """(d,) between that of each joint and the largest; none is less than it was, so that standard errors stay true."""
    return np.array(np.sqrt(noise * noise.max()))


@dataclass
class Basis:
    """Of one velocity: y (n,) = Q z + rest, A[:, own] = Q T; columns beside `own` are 0."""

    y: FloatArray
    own: Any
    Q: FloatArray
    T: FloatArray
    z: FloatArray
    rest: FloatArray


class Bases:
    """Orthonormal bases of the columns of each velocity's equations.

    A velocity's equations are A = Q T, y = Q z + e, with Q^T Q = 1. Under weights h, Q^T h Q = U^T U is small and well
    conditioned, and U T is the triangle of the weighted equations, as exact as orthogonal transformations of them are.
    So A is factored once, and each change of weights costs a product of Q by itself, or with step() only by a vector.

    Args:
        equations: of runs. columns: (r,) of the unknowns, of which the others are combinations. sizes: (p,).

    Attributes:
        of_velocity: for each, of its equations that may be used, of all runs. sizes: (r,) of the columns.
    """

    def __init__(self, equations: Sequence[Equations], columns: Any, sizes: FloatArray) -> None:
        self._usable, self.sizes = [e.usable for e in equations], sizes[columns]
        self.of_velocity: list[Basis] = []
        squares: Any = sum(np.einsum("nkj,nkj->kj", e.A, e.A) for e in equations)
        for k in range(self._usable[0].shape[1]):
            rows = [np.flatnonzero(usable[:, k]) for usable in self._usable]
            y = np.concatenate([e.y[own, k] for e, own in zip(equations, rows, strict=True)])
            lengths = np.sqrt(squares[k, columns]) * self.sizes
            own = np.flatnonzero(lengths > NOTHING * lengths.max(initial=0.0))
            A = [e.A[:, k][row].take(columns[own], axis=1) for e, row in zip(equations, rows, strict=True)]
            Q, T = orthonormal(A[0] if len(A) == 1 else np.concatenate(A))
            z = Q.T @ y
            self.of_velocity.append(Basis(y, own, Q, T, z, y - Q @ z))

    def triangle(self, robust: Sequence[FloatArray], noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        """R, c: |R x - c|^2 is the weighted sum of squares, less a constant; x: (r,) unknowns of the columns.

        robust: weight of each equation beside 1 / noise^2.
        """
        rows = []
        for basis, h, sigma in zip(self.of_velocity, robust, noise, strict=True):
            root = np.sqrt(h)
            weighted = basis.Q * root[:, None]
            try:
                U = np.linalg.cholesky(product(weighted, weighted)).T
                if np.abs(np.diag(U)).min(initial=1.0) < WEAKEST:
                    raise np.linalg.LinAlgError
                more = np.linalg.solve(U.T, weighted.T @ (root * basis.rest))
            except np.linalg.LinAlgError:  # hardly anything counts in some direction
                V, U = np.linalg.qr(weighted)
                more = V.T @ (root * basis.rest)
            rows.append(self._rows(basis, U @ basis.T, U @ basis.z + more) / sigma)
        return self._of_rows(rows)

    def step(
        self, errors: Sequence[FloatArray], robust: Sequence[FloatArray], noise: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """R, c of the change of x that the errors A x - y ask for, where the weights of a velocity are alike."""
        rows = []
        for basis, h, sigma, error in zip(self.of_velocity, robust, noise, errors, strict=True):
            alike = max(float(h.sum()) / max(len(h), 1), LEAST_WEIGHT)
            root = np.sqrt(alike) / sigma
            rows.append(self._rows(basis, root * basis.T, basis.Q.T @ (h * error) * (-root / alike)))
        return self._of_rows(rows)

    def _rows(self, basis: Basis, own: FloatArray, right: FloatArray) -> FloatArray:
        part = np.zeros((len(own), len(self.sizes) + 1))
        part[:, basis.own] = own
        part[:, -1] = right
        return part

    def _of_rows(self, rows: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
        R = triangle_of(np.concatenate(rows))
        full = np.zeros((len(self.sizes), len(self.sizes) + 1))
        full[: min(len(R), len(full))] = R[: len(full)]
        return full[:, :-1], full[:, -1]

    def errors(self, x: FloatArray) -> list[FloatArray]:
        """For each velocity A x - y."""
        return [b.Q @ (b.T @ x[b.own] - b.z) - b.rest for b in self.of_velocity]

    def of_runs(self, values: Sequence[FloatArray]) -> list[FloatArray]:
        """What is given of each equation that may be used, as an array (n, d) of each run, 0 of the others."""
        found = [np.zeros(usable.shape) for usable in self._usable]
        for k, own in enumerate(values):
            start = 0
            for array, usable in zip(found, self._usable, strict=True):
                count = int(usable[:, k].sum())
                array[usable[:, k], k] = own[start : start + count]
                start += count
        return found


def orthonormal(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (n, r), T (r, p): A = Q T, Q^T Q = 1. What is below NOTHING of the length of a column is left out.

    By Cholesky factors of products, twice, which is then as exact as reflections (Yamamoto and others 2015) and much
    quicker; the columns that are far from dependent first, then what these leave of the others.
    """
    from scipy.linalg.lapack import dpstrf, dtrtri

    (n, p), Q = A.shape, np.zeros((len(A), 0))
    left = np.flatnonzero(A.any(axis=0))
    T, rest = np.zeros((0, p)), A if len(left) == p else A[:, left]
    size = np.zeros(0)  # of the columns that are left, before anything was taken from them
    while len(left) and len(T) < n:
        gram = product(rest, rest)
        lengths = np.sqrt(np.diag(gram))
        size = size if len(T) else lengths
        factor, order, rank, _ = dpstrf(gram / np.outer(lengths, lengths), tol=WEAKEST**2)
        order = order - 1
        chosen, others, factor = order[:rank], order[rank:], np.triu(factor[:rank, :rank])
        turn = np.zeros((len(left), rank))
        turn[chosen] = dtrtri(factor)[0] / lengths[chosen, None]
        own = by_parts(rest, turn)
        if len(T):
            own = own - by_parts(Q, product(Q, own))
        again = np.linalg.cholesky(product(own, own)).T
        own = by_parts(own, dtrtri(again)[0])
        of_own = np.zeros((rank, p))
        of_own[:, left[chosen]] = again @ factor * lengths[chosen]
        Q, T, rest, left, size = (
            np.hstack((Q, own)),
            np.vstack((T, of_own)),
            rest[:, others],
            left[others],
            size[others],
        )
        for _ in range(2):
            if len(left):
                more = product(Q, rest)
                T[:, left] += more
                rest = rest - by_parts(Q, more)
                there = np.sqrt(np.einsum("ij,ij->j", rest, rest)) > NOTHING * size
                rest, left, size = rest[:, there], left[there], size[there]
    return Q, T


def _median(values: FloatArray) -> float:
    """As np.median, of values among which no NaN is."""
    half = len(values) // 2
    return float(np.partition(values, (half - 1, half))[[half - 1, half] if len(values) % 2 == 0 else [half]].mean())


def product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A^T B of tall arrays, by parts so small that BLAS does not share them among threads, which would wait."""
    step = max(16, ONE_THREAD // max(A.shape[1] * B.shape[1], 1))
    if len(A) <= step:
        return np.array(A.T @ B)
    return np.array(sum(A[k : k + step].T @ B[k : k + step] for k in range(0, len(A), step)))


def by_parts(A: FloatArray, B: FloatArray) -> FloatArray:
    """A B of a tall A, in the same way."""
    step = max(16, ONE_THREAD // max(B.size, 1))
    result = np.empty((len(A), B.shape[1]))
    for k in range(0, len(A), step):
        np.matmul(A[k : k + step], B, out=result[k : k + step])
    return result


def triangle_of(A: FloatArray) -> FloatArray:
    """The triangle R of A = Q R, by parts as in product()."""
    R = A[:0]
    for k in range(0, len(A), ROWS_AT_ONCE):
        R = np.array(np.linalg.qr(np.vstack((R, A[k : k + ROWS_AT_ONCE])), mode="r"))
    return R


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt(values @ values / max(len(values), 1)))


def _huber(r: FloatArray) -> FloatArray:
    return np.minimum(1.0, HUBER / np.maximum(r, 1e-300))


def _bisquare(r: FloatArray) -> FloatArray:
    """Tukey's weights: nothing beyond BISQUARE standard deviations."""
    return np.clip(1.0 - (r / BISQUARE) ** 2, 0.0, None) ** 2


def least_squares(R: FloatArray, c: FloatArray, sizes: FloatArray) -> FloatArray:
    """The shortest x (p,), by the sizes, that minimizes |R x - c|; R is a triangle, or has fewer rows than columns."""
    from scipy.linalg import lstsq, solve_triangular

    X = R * sizes
    diagonal = np.abs(np.diag(X))
    if X.shape[0] == X.shape[1] and diagonal.min(initial=np.inf) > WEAKEST * diagonal.max(initial=0.0):
        return np.array(solve_triangular(X, c, check_finite=False) * sizes)
    return np.array(lstsq(X, c, cond=TOLERANCE, lapack_driver="gelsy", check_finite=False)[0] * sizes)


def _inflation(errors: Sequence[FloatArray], equations: Sequence[Equations], noise: FloatArray) -> float:
    """1 + 2 sum of the correlations of errors with later ones, of the joint for which that is largest; at least 1."""
    weights = [e.usable / noise for e in equations]
    return max(1.0, *(2.0 * float(c.sum()) - 1.0 for c in correlations(errors, weights)))


def correlations(errors: Sequence[FloatArray], weights: Sequence[FloatArray]) -> list[FloatArray]:
    """For each equation the correlations of its errors with those 0, 1, 2, ... samples later, up to where they end."""
    from scipy.fft import irfft, next_fast_len, rfft

    found = []
    for k in range(errors[0].shape[1]):
        total = np.zeros(1)
        for r, w in zip(errors, weights, strict=True):
            own = np.clip(r[:, k] * w[:, k], -HUBER, HUBER)
            lags = max(1, min(len(own) // 4, MOST_LAGS))
            length = next_fast_len(len(own) + lags, real=True)
            part = irfft(np.abs(rfft(own, length)) ** 2, length)[:lags]
            size = max(len(total), lags)
            total = np.pad(total, (0, size - len(total))) + np.pad(part, (0, size - lags))
        correlations = total / total[0] if total[0] > 0.0 else np.ones(1)
        below = np.flatnonzero(correlations < ALIKE)
        found.append(correlations[: int(below[0]) if len(below) else len(correlations)])
    return found


# -------------------------------------------------------------------------------------------- what can be known


@dataclass
class BaseParameters:
    """Combinations of parameters that motions can determine (Gautier and Khalil 1990), and what the data say of them.

    Attributes:
        columns: (r,) the parameter that leads each combination. combinations: (r, p): base = combinations @ x.
        values, errors: (r,) by least squares, and their standard errors, NaN where the data do not determine them.
        rank: how many combinations the data determine. condition: of the equations for them, by sizes of parameters.
        untouched: parameters of which no equation of the data tells.
    """

    columns: Any
    combinations: FloatArray
    values: FloatArray
    errors: FloatArray
    rank: int
    condition: float
    untouched: Any


def all_alone(p: int) -> tuple[Any, FloatArray]:
    """Columns and combinations where no unknown is taken for a combination of others."""
    return np.arange(p), np.eye(p)


def base_combinations(A: FloatArray, sizes: FloatArray) -> tuple[Any, FloatArray]:
    """Leading columns (r,) and combinations (r, p) of the unknowns in rows A (k, p) of exact equations."""
    from scipy.linalg import qr, solve_triangular

    X = A * sizes
    if len(X) > ROWS_AT_ONCE:
        X = triangle_of(X)
    T, order = qr(X, pivoting=True, mode="r", check_finite=False)[:2]
    diagonal = np.abs(np.diag(T))
    rank = int(np.count_nonzero(diagonal > RANK_TOLERANCE * diagonal.max(initial=0.0)))
    columns, rest = order[:rank], order[rank:]
    K = solve_triangular(T[:rank, :rank], T[:rank, rank:]) if rank else np.zeros((0, len(rest)))
    K[np.abs(K) < 1e-8] = 0.0
    combinations = np.zeros((rank, len(sizes)))
    combinations[np.arange(rank), columns] = 1.0
    combinations[:, rest] = sizes[columns, None] * K / sizes[rest]
    kept = np.argsort(columns)
    return columns[kept], combinations[kept]


def base_parameters(
    weighted: Weighted, sizes: FloatArray, equations: Sequence[Equations], columns: FloatArray, combinations: FloatArray
) -> BaseParameters:
    """What weighted equations say of the combinations of base_combinations()."""
    s, count = sizes[columns], len(columns)
    X = weighted.R[:, columns] * s
    lengths = np.linalg.norm(weighted.R * sizes, axis=0)
    untouched = np.flatnonzero(lengths <= TOLERANCE * max(lengths.max(initial=0.0), 1e-300))
    U, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    known = sigma > RANK_TOLERANCE * sigma.max(initial=0.0)
    rank = int(known.sum())
    values, errors = np.full(count, np.nan), np.full(count, np.nan)
    condition = float(sigma[0] / sigma[rank - 1]) if rank else 1.0
    determined = np.flatnonzero(((Vt[~known] ** 2).sum(axis=0) < 1e-9) & (np.linalg.norm(X, axis=0) > 0.0))
    if rank:
        solution = (Vt[known].T @ ((U[:, known].T @ weighted.c) / sigma[known])) * s
        values[determined] = solution[determined]
        spread = np.sqrt(np.maximum(np.diag(covariance(weighted, equations, columns, solution, sizes)), 0.0))
        errors[determined] = spread[determined]
    return BaseParameters(columns, combinations, values, errors, rank, condition, untouched)


def covariance(
    weighted: Weighted, equations: Sequence[Equations], columns: Any, values: FloatArray, sizes: FloatArray
) -> FloatArray:
    """(r, r) of least squares for some columns: H^-1 S H^-1, S of errors as alike as those are that are left."""
    s = sizes[columns]
    r = len(columns)
    x = np.zeros(equations[0].A.shape[2])
    x[columns] = values
    errors = [e.A @ x - e.y for e in equations]
    alike = correlations(errors, weighted.weights)
    H, S = np.zeros((r, r)), np.zeros((r, r))
    for k, own in enumerate(alike):
        squares, slopes, count, weight = 0.0, 0.0, 0, 0.0
        part, own_weight = np.zeros((2, r, r))
        for e, w, error in zip(equations, weighted.weights, errors, strict=True):
            X = e.A[:, k, columns]
            acts = np.flatnonzero(X.any(axis=0))
            X = X[:, acts] * s[acts] * w[:, k, None]
            at = np.ix_(acts, acts)
            own_weight[at] += product(X, X)
            part[at] += product(X, _spread_out(X, own))
            squared = np.minimum((error[:, k] / weighted.noise[k] / BISQUARE) ** 2, 1.0)[e.usable[:, k]]
            squares += float(BISQUARE**2 * (squared * (1.0 - squared) ** 4).sum())
            slopes += float(((1.0 - squared) * (1.0 - 5.0 * squared)).sum())
            weight += float(((1.0 - squared) ** 2).sum())
            count += len(squared)
        if weight > 0.0:  # of an M-estimate: squares and slopes of its function of the errors
            H += own_weight * (max(slopes, 0.1 * weight) / weight)
            S += part * (squares / weight * count / max(count - r * weighted.inflation / len(alike), 1.0))
    inverse = np.linalg.pinv(H, rcond=RANK_TOLERANCE**2, hermitian=True)
    return s[:, None] * (inverse @ S @ inverse) * s


def _spread_out(X: FloatArray, alike: FloatArray) -> FloatArray:
    """(n, r): sum over lags of alike[|lag|] times the rows of X that are so much later."""
    from scipy.signal import oaconvolve

    own = alike[: len(X)]
    if len(own) == 1:
        return X * own[0]
    both = np.concatenate((own[:0:-1], own))
    return np.array(oaconvolve(X, both[:, None], mode="full", axes=0)[len(own) - 1 : len(own) - 1 + len(X)])


def relative_error(equations: Sequence[Equations], x: FloatArray, *, raw: bool = False) -> float:
    """Norm of the errors over norm of the efforts, of those that are judged; raw: of efforts before the filter.

    Others say little of parameters: those at ends of a filter, at stops, saturated, and while a joint turns back, where
    the sign of its friction is not known.
    """
    above = below = 0.0
    for e in equations:
        measured = e.raw_tau if raw else e.tau
        told = predicted(e, x) if raw else predicted_filtered(e, x)
        above += float((((told - measured) * e.judged) ** 2).sum())
        below += float(((measured * e.judged) ** 2).sum())
    return float(np.sqrt(above / below)) if below > 0.0 else 0.0


def predicted(equations: Equations, x: FloatArray) -> FloatArray:
    """(n, d) efforts of parameters x, as they are measured."""
    found = predicted_filtered(equations, x)
    if equations.turns is None:
        return found
    columns, values = equations.turns
    return found + values[:, :, :-1] @ x[columns] + values[:, :, -1]


def predicted_filtered(equations: Equations, x: FloatArray) -> FloatArray:
    """The same after the filter."""
    return equations.A @ x + equations.tau - equations.y

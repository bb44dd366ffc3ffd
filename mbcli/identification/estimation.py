"""From equations to parameters: weighted and robust least squares, what they can tell, and what bodies can have.

The estimate minimizes the squares of the errors, each joint's by its own noise, plus for every link the divergence
tr(J0^-1 J) - log det(J0^-1 J) - 4 of its pseudo-inertia J from that of the file, J0 (Lee, Wensing and Park 2020). That
depends on no unit and no frame, is convex in the parameters, and grows beyond all bounds where a body would become
impossible. So one Newton iteration ends with possible bodies, and what the data do not touch stays as the file has it.
Each step is a problem of linear least squares, in which nothing is squared: J = L L^T, and the divergence has the
residuals L^T J0^-1 L - 1 along the directions L^-1 E L^-T.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import NumericalError
from mbcli.identification.unknowns import INERTIAL, POSITIVE, Parameter
from mbcli.multibody.inertia.inertial_parameters import pseudo_inertia

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

ALIKE, MOST_LAGS = 0.05, 400  # correlation of errors that counts, and over how many samples
HUBER = 2.5  # standard deviations beyond which an error counts by its size, not its square
BISQUARE = 4.685  # beyond which it does not count at all, once the noise is known
HUBER_PASSES, ROBUST_PASSES = 4, 8
FIRST_NOISE = 1e-3  # the least that the noise of an effort is at first taken to be, of the size of the largest
SMALLEST_NOISE = 1e-11  # of the size of efforts: noise is not taken to be less, that data without noise can be weighed
TOLERANCE = 1e-9  # of the largest column: what is smaller is rounding
RANK_TOLERANCE = 1e-8  # the same of exact equations, of which combinations are made
MOST_STEPS = 100  # of a stage
NEAR = 10.0  # errors of the first stage
GROWTH = 5.0  # of errors from stage to stage
ROUGH = 0.3  # the decrement that ends all stages but the last
SHORT_OF_BORDER = 0.9  # part of the way out of possible bodies that a step may take
UNITS_OF_PARAMETERS = np.stack([pseudo_inertia(e) for e in np.eye(10)])  # (10, 4, 4)


@dataclass
class Equations:
    """Equations A x = y of one run.

    Attributes:
        A (n, d, p). y (n, d): the efforts tau less what is known of them beside x. usable (n, d). raw_tau: tau before
        the filter. time (n,), source, rate: of the run.
    """

    A: FloatArray
    y: FloatArray
    usable: Any
    tau: FloatArray
    raw_tau: FloatArray
    time: FloatArray
    source: str
    rate: float


@dataclass
class Weighted:
    """The equations of runs with their weights.

    Attributes:
        noise: (d,) standard deviation of the errors of each equation. inflation: how many samples have the information
            of one, since errors of neighbours are alike.
        weights: for each run (n, d), 0 where an equation is not used.
        R, c: (p, p), (p,): |R x - c|^2 is the weighted sum of squares, less a constant, over `inflation`.
        outliers: how many equations count for less.
    """

    noise: FloatArray
    weights: list[FloatArray]
    R: FloatArray
    c: FloatArray
    inflation: float
    outliers: int


def weigh(equations: Sequence[Equations], sizes: FloatArray) -> Weighted:
    """Finds noise and weights by repeated least squares (Huber's weights, then Tukey's).

    sizes: (p,) of the unknowns.
    """
    d, p = equations[0].y.shape[1], len(sizes)
    scale = np.sqrt(
        sum((np.where(e.usable, e.y, 0.0) ** 2).sum(axis=0) for e in equations)
        / np.maximum(sum(e.usable.sum(axis=0) for e in equations), 1)
    )
    largest = float(scale.max(initial=0.0)) or 1.0
    floor = SMALLEST_NOISE * largest
    noise = np.maximum(scale, FIRST_NOISE * largest)
    # nothing drives these: their errors vanish if all parameters do, and so are no measure of their noise
    silent = np.array([not any(e.tau[:, k].any() for e in equations) for k in range(d)])
    robust = [e.usable.astype(float) for e in equations]
    R, c = np.zeros((p, p)), np.zeros(p)
    for n in range(ROBUST_PASSES):
        weights = [np.sqrt(h) / noise for h in robust]
        R, c = _triangle(equations, weights)
        x = least_squares(R, c, sizes)
        errors = [e.A @ x - e.y for e in equations]
        for k in range(d):
            own = np.concatenate([r[:, k][e.usable[:, k]] for r, e in zip(errors, equations, strict=True)])
            if len(own):
                noise[k] = max(1.4826 * float(np.median(np.abs(own))), 0.1 * float(own.std()), floor)
        if silent.any() and not silent.all():
            noise[silent] = noise[~silent].max()
        sizes_of_errors = [np.abs(r) / noise for r in errors]
        robust = [
            np.where(e.usable, _huber(r) if n < HUBER_PASSES else _bisquare(r), 0.0)
            for r, e in zip(sizes_of_errors, equations, strict=True)
        ]
    inflation = _inflation(errors, equations, noise)
    outliers = int(sum(((h < 0.5) & e.usable).sum() for h, e in zip(robust, equations, strict=True)))
    weights = [np.sqrt(h) / noise for h in robust]
    R, c = _triangle(equations, weights)
    return Weighted(noise, weights, R / np.sqrt(inflation), c / np.sqrt(inflation), inflation, outliers)


def _huber(r: FloatArray) -> FloatArray:
    return np.minimum(1.0, HUBER / np.maximum(r, 1e-300))


def _bisquare(r: FloatArray) -> FloatArray:
    """Tukey's weights: nothing beyond BISQUARE standard deviations."""
    return np.clip(1.0 - (r / BISQUARE) ** 2, 0.0, None) ** 2


def _triangle(equations: Sequence[Equations], weights: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """R and c of the weighted equations, by orthogonal transformations."""
    p = equations[0].A.shape[2]
    stacked = np.zeros((0, p + 1))
    for e, w in zip(equations, weights, strict=True):
        for start in range(0, len(e.y), 4096):
            part = slice(start, start + 4096)
            rows = np.concatenate((e.A[part], e.y[part, :, None]), axis=2) * w[part, :, None]
            rows = rows.reshape(-1, p + 1)
            used = rows[np.abs(rows).max(axis=1) > 0.0]
            stacked = np.array(np.linalg.qr(np.vstack((stacked, used)), mode="r"))
    full = np.zeros((p + 1, p + 1))
    full[: len(stacked)] = stacked
    return full[:p, :p], full[:p, p]


def least_squares(R: FloatArray, c: FloatArray, sizes: FloatArray) -> FloatArray:
    """The shortest x (p,), by the sizes, that minimizes |R x - c|."""
    return np.linalg.lstsq(R * sizes, c, rcond=TOLERANCE)[0] * sizes


def _inflation(errors: Sequence[FloatArray], equations: Sequence[Equations], noise: FloatArray) -> float:
    """1 + 2 sum of the correlations of errors with later ones, of the joint for which that is largest; at least 1."""
    weights = [e.usable / noise for e in equations]
    return max(1.0, *(2.0 * float(c.sum()) - 1.0 for c in correlations(errors, weights)))


def correlations(errors: Sequence[FloatArray], weights: Sequence[FloatArray]) -> list[FloatArray]:
    """For each equation the correlations of its errors with those 0, 1, 2, ... samples later, up to where they end."""
    found = []
    for k in range(errors[0].shape[1]):
        total = np.zeros(1)
        for r, w in zip(errors, weights, strict=True):
            own = np.clip(r[:, k] * w[:, k], -HUBER, HUBER)
            lags = max(1, min(len(own) // 4, MOST_LAGS))
            spectrum = np.abs(np.fft.rfft(own, 2 * len(own))) ** 2
            part = np.fft.irfft(spectrum)[:lags]
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


def base_combinations(A: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Leading columns (r,) and combinations (r, p) of the unknowns in rows A (k, p) of exact equations."""
    from scipy.linalg import qr, solve_triangular

    T, order = qr(A * sizes, pivoting=True, mode="r")[:2]
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
    errors = [e.A[:, :, columns] @ values - e.y for e in equations]
    alike = correlations(errors, weighted.weights)
    H, S = np.zeros((r, r)), np.zeros((r, r))
    for k, own in enumerate(alike):
        part, squares, slopes, count, weight = np.zeros((r, r)), 0.0, 0.0, 0, 0.0
        own_weight = np.zeros((r, r))
        for e, w, error in zip(equations, weighted.weights, errors, strict=True):
            X = e.A[:, k, columns] * s * w[:, k, None]
            square = X.T @ X
            own_weight += square
            part += square
            for lag in range(1, min(len(own), len(X))):
                cross = X[lag:].T @ X[:-lag]
                part += own[lag] * (cross + cross.T)
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


# -------------------------------------------------------------------------------------------- possible bodies


@dataclass
class Estimate:
    """x (p,), its standard errors (p,), in which the file counts as a measurement too, and how many steps it took."""

    x: FloatArray
    errors: FloatArray
    steps: int


def estimate(weighted: Weighted, parameters: Sequence[Parameter], reference: FloatArray, x: FloatArray) -> Estimate:
    """The possible parameters that fit best.

    Args:
        reference: (m, 10) of the links, possible, towards which they are drawn. x: (p,) least squares of the others.

    NumericalError if the iteration does not end.
    """
    links, p = len(reference), len(parameters)
    sizes = np.array([q.size for q in parameters])
    inverse = [np.linalg.inv(pseudo_inertia(pi)) for pi in reference]
    positive = [k for k, q in enumerate(parameters) if q.kind in POSITIVE]
    free = [k for k, q in enumerate(parameters) if q.kind not in POSITIVE and q.kind != INERTIAL]
    drawn = np.ones(p)
    now = np.array(x, dtype=float)
    now[: 10 * links] = reference.ravel()
    for k in positive:
        drawn[k] = parameters[k].old if parameters[k].old > 0.0 else max(float(x[k]), 1e-3 * _spread(weighted, k))
        now[k] = drawn[k]
    for k in free:
        now[k] = 0.0
        drawn[k] = max(abs(float(x[k])), _spread(weighted, k))

    def prior(at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows and residuals of the divergences."""
        rows, values = np.zeros((16 * links + len(positive) + len(free), p)), []
        for b in range(links):
            L = np.linalg.cholesky(pseudo_inertia(at[10 * b : 10 * b + 10]))
            half = np.linalg.solve(L, UNITS_OF_PARAMETERS)
            whole = np.linalg.solve(L, half.transpose(0, 2, 1))
            rows[16 * b : 16 * b + 16, 10 * b : 10 * b + 10] = whole.reshape(10, 16).T
            values.append((L.T @ inverse[b] @ L - np.eye(4)).ravel())
        for n, k in enumerate(positive):
            rows[16 * links + n, k] = 1.0 / at[k]
            values.append(np.array([at[k] / drawn[k] - 1.0]))
        for n, k in enumerate(free):
            rows[16 * links + len(positive) + n, k] = 1.0 / drawn[k]
            values.append(np.array([at[k] / drawn[k]]))
        return rows, np.concatenate(values)

    def is_possible(at: FloatArray) -> bool:
        if any(at[k] <= 0.0 for k in positive):
            return False
        return bool(np.linalg.eigvalsh(pseudo_inertia(at[: 10 * links].reshape(links, 10))).min() > 0.0)

    def cost(at: FloatArray) -> float:
        error = R @ at - c
        total = 0.5 * float(error @ error)
        for b in range(links):
            ratio = inverse[b] @ pseudo_inertia(at[10 * b : 10 * b + 10])
            total += float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 4.0)
        total += sum(float(at[k] / drawn[k] - np.log(at[k] / drawn[k]) - 1.0) for k in positive)
        return total + sum(0.5 * float(at[k] / drawn[k]) ** 2 for k in free)

    # Where least squares are far from possible bodies a step ends at the border of these, and all that follow are
    # short. So the data count little at first, and more from stage to stage, as in interior-point methods.
    units = np.concatenate((sizes[: 10 * links], drawn[10 * links :]))
    rounding = 1e-14 * float(np.linalg.norm(weighted.c))  # of a decrement
    distance = float(np.linalg.norm(weighted.R @ now - weighted.c))
    stages = int(np.ceil(max(0.0, np.log10(max(distance, 1.0) / NEAR)) / np.log10(GROWTH)))
    steps = 0
    for stage in range(stages, -1, -1):
        R, c = weighted.R / GROWTH**stage, weighted.c / GROWTH**stage
        value, before = cost(now), np.inf
        for _ in range(MOST_STEPS):
            rows, residuals = prior(now)
            system = np.vstack((R, rows)) * units
            step = np.linalg.lstsq(system, -np.concatenate((R @ now - c, residuals)), rcond=None)[0]
            decrement = float(np.linalg.norm(system @ step))
            if decrement < (ROUGH if stage else 1e-8) or (decrement < rounding and decrement > 0.5 * before):
                break
            steps += 1
            step, length = step * units, 1.0
            while not is_possible(now + length / SHORT_OF_BORDER * step):
                length *= 0.5
                if length < 1e-12:
                    raise NumericalError("no possible parameters were found: every step leads out of them")
            tried = cost(now + length * step)
            while decrement > max(1e-6, rounding) and tried > value - 1e-4 * length * decrement**2 and length > 1e-10:
                length *= 0.5
                tried = cost(now + length * step)
            now, value, before = now + length * step, tried, decrement
        else:
            raise NumericalError(f"the parameters did not converge in {MOST_STEPS} steps")
    return Estimate(now, _standard_errors(system, units), steps)


def _spread(weighted: Weighted, k: int) -> float:
    """What changes the fit by as much as the noise of a hundredth of its equations, of unknown k."""
    length = float(np.linalg.norm(weighted.R[:, k]))
    return 10.0 / length if length > 0.0 else 1.0


def _standard_errors(system: FloatArray, units: FloatArray) -> FloatArray:
    _, s, Vt = np.linalg.svd(system, full_matrices=False)
    kept = s > 1e-14 * s[0]
    return np.sqrt(((Vt[kept].T / s[kept]) ** 2).sum(axis=1)) * units


def relative_error(equations: Sequence[Equations], x: FloatArray, *, raw: bool = False) -> float:
    """Norm of the errors over norm of the efforts; raw: of efforts before the filter."""
    above = below = 0.0
    for e in equations:
        measured = e.raw_tau if raw else e.tau
        above += float(((predicted(e, x) - measured) ** 2).sum())
        below += float((measured**2).sum())
    return float(np.sqrt(above / below)) if below > 0.0 else 0.0


def predicted(equations: Equations, x: FloatArray) -> FloatArray:
    """(n, d) efforts of parameters x."""
    return equations.A @ x + equations.tau - equations.y

"""Bodies that can be, and that fit best: squares of errors, and divergences from the bodies of the file.

The estimate minimizes the squares of the errors, each joint's by its own noise, plus for every link the divergence
tr(J0^-1 J) - log det(J0^-1 J) - 4 of its pseudo-inertia J from that of the file, J0 (Lee, Wensing and Park 2020). That
depends on no unit and no frame, is convex in the parameters, and grows beyond all bounds where a body would become
impossible. So one Newton iteration ends with possible bodies, and what the data do not touch stays as the file has it.
Each step is a problem of linear least squares, in which nothing is squared: J = L L^T, and the divergence has the
residuals L^T J0^-1 L - 1 along the directions L^-1 E L^-T.

Where least squares are far from possible bodies a step ends at the border of these, and all that follow are short. So
the data count little at first, and more from stage to stage, as in interior-point methods. A stage that does not end is
tried again with the data counting only a little more than in the last that did.

What keeps frictions and rotors positive is no measurement. Where the file says nothing of one and the data hardly tell
it from zero, its standard error is that of all positive values that the data allow, each as likely as noise makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import NumericalError
from mbcli.identification.unknowns import INERTIAL, POSITIVE, Parameter
from mbcli.multibody.inertia.inertial_parameters import pseudo_inertia

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.estimation import Weighted
    from mbcli.math.array_types import FloatArray

MOST_STEPS = 60  # of a stage
NEAR = 10.0  # errors of the first stage
GROWTH, LEAST_GROWTH = 5.0, 1.02  # of errors from stage to stage, at first and at last
ROUGH, SETTLED = 0.3, 1e-8  # the decrement that ends all stages but the last, and the last
REFLECTIONS_AT_ONCE = 16
LEAST_SHARE, MOST_SHARE = (
    1e-9,
    0.8,
)  # of what is known of a positive unknown: less is untouched, more no matter of bounds
SHORT_OF_BORDER = 0.9  # part of the way out of possible bodies that a step may take
UNITS_OF_PARAMETERS = np.stack([pseudo_inertia(e) for e in np.eye(10)])  # (10, 4, 4)
TRIANGLE = np.triu_indices(4)  # elements of a symmetric matrix
TWICE = np.where(TRIANGLE[0] == TRIANGLE[1], 1.0, np.sqrt(2.0))  # off the diagonal each stands for two


@dataclass
class Estimate:
    """x (p,), a root (p, r) of its covariance, in which the file counts as a measurement too, and how many steps."""

    x: FloatArray
    root: FloatArray
    steps: int

    @property
    def errors(self) -> FloatArray:
        """(p,) standard errors of x."""
        return np.array(np.linalg.norm(self.root, axis=1))


def estimate(weighted: Weighted, parameters: Sequence[Parameter], reference: FloatArray, x: FloatArray) -> Estimate:
    """The possible parameters that fit best.

    Args:
        reference: (m, 10) of the links, possible, towards which they are drawn. x: (p,) least squares of the others.

    NumericalError if the iteration does not end.
    """
    from scipy.linalg.lapack import dtrtri

    prior = _Prior(weighted, parameters, reference, x)
    now = prior.start
    distance = float(np.linalg.norm(weighted.R @ now - weighted.c))
    factor = GROWTH ** int(np.ceil(max(0.0, np.log10(max(distance, 1.0) / NEAR)) / np.log10(GROWTH)))
    growth, good, steps = GROWTH, factor, 0
    while True:
        found = _stage(prior, weighted.R / factor, weighted.c / factor, now, SETTLED if factor == 1.0 else ROUGH)
        steps += found.steps
        if not found.ended:
            growth = np.sqrt(growth)
            if growth < LEAST_GROWTH or good == factor:
                raise NumericalError(
                    f"the parameters did not converge in {steps} steps: no possible bodies explain the data; check "
                    "signs, order and units of efforts, or record more motion"
                )
            factor = max(1.0, good / growth)
            continue
        if factor == 1.0:
            root = dtrtri(found.T)[0]
            root = np.hstack((root, prior.beyond_bounds(found.x, root)))
            return Estimate(found.x, prior.units[:, None] * root, steps)
        now, good = found.x, factor
        factor = max(1.0, factor / growth)


class _Prior:
    """The divergences from the file.

    Attributes:
        start: (p,) where they are least. units: (p,) in which steps are taken.
    """

    def __init__(
        self, weighted: Weighted, parameters: Sequence[Parameter], reference: FloatArray, x: FloatArray
    ) -> None:
        self._links, self._p = len(reference), len(parameters)
        sizes = np.array([q.size for q in parameters])
        self._inverse = np.linalg.inv(pseudo_inertia(reference))
        self._positive = [k for k, q in enumerate(parameters) if q.kind in POSITIVE]
        self._free = [k for k, q in enumerate(parameters) if q.kind not in POSITIVE and q.kind != INERTIAL]
        self._others = np.array(self._positive + self._free, dtype=int)
        self._unsaid = [k for k in self._positive if parameters[k].old <= 0.0]
        self._drawn, inertial = np.ones(self._p), 10 * self._links
        self.start = np.array(x, dtype=float)
        self.start[:inertial] = reference.ravel()
        for k in self._positive:
            old = parameters[k].old
            self._drawn[k] = old if old > 0.0 else max(float(x[k]), 1e-3 * _spread(weighted, k))
            self.start[k] = self._drawn[k]
        for k in self._free:
            self.start[k] = 0.0
            self._drawn[k] = max(abs(float(x[k])), _spread(weighted, k))
        self.units = np.concatenate((sizes[:inertial], self._drawn[inertial:]))

    def _bodies(self, at: FloatArray) -> FloatArray:
        """(m, 4, 4)"""
        own = at[: 10 * self._links].reshape(self._links, 10)
        return (own @ UNITS_OF_PARAMETERS.reshape(10, 16)).reshape(self._links, 4, 4)

    def rows(self, at: FloatArray) -> FloatArray:
        """(p + 1, p + 1) triangle of the rows of the divergences, by units, and of their residuals with other sign."""
        links, p, positive, free, others = self._links, self._p, self._positive, self._free, self._others
        L = np.linalg.cholesky(self._bodies(at))
        turned = np.linalg.inv(L)[:, None]
        rows = np.empty((links, 10, 11))
        whole = (turned @ UNITS_OF_PARAMETERS @ turned.swapaxes(2, 3))[:, :, *TRIANGLE] * TWICE
        rows[:, :, :10] = whole.swapaxes(1, 2) * self.units[: 10 * links].reshape(links, 1, 10)
        rows[:, :, 10] = (np.eye(4) - L.swapaxes(1, 2) @ self._inverse @ L)[:, *TRIANGLE] * TWICE
        T = np.zeros((p + 1, p + 1))
        for b, own in enumerate(np.linalg.qr(rows, mode="r")):
            part = slice(10 * b, 10 * b + 10)
            T[part, part], T[part, p] = own[:, :10], own[:, 10]
        T[others, others] = self.units[others] / np.concatenate((at[positive], self._drawn[free]))
        T[others, p] = np.repeat((1.0, 0.0), (len(positive), len(free))) - at[others] / self._drawn[others]
        return T

    def beyond_bounds(self, at: FloatArray, root: FloatArray) -> FloatArray:
        """(p, m) what a root (p, p) of the covariance, by units, lacks of unknowns that their bounds hold near zero."""
        found = []
        for k in self._unsaid:
            covariance = root @ root[k]
            variance, pull = float(covariance[k]), float(self._drawn[k] / at[k])  # pull: the slope of the bound
            share = 1.0 - pull**2 * variance  # of what is known of it, that the bound does not say
            if not LEAST_SHARE < share < MOST_SHARE:
                continue
            alone, here = variance / share, float(at[k] / self._drawn[k])
            spread = _one_sided(here, here - alone * (pull - 1.0), np.sqrt(alone))
            if spread**2 > variance:
                found.append(covariance / variance * np.sqrt(spread**2 - variance))
        return np.array(found).reshape(len(found), self._p).T

    def allows(self, at: FloatArray) -> bool:
        if any(at[k] <= 0.0 for k in self._positive):
            return False
        return bool(np.linalg.eigvalsh(self._bodies(at)).min(initial=np.inf) > 0.0)

    def cost(self, at: FloatArray) -> float:
        ratio = self._inverse @ self._bodies(at)
        total = float((np.trace(ratio, axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4.0).sum())
        parts = at[self._positive] / self._drawn[self._positive]
        total += float((parts - np.log(parts) - 1.0).sum())
        return total + 0.5 * float(((at[self._free] / self._drawn[self._free]) ** 2).sum())


@dataclass
class _Stage:
    """x (p,), the triangle T (p, p) of the last step, by units, whether the iteration ended, after how many steps."""

    x: FloatArray
    T: FloatArray
    ended: bool
    steps: int


def _stage(prior: _Prior, R: FloatArray, c: FloatArray, now: FloatArray, settled: float) -> _Stage:
    """Newton's steps for |R x - c|^2 / 2 and the divergences, from possible parameters on."""
    from scipy.linalg import solve_triangular

    def cost(at: FloatArray) -> float:
        error = R @ at - c
        return 0.5 * float(error @ error) + prior.cost(at)

    rounding = 1e-14 * float(np.linalg.norm(c))  # of a decrement
    value, before = cost(now), np.inf
    for steps in range(MOST_STEPS):
        T, right = _with_rows(prior.rows(now), R * prior.units, c - R @ now)
        step = solve_triangular(T, right, check_finite=False)
        decrement = float(np.linalg.norm(T @ step))
        if decrement < settled or (decrement < rounding and decrement > 0.5 * before):
            return _Stage(now, T, True, steps)
        step, length = step * prior.units, 1.0
        while not prior.allows(now + length / SHORT_OF_BORDER * step):
            length *= 0.5
            if length < 1e-12:
                return _Stage(now, T, False, steps)
        tried = cost(now + length * step)
        while decrement > max(1e-6, rounding) and tried > value - 1e-4 * length * decrement**2 and length > 1e-10:
            length *= 0.5
            tried = cost(now + length * step)
        now, value, before = now + length * step, tried, decrement
    return _Stage(now, T, False, MOST_STEPS)


def _with_rows(T: FloatArray, rows: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The triangle and right side of T (p + 1, p + 1), whose last column is one, and of more rows: by reflections."""
    from scipy.linalg.lapack import dtpqrt

    p = rows.shape[1]
    T = dtpqrt(0, min(REFLECTIONS_AT_ONCE, p), T, np.column_stack((rows, right)))[0]
    return np.triu(T[:p, :p]), T[:p, p]


def _one_sided(here: float, there: float, sigma: float) -> float:
    """Root of the mean square of how far a number that is not negative is from `here`: it is measured as `there`, by
    noise of size sigma, or such that a negative measurement is one of them."""
    from scipy.special import erfcx

    sigma = max(sigma, -there)
    least = -there / sigma  # of the noise, in its size
    beyond = np.sqrt(2.0 / np.pi) / float(erfcx(least / np.sqrt(2.0)))  # mean of a normal number that is above `least`
    variance = max(1.0 + least * beyond - beyond**2, 0.0)
    return float(np.hypot(sigma * np.sqrt(variance), there + sigma * beyond - here))


def _spread(weighted: Weighted, k: int) -> float:
    """What changes the fit by as much as the noise of a hundredth of its equations, of unknown k."""
    length = float(np.linalg.norm(weighted.R[:, k]))
    return 10.0 / length if length > 0.0 else 1.0

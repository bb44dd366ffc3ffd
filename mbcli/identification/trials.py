"""How well possible bodies explain the samples of one file, as they are or changed: what hypotheses are judged by."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import NumericalError
from mbcli.identification.estimation import Weighted, product
from mbcli.identification.possible_bodies import estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.identification.signals import Run
    from mbcli.identification.subject import Subject
    from mbcli.math.array_types import FloatArray

NOISE = 0.05  # of the efforts, that the fit of a trial allows for: the rest has to be explained
RIDGE = 1e-10  # of the mean of the diagonal of normal equations


@dataclass(frozen=True)
class Explained:
    """What possible bodies explain.

    Attributes:
        error: of all equations, each joint's by the size of its own efforts. of_joints: (d,) of each joint.
        x: (p,) the parameters.
    """

    error: float
    of_joints: FloatArray
    x: FloatArray


class Trial:
    """The equations of samples of one file.

    Attributes:
        A (n, d, p), known (n, d), usable (n, d): tau = A x + known. tau: (n, d) as the file has them. products: of A^T
        with A, of each joint, None before they are needed.
    """

    def __init__(self, subject: Subject, part: Run, slow: FloatArray | None) -> None:
        e = subject.equations(part, slow)
        self.subject, self.part, self.slow = subject, part, slow
        self.A, self.known, self.usable, self.tau = e.A, e.tau - e.y, e.usable, e.tau
        self.products: list[FloatArray | None] = [None] * self.tau.shape[1]

    def changed(self, change: Callable[[FloatArray, Any], FloatArray], joints: Any) -> Trial:
        """Of other positions, velocities and accelerations: change(values, columns) of those of these velocities.

        What counts as slow changes with them: the same equations are judged.
        """
        part, of = self.part, self.subject.joint_of
        places = [of[d].position_start() for d in joints]
        slow = None if self.slow is None else np.abs(change(self.slow[None], joints))[0]
        moved = replace(part, q=change(part.q, places), v=change(part.v, joints), vdot=change(part.vdot, joints))
        if part.signs is not None:
            factors = change(np.ones((1, part.v.shape[1])), joints)
            moved = replace(moved, signs=change(part.signs, joints) / np.abs(factors))
        return Trial(self.subject, moved, slow)

    def _product(self, k: int) -> FloatArray:
        """A^T A of the usable equations of joint k."""
        found = self.products[k]
        if found is None:
            rows = self.A[self.usable[:, k], k]
            found = self.products[k] = product(rows, rows)
        return found

    def weights(self, tau: FloatArray) -> FloatArray:
        """(d,) by the sizes of efforts (n, d)."""
        sizes = np.sqrt((tau**2).mean(axis=0))
        return np.array(1.0 / np.where(sizes > 0.0, sizes, 1.0))

    def _normal(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """H (p, p), h (p,): least squares are H x = h."""
        w = self.weights(tau)
        acts = [k for k in range(len(w)) if self.usable[:, k].any()]
        p = self.A.shape[2]
        H = sum((self._product(k) * w[k] ** 2 for k in acts), np.zeros((p, p)))
        y = np.where(self.usable, tau - self.known, 0.0) * w**2
        h = np.einsum("nkp,nk->p", self.A, y)
        H[np.diag_indices(p)] += RIDGE * max(float(np.trace(H)) / p, 1e-300)
        return H, h

    def _judged(self, tau: FloatArray, x: FloatArray) -> Explained:
        w = self.weights(tau)
        left = np.where(self.usable, self.A @ x + self.known - tau, 0.0) * w
        size = np.where(self.usable, tau, 0.0) * w
        above, below = (left**2).sum(axis=0), (size**2).sum(axis=0)
        of_joints = np.sqrt(above / np.where(below > 0.0, below, 1.0))
        return Explained(float(np.sqrt(above.sum() / max(float(below.sum()), 1e-300))), of_joints, x)

    def by_anything(self, tau: FloatArray | None = None) -> Explained:
        """By parameters of any size and sign: no possible ones explain efforts (n, d) better."""
        tau = self.tau if tau is None else tau
        return self._judged(tau, np.array(np.linalg.solve(*self._normal(tau))))

    def by_bodies(self, tau: FloatArray | None = None) -> Explained | None:
        """By possible bodies and frictions; None if none are found."""
        tau = self.tau if tau is None else tau
        H, h = self._normal(tau)
        R = np.linalg.cholesky(H).T
        c = np.linalg.solve(R.T, h)
        weighted = Weighted(self.weights(tau), [], np.array(R / NOISE), np.array(c / NOISE), 1.0, 0)
        subject = self.subject
        try:
            found = estimate(weighted, subject.parameters, subject.reference, np.linalg.solve(R, c))
        except NumericalError:
            return None
        return self._judged(tau, found.x)

    def without(self, samples: Any, joint: int) -> Trial:
        """Without some samples (n,) of one joint."""
        other = copy.copy(self)
        other.usable, other.products = self.usable.copy(), [None] * self.tau.shape[1]
        other.usable[samples, joint] = False
        return other

    def with_columns(self, A: FloatArray) -> Trial:
        """The same efforts by other columns."""
        other = copy.copy(self)
        other.A, other.products = A, [None] * self.tau.shape[1]
        return other

    def gain_of(self, columns: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What more columns (n, d, m) explain beside A from each sample on.

        Returns (n,) by what part they make the squares of the errors of by_anything() less, from which on they act,
        (n, m) their unknowns, (m, m) their products of all samples less what A explains of them.
        """
        w = self.weights(self.tau)
        H, h = self._normal(self.tau)
        B = np.where(self.usable[:, :, None], columns, 0.0) * w[:, None]
        y = np.where(self.usable, self.tau - self.known, 0.0) * w

        def later(values: FloatArray) -> FloatArray:
            return np.cumsum(values[::-1], axis=0)[::-1]

        both = later(np.einsum("ndp,ndm->npm", self.A * w[:, None], B))
        own, right = later(np.einsum("ndm,ndk->nmk", B, B)), later(np.einsum("ndm,nd->nm", B, y))
        solved = np.linalg.solve(H, np.concatenate((both.transpose(1, 0, 2).reshape(len(H), -1), h[:, None]), axis=1))
        of_columns = solved[:, :-1].reshape(len(H), len(B), -1).transpose(1, 0, 2)
        S = own - both.transpose(0, 2, 1) @ of_columns
        b = right - np.einsum("npm,p->nm", both, solved[:, -1])
        scale = np.sqrt(np.maximum(np.einsum("nmm->nm", own), 1e-300))
        S = S / scale[:, :, None] / scale[:, None, :] + 1e-6 * np.eye(B.shape[2])
        unknowns = np.linalg.solve(S, (b / scale)[:, :, None])[:, :, 0]
        left = max(float(y.ravel() @ y.ravel() - h @ solved[:, -1]), 1e-300)
        return (b / scale * unknowns).sum(axis=1) / left, unknowns / scale, S[0]

"""Least squares with matrices of full column rank, by one orthogonal factorization for all that is asked of them."""

import functools

import numpy as np

RANK_TOLERANCE = 1e-9  # of singular values, relative to the largest: those below count as zero
CLEAR = 1e-6  # of the diagonal of R, relative to its largest element: a rank that nobody takes for a smaller one


@functools.cache
def lapack():
    """LAPACK's functions; scipy is not imported before they are needed."""
    from scipy.linalg import lapack

    return lapack


class OrthogonalFactors:
    """A[:, order] = Q R for A (n, m), with pivoting (Golub and Van Loan 2013, section 5.4.2).

    Attributes:
        is_clear: whether the rank is m without doubt; the rest is for such matrices only.
    """

    def __init__(self, A):
        n, m = A.shape
        self._shape, self.is_clear = (n, m), False
        if not 0 < m <= n:
            return
        self._qr, order, self._tau, _, _ = lapack().dgeqp3(A)
        self._order = order - 1
        diagonal = np.abs(self._qr.diagonal())
        self.is_clear = bool(diagonal.min() > CLEAR * diagonal.max())

    def least_squares(self, b):
        """The y (m,) with the smallest |A y - b|."""
        n, m = self._shape
        c, _, _ = lapack().dormqr("L", "T", self._qr, self._tau, b.reshape(n, 1), 64)
        y = np.empty(m)
        y[self._order] = lapack().dtrtrs(self._qr[:m], c[:m])[0][:, 0]
        return y

    def shortest(self, s):
        """The shortest x (n,) with A^T x = s."""
        n, m = self._shape
        x = np.zeros((n, 1))
        x[:m, 0] = lapack().dtrtrs(self._qr[:m], s[self._order], trans=1)[0]
        return lapack().dormqr("L", "N", self._qr, self._tau, x, 64)[0][:, 0]

    def null_space(self):
        """Z (n, n - m), orthonormal, with A^T Z = 0."""
        n, m = self._shape
        Q = np.empty((n, n), order="F")
        Q[:, :m] = self._qr
        return lapack().dorgqr(Q, self._tau, overwrite_a=1)[0][:, m:]

"""What costs and constraints of A x + b share, whatever they make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class AffineArgument:
    """Has z = A x + b, A (m, n) and b (m,), at least SIZES numbers."""

    SIZES = 1

    def _take(self, A: Any, b: ArrayLike) -> None:
        self._A = np.atleast_2d(np.array(A.toarray() if hasattr(A, "toarray") else A, dtype=float))
        self._b = np.array(b, dtype=float).reshape(-1)
        if len(self._A) != self._b.size or self._b.size < self.SIZES:
            raise RuntimeError(f"{type(self).__name__}: A {self._A.shape} and b ({self._b.size},) do not fit")

    def _argument(self, x: Any) -> Any:
        return self._A @ x + self._b

    def b(self) -> FloatArray:
        """(m,)"""
        return self._b.copy()

    def UpdateCoefficients(self, new_A: Any, new_b: ArrayLike) -> None:
        """Replaces A and b. RuntimeError for another number of variables."""
        if np.shape(new_A)[1] != self._A.shape[1]:
            raise RuntimeError(f"A has {np.shape(new_A)[1]} columns for {self._A.shape[1]} variables")
        self._take(new_A, new_b)

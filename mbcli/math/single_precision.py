"""Numbers of single precision as the decimals that mean them: 0.1, not 0.10000000149011612."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray

MOST_DIGITS = 9  # that a number of single precision needs
LARGEST_EXPONENT = 13  # with nine digits the power of ten is at most 10**22, the largest that float64 has exactly


def shortest_decimals(numbers: ArrayLike) -> FloatArray:
    """For each number the float64 of the shortest decimal that single precision rounds to it.

    n / 10**k with whole n and exact 10**k is rounded once: it is what Python reads from the text of the decimal.
    """
    singles = np.asarray(numbers, np.float32)
    flat = singles.ravel()
    found = flat.astype(np.float64)
    left = np.flatnonzero(np.isfinite(found) & (found != 0.0))
    exponents = np.floor(np.log10(np.abs(found[left]))).astype(int)
    far = np.abs(exponents) > LARGEST_EXPONENT
    found[left[far]] = [float(text) for text in flat[left[far]].astype(str)]
    left, exponents = left[~far], exponents[~far]
    for digits in range(1, MOST_DIGITS + 1):
        places = digits - 1 - exponents
        up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
        decimals = np.rint(found[left] * up / down) * down / up
        means = decimals.astype(np.float32) == flat[left]
        found[left[means]] = decimals[means]
        left, exponents = left[~means], exponents[~means]
    return found.reshape(singles.shape)

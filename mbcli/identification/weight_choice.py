"""Whether joints count by their noise, or those with little noise for less, by evidence.

What a model lacks, such as a bent link or friction of another law, makes errors that are no noise. A joint with small
efforts has small errors, and counts so much by these that bodies which can be serve it at the cost of the large ones.
Both ways are tried on blocks of time that are left out; the second is taken only if it is better by more than chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.errors import NumericalError
from mbcli.identification.estimation import least_squares, nearer_noise, triangle_of
from mbcli.identification.findings import Finding
from mbcli.identification.friction_choice import CHANCE, blocks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.identification.estimation import Equations, Weighted
    from mbcli.math.array_types import FloatArray

NOISY = 0.02  # relative error of the fit, below which nothing is to be gained
LEAST_GAIN = 0.98  # times the error of blocks that were left out, by the noise of each joint
FEWEST_BLOCKS = 4


class ChosenWeights(NamedTuple):
    """Whether joints with little noise count for less than by that, and the errors of blocks that were left out, of
    the usual weights and of these, over the size of their efforts; None where the first blocks show no gain."""

    near: bool
    usual: float | None = None
    error: float | None = None

    def finding(self, source: str) -> Finding:
        """What was chosen in place of the usual weights."""
        then, otherwise = (f"{100.0 * (error or 0.0):.1f} %" for error in (self.error, self.usual))
        message = (
            "joints with small errors count for less than by their noise: parts of the data that are left out are "
            f"predicted to {then} then, otherwise to {otherwise}"
        )
        return Finding("DATA_WEIGHTS", message, source)


def choose_weights(
    equations: Sequence[Equations],
    judged: Any,
    weighted: Weighted,
    sizes: FloatArray,
    base: tuple[FloatArray, FloatArray],
    fitted: Callable[[FloatArray, FloatArray], FloatArray],
) -> ChosenWeights:
    """How the equations of a fit are weighed.

    Args:
        judged: (n, d) efforts that errors are of, of the samples of all equations one after another.
        weighted: in the usual way, of all equations. sizes: (p,) of the unknowns. base: of base_combinations().
        fitted: (R, c) -> x (p,), as those of Weighted.
    """
    blocks = blocks_of([e.source for e in equations], [len(e.y) for e in equations])
    columns, combinations = base
    A = np.concatenate([e.A for e in equations])
    y, raw = (np.concatenate([getattr(e, name) for e in equations]) for name in ("y", "raw_tau"))
    measured = raw - np.concatenate([e.tau - e.y for e in equations])

    def errors_of(x: FloatArray, rows: Any) -> FloatArray:
        return np.where(judged[rows], A[rows] @ x - measured[rows], 0.0)

    size = float((np.where(judged, raw, 0.0) ** 2).sum())
    error = errors_of(least_squares(weighted.R, weighted.c, sizes), slice(None))
    if len(blocks) < FEWEST_BLOCKS or float((error**2).sum()) <= NOISY**2 * size:
        return ChosenWeights(False)
    by_noise = np.concatenate(weighted.weights)
    of_ways = (by_noise, by_noise * (weighted.noise / nearer_noise(weighted.noise)))
    shrunk = 1.0 / np.sqrt(weighted.inflation)

    def triangle(weights: FloatArray, rows: Any) -> FloatArray:
        X = A[rows][:, :, columns] * weights[rows][:, :, None]
        return shrunk * triangle_of(np.column_stack((X.reshape(-1, len(columns)), (y[rows] * weights[rows]).ravel())))

    parts = [[triangle(weights, rows) for rows in blocks] for weights in of_ways]
    squares = np.zeros((2, len(blocks)))  # of the errors of each block that was left out, by the usual weights and near
    for b, rows in enumerate(blocks):
        for way, own in enumerate(parts):
            T = triangle_of(np.concatenate(own[:b] + own[b + 1 :]))[: len(columns)]
            try:
                found = fitted(T[:, :-1] @ combinations, T[:, -1])
            except NumericalError:  # no possible bodies without this block
                return ChosenWeights(False)
            squares[way, b] = (errors_of(found, rows) ** 2).sum()
        usual, near = squares[:, : b + 1].sum(axis=1)
        if b + 1 >= FEWEST_BLOCKS and near > LEAST_GAIN**2 * usual:
            return ChosenWeights(False)
    before, after = np.sqrt(squares.sum(axis=1) / size).tolist()
    gain = squares[0] - squares[1]
    by_chance = gain.mean() <= CHANCE * gain.std(ddof=1) / np.sqrt(len(gain))
    return ChosenWeights(not by_chance, before, after)

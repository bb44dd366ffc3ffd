"""What floating bodies carry at their default positions: the weights of all that stands above them.

A body rests on those below it whose footprints it overlaps and whose tops are about the highest, in proportion to the
overlaps, whether it touches them yet or is to fall on them. Footprints are boxes along the axes of World: an estimate
that errs by how weights are shared, not by their sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray, IntArray

LEVEL = 0.1  # of the height of what lies above: tops so near to the highest one carry it


class Extent(NamedTuple):
    """Of what floats: its box in axes (across, across, up) [m], and the height of its centre of mass [m]."""

    lower: FloatArray
    upper: FloatArray
    center: float


class Load(NamedTuple):
    """What contacts under a body carry: a mass [kg], its own included, and the height of its centre over them [m]."""

    mass: float
    height: float


def loads_on(extents: Sequence[Extent], masses: Sequence[float]) -> list[Load]:
    """The Load of each of what floats."""
    lower = np.array([extent.lower for extent in extents]).reshape(-1, 3)
    upper = np.array([extent.upper for extent in extents]).reshape(-1, 3)
    centers, mass = np.array([extent.center for extent in extents]), np.array(masses, dtype=float)
    by_side = np.argsort(lower[:, 0], kind="stable")
    carried, moment = mass.copy(), mass * centers
    for above in np.argsort(-lower[:, 2], kind="stable"):
        below, overlaps = _supports(int(above), by_side, lower, upper, centers)
        shares = overlaps / overlaps.sum() if len(below) else overlaps
        carried[below] += shares * carried[above]
        moment[below] += shares * moment[above]
    return [Load(*row) for row in np.column_stack([carried, moment / carried - lower[:, 2]]).tolist()]


def _supports(
    above: int, by_side: IntArray, lower: FloatArray, upper: FloatArray, centers: FloatArray
) -> tuple[IntArray, FloatArray]:
    """On which others one rests, and the areas of the overlaps [m^2]."""
    end = np.searchsorted(lower[by_side, 0], upper[above, 0])
    others = by_side[:end]
    others = others[(centers[others] < lower[above, 2]) & (upper[others, 0] > lower[above, 0])]
    width = np.minimum(upper[others, :2], upper[above, :2]) - np.maximum(lower[others, :2], lower[above, :2])
    overlaps = np.clip(width, 0.0, None).prod(axis=1)
    tops = upper[others, 2]
    touches = overlaps > 0.0
    if not touches.any():
        return others[:0], overlaps[:0]
    level = tops[touches].max() - LEVEL * (upper[above, 2] - lower[above, 2])
    carries = touches & (tops >= level)
    return others[carries], overlaps[carries]

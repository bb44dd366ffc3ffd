"""The least value of a quadratic function within bounds, by projected Newton's method.

Source: Y. Tassa, N. Mansard, E. Todorov, Control-Limited Differential Dynamic Programming, ICRA 2014, section III.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, Matrix, Vector

MOST_STEPS = 60
SUFFICIENT = 0.1  # of the decrease that the gradient promises
SHORTEST = 1e-12  # part of a step


def least_in_box(H: Matrix, g: Vector, low: Vector, high: Vector, start: Vector) -> tuple[Vector, BoolArray]:
    """x (m,) with least x' H x / 2 + g' x between low and high, and which of it are free: not held by a bound.

    H: symmetric, positive definite. LinAlgError if it is not. The best x found where the steps do not suffice.
    """
    x = np.clip(start, low, high)
    value, free = x @ (0.5 * (H @ x) + g), np.ones(x.shape, dtype=bool)
    held: BoolArray | None = None
    whole: bool | None = False  # whether the last step was
    for _ in range(MOST_STEPS):
        slope = g + H @ x
        now = ((x <= low) & (slope > 0.0)) | ((x >= high) & (slope < 0.0))
        free = ~now
        if not free.any() or np.abs(slope[free]).max() <= 1e-12 * max(np.abs(g).max(), 1e-300):
            break
        if held is not None and (now == held).all() and whole:
            break
        held = now
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        x, value, whole = _shorter(H, g, low, high, x, value, slope, step)
        if whole is None:
            break
    return x, free


def _shorter(
    H: Matrix, g: Vector, low: Vector, high: Vector, x: Vector, value: float, slope: Vector, step: Vector
) -> tuple[Vector, float, bool | None]:
    """x after a projected step that decreases the value enough, the value, and whether the step was whole and free.

    None for the last: there is no such step.
    """
    part = 1.0
    while part > SHORTEST:
        after = np.clip(x + part * step, low, high)
        new = after @ (0.5 * (H @ after) + g)
        if new - value <= SUFFICIENT * (slope @ (after - x)):
            return after, float(new), bool(part == 1.0 and (after == x + step).all())
        part *= 0.5
    return x, value, None

"""Differences of the step of a run: its derivatives where nothing else gives them, and whether it has derivatives.

A contact, a stop, friction or an effort limit that switches at a state gives a step two derivatives there, one for
each side. So does a jump. Differences to both sides show them: they are off the derivative by what does not become
smaller with the difference, as curvature does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import NumericalError
from mbcli.multibody.linearization.plant_values import PlantValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mbcli.math.array_types import Matrix, Vector

DIFFERENCES = {"q": 1e-6, "v": 1e-6, "u": 1e-4, "tau": 1e-4, "desired": 1e-6}  # [rad, m, rad/s, m/s, N m or N]
WEIGHTS = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))
NEARER = 8.0  # by what a difference is divided that is tried where one side is off
OFF = 1e-3  # of the largest number of a derivative: one side that is further off is tried again
RELATIVE_ROUNDING = 1e-13  # of a state after a step


def by_differences(
    function: Callable[[PlantValues], Vector], start: PlantValues, name: str, directions: Iterable[Vector]
) -> Matrix:
    """Derivatives of a function of PlantValues along directions of one of them, of fourth order, one a column."""
    columns, size = [], DIFFERENCES[name]
    for direction in directions:
        values = [weight * function(start.moved(name, k * size * direction)) for k, weight in WEIGHTS]
        columns.append(np.sum(values, axis=0) / size)
    return np.transpose(columns) if columns else np.zeros((function(start).size, 0))


class DerivativesOfStep:
    """The derivatives of a step by single directions, each as found, or as differences of the step say.

    Args:
        step: PlantValues -> the state after a step.
        start: where.
        here: the state after the step from there.
        rounding: of a state after a step.
    """

    def __init__(
        self, step: Callable[[PlantValues], Vector], start: PlantValues, here: Vector, rounding: float
    ) -> None:
        self._step, self._start, self._here = step, start, here
        size = np.abs(here).max(initial=1.0)
        self._rounding = RELATIVE_ROUNDING * size + 2.0 * rounding

    def along(self, name: str, direction: Vector, found: Vector, by: str) -> Vector:
        """The derivative along a direction of one of the PlantValues, which is `found` if it is one at all.

        by: what moves along that direction, in words. NumericalError where there is no derivative.
        """
        if self._is_derivative(name, direction, found):
            return found
        found = by_differences(self._step, self._start, name, [direction])[:, 0]
        if not self._is_derivative(name, direction, found):
            raise NumericalError(
                "a contact begins or ends, or a limit is reached, or friction or the solver switches, so near to the "
                f"state that the step has no derivative by {by}"
            )
        return found

    def _is_derivative(self, name: str, direction: Vector, found: Vector) -> bool:
        size, allowed = DIFFERENCES[name], OFF * np.abs(found).max(initial=0.0)
        noise = self._rounding / size
        wide = self._off(name, direction, found, size)
        if wide <= allowed + noise:
            return True
        near = self._off(name, direction, found, size / NEARER)
        return near <= 2.0 * wide / NEARER + allowed + NEARER * noise

    def _off(self, name: str, direction: Vector, found: Vector, size: float) -> float:
        """How far the differences to both sides are off a derivative."""
        sides = [(self._step(self._start.moved(name, s * direction)) - self._here) / s - found for s in (-size, size)]
        return float(np.abs(sides).max(initial=0.0))

"""The costs of motions: sums of weighed squares of terms, and their derivatives by states and efforts.

The second derivatives are those of Gauss and Newton: 2 w J' J of residuals with the Jacobian J.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.queries.state_batch import StateBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.optimal_control.plant_steps import Perturbed, PlantSteps

WORLD_FRAME = 0
RUN, END, BOTH = "run", "end", "both"  # when a term counts


@dataclass(frozen=True)
class CostTerm:
    """A term with its values. residual: Motion -> (n, k); by: of "q", "v", "u"; at: when it counts."""

    label: str
    residual: Callable[[Motion], FloatArray]
    by: str
    weight: float
    at: str


class Motion:
    """n states and efforts, and what terms ask of them; each frame is computed once."""

    def __init__(self, costs: Costs, q: FloatArray, v: FloatArray, u: FloatArray) -> None:
        self.q, self.v, self.u, self._costs = q, v, u, costs
        self._frames: dict[int, tuple[FloatArray, FloatArray, FloatArray]] = {}

    def frame(self, index: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """R_WF (n, 3, 3), p_WF (n, 3) [m] and V_WF (n, 6), the rotational part first."""
        if index not in self._frames:
            R, p, V, _ = self._costs.batch.frame_motions(self.q, self.v, None, [index], WORLD_FRAME)
            self._frames[index] = R[:, 0], p[:, 0], V[:, 0]
        return self._frames[index]

    def from_start(self) -> FloatArray:
        """Deviations (n, nv) of q from the start."""
        costs = self._costs
        return costs.steps.deviations.of(self.q, self.v, costs.q_start, costs.v_start, costs.back)[:, : self.v.shape[1]]


class Costs:
    """The sum of terms over the knots of a motion: those at END of the last state, the others times the period.

    Args:
        terms: CostTerms.
        steps: PlantSteps.
        period: [s] from knot to knot, by which terms that run are multiplied.
        q_start, v_start: the start, which some terms compare with.
    """

    def __init__(
        self, terms: Sequence[CostTerm], steps: PlantSteps, period: float, q_start: Vector, v_start: Vector
    ) -> None:
        self.terms, self.steps, self.period = terms, steps, period
        self.q_start, self.v_start = q_start, v_start
        maps = steps.deviations.maps(q_start[np.newaxis])
        self.back = None if maps is None else maps[1][0]
        state = steps.worlds(1).contexts()[0][0].state
        self.batch = StateBatch(state.model, compiled=state.compiled)

    def of_running(self, q: FloatArray, v: FloatArray, u: FloatArray) -> FloatArray:
        """(n, terms) of n states and efforts."""
        return self.period * self._values(Motion(self, q, v, u), RUN)

    def of_end(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """(n, terms) of n last states."""
        return self._values(Motion(self, q, v, np.zeros((len(q), self.steps.nu))), END)

    def residual(self, term: CostTerm, q: FloatArray, v: FloatArray) -> FloatArray:
        """(n, k) of a term without efforts."""
        return term.residual(Motion(self, q, v, np.zeros((len(q), self.steps.nu))))

    def _values(self, motion: Motion, when: str) -> FloatArray:
        found = np.zeros((len(motion.q), len(self.terms)))
        for k, term in enumerate(self.terms):
            if term.at in (when, BOTH):
                found[:, k] = term.weight * np.square(term.residual(motion)).sum(axis=1)
        return found

    def by_label(self, values: FloatArray) -> dict[str, float]:
        """{label of a term: sum} of values (..., terms)."""
        totals = values.reshape(-1, len(self.terms)).sum(axis=0)
        return {term.label: float(total) for term, total in zip(self.terms, totals, strict=True)}

    def derivatives(
        self, q: FloatArray, v: FloatArray, u: FloatArray, around: Sequence[tuple[str, Perturbed]], when: str
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient (n, m) and second derivatives (n, m, m) by the directions of what is `around`, in order.

        around: [("q", "v" or "u", Perturbed)] of these knots.
        """
        here = Motion(self, q, v, u)
        moved = {name: (each, Motion(self, each.q, each.v, each.u)) for name, each in around}
        width = sum(each.directions for _, each in around)
        gradient, second = np.zeros((len(q), width)), np.zeros((len(q), width, width))
        scale = self.period if when == RUN else 1.0
        for term in self.terms:
            if term.at not in (when, BOTH) or not term.weight:
                continue
            value = term.residual(here)
            parts: list[Any] = []
            for name, (each, motion) in moved.items():
                if name in term.by:
                    parts.append(each.slopes(term.residual(motion)))
                else:
                    parts.append(np.zeros((len(q), value.shape[1], each.directions)))
            J = np.concatenate(parts, axis=2)
            gradient += 2.0 * scale * term.weight * np.einsum("nkd,nk->nd", J, value)
            second += 2.0 * scale * term.weight * np.swapaxes(J, 1, 2) @ J
        return gradient, second

"""Plan: a motion that was found, the efforts and gains that lead along it, and what the search did."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.log import Log, open_log
from mbcli.optimal_control.dynamic_programming import CONVERGED

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.optimal_control.dynamic_programming import Iteration

PREFIX = "plan_"  # of its arrays in a checkpoint


@dataclass(frozen=True)
class Track:
    """The knots of a plan: u = u_k + K_k x~ from knot k on, with x~ the deviation of the state from (q_k, v_k).

    time: (N + 1,) [s] from the start; q: (N + 1, nq); v: (N + 1, nv); u: (N, nu); K: (N, nu, 2 nv).
    """

    time: FloatArray
    q: FloatArray
    v: FloatArray
    u: FloatArray
    K: FloatArray

    def arrays(self) -> dict[str, FloatArray]:
        """As a checkpoint of a log has them."""
        return {PREFIX + name: values for name, values in vars(self).items()}


@dataclass(frozen=True)
class Plan:
    """What optimize() found.

    Attributes:
        track: the Track.
        status: "converged", "iterations" (there were no more), or "stuck" (no step made the motion cheaper).
        costs: {term: its part}, of all knots; start_costs: those of the motion that the search began with.
        iterations: what each did.
        wall_time: [s] of the search.
        difference: largest difference of a position or velocity from the run that simulate() makes of the efforts
            alone, in its own steps.
        feedback_difference: the same of the run of the log, under the gains too; None without a log.
        log: the file with the run, None without one.
    """

    track: Track
    status: str
    costs: dict[str, float]
    start_costs: dict[str, float]
    iterations: list[Iteration]
    wall_time: float
    difference: float
    feedback_difference: float | None = None
    log: str | None = None

    @property
    def converged(self) -> bool:
        """Whether the search ended because there was nothing to gain."""
        return self.status == CONVERGED

    @property
    def cost(self) -> float:
        """In all."""
        return sum(self.costs.values())

    @property
    def start_cost(self) -> float:
        """Of the motion that the search began with, in all."""
        return sum(self.start_costs.values())

    def as_dict(self) -> dict[str, Any]:
        """As the JSON document has it."""
        return {
            "status": self.status,
            "converged": self.converged,
            "cost": self.cost,
            "costs": self.costs,
            "start_cost": self.start_cost,
            "start_costs": self.start_costs,
            "iterations": [asdict(each) for each in self.iterations],
            "wall_time": self.wall_time,
            "difference": self.difference,
            "feedback_difference": self.feedback_difference,
            "log": self.log,
        }


def read_track(path: str | os.PathLike[str]) -> Track:
    """The Track in the log of a plan. ModelError: it has none."""
    with open_log(path) as log:
        saved = log.read_checkpoint() if isinstance(log, Log) else None
        return track_of(saved or {}, os.fspath(path))


def track_of(saved: Mapping[str, Any], place: str) -> Track:
    """That of arrays of a checkpoint. ModelError where there are none, or their shapes do not fit."""
    arrays = {name: np.asarray(saved.get(PREFIX + name, ()), dtype=float) for name in Track.__dataclass_fields__}
    count, nv = len(arrays["u"]), arrays["v"].shape[-1] if arrays["v"].ndim == 2 else 0
    fits = arrays["u"].ndim == 2 and count > 0 and all(np.isfinite(values).all() for values in arrays.values())
    fits = fits and arrays["K"].shape == (*arrays["u"].shape, 2 * nv) and arrays["q"].ndim == 2
    fits = fits and all(len(arrays[name]) == count + 1 for name in ("time", "q", "v"))
    steps = np.diff(arrays["time"]) if fits and arrays["time"].ndim == 1 else np.zeros(1)
    if not (steps > 0.0).all() or not np.allclose(steps, steps[0]):
        raise ModelError(f"{place}: error: is no log of a plan: mbcli optimize makes one")
    return Track(**arrays)

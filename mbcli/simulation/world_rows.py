"""Fields of a log of many worlds that follow from their states, and from the step that each takes next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.stepping.samples import Samples
from mbcli.simulation.recording import RowMaker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.simulation.control.plans import Plan

FIELDS = ("u", "energy", "com", "momentum", "poses", "effort", "targets", "tracking", "activations")
"""Those of mbcli.log.fields; `sensors` are of WorldSensors."""


class WorldRows:
    """Rows of worlds, computed by the log fields of single runs.

    Args:
        worlds: Any. fields: some of FIELDS. plan: what they follow, or None.
    """

    def __init__(self, worlds: Any, fields: Sequence[str], plan: Plan | None) -> None:
        self._worlds, self._plant = worlds, worlds.plant
        self._effort, self._energy = "effort" in fields, "energy" in fields
        self._context = self._plant.CreateDefaultContext()
        with worlds.holding():
            self._maker = RowMaker(self._plant, fields, plan)

    def rows(self) -> dict[str, FloatArray]:
        """{path: values (n, 1, columns)} where the worlds are; NaN of those that have ended."""
        worlds = self._worlds
        n = len(worlds)
        samples = Samples(
            time=worlds.time,
            q=worlds.q,
            v=worlds.v,
            energy=self._energies() if self._energy else np.full((n, 2), np.nan),
            u=worlds.acting,
            constraint_error=np.zeros(n),
            effort=worlds.next_step()[1] if self._effort else None,
            desired=worlds.desired,
            activations=worlds.activations,
        )
        with worlds.holding():
            found = self._maker.rows(samples, np.ones(n, dtype=bool))
        ended = worlds.status != 0
        rows = {}
        for path in found.keys() - {"time", "q", "v"}:
            rows[path] = np.array(found[path], dtype=float).reshape(n, 1, -1)
            rows[path][ended] = np.nan
        return rows

    def _energies(self) -> FloatArray:
        """(n, 2) [J], kinetic and potential."""
        plant, context, worlds = self._plant, self._context, self._worlds
        found = np.empty((len(worlds), 2))
        for k, (q, v) in enumerate(zip(worlds.q, worlds.v, strict=True)):
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)
            found[k] = plant.CalcKineticEnergy(context), plant.CalcPotentialEnergy(context)
        return found

"""Fields of a log of many worlds that follow from their states, and from the step that each takes next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import NumericalError
from mbcli.log.contact_writer import joined_contacts
from mbcli.log.fields.loaded_states import LoadedStates
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.stepping.samples import Samples
from mbcli.simulation.aims import Aims
from mbcli.simulation.recording import RowMaker, contact_names, logged_plant, row_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.state.context import Context

KEPT = ("accelerations", "contacts")  # by steps
OF_STEPS = ("constraint_error", "reactions", "solver", "contact", "faces", "compliance")
"""Fields that need a step of each world alone; others follow from its state, and `sensors` are of WorldSensors."""


class WorldRows:
    """Rows of worlds, computed by the log fields of single runs.

    Args:
        worlds: Any. fields: names of mbcli.log.fields. lent: as of LoggedPlant.
    """

    def __init__(self, worlds: Any, fields: Sequence[str], lent: Mapping[str, Any]) -> None:
        self._worlds, self._plant = worlds, worlds.plant
        self._effort, self._energy = "effort" in fields, "energy" in fields
        self._context = self._plant.CreateDefaultContext()
        of_steps = [name for name in fields if name in OF_STEPS]
        self._maker = RowMaker(self._plant, [name for name in fields if name not in of_steps], lent)
        self._steps = StepRows(worlds, of_steps) if of_steps else None

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
        found = self._maker.rows(samples, np.ones(n, dtype=bool))
        ended = worlds.status != 0
        rows = {}
        for path in found.keys() - {"time", "q", "v"}:
            rows[path] = np.array(found[path], dtype=float).reshape(n, 1, -1)
            rows[path][ended] = np.nan
        return rows if self._steps is None else rows | self._steps.rows()

    def _energies(self) -> FloatArray:
        """(n, 2) [J], kinetic and potential."""
        plant, context, worlds = self._plant, self._context, self._worlds
        found = np.empty((len(worlds), 2))
        for k, (q, v) in enumerate(zip(worlds.q, worlds.v, strict=True)):
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)
            found[k] = plant.CalcKineticEnergy(context), plant.CalcPotentialEnergy(context)
        return found


class StepRows:
    """Rows of what a step tells, of each world by itself, as its single run has them: about a millisecond each.

    Args:
        worlds: Any. fields: some of OF_STEPS.
    """

    def __init__(self, worlds: Any, fields: Sequence[str]) -> None:
        self._worlds = worlds
        logged = logged_plant(worlds.plant)
        self._widths = {field.path: len(field.names) for field in row_fields(fields, logged)}
        self._contact = contact_names(logged, fields)
        self._of: dict[int, _StepsOfGroup] = {}
        for context, numbers, _ in worlds.contexts():
            self._of |= dict.fromkeys(numbers.tolist(), _StepsOfGroup(worlds, context, fields))

    def rows(self) -> dict[str, Any]:
        """{path: values (n, 1, columns)}; NaN of worlds that have ended, or whose next step has no solution.

        "contact": those of all worlds one after another, as of LogWriter.append() n rows; none of such worlds.
        """
        n = len(self._worlds)
        rows: dict[str, Any] = {path: np.full((n, 1, width), np.nan) for path, width in self._widths.items()}
        contacts: list[dict[str, Any] | None] = [None] * n
        for k in np.flatnonzero(self._worlds.status == 0).tolist():
            try:
                found = self._of[k].row(k)
            except NumericalError:
                continue
            for path, values in rows.items():
                values[k, 0] = np.ravel(found[path])
            contacts[k] = found.get("contact")
        return rows if self._contact is None else rows | {"contact": joined_contacts(contacts, self._contact)}


class _StepsOfGroup:
    """Steps of worlds with the parameters of a context."""

    def __init__(self, worlds: Any, context: Context, fields: Sequence[str]) -> None:
        self._worlds, self._plant, self._aims = worlds, worlds.plant, Aims(worlds.plant)
        self._loads = LoadedStates(self._plant, context, ())
        self._maker = RowMaker(self._plant, fields, None, self._loads)
        self._run: Run | None = None  # of steps without pushes, which goes on from world to world

    def row(self, k: int) -> dict[str, Any]:
        """The row of world k, where it is."""
        worlds, time = self._worlds, float(self._worlds.time[k])
        context = self._loads.at(time, worlds.q[k], worlds.v[k], worlds.acting[k])
        self._aims.put(worlds.desired[k], context)
        kept = {"carried": worlds.carried[k], "activations": worlds.activations[k]}
        until, run, forces = time + self._plant.time_step(), self._run, worlds.pushes.forces(k)
        if run is None or forces:
            run = Run(self._plant, context, until, keep=KEPT, forces=forces, going_on=kept)
            self._run = None if forces else run
        else:
            run.go_on(until, kept)
        samples = next(run.blocks())
        return self._maker.rows(samples, np.arange(len(samples.time)) == 0)

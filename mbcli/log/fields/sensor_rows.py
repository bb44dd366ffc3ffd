"""SensorRows: what sensors give at the samples of a run, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ModelError
from mbcli.multibody.core.reaction_forces import joint_reactions, reactions_of_steps
from mbcli.multibody.sensing.evaluation import has_forces_between, needs_of
from mbcli.multibody.sensing.plant_sensing import PlantSensing
from mbcli.multibody.sensing.rows import SensedRows
from mbcli.multibody.sensing.signals import SensorSignals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.log.fields.loaded_states import LoadedStates
    from mbcli.math.array_types import BoolArray, FloatArray
    from mbcli.multibody.tree.sensor import Sensor


def require_of_states(late: Sequence[Sensor]) -> None:
    """ModelError for a sensor that measures more than positions and velocities: a log has it too late to go on with."""
    for sensor in late:
        needs = needs_of([sensor])
        if needs:
            raise ModelError(
                f"sensor '{sensor.name()}' is late by {sensor.delay:g} s, and rows of a log do not have the "
                f"{', '.join(sorted(needs))} from which it was measured: a run cannot go on with it in "
                f"{argument('fields', 'sensors')}"
            )


class SensorRows:
    """The sensors of a plant in a run.

    Args:
        plant: finalized.
        loads: LoadedStates of the run; None: nothing acts on bodies but contact, joints and gravity.
        seed: of their noise; None: they have none.
    """

    def __init__(self, plant: Any, loads: LoadedStates | None, seed: int | None) -> None:
        self._plant, self._loads = plant, loads
        self._signals = SensorSignals(plant.elements.sensors, seed)
        self._needs, self._sensing = needs_of(plant.elements.sensors), PlantSensing(plant)

    def values(self, samples: Any, chosen: BoolArray) -> dict[str, FloatArray]:
        """{path: values} at the chosen samples, which go on from those of the last call."""
        needs, given = self._needs, dict[str, Any]()
        contacts = None if samples.contacts is None else samples.contacts.chosen(chosen)
        if samples.vdot is not None:
            given["vdot"] = samples.vdot[chosen]
        if samples.steps is not None:
            given["steps"] = samples.steps.chosen(chosen)
        if needs & {"contact", "wrench"}:
            given["contacts"] = contacts
        if "effort" in needs:
            given["effort"] = samples.effort[chosen]
        if "wrench" in needs:
            given |= self._wrench_inputs(samples, chosen, contacts)
        rows = SensedRows(
            self._sensing,
            samples.time[chosen],
            samples.q[chosen],
            samples.v[chosen],
            energy=samples.energy[chosen],
            **given,
        )
        return self._signals.values(rows)

    def go_on(self, rows: Mapping[str, Any]) -> None:
        """The rows of the log that the run goes on with. ModelError where they do not have what a late sensor needs."""
        late = self._signals.late()
        require_of_states(late)
        exact = {}
        if late:
            states = SensedRows(self._sensing, *(np.asarray(rows[name]) for name in ("time", "q", "v")))
            exact = {sensor.path: sensor.values(states) for sensor in late}
        self._signals.go_on(rows, exact)

    def _wrench_inputs(self, samples: Any, chosen: BoolArray, contacts: Any) -> dict[str, Any]:
        """As evaluation.wrench_inputs(), at the samples."""
        if self._loads is None:
            return {}
        plant = self._plant
        if samples.steps is not None:
            F = reactions_of_steps(plant, self._loads.context, samples.steps.chosen(chosen), contacts)
            return {"reactions": F}
        between, forces = has_forces_between(plant), []
        for k in np.flatnonzero(chosen):
            context = self._loads.at(float(samples.time[k]), samples.q[k], samples.v[k], samples.effort[k])
            F = joint_reactions(plant, context) if between else plant.input_body_forces(context)
            forces.append(np.broadcast_to(F, (plant.num_joints() if between else plant.num_bodies(), 6)))
        return {"reactions" if between else "pushes": np.array(forces)}

"""TickSensors: what the sensors of a model give to a controller at its ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.log.fields.loaded_states import LoadedStates
from mbcli.multibody.sensing.evaluation import SensorEvaluator
from mbcli.multibody.sensing.signals import SensorSignals
from mbcli.simulation.aims import Aims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.inputs import LinkForce

FOLDER = "sensors/"  # of their paths in a log


class TickSensors:
    """The sensors of a plant at the ticks of a run: at their rates, late and with noise, as in its log.

    Accelerations and forces at a tick are those under the commands of the tick before, as far as the controller knows.

    Args:
        plant: finalized.
        context: of the run, whose parameters and inputs hold.
        forces: LinkForces that its steps take.
        seed: of the noise; None: there is none.
    """

    def __init__(self, plant: MultibodyPlant, context: Context, forces: Sequence[LinkForce], seed: int | None) -> None:
        self._evaluator = SensorEvaluator(plant, compiled=True)
        self._signals = SensorSignals(self._evaluator.sensors, seed)
        self._run, self._plant = context, plant
        self._states = LoadedStates(plant, context, forces)
        self._aims = Aims(plant)

    def describe(self) -> dict[str, Any]:
        """{name: its "columns" and their "units"}."""
        described = {}
        for sensor in self._evaluator.sensors:
            columns, units = sensor.columns()
            described[sensor.path.removeprefix(FOLDER)] = {"columns": list(columns), "units": list(units)}
        return described

    def at(
        self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray
    ) -> dict[str, FloatArray | float]:
        """{name: its values (columns,), or one number}, SI units.

        u: (nu,) [N m or N] the efforts that act so far; desired: (npd, 2) the aims of the PD controllers.
        """
        exact = self._evaluator.exact(self._context(time, q, v, u, desired))
        values = self._signals.of_exact(np.array([time]), exact)
        return {path.removeprefix(FOLDER): value[0] for path, value in values.items()}

    def exact(self, *state: Any) -> dict[str, FloatArray]:
        """As at(), but without rates, delays and noise, and each (1, columns)."""
        exact = self._evaluator.exact(self._context(*state))
        return {path.removeprefix(FOLDER): values for path, values in exact.items()}

    def contact_wrenches(self, *state: Any) -> FloatArray:
        """Spatial forces (1, number of bodies, 6) of contact on bodies at their origins, in World, torques first."""
        context = self._context(*state)
        found = np.zeros((1, self._plant.num_bodies(), 6))
        if self._plant.meets_contact():
            found[0] = self._plant.contact_body_forces(context, self._plant.contact_record(context))
        return found

    def _context(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> Context:
        """One in this state, in which acts what acts in the run."""
        context: Context = self._states.at(time, q, v, u)
        self._aims.put(desired, context)
        context.state.data.pd_carried[:] = self._run.state.data.pd_carried
        context.state.data.activation[:] = self._run.state.data.activation
        return context

    def save(self) -> dict[str, Any]:
        """What load() goes on from, of numbers and lists."""
        return self._signals.save()

    def load(self, saved: dict[str, Any]) -> None:
        """The contrary of save()."""
        self._signals.load(saved)

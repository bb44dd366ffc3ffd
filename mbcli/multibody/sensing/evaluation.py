"""Sensors of a plant in a context: sensor_values(), and what the rows of a run need for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ArgumentError
from mbcli.multibody.contact.contact_arrays import SampledContacts
from mbcli.multibody.core.dynamics import accelerations
from mbcli.multibody.core.outputs import net_actuation
from mbcli.multibody.core.reaction_forces import joint_reactions
from mbcli.multibody.sensing.plant_sensing import PlantSensing
from mbcli.multibody.sensing.rows import SensedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.sensor import Sensor


def needs_of(sensors: Iterable[Sensor]) -> set[str]:
    """What the signals of sensors are computed from, names of mbcli.sensors.NEEDED."""
    return {need for sensor in sensors for need in sensor.kind.NEEDS}


def sensors_named(plant: MultibodyPlant, names: Sequence[str] | None) -> list[Sensor]:
    """The sensors of these names, or of the ends of their paths; None for all. ArgumentError for a name of none."""
    sensors = plant.elements.sensors
    if names is None:
        return list(sensors)
    found = []
    for name in names:
        own = [s for s in sensors if name in (s.name(), s.path, s.path.removeprefix("sensors/"))]
        if len(own) != 1:
            known = ", ".join(s.path.removeprefix("sensors/") for s in sensors) or "none"
            problem = f"{len(own)} sensors are called" if own else "there is no sensor"
            raise ArgumentError(f"{problem} '{name}'; there are {known}")
        found += own
    return found


class SensorEvaluator:
    """Evaluates sensors of a plant in its contexts, as often as wanted.

    Args:
        plant: finalized, of floats.
        names: of the sensors; None for all.
        compiled: whether kernels are, once it has been asked often.
    """

    def __init__(self, plant: MultibodyPlant, names: Sequence[str] | None = None, compiled: bool = False) -> None:
        self._plant, self.sensors = plant, sensors_named(plant, names)
        self._needs, self._sensing = needs_of(self.sensors), PlantSensing(plant, compiled=compiled)
        self._links = sorted({sensor.body.index_number for sensor in self.sensors if sensor.has_frame})

    def values(self, context: Context) -> dict[str, FloatArray]:
        """{name of a sensor, as in a log without "sensors/": its values (columns,)}, without noise, delay and rate.

        Accelerations and forces are those at the state; in a discrete plant those of the step from it. The columns are
        those of sensor.columns(), in SI units.
        """
        rows = self.rows(context)
        return {sensor.path.removeprefix("sensors/"): sensor.values(rows)[0] for sensor in self.sensors}

    def rows(self, context: Context) -> SensedRows:
        """The state of a context, as one row."""
        plant, needs = self._plant, self._needs
        plant.check_context(context)
        q, v = plant.GetPositions(context)[None], plant.GetVelocities(context)[None]
        given: dict[str, Any] = {}
        if "acceleration" in needs:
            given["vdot"] = accelerations(plant, context)[None]
        if "energy" in needs:
            given["energy"] = np.array([[plant.CalcKineticEnergy(context), plant.CalcPotentialEnergy(context)]])
        if needs & {"contact", "wrench"} and plant.meets_contact():
            record = plant.contact_record(context)
            if record is not None:
                zero = np.zeros(1)
                given["contacts"] = SampledContacts(np.array([0, len(record)]), record, zero, zero)
        if "wrench" in needs:
            given |= wrench_inputs(plant, context)
        if "effort" in needs:
            given["effort"] = net_actuation(plant, context)[None]
        rows = SensedRows(self._sensing, np.array([context.get_time()]), q, v, **given)
        if self._links:
            rows.compute_motions(self._links)
        return rows


def sensor_values(plant: MultibodyPlant, context: Context, names: Sequence[str] | None = None) -> dict[str, FloatArray]:
    """What the sensors of a plant give at the state of a context: SensorEvaluator(plant, names).values(context)."""
    return SensorEvaluator(plant, names).values(context)


def wrench_inputs(plant: MultibodyPlant, context: Context) -> dict[str, Any]:
    """What wrenches in joints need beside motion and contact at the state of a context."""
    if has_forces_between(plant):
        return {"reactions": joint_reactions(plant, context)[None]}
    pushes = plant.input_body_forces(context)
    return {} if isinstance(pushes, float) else {"pushes": pushes[None]}


def has_forces_between(plant: MultibodyPlant) -> bool:
    """Whether elements act between bodies beside joints, so that wrenches do not follow from motion and contact."""
    sizes = plant.model.sizes
    between = any(sizes[name] for name in ("nspring", "nbushing", "ncut"))
    ties = any(constraint.bodies() for constraint in plant.elements.constraints if not constraint.joints())
    return between or ties or bool(plant.elements.loop_joints or plant.elements.deformable_bodies)

"""Sensors of a plant in a context: sensor_values(), and what the rows of a run need for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ArgumentError
from mbcli.multibody.contact.contact_arrays import SampledContacts
from mbcli.multibody.core.dynamics import accelerations
from mbcli.multibody.core.outputs import net_actuation
from mbcli.multibody.core.reaction_forces import joint_reactions
from mbcli.multibody.core.step_forces import StepForces, step_forces
from mbcli.multibody.sensing.plant_sensing import PlantSensing
from mbcli.multibody.sensing.recorded_sensors import RecordedSensors
from mbcli.multibody.sensing.rows import SensedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.sensor import Sensor


ASKED_OFTEN = 16  # single states after which sensors are recorded, which takes as long as some of them


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
        model: arrays of contexts with parameters of their own; None: those of the plant.

    Attributes:
        sensing: PlantSensing of these arrays.
    """

    def __init__(
        self, plant: MultibodyPlant, names: Sequence[str] | None = None, compiled: bool = False, model: Any = None
    ) -> None:
        self._plant, self.sensors = plant, sensors_named(plant, names)
        self._needs, self.sensing = needs_of(self.sensors), PlantSensing(plant, compiled, model)
        self._links = _links_of(self.sensors)
        self._asked, self._compiled = 0, compiled  # how often values of single states were wanted
        self._recorded: RecordedSensors | None = None
        self._others: list[Sensor] = []  # that are not recorded, when some are

    def values(self, context: Context) -> dict[str, FloatArray]:
        """{name of a sensor, as in a log without "sensors/": its values (columns,)}, without noise, delay and rate.

        Accelerations and forces are those at the state; in a discrete plant those of the step from it. The columns are
        those of sensor.columns(), in SI units.
        """
        return {path.removeprefix("sensors/"): values[0] for path, values in self.exact(context).items()}

    def exact(self, context: Context) -> dict[str, FloatArray]:
        """{path of a sensor: (1, columns)}, as values()."""
        plant, given = self._plant, self.given(context)
        plant.check_context(context)
        time, q, v = context.get_time(), plant.GetPositions(context)[None], plant.GetVelocities(context)[None]
        self._asked += 1
        if self._asked == ASKED_OFTEN and self._compiled:
            self._recorded = RecordedSensors(self.sensing, self.sensors, given)
            self._others = [sensor for sensor in self.sensors if sensor not in self._recorded.sensors]
            self._links = _links_of(self._others)
        if self._recorded is None:
            rows = self.rows_of(np.array([time]), q, v, given)
            return {sensor.path: sensor.values(rows) for sensor in self.sensors}
        found = self._recorded.values(time, q, v, given)
        if self._others:
            rows = self.rows_of(np.array([time]), q, v, given)
            found |= {sensor.path: sensor.values(rows) for sensor in self._others}
        return found

    @property
    def needs(self) -> set[str]:
        """What the signals are computed from beside motion, names of mbcli.sensors.NEEDED."""
        return self._needs

    def rows(self, context: Context) -> SensedRows:
        """The state of a context, as one row."""
        plant = self._plant
        plant.check_context(context)
        q, v = plant.GetPositions(context)[None], plant.GetVelocities(context)[None]
        return self.rows_of(np.array([context.get_time()]), q, v, self.given(context))

    def rows_of(self, time: FloatArray, q: FloatArray, v: FloatArray, given: Mapping[str, Any]) -> SensedRows:
        """Several states, with what given() has of them."""
        rows = SensedRows(self.sensing, time, q, v, **given)
        if self._links:
            rows.compute_motions(self._links)
        return rows

    def given(self, context: Context) -> dict[str, Any]:
        """What the signals need of the state of a context beside q and v, as a SensedRows of one row takes it."""
        plant, needs = self._plant, self._needs
        given: dict[str, Any] = {}
        if "acceleration" in needs and plant.is_discrete():
            given["steps"] = step_forces(plant, context)
            given["vdot"] = given["steps"].vdot
        elif "acceleration" in needs:
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
        return given


def _links_of(sensors: Iterable[Sensor]) -> list[int]:
    """The links that sensors are fixed to, or measure in."""
    mounts = [sensor.mount for sensor in sensors if sensor.has_frame]
    mounts += [sensor.reference for sensor in sensors if sensor.reference is not None]
    return sorted({body.index_number for body, _ in mounts})


def sensor_values(plant: MultibodyPlant, context: Context, names: Sequence[str] | None = None) -> dict[str, FloatArray]:
    """What the sensors of a plant give at the state of a context: SensorEvaluator(plant, names).values(context)."""
    return SensorEvaluator(plant, names).values(context)


def wrench_inputs(plant: MultibodyPlant, context: Context) -> dict[str, Any]:
    """What wrenches in joints need beside motion and contact at the state of a context."""
    if plant.is_discrete() or has_forces_between(plant):
        return {"reactions": joint_reactions(plant, context)[None]}
    pushes = plant.input_body_forces(context)
    return {} if isinstance(pushes, float) else {"pushes": pushes[None]}


def joined(parts: Sequence[Mapping[str, Any]], plant: MultibodyPlant) -> dict[str, Any]:
    """What SensorEvaluator.given() has of several states of a plant, as SensedRows take it."""
    found: dict[str, Any] = {}
    for name in {name for part in parts for name in part}:
        if name == "contacts":
            found[name] = _joined_contacts([part.get(name) for part in parts])
            continue
        if name == "steps":
            found[name] = StepForces.joined([part[name] for part in parts])
            continue
        nothing = np.zeros((1, plant.num_bodies(), 6)) if name == "pushes" else None
        rows = [part.get(name, nothing) for part in parts]
        found[name] = np.concatenate([np.broadcast_to(row, np.shape(rows[0])) for row in rows])
    return found


def _joined_contacts(parts: Sequence[Any]) -> SampledContacts:
    """Contacts of rows, one after another; without the corners of faces, which no sensor reads."""
    counts = [0 if part is None else len(part.contacts) for part in parts]
    records = [part.contacts for part in parts if part is not None]
    whole = {"corner_start": np.zeros(sum(counts) + 1, dtype=int), "corners": records[0].corners[:0]}
    names = [name for name in records[0].__dataclass_fields__ if name not in whole]
    parts_of = {name: np.concatenate([getattr(record, name) for record in records]) for name in names}
    zeros = np.zeros(len(parts))
    return SampledContacts(
        np.concatenate([[0], np.cumsum(counts)]), type(records[0])(**parts_of, **whole), zeros, zeros
    )


def has_forces_between(plant: MultibodyPlant) -> bool:
    """Whether elements or actuators act on links, so that wrenches do not follow from motion and contact."""
    sizes = plant.model.sizes
    between = any(sizes[name] for name in ("nspring", "nbushing", "ncut", "npath"))
    ties = any(constraint.bodies() for constraint in plant.elements.constraints if not constraint.joints())
    return between or ties or bool(plant.elements.loop_joints or plant.elements.deformable_bodies)

"""The series of a run by name, for measures: coordinates, efforts, energies, contacts, reactions, sensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import NamedCoordinates, StateNames
from mbcli.common.suggestions import closest
from mbcli.errors import ArgumentError
from mbcli.log.fields import LOG_FIELDS
from mbcli.log.fields.com import COM
from mbcli.log.fields.constraint_error import CONSTRAINT_ERROR
from mbcli.log.fields.energy import KINETIC, POTENTIAL
from mbcli.log.fields.vertices import VERTICES
from mbcli.models.actuator_names import ActuatorNames
from mbcli.models.units import plain_unit, plain_units
from mbcli.sweeps.measures import SERIES
from mbcli.sweeps.named_columns import field_of, named_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.log.memory import MemoryLog
    from mbcli.math.array_types import Array, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

FIELDS_OF = {"com_x": "com", "com_y": "com", "com_z": "com", "constraint_error": "constraint_error"}
ENERGIES = {"energy_kinetic": KINETIC, "energy_potential": POTENTIAL}
SERIES_UNITS = {
    "time": "s",
    "contacts": "",
    "contact_force": "N",
    "contact_force_sum": "N",
    "contact_depth": "m",
    "slip_speed": "m/s",
}  # of those of SERIES that do not begin with energy or com_; constraint_error mixes angles and lengths
OF_ACTUATOR = "u."
OF_DEFORMABLE = ("x", "y", "z", "low", "high")  # BODY.x and so on: its mass centre, its least and largest z [m]


def fields_for(names: Sequence[str]) -> list[str]:
    """The fields of a log that the series of these names need."""
    own = [FIELDS_OF[name] for name in names if name in FIELDS_OF]
    own += filter(None, map(field_of, names))
    vertices = ["vertices"] if any(name.rpartition(".")[2] in OF_DEFORMABLE for name in names) else []
    return ["energy", "u", "contact", *dict.fromkeys(own), *vertices]


def check_names(plant: MultibodyPlant, names: Iterable[str]) -> None:
    """ArgumentError for a name that is no series of a run of this plant."""
    finder = StateNames(plant.GetPositionNames(), plant.GetVelocityNames())
    for name in names:
        if name in SERIES:
            missing = LOG_FIELDS[FIELDS_OF[name]].lacks(plant) if name in FIELDS_OF else ""
            soft = plant.elements.deformable_bodies
            if missing and soft and name.startswith("com_"):
                missing = f"no rigid body has mass; {soft[0].name()}.{name[-1]} is of a deformable one"
            if missing:
                raise _unknown(name, missing)
            continue
        if _deformable_body(plant, name) is not None:
            continue
        try:
            field = field_of(name)
            if field is not None:
                missing = LOG_FIELDS[field].lacks(plant)
                if missing:
                    raise LookupError(missing)
                named_columns(plant, name)
                continue
            if name.startswith(OF_ACTUATOR):
                ActuatorNames(plant).find(name.removeprefix(OF_ACTUATOR))
            else:
                finder.find(name)
        except LookupError as error:
            likely = closest(name, list(SERIES))
            raise _unknown(name, f"{error.args[0]}{f'; or {likely}?' if likely else ''}") from None


def _unknown(name: str, message: str) -> ArgumentError:
    return ArgumentError(f"{argument('measures')}: '{name}' is not a series of a run: {message}")


def _deformable_body(plant: MultibodyPlant, name: str) -> int | None:
    """The number of the deformable body whose place a series is of, None for other series. The end of a name will do.

    ArgumentError if there are several.
    """
    body, _, what = name.rpartition(".")
    if what not in OF_DEFORMABLE:
        return None
    names = [deformable.full_name() for deformable in plant.elements.deformable_bodies]
    found = [k for k, own in enumerate(names) if own == body or own.endswith(f"::{body}")]
    if len(found) > 1:
        raise _unknown(name, f"there are several: {', '.join(names[k] for k in found)}")
    return found[0] if found else None


def series_unit(plant: MultibodyPlant, name: str) -> str | None:
    """The unit of a series of check_names(), "" for a plain number; None if it has several."""
    if name in SERIES:
        return {"energy": "J", "com": "m"}.get(name.partition("_")[0], SERIES_UNITS.get(name))
    if _deformable_body(plant, name) is not None:
        return "m"
    if field_of(name) is not None:
        return plain_unit(named_columns(plant, name).unit)
    units = plain_units(plant)
    if name.startswith(OF_ACTUATOR):
        return plain_unit(units["u"][ActuatorNames(plant).find(name.removeprefix(OF_ACTUATOR))])
    field, k = StateNames(plant.GetPositionNames(), plant.GetVelocityNames()).find(name)
    return plain_unit(units[field][k])


class RunSeries:
    """The series of a MemoryLog of a plant, by name."""

    def __init__(self, log: MemoryLog, plant: MultibodyPlant) -> None:
        self._log, self._plant = log, plant
        self._contact: dict[str, Array] | None = None

    def __call__(self, name: str) -> Vector:
        """(n,)"""
        log = self._log
        if name == "time":
            return log.times
        if name == "energy":
            return log.energy.sum(axis=1)
        if name in ENERGIES:
            return log.field(ENERGIES[name])
        if name.startswith("com_") and name in SERIES:
            return log.field(COM)[:, "xyz".index(name[-1])]
        if name == "constraint_error":
            return log.field(CONSTRAINT_ERROR)
        if name in SERIES:
            return self._of_contacts(name)
        if name.startswith(OF_ACTUATOR):
            found = NamedCoordinates(log.actuator_names, "actuator").find(name.removeprefix(OF_ACTUATOR))
            return log.u[:, found]
        if field_of(name) is not None:
            path, columns, _ = named_columns(self._plant, name)
            values = log.field(path)
            if len(columns) > 1:
                return np.linalg.norm(values[:, columns], axis=1)
            return values[:, columns[0]] if columns else values
        body = _deformable_body(self._plant, name)
        return log.column(name) if body is None else self._of_deformable(body, name.rpartition(".")[2])

    def _of_deformable(self, k: int, what: str) -> Vector:
        bodies = self._plant.elements.deformable_bodies
        start = sum(len(body.reference) for body in bodies[:k])
        count = len(bodies[k].reference)
        places = self._log.field(VERTICES).reshape(self._log.row_count, -1, 3)[:, start : start + count]
        if what in ("low", "high"):
            return getattr(places[:, :, 2], "min" if what == "low" else "max")(axis=1)
        return places[:, :, "xyz".index(what)] @ bodies[k].vertex_masses() / bodies[k].mass()

    def _of_contacts(self, name: str) -> Vector:
        """Of the contacts of each row; 0 in a row without any."""
        rows = self._log.row_count
        if not self._log.has_contacts:
            return np.zeros(rows)
        if self._contact is None:
            self._contact = self._log.contacts()
        contacts = self._contact
        counts = np.diff(contacts["offset"])
        if name == "contacts":
            return counts.astype(float)
        sizes = np.linalg.norm(contacts["contact/force"], axis=1)
        values = {
            "contact_force": sizes,
            "contact_force_sum": sizes,
            "contact_depth": contacts["contact/depth"],
            "slip_speed": contacts["contact/slip_speed"],
        }[name]
        result, row = np.zeros(rows), np.repeat(np.arange(rows), counts)
        (np.add if name == "contact_force_sum" else np.maximum).at(result, row, values)
        return result

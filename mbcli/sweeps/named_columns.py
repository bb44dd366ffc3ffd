"""Series of a run by a prefix and a name: `effort.ACTUATOR`, `reaction.JOINT.PART`, `sensor.NAME.COLUMN`.

A prefix is one function of PREFIXES; the end of a name will do where it is of one thing alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mbcli.common.coordinate_names import NamedCoordinates
from mbcli.errors import ArgumentError
from mbcli.log.fields.effort import EFFORT, effort_units
from mbcli.log.fields.reactions import PARTS, REACTIONS, UNITS, joint_names
from mbcli.models.actuator_names import ActuatorNames
from mbcli.models.units import coordinate_units
from mbcli.multibody.sensing.evaluation import sensors_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

SIZES = {"moment": (0, 1, 2), "force": (3, 4, 5)}  # parts whose size a series is


class NamedColumns(NamedTuple):
    """Columns of a dataset: one, or those whose norm is the series; none of a dataset that is one number a row.

    unit: as the log has it.
    """

    path: str
    columns: tuple[int, ...]
    unit: str


def _effort(plant: MultibodyPlant, name: str) -> NamedColumns:
    k = ActuatorNames(plant).find(name)
    return NamedColumns(EFFORT, (k,), effort_units(plant, coordinate_units(plant)[2])[k])


def _reaction(plant: MultibodyPlant, name: str) -> NamedColumns:
    joint, _, part = name.rpartition(".")
    parts = dict(zip(PARTS, ((k,) for k in range(len(PARTS))), strict=True)) | SIZES
    if not joint or part not in parts:
        raise LookupError(f"a reaction is JOINT.PART with one of {', '.join(parts)}")
    first = len(PARTS) * NamedCoordinates(joint_names(plant), "joint").find(joint)
    return NamedColumns(REACTIONS, tuple(first + k for k in parts[part]), UNITS[parts[part][0]])


def _sensor(plant: MultibodyPlant, name: str) -> NamedColumns:
    try:
        sensor, column = sensors_named(plant, [name])[0], None
    except ArgumentError as whole:
        owner, _, column = name.rpartition(".")
        try:
            sensor = sensors_named(plant, [owner])[0]
        except ArgumentError as error:
            raise LookupError(str(error if owner else whole)) from None
    names, units = sensor.columns()
    if column is None and len(names) == 1:
        column = names[0]
    if column not in names:
        raise LookupError(f"a sensor like '{sensor.name()}' is NAME.COLUMN with one of {', '.join(names)}")
    k = names.index(column)
    return NamedColumns(sensor.path, () if sensor.is_one_number() else (k,), units[k])


PREFIXES: dict[str, tuple[str, Callable[[Any, str], NamedColumns]]] = {  # prefix: (field of the log, its columns)
    "effort": ("effort", _effort),
    "reaction": ("reactions", _reaction),
    "sensor": ("sensors", _sensor),
}


def field_of(name: str) -> str | None:
    """The field of a log that has a series of this name; None if it has no such prefix."""
    prefix, dot, _ = name.partition(".")
    return PREFIXES[prefix][0] if dot and prefix in PREFIXES else None


def named_columns(plant: MultibodyPlant, name: str) -> NamedColumns:
    """The columns of a name that has a prefix. LookupError if the plant has nothing of it."""
    prefix, _, rest = name.partition(".")
    return PREFIXES[prefix][1](plant, rest)

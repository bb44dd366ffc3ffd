"""sensors: what the sensors of the model give, one dataset each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

WORDS = "what sensors of the model give"
BY_DEFAULT = True
REFUSED = False
DATASETS = (Dataset("sensors/NAME", (), "What the sensor of the name gives (sensors.md).", "its columns"),)

brings = brings_nothing


def lacks(plant: Any) -> str:
    """It needs sensors."""
    return "" if plant.elements.sensors else "the model has no sensors"


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """Those of each sensor; one number a row of a sensor that gives one number."""
    found = []
    for sensor in logged.plant.elements.sensors:
        names, units = sensor.columns()
        one = sensor.is_one_number()
        found.append(Field(sensor.path, units, () if one else names, () if one else (len(names),)))
    return tuple(found)


def rows(block: Block) -> dict[str, Any]:
    """At the rows, with the noise of the run."""
    return block.logged.sensor_rows.values(block.samples, block.chosen)

"""u: the actuation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

INPUT = "input/u"

WORDS = "actuation"
BY_DEFAULT = True
REFUSED = False
DATASETS = (Dataset(INPUT, (), "Actuation, one column an actuator.", "nu"),)

brings = brings_nothing


def lacks(plant: Any) -> str:
    """It needs actuators."""
    return "" if plant.num_actuators() else "the model has no actuators"


def actuation_field(names: tuple[str, ...], units: tuple[str, ...]) -> Field:
    """The field `input/u` of actuators with these names and units."""
    return Field(INPUT, units, names, (len(names),))


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """One an actuator."""
    return (actuation_field(tuple(logged.plant.GetActuatorNames()), logged.actuator_units),)


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled it."""
    return {INPUT: block.samples.u[block.chosen]}

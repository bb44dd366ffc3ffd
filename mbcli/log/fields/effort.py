"""effort: what the actuators give, with what controllers add and within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

EFFORT = "derived/effort"

WORDS = "efforts of actuators with those of controllers; by default where controllers act"
BY_DEFAULT = True
REFUSED = False
DATASETS = (
    Dataset(
        EFFORT,
        (),
        "Efforts of the actuators, with what PD controllers add and within effort limits: of a discrete plant in the "
        "step from the row.",
        "nu",
    ),
)

brings = brings_nothing


def lacks(plant: Any) -> str:
    """It needs actuators."""
    return "" if plant.num_actuators() else "the model has no actuators"


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """One an actuator."""
    names = tuple(f"{name}_effort" for name in logged.plant.GetActuatorNames())
    others = tuple(a.effort_unit() for a in logged.plant.elements.transmission_actuators)
    units = (*logged.actuator_units[: len(names) - len(others)], *others)
    return (Field(EFFORT, units, names, (len(names),)),)


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    return {EFFORT: block.samples.effort[block.chosen]}

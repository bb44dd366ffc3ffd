"""effort: what the actuators give, with what controllers add and within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    return (Field(EFFORT, effort_units(logged.plant, logged.actuator_units), names, (len(names),)),)


def effort_units(plant: Any, actuator_units: Sequence[str]) -> tuple[str, ...]:
    """One an actuator: those of inputs, but for actuators with controls."""
    others = tuple(a.effort_unit() for a in plant.elements.transmission_actuators)
    return (*actuator_units[: len(actuator_units) - len(others)], *others)


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    return {EFFORT: block.samples.effort[block.chosen]}

"""effort: what the actuators give, with what controllers add and within limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.errors import ModelError
from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing
from mbcli.log.fields.u import INPUT

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


def acted(log: Any) -> list[bool]:
    """Whether the effort of each actuator is what acted of its input; else the input is a control."""
    return [effort == given for effort, given in zip(log.units[EFFORT], log.units[INPUT], strict=True)]


def require_efforts(log: Any, name: str) -> None:
    """ModelError that names the log if PD controllers acted in its run and it does not have their efforts."""
    try:
        actuators = json.loads(log.model)["actuators"]
        held = [str(a["name"]) for a in actuators if any(a.get("controller_gains") or ()) and a.get("control") is None]
    except (KeyError, TypeError, ValueError, RecursionError):
        return  # it is not known what acted
    if held and EFFORT not in log.fields():
        raise ModelError(
            f"{name}: error: controllers acted in the run ({listed(held)}), and the log does not have their efforts: "
            f"log them, with {argument('fields', 'effort')} among others"
        )

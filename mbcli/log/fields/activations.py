"""activations: the states of actuators, as of muscles and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

PATH = "derived/activation"

WORDS = "activations of actuators"
BY_DEFAULT = True
REFUSED = False
DATASETS = (Dataset(PATH, ("1",), "Activations of actuators that have one, in their order in the actuation.", "n"),)

brings = brings_nothing


def lacks(plant: Any) -> str:
    """It needs actuators with an activation."""
    return "" if plant.model.sizes["nactivation"] else "no actuator of the model has an activation"


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """One an activation."""
    names = tuple(logged.plant.activation_names())
    return (Field(PATH, ("1",) * len(names), names, (len(names),)),)


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    return {PATH: block.samples.activations[block.chosen]}

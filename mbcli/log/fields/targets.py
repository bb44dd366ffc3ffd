"""targets: what the PD controllers of actuators aim at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

POSITION = "input/target_of_actuator"
VELOCITY = "input/target_velocity_of_actuator"

WORDS = "what PD controllers aim at; by default in runs with a controller or a trajectory that sets it"
BY_DEFAULT = True
REFUSED = False
DATASETS = (
    Dataset(
        POSITION,
        ("rad", "m"),
        "Positions that PD controllers of actuators aim at from the row on, one column an actuator with one.",
        "n",
    ),
    Dataset(VELOCITY, ("rad s-1", "m s-1"), "Velocities that they aim at.", "n"),
)

brings = brings_nothing


def lacks(plant: Any) -> str:
    """It needs actuators; which of them have controllers is known when the run is prepared."""
    return "" if plant.num_actuators() else "the model has no actuators"


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """One an actuator with a controller, named as controllers name what they return."""
    names, position_units, velocity_units = logged.aim_columns()
    return (
        Field(POSITION, position_units, tuple(f"{name}.target" for name in names), (len(names),)),
        Field(VELOCITY, velocity_units, tuple(f"{name}.target_velocity" for name in names), (len(names),)),
    )


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    desired = block.samples.desired[block.chosen]
    return {POSITION: desired[:, :, 0], VELOCITY: desired[:, :, 1]}

"""com: the centre of mass of all bodies that move; of all where none of these has mass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import AXES, Dataset
from mbcli.log.fields.common import brings_nothing, same_columns
from mbcli.multibody.core.mass_properties import MOVING

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block

COM = "derived/com"

WORDS = "centre of mass"
BY_DEFAULT = False
REFUSED = True
DATASETS = (Dataset(COM, "m", "Centre of mass in the world frame.", AXES),)

brings = brings_nothing
columns = same_columns(DATASETS)


def lacks(plant: Any) -> str:
    """It needs mass."""
    return "" if plant.model.link_inertia[:, 0].any() else "the model has no mass"


def rows(block: Block) -> dict[str, Any]:
    """p_WoScm_W at each state."""
    plant = block.logged.plant
    moves = plant.model.link_inertia[plant.model.link_body != 0, 0].any()
    counted = MOVING if moves else None
    return {COM: block.at_states(3, lambda plant, context: plant.CalcCenterOfMassPositionInWorld(context, counted))}

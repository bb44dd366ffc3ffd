"""momentum: the spatial momentum of all bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import SPATIAL, Dataset
from mbcli.log.fields.common import brings_nothing, lacks_nothing, same_columns

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block

MOMENTUM = "derived/momentum"
WORLD_ORIGIN = (0.0, 0.0, 0.0)

WORDS = "spatial momentum about the world's origin"
BY_DEFAULT = False
REFUSED = False
DATASETS = (
    Dataset(
        MOMENTUM,
        ("N m s",) * 3 + ("N s",) * 3,
        "Spatial momentum about the world origin in the world frame, rotational part first.",
        SPATIAL,
    ),
)

lacks = lacks_nothing
brings = brings_nothing
columns = same_columns(DATASETS)


def rows(block: Block) -> dict[str, Any]:
    """L_WSWo_W at each state."""
    return {MOMENTUM: block.at_states(6, _momentum)}


def _momentum(plant: Any, context: Any) -> Any:
    return plant.CalcSpatialMomentumInWorldAboutPoint(context, WORLD_ORIGIN).get_coeffs()

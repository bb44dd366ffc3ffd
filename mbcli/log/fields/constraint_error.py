"""constraint_error: how far positions are from satisfying the constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset
from mbcli.log.fields.common import brings_nothing, same_columns

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block

CONSTRAINT_ERROR = "derived/constraint_error"

WORDS = "norm of all position errors"
BY_DEFAULT = True
REFUSED = False
DATASETS = (Dataset(CONSTRAINT_ERROR, "1", "Norm of the position errors of all constraints."),)

brings = brings_nothing
columns = same_columns(DATASETS)


def lacks(plant: Any) -> str:
    """It needs constraints."""
    return "" if plant.elements.constraints else "the model has no constraints"


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled it."""
    return {CONSTRAINT_ERROR: block.samples.constraint_error[block.chosen]}

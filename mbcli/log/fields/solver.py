"""solver: how the contact problems of discrete steps were solved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset
from mbcli.log.fields.common import brings_nothing, same_columns

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block

ITERATIONS = "solver/iterations"
RESIDUAL = "solver/residual"
CONTACTS = "solver/contacts"

WORDS = "iterations, residuals and sizes of contact problems"
BY_DEFAULT = True
REFUSED = False
DATASETS = (
    Dataset(
        ITERATIONS, "1", "Iterations of Newton's method in the contact problem of the step from the row.", dtype="i8"
    ),
    Dataset(RESIDUAL, "1", "Relative residual of that problem."),
    Dataset(CONTACTS, "1", "Contact points and faces of surfaces of the row.", dtype="i8"),
)

brings = brings_nothing
columns = same_columns(DATASETS)


def lacks(plant: Any) -> str:
    """It needs contact in discrete steps."""
    if not plant.meets_contact():
        return "no rigid bodies can touch"
    return "" if plant.is_discrete() else "the plant is continuous"


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    sampled, chosen = block.samples.contacts, block.chosen
    return {
        ITERATIONS: sampled.iterations[chosen],
        RESIDUAL: sampled.residual[chosen],
        CONTACTS: block.contact_counts(),
    }

"""energy: kinetic and potential energy, of which readers take the sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset
from mbcli.log.fields.common import brings_nothing, lacks_nothing, same_columns

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block

KINETIC = "derived/energy_kinetic"
POTENTIAL = "derived/energy_potential"

WORDS = "kinetic and potential energy"
BY_DEFAULT = True
REFUSED = False
DATASETS = (
    Dataset(KINETIC, "J", "Kinetic energy."),
    Dataset(POTENTIAL, "J", "Potential energy; NaN if a force element has none."),
)

lacks = lacks_nothing
brings = brings_nothing
columns = same_columns(DATASETS)


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    energy = block.samples.energy[block.chosen]
    return {KINETIC: energy[:, 0], POTENTIAL: energy[:, 1]}

"""compliance: the energy that compliant contact stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset
from mbcli.log.fields.common import brings_nothing, same_columns

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block

COMPLIANCE = "derived/energy_compliance"

WORDS = "energy that compliant contact stores"
BY_DEFAULT = False
REFUSED = False
DATASETS = (Dataset(COMPLIANCE, "J", "Energy that compliant contact stores."),)

brings = brings_nothing
columns = same_columns(DATASETS)


def lacks(plant: Any) -> str:
    """It needs contact."""
    return "" if plant.meets_contact() else "no rigid bodies can touch"


def rows(block: Block) -> dict[str, Any]:
    """The sum over the contacts of each row."""
    from mbcli.multibody.stepping.compliance_energy import compliance_energies  # numpy, which help does without

    return {COMPLIANCE: block.sums_of_contacts(compliance_energies(block.samples.contacts.contacts))}

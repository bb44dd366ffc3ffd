"""faces: the faces of contact surfaces, with the pressures at their corners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import AXES, Dataset
from mbcli.log.fields.common import same_columns

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block

FACES_OFFSET = "faces/offset"
CORNERS_OFFSET = "faces/corner_offset"
CORNER = "faces/corner"
PRESSURE = "faces/pressure"

WORDS = "polygons of contact surfaces, with pressures; brings contact"
BY_DEFAULT = False
REFUSED = False
OF_CORNERS = (
    Dataset(CORNER, "m", "Corner of a face, in the world frame; counterclockwise about the normal.", AXES, rows="C"),
    Dataset(PRESSURE, "Pa", "Pressure at the corner.", rows="C"),
)
DATASETS = (
    Dataset(FACES_OFFSET, "1", "First face of each contact, then the end of the last one's.", dtype="i8", rows="K+1"),
    Dataset(CORNERS_OFFSET, "1", "First corner of each face, then the end of the last one's.", dtype="i8", rows="F+1"),
    *OF_CORNERS,
)

CORNER_FIELDS = tuple(dataset.field() for dataset in OF_CORNERS)
"""The datasets under /faces with a vector or value for each corner of a face, if the log has the faces of surfaces."""

FACE_FIELDS = tuple(dataset.field() for dataset in DATASETS)
"""All datasets under /faces."""

columns = same_columns(DATASETS)


def lacks(plant: Any) -> str:
    """It needs contact surfaces."""
    if not plant.meets_contact():
        return "no rigid bodies can touch"
    return "" if plant.asks_for_surfaces() else "no geometry of the model is compliant"


def brings(plant: Any) -> tuple[str, ...]:
    """contact, also where all of them are points."""
    return ("contact",)


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    contacts = block.contacts
    offset, corners = contacts.corners()
    return {
        FACES_OFFSET: contacts.face_offsets(),
        CORNERS_OFFSET: offset,
        CORNER: corners[:, :3],
        PRESSURE: corners[:, 3],
    }

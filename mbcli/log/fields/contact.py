"""contact: all contacts of each row, points and contact surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import AXES, Dataset, Field
from mbcli.log.fields.common import brings_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

OFFSET = "contact/offset"
BODY_A, BODY_B = "contact/body_a", "contact/body_b"
GEOMETRY_A, GEOMETRY_B = "contact/geometry_a", "contact/geometry_b"

WORDS = "all contacts of each row"
BY_DEFAULT = True
REFUSED = False
OFFSETS = (Dataset(OFFSET, "1", "First contact of each row, then the end of the last.", dtype="i8", rows="N+1"),)
OF_ALL = (
    Dataset(BODY_A, "1", "Body A, an index into the attribute body_names of /contact.", dtype="i8", rows="K"),
    Dataset(BODY_B, "1", "Body B.", dtype="i8", rows="K"),
    Dataset(GEOMETRY_A, "1", "Geometry of body A, an index into geometry_names.", dtype="i8", rows="K"),
    Dataset(GEOMETRY_B, "1", "Geometry of body B.", dtype="i8", rows="K"),
    Dataset("contact/point", "m", "The point where they touch, in the world frame.", AXES, rows="K"),
    Dataset("contact/normal", "1", "Unit vector out of B into A, in the world frame.", AXES, rows="K"),
    Dataset("contact/depth", "m", "How deep they overlap, in a surface at its deepest face.", rows="K"),
    Dataset(
        "contact/force",
        "N",
        "Force on B at the point, of a surface at its centroid, in the world frame; NaN if a step has no solution.",
        AXES,
        rows="K",
    ),
    Dataset("contact/slip_speed", "m s-1", "Speed of A relative to B, across the normal.", rows="K"),
    Dataset("contact/separation_speed", "m s-1", "Speed along the normal, positive if they part.", rows="K"),
)
OF_SURFACES = (
    Dataset("contact/faces", "1", "Number of faces of a contact surface; 0 of a point.", dtype="i8", rows="K"),
    Dataset("contact/area", "m2", "Area of a contact surface; 0 of a point.", rows="K"),
    Dataset(
        "contact/moment",
        "N m",
        "Moment on B about the point, in the world frame; of points that of torsional and rolling friction.",
        AXES,
        rows="K",
    ),
    Dataset("contact/mean_pressure", "Pa", "Pressure, weighted with the areas of the faces; 0 of a point.", rows="K"),
    Dataset("contact/largest_pressure", "Pa", "Largest pressure at a corner of a face; 0 of a point.", rows="K"),
)
DATASETS = (*OFFSETS, *OF_ALL, *OF_SURFACES)

# The other convention: a ContactRecord has forces and moments on A, and a distance that is negative in an overlap.
# {path: (attribute of a ContactRecord or of ContactGroups, whether the log has its negative)}
RECORDED = {
    "contact/point": ("position", False),
    "contact/normal": ("normal", False),
    "contact/depth": ("distance", True),
    "contact/force": ("force", True),
    "contact/slip_speed": ("slip", False),
    "contact/separation_speed": ("separation", False),
    "contact/faces": ("faces", False),
    "contact/area": ("area", False),
    "contact/moment": ("moment", True),
    "contact/mean_pressure": ("mean_pressure", False),
    "contact/largest_pressure": ("largest_pressure", False),
}

CONTACT_FIELDS = tuple(dataset.field() for dataset in OF_ALL)
"""The datasets under /contact with one value or vector a contact: row i has those from offset[i] to offset[i + 1]."""

SURFACE_FIELDS = tuple(dataset.field() for dataset in OF_SURFACES)
"""More datasets of the same length in the log of a model with compliant geometries, which touch in surfaces."""

MOMENT_FIELDS = tuple(field for field in SURFACE_FIELDS if field.path == "contact/moment")
"""The one of these that the log of a model with torsional or rolling friction has too."""

_OFFSET_FIELDS = tuple(dataset.field() for dataset in OFFSETS)

brings = brings_nothing


def lacks(plant: Any) -> str:
    """It needs solids that can touch."""
    return "" if plant.meets_contact() else "no rigid bodies can touch"


def contact_fields(surfaces: bool, moments: bool) -> tuple[Field, ...]:
    """Those with one value or vector a contact, of which some may be surfaces, or points with moments."""
    return CONTACT_FIELDS + (SURFACE_FIELDS if surfaces else MOMENT_FIELDS * moments)


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """As contacts may be surfaces, or points with moments."""
    return _OFFSET_FIELDS + contact_fields(logged.has_surfaces, logged.has_moments)


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    contacts = block.contacts
    A, B = contacts.values("solid").T
    bodies = block.logged.body_of_geometry
    result = {OFFSET: contacts.offset, BODY_A: bodies[A], BODY_B: bodies[B], GEOMETRY_A: A, GEOMETRY_B: B}
    for field in columns(block.logged):
        if field.path not in result:
            name, is_negative = RECORDED[field.path]
            values = contacts.values(name)
            result[field.path] = -values if is_negative else values
    return result

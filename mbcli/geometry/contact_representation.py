"""HydroelasticContactRepresentation."""

from enum import Enum


class HydroelasticContactRepresentation(Enum):
    """The faces of hydroelastic contact surfaces."""

    kTriangle = 0
    kPolygon = 1

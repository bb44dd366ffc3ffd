"""HydroelasticContactRepresentation."""

from mbcli.numbered_enum import NumberedEnum


class HydroelasticContactRepresentation(NumberedEnum):
    """The faces of hydroelastic contact surfaces."""

    kTriangle = 0
    kPolygon = 1

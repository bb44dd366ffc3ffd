"""The contact properties of geometries for which model files have none, under the names of pydrake.geometry."""

import dataclasses

from mbcli.common.fast_dataclass import dataclass
from mbcli.config.config_fields import ConfigRecord, setting

COMPLIANCE_TYPES = ("undefined", "rigid", "compliant")


@dataclass(kw_only=True)
class DefaultProximityProperties(ConfigRecord):
    """Contact properties of geometries that have none of their own.

    Every field is checked when it is assigned.

    :raises ModelError: (a RuntimeError) a value is of the wrong type or out of range.
    """

    __hash__ = object.__hash__  # so that one may be the default of a field of a user's dataclass

    compliance_type: str = setting("undefined", "Kind of hydroelastic geometry", choices=COMPLIANCE_TYPES)
    hydroelastic_modulus: float | None = setting(1e7, "Hydroelastic modulus", unit="Pa", above=0)
    resolution_hint: float | None = setting(0.02, "Edge length of tessellated shapes", unit="m", above=0)
    slab_thickness: float | None = setting(None, "Thickness of the compliant layer of a half space", unit="m", above=0)
    margin: float | None = setting(None, "Layer around a geometry that counts as near", unit="m", minimum=0)
    dynamic_friction: float | None = setting(0.5, "Coefficient of friction when sliding", minimum=0)
    static_friction: float | None = setting(0.5, "Coefficient of friction when sticking", minimum=0)
    hunt_crossley_dissipation: float | None = setting(50.0, "Hunt-Crossley dissipation", unit="s/m", minimum=0)
    relaxation_time: float | None = setting(0.1, "Relaxation time of the sap approximation", unit="s", minimum=0)
    point_stiffness: float | None = setting(1e6, "Stiffness of point contact", unit="N/m", above=0)


@dataclass(kw_only=True)
class SceneGraphConfig(ConfigRecord):
    """Settings of the geometry of a scene.

    :raises ModelError: (a RuntimeError) a value is of the wrong type.
    """

    __hash__ = object.__hash__  # so that one may be the default of a field of a user's dataclass

    default_proximity_properties: DefaultProximityProperties = dataclasses.field(
        default_factory=DefaultProximityProperties
    )

"""What the geometries of a plant are for hydroelastic contact, and of how many elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.config.scene_graph_config import SceneGraphConfig
from mbcli.geometry import HalfSpace
from mbcli.geometry.hydroelastic_properties import hydroelastic_properties
from mbcli.geometry.hydroelastic_shapes import rigid_surface_of, soft_solid_of

if TYPE_CHECKING:
    from mbcli.multibody.plant import MultibodyPlant


def hydroelastic_geometries(plant: MultibodyPlant) -> list[dict[str, Any]]:
    """The geometries that collide, in the order of their registration.

    Args:
        plant: with a scene graph, of which none gives an empty list.

    Returns:
        A dictionary for each: body, geometry, the names; shape; compliance: "undefined", "rigid" or "compliant";
        modulus [Pa] and margin [m] of a compliant one; resolution_hint [m] of a round one; slab_thickness [m] of a
        compliant half space; tetrahedra, triangles and vertices, the numbers of these in its mesh; None where there
        is none.

    Raises:
        ModelError, ResourceError: a property is missing or out of range, a mesh cannot be read or filled.
    """
    graph = plant.scene_graph
    if graph is None:
        return []
    defaults = (graph.config or SceneGraphConfig()).default_proximity_properties
    made = []
    for g, body in plant.geometry_bodies.items():
        instance = graph.registry.geometries[g]
        if instance.proximity is None:
            continue
        shape, name = instance.shape(), plant.name_in_contact(body)
        properties = hydroelastic_properties(instance, shape, defaults, name)
        row: dict[str, Any] = {"body": name, "geometry": instance.name(), "shape": type(shape).__name__}
        row |= {"compliance": "undefined", "modulus": None, "resolution_hint": None, "slab_thickness": None}
        row |= {"margin": None, "tetrahedra": None, "triangles": None, "vertices": None}
        if properties is not None:
            row["compliance"] = properties.compliance
            row["resolution_hint"], row["slab_thickness"] = properties.resolution_hint, properties.slab_thickness
            if properties.is_compliant:
                row["modulus"], row["margin"] = properties.modulus, properties.margin
            if not isinstance(shape, HalfSpace):
                row |= _elements(shape, properties)
        made.append(row)
    return made


def _elements(shape: Any, properties: Any) -> dict[str, int]:
    if properties.is_compliant:
        solid = soft_solid_of(shape, properties.resolution_hint)
        return {"tetrahedra": len(solid.tetrahedra), "vertices": len(solid.vertices)}
    vertices, triangles = rigid_surface_of(shape, properties.resolution_hint)
    return {"triangles": len(triangles), "vertices": len(vertices)}

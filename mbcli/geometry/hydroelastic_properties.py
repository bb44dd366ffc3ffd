"""Hydroelastic properties of geometries: how they are given, and what a geometry is by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.fast_dataclass import dataclass
from mbcli.config.scene_graph_config import COMPLIANCE_TYPES
from mbcli.errors import ModelError
from mbcli.geometry import shapes
from mbcli.geometry.properties import ProximityProperties

if TYPE_CHECKING:
    from mbcli.config.scene_graph_config import DefaultProximityProperties
    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.geometry.shapes import Shape

GROUP = "hydroelastic"
NAMES = ("compliance_type", "hydroelastic_modulus", "resolution_hint", "slab_thickness", "margin")
ROUND_SHAPES = (shapes.Sphere, shapes.Ellipsoid, shapes.Cylinder, shapes.Capsule)  # those that need a resolution_hint


@dataclass(frozen=True)
class HydroelasticProperties:
    """What a geometry is in hydroelastic contact.

    compliance: "rigid" or "compliant"; modulus [Pa], infinite if rigid; resolution_hint [m] of a round shape and
    slab_thickness [m] of a compliant half space, None where the shape needs none; margin [m] around a compliant
    geometry in which it is near, 0 for a rigid one.
    """

    compliance: str
    modulus: float
    resolution_hint: float | None
    slab_thickness: float | None
    margin: float

    @property
    def is_compliant(self) -> bool:
        """Whether it has a pressure field."""
        return self.compliance == "compliant"


def hydroelastic_properties(
    instance: GeometryInstance,
    shape: Shape,
    config_defaults: DefaultProximityProperties | None,
    body_name: str | None = None,
) -> HydroelasticProperties | None:
    """What a geometry is in hydroelastic contact, None if its compliance is undefined or it does not collide.

    Args:
        instance: the geometry.
        shape: of the geometry, or what stands for it.
        config_defaults: what each property is that the geometry does not have; None: no such defaults.
        body_name: for messages.

    Raises:
        ModelError: a property that its kind and shape need is missing, of the wrong type or out of range.
    """
    if instance.proximity is None:
        return None
    given = {name: _value(instance.proximity, name, config_defaults) for name in NAMES}

    def fail(name: str, problem: str) -> ModelError:
        place = f"{instance.place}: error: " if instance.place is not None else ""
        body = "" if body_name is None else f" of body '{body_name}'"
        what = f"{place}geometry '{instance.name()}'{body}"
        return ModelError(f"{what}: the property ('{GROUP}', '{name}') {problem}")

    compliance = given["compliance_type"] or "undefined"
    if compliance not in COMPLIANCE_TYPES:
        raise fail("compliance_type", f"must be one of {', '.join(COMPLIANCE_TYPES)}, not {compliance!r}")
    if compliance == "undefined":
        return None

    def number(name: str, least: str = "positive") -> float:
        value = given[name]
        if value is None:
            raise fail(name, f"is missing, which a {compliance} {type(shape).__name__} needs")
        try:
            value = float(value)
        except (TypeError, ValueError):
            raise fail(name, f"must be a number, not {value!r}") from None
        if not (0.0 <= value < float("inf") and (value > 0.0 or least != "positive")):
            raise fail(name, f"must be finite and {least}, not {value!r}")
        return value

    compliant = compliance == "compliant"
    hint = number("resolution_hint") if isinstance(shape, ROUND_SHAPES) else None
    slab = number("slab_thickness") if compliant and isinstance(shape, shapes.HalfSpace) else None
    modulus = number("hydroelastic_modulus") if compliant else float("inf")
    margin = number("margin", "not negative") if compliant and given["margin"] is not None else 0.0
    return HydroelasticProperties(compliance, modulus, hint, slab, margin)


def _value(properties: ProximityProperties, name: str, defaults: DefaultProximityProperties | None) -> Any:
    """A property of a geometry, else the default, else None."""
    if properties.HasProperty(GROUP, name):
        return properties.GetProperty(GROUP, name)
    return None if defaults is None else getattr(defaults, name)


# ------------------------------------------------------------------------------------------ as pydrake gives them


def AddRigidHydroelasticProperties(*args: Any, **named: Any) -> None:
    """Makes a geometry rigid: adds ("hydroelastic", "compliance_type"), and "resolution_hint" if it is given.

    AddRigidHydroelasticProperties(resolution_hint, properties) for shapes whose surface is made of triangles,
    AddRigidHydroelasticProperties(properties) for boxes, half spaces and meshes.

    Args:
        resolution_hint: length of the edges of the triangles [m].
        properties: ProximityProperties that get them.

    Raises:
        TypeError: other arguments.
        RuntimeError: one of these properties is there already.
    """
    with_hint = len(args) + len(named) > 1
    names = ("resolution_hint", "properties") if with_hint else ("properties",)
    values = _arguments("AddRigidHydroelasticProperties", names, args, named)
    hint = {"resolution_hint": values["resolution_hint"]} if with_hint else {}
    _add("AddRigidHydroelasticProperties", values["properties"], hint | {"compliance_type": "rigid"})


def AddCompliantHydroelasticProperties(
    resolution_hint: float, hydroelastic_modulus: float, properties: ProximityProperties
) -> None:
    """Makes a geometry compliant: its pressure is `hydroelastic_modulus` in its middle and 0 on its surface.

    Args:
        resolution_hint: length of the edges of the tetrahedra [m]; boxes and meshes do not need it.
        hydroelastic_modulus: positive [Pa].
        properties: ProximityProperties that get ("hydroelastic", "compliance_type") and these two.

    Raises:
        RuntimeError: the modulus is not positive, or one of these properties is there already.
    """
    values = {"resolution_hint": resolution_hint, "hydroelastic_modulus": hydroelastic_modulus}
    _add("AddCompliantHydroelasticProperties", properties, values | {"compliance_type": "compliant"})


def AddCompliantHydroelasticPropertiesForHalfSpace(
    slab_thickness: float, hydroelastic_modulus: float, properties: ProximityProperties
) -> None:
    """Makes a half space compliant: a layer on rigid ground, in which the pressure grows with depth.

    Args:
        slab_thickness: depth at which the pressure is `hydroelastic_modulus` [m].
        hydroelastic_modulus: positive [Pa].
        properties: ProximityProperties that get ("hydroelastic", "compliance_type") and these two.

    Raises:
        RuntimeError: the modulus is not positive, or one of these properties is there already.
    """
    values = {"slab_thickness": slab_thickness, "hydroelastic_modulus": hydroelastic_modulus}
    _add("AddCompliantHydroelasticPropertiesForHalfSpace", properties, values | {"compliance_type": "compliant"})


def _arguments(function: str, names: tuple[str, ...], args: Any, named: dict[str, Any]) -> dict[str, Any]:
    values = dict(zip(names, args, strict=False))
    if len(args) > len(names) or set(values) & set(named) or set(values) | set(named) != set(names):
        raise TypeError(f"{function} takes ({', '.join(names)}), not {[*args]} and {sorted(named)}")
    return values | named


def _add(function: str, properties: Any, values: dict[str, Any]) -> None:
    """All of them, or none after an error."""
    if not isinstance(properties, ProximityProperties):
        raise TypeError(f"{function} needs ProximityProperties, not {properties!r}")
    numbers = {}
    for name, value in values.items():
        numbers[name] = value if name == "compliance_type" else float(value)
        if name == "hydroelastic_modulus" and not numbers[name] > 0.0:
            raise RuntimeError(f"{function}: the hydroelastic modulus must be positive, it is {value}")
        if properties.HasProperty(GROUP, name):
            raise RuntimeError(f"{function}: there is a property ('{GROUP}', '{name}') already")
    for name, value in numbers.items():
        properties.AddProperty(GROUP, name, value)

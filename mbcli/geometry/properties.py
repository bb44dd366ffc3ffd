"""Properties of geometries by group and name, and those of contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.rgba import Rgba
from mbcli.numbered_enum import NumberedEnum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.geometry.coulomb_friction import CoulombFriction

# of the group "material" [m]: by how much friction at a point resists spinning about the normal, rolling across it
TORSIONAL_FRICTION = ("torsional_friction", "rolling_friction")

# of the group "material": a direction [1] (3,) in the geometry's frame, along which `coulomb_friction` holds, the
# coefficient across it, and the name of a body of the model instance in which the direction is given instead
FRICTION_DIRECTION, FRICTION_ACROSS, FRICTION_BODY = "friction_direction", "friction_across", "friction_direction_body"

SOFTNESS = "softness"  # of the group "mujoco": solref (2,) and solimp (5,), of the law of contact "mujoco"
BOUNCING = ("restitution", "bounce_threshold")  # of the group "material" [1, m/s]
BOUNCE_THRESHOLD = 0.1  # [m/s] of a geometry that has a restitution and states none, as in DART


class Role(NumberedEnum):
    """The purpose of a geometry."""

    kUnassigned = 0
    kProximity = 1
    kIllustration = 2
    kPerception = 4


class RoleAssign(NumberedEnum):
    """Whether properties of a role are the first, or take the place of others."""

    kNew = 0
    kReplace = 1


class GeometryProperties:
    """Values by group and name."""

    def __init__(self, other: GeometryProperties | None = None) -> None:
        self._groups: dict[str, dict[str, Any]] = (
            {} if other is None else {group: dict(values) for group, values in other._groups.items()}
        )

    def HasGroup(self, group_name: str) -> bool:
        """Whether there is a group of this name."""
        return group_name in self._groups

    def num_groups(self) -> int:
        """The number of groups."""
        return len(self._groups)

    def GetGroupNames(self) -> set[str]:
        """A set."""
        return set(self._groups)

    def GetPropertiesInGroup(self, group_name: str) -> dict[str, Any]:
        """{name: value}. RuntimeError if there is no such group."""
        return dict(self._group(group_name, "GetPropertiesInGroup"))

    def HasProperty(self, group_name: str, name: str) -> bool:
        """Whether a group has a property of this name."""
        return name in self._groups.get(group_name, ())

    def AddProperty(self, group_name: str, name: str, value: Any) -> None:
        """RuntimeError if there is one of that name already."""
        if self.HasProperty(group_name, name):
            raise RuntimeError(f"AddProperty: there is a property ('{group_name}', '{name}') already")
        self._groups.setdefault(group_name, {})[name] = value

    def UpdateProperty(self, group_name: str, name: str, value: Any) -> None:
        """Adds a property, or gives it another value. RuntimeError if that is of another type."""
        if self.HasProperty(group_name, name):
            before = self._groups[group_name][name]
            if type(before) is not type(value):
                raise RuntimeError(
                    f"UpdateProperty: ('{group_name}', '{name}') is a {type(before).__name__}, "
                    f"not a {type(value).__name__}"
                )
        self._groups.setdefault(group_name, {})[name] = value

    def RemoveProperty(self, group_name: str, name: str) -> bool:
        """Whether there was one."""
        return self.HasProperty(group_name, name) and (self._groups[group_name].pop(name), True)[1]

    def GetProperty(self, group_name: str, name: str) -> Any:
        """RuntimeError if there is none."""
        group = self._group(group_name, "GetProperty")
        if name not in group:
            raise RuntimeError(f"GetProperty: there is no property ('{group_name}', '{name}')")
        return group[name]

    def GetPropertyOrDefault(self, group_name: str, name: str, default_value: Any) -> Any:
        """The value of a property, or `default_value` if there is none."""
        return self._groups.get(group_name, {}).get(name, default_value)

    def _group(self, name: str, method: str) -> dict[str, Any]:
        if name not in self._groups:
            raise RuntimeError(f"{method}: there is no group '{name}'")
        return self._groups[name]

    @staticmethod
    def default_group_name() -> str:
        """The name of the group for properties that belong to no other."""
        return "__default__"


class ProximityProperties(GeometryProperties):
    """Of a geometry that collides."""


class IllustrationProperties(GeometryProperties):
    """Of a geometry that is seen."""


def MakePhongIllustrationProperties(diffuse: ArrayLike) -> IllustrationProperties:
    """Properties of a geometry in a colour (4,): red, green, blue and opacity from 0 to 1."""
    properties = IllustrationProperties()
    properties.AddProperty("phong", "diffuse", Rgba(rgba=diffuse))
    return properties


def AddContactMaterial(
    *args: Any,
    dissipation: float | None = None,
    point_stiffness: float | None = None,
    friction: CoulombFriction | None = None,
    properties: ProximityProperties | None = None,
) -> None:
    """Adds the given ones of ("material", "hunt_crossley_dissipation") [s/m], ("material", "point_contact_stiffness")
    [N/m] and ("material", "coulomb_friction") to ProximityProperties.

    AddContactMaterial(properties, dissipation, point_stiffness, friction), or properties last.

    RuntimeError for a negative dissipation, a stiffness that is not positive, and properties that are there already.
    """
    if args:
        first = isinstance(args[0], GeometryProperties)
        names = ("dissipation", "point_stiffness", "friction")
        named = dict(zip(("properties", *names) if first else (*names, "properties"), args, strict=False))
        properties = named.get("properties", properties)
        dissipation = named.get("dissipation", dissipation)
        point_stiffness = named.get("point_stiffness", point_stiffness)
        friction = named.get("friction", friction)
    if not isinstance(properties, ProximityProperties):
        raise TypeError("AddContactMaterial needs ProximityProperties")
    if dissipation is not None and not 0.0 <= dissipation < np.inf:
        raise RuntimeError(f"AddContactMaterial: dissipation must be finite and not negative, it is {dissipation}")
    if point_stiffness is not None and not 0.0 < point_stiffness < np.inf:
        raise RuntimeError(f"AddContactMaterial: stiffness must be finite and positive, it is {point_stiffness}")
    given = {
        "hunt_crossley_dissipation": dissipation,
        "point_contact_stiffness": point_stiffness,
        "coulomb_friction": friction,
    }
    for name, value in given.items():
        if value is not None and properties.HasProperty("material", name):
            raise RuntimeError(f"AddContactMaterial: there is a property ('material', '{name}') already")
    for name, value in given.items():
        if value is not None:
            properties.AddProperty("material", name, value)


def fault_of_direction(properties: ProximityProperties) -> str | None:
    """What is wrong with the direction of friction, if there is one, as the rest of a sentence; None if nothing is."""
    direction, across, body = (
        properties.GetPropertyOrDefault("material", name, None)
        for name in (FRICTION_DIRECTION, FRICTION_ACROSS, FRICTION_BODY)
    )
    if direction is None and across is None:
        return None if body is None else f"('material', '{FRICTION_BODY}') needs a '{FRICTION_DIRECTION}'"
    if direction is None or across is None:
        return f"('material', '{FRICTION_DIRECTION}') and '{FRICTION_ACROSS}' need each other"
    vector = np.array(direction, dtype=float)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not vector.any():
        return f"('material', '{FRICTION_DIRECTION}') must be three numbers that are not all 0, not {direction}"
    if not 0.0 <= across < np.inf:
        return f"('material', '{FRICTION_ACROSS}') must be finite and not negative, it is {across}"
    return None

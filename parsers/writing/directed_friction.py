"""Friction that depends on the direction, as Gazebo's elements have it, and what formats without it lose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mbcli.parsers.proximity_properties import FRICTION_ACROSS, FRICTION_BODY, FRICTION_DIRECTION
from mbcli.parsers.writing.write_xml import add

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mbcli.parsers.spec import GeometrySpec
    from mbcli.parsers.xml_document import XmlElement

_COULOMB = ("material", "coulomb_friction")
_KEYS = (FRICTION_ACROSS, FRICTION_DIRECTION, FRICTION_BODY)


def friction_of_gazebo(properties: Mapping[tuple[str, str], Any]) -> tuple[float, float]:
    """mu and mu2 of a collision that states its friction."""
    static, dynamic = properties[_COULOMB]
    return (static, dynamic) if FRICTION_DIRECTION not in properties else (static, properties[FRICTION_ACROSS])


def add_direction(parent: XmlElement, properties: Mapping[tuple[str, str], Any]) -> None:
    """<fdir1>, if friction has a direction."""
    if FRICTION_DIRECTION in properties:
        body = properties.get(FRICTION_BODY)
        add(parent, "fdir1", properties[FRICTION_DIRECTION], **({} if body is None else {"gz:expressed_in": body}))


def directed_friction(geometry: GeometrySpec) -> tuple[Any, ...] | None:
    """What friction of a collision is along and across which direction; None without a direction."""
    own = geometry.properties
    return tuple(own.get(key) for key in (_COULOMB, *_KEYS)) if FRICTION_DIRECTION in own else None


def without_direction(geometry: GeometrySpec) -> tuple[GeometrySpec, str]:
    """A collision with the smaller of its two coefficients in all directions, and what is lost."""
    own = dict(geometry.properties)
    along, across = own[_COULOMB][0], own[FRICTION_ACROSS]
    least = min(along, across)
    own = {key: value for key, value in own.items() if key not in _KEYS} | {_COULOMB: (least, least)}
    message = (
        f"that the friction of collision '{geometry.name}' is {along!r} along a direction and {across!r} across it: "
        f"it is {least!r} in all"
    )
    return replace(geometry, properties=own), message

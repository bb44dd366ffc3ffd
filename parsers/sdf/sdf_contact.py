"""What of a <collision> says which others it acts on, and how it resists spinning.

Bits: two solids act on each other if the category of one and the collide bits of the other have a bit in common, as
`contype` and `conaffinity` of MJCF. Torsional friction: a patch of radius a with coefficient mu resists with at most
3 pi a mu / 16 times the normal force (Gazebo's tutorial on torsional friction).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mbcli.parsers.sdf.sdf_values import child_boolean, child_number, descendant
from mbcli.parsers.xml_node import quoted

if TYPE_CHECKING:
    from mbcli.parsers.xml_node import Node

EVERY_BIT = 65535  # <collide_bitmask> where it is not stated

PATCH = 3.0 * math.pi / 16.0


def read_contact(collision: Node, properties: dict[tuple[str, str], Any]) -> None:
    """Adds the proximity properties of a <collision> that its <contact> and its <torsional> state."""
    contact = descendant(collision, "surface", "contact")
    if contact is not None:
        _read_bits(contact, properties)
    torsional = descendant(collision, "surface", "friction", "torsional")
    if torsional is not None:
        _read_torsional(torsional, properties)


def _read_bits(contact: Node, properties: dict[tuple[str, str], Any]) -> None:
    collide, category = (_bits(contact, tag) for tag in ("collide_bitmask", "category_bitmask"))
    silent = child_boolean(contact, "collide_without_contact", False)
    if collide is None and silent:
        collide = category = 0
    if collide is None and category is None:
        return
    collide = EVERY_BIT if collide is None else collide
    properties["mujoco", "contype"] = collide if category is None else category
    properties["mujoco", "conaffinity"] = collide


def _bits(contact: Node, tag: str) -> int | None:
    node = contact.child(tag)
    if node is None:
        return None
    text = node.text(default="") or ""
    try:
        bits = int(text, 16) if text.lower().startswith("0x") else int(text)
        if not 0 <= bits <= EVERY_BIT:
            raise ValueError
    except ValueError:
        message = f"<{tag}> must be a whole number from 0 to {EVERY_BIT}, found {quoted(text)}"
        node.diagnostics.error("ELEMENT_INVALID", message, node, value=text)
        return None
    return bits


def _read_torsional(torsional: Node, properties: dict[tuple[str, str], Any]) -> None:
    coefficient = child_number(torsional, "coefficient", 1.0)
    radius = child_number(torsional, "patch_radius", 0.0)
    if coefficient < 0 or radius < 0:
        message = f"torsional friction must not be negative, found {min(coefficient, radius)!r}"
        torsional.diagnostics.error("ELEMENT_INVALID", message, torsional)
        return
    if not child_boolean(torsional, "use_patch_radius", True):
        if child_number(torsional, "surface_radius", 0.0) > 0:
            torsional.unsupported("a patch that grows with the depth is not there: state <patch_radius>")
        return
    if coefficient and radius:
        properties["material", "torsional_friction"] = PATCH * radius * coefficient

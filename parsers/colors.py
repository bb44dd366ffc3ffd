"""Colours whose values are not between 0 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from mbcli.parsers.xml_node import Node

    Color: TypeAlias = tuple[float, float, float, float]

MOST = 255.0  # of red, green and blue, where these are bytes
BYTES = "it seems to be in bytes, from 0 to 255"  # the hint at these


def color_in_range(rgba: Color, node: Node, attribute: str) -> Color:
    """RGBA within [0, 1]: as it is, or with a warning taken as bytes where these fit, and cut otherwise."""
    if all(0 <= value <= 1 for value in rgba):
        return rgba
    *rgb, alpha = rgba
    are_bytes = 1 < max(rgb) <= MOST and min(rgba) >= 0 and all(value == int(value) for value in rgb)
    if are_bytes:
        *rgb, alpha = color_of_bytes(rgba)
    red, green, blue, alpha = (min(max(value, 0.0), 1.0) for value in (*rgb, alpha))
    stated = " ".join(f"{value:g}" for value in rgba)
    taken = " ".join(f"{value:.3g}" for value in (red, green, blue, alpha))
    message = f"the values of rgba must be in [0, 1], found {stated}: {taken} is taken"
    hint = BYTES if are_bytes else None
    node.diagnostics.warning("ATTRIBUTE_INVALID", message, node, attribute=attribute, hint=hint)
    return red, green, blue, alpha


def color_of_bytes(rgba: Sequence[float]) -> list[float]:
    """RGBA from 0 to 1 of bytes; alpha is one of these if it is above 1."""
    *rgb, alpha = rgba
    return [*(value / MOST for value in rgb), alpha / MOST if alpha > 1 else alpha]

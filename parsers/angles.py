"""Angles of poses that a file states in radians: more than a turn is most likely in degrees."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.parsers.xml_node import Node

MOST = 2.0 * pi + 0.1  # [rad]: files round a turn


def check_radians(angles: Iterable[float], node: Node, attribute: str | None = None) -> None:
    """ANGLE_UNIT in `mbcli check` where an angle of a pose that is read as radians is more than a turn."""
    if not node.diagnostics.thorough or all(abs(angle) <= MOST for angle in angles):
        return
    text = " ".join(f"{angle:.6g}" for angle in angles)
    message = f"the angles {text} of <{node.tag}> are more than a turn: they are read as radians"
    radians = " ".join(f"{angle * pi / 180:.6g}" for angle in angles)
    hint = f"are they in degrees? In radians they would be {radians}"
    node.diagnostics.warning("ANGLE_UNIT", message, node, attribute=attribute, hint=hint)

"""Names that point to one other each: their order, and the circles among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def find_cycles(arrow: Mapping[str, str | None]) -> list[list[str]]:
    """The cycles, lists of names, of names that point to at most one other each: {name: name or None}."""
    return order_by_arrow(arrow)[1]


def order_by_arrow(arrow: Mapping[str, str | None]) -> tuple[list[str], list[list[str]]]:
    """Sort names so that each comes after the one that its arrow points to.

    arrow: {name: the name it points to, or None}. Returns (order, cycles), both lists; names whose arrows
    lead into a cycle or out of the dictionary are not in the order.
    """
    sound: dict[str, bool] = {}  # name: its arrows end at a None
    order: list[str] = []
    cycles: list[list[str]] = []
    for start in arrow:
        path: dict[str, int] = {}  # name: position
        name: str | None = start
        while name is not None and name in arrow and name not in sound and name not in path:
            path[name] = len(path)
            name = arrow[name]
        if name is not None and name in path:
            cycles.append(list(path)[path[name] :])
        ends_well = name is None or sound.get(name, False)
        for passed in reversed(path):
            sound[passed] = ends_well
            if ends_well:
                order.append(passed)
    return order, cycles

"""Names that two elements have, and made-up names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from mbcli.parsers.spec import SourceLocation
    from mbcli.parsers.xml_node import Node


def report_duplicate(node: Node, kind: str, name: str, first_place: SourceLocation) -> None:
    node.diagnostics.error(
        "DUPLICATE_NAME",
        f'the {kind} name "{name}" is taken already, at {first_place}',
        node,
        attribute="name",
        value=name,
        related=(first_place,),
    )


def generated_name(name: str, *taken: Container[str | None]) -> str:
    """A name for an element that the file gives none: it, with _ where it is among those in `taken`, with a number from
    2 on where that is too. The search takes the logarithm of how many names are taken."""
    return _first_free(lambda number: f"{name}_{number}" if number > 1 else name + number * "_", taken)


def numbered_name(name: str, *taken: Container[str | None]) -> str:
    """As generated_name(), without the name with _ alone: name, name_2, name_3."""
    return _first_free(lambda number: f"{name}_{number + 1}" if number else name, taken)


def _first_free(numbered: Callable[[int], str], taken: Sequence[Container[str | None]]) -> str:
    def is_taken(number: int) -> bool:
        return any(numbered(number) in names for names in taken)

    low, high = -1, 0
    while is_taken(high):
        low, high = high, max(2 * high, high + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_taken(middle) else (low, middle)
    return numbered(high)


class UniqueNames:
    """Names of elements: those of the file first, each once, then names that differ from all of them."""

    def __init__(self, stated: Iterable[str | None]) -> None:
        self._free = set(filter(None, stated))
        self._last_number = dict.fromkeys(self._free, 0)  # tried for a name

    def of(self, stated: str | None, default: str) -> str:
        """The stated name or the default, or that with _1 and so on."""
        if stated in self._free:
            self._free.remove(stated)
            return stated
        name = unique = stated or default
        while unique in self._last_number:
            self._last_number[name] += 1
            unique = f"{name}_{self._last_number[name]}"
        self._last_number[unique] = 0
        return unique

"""Identifiers of geometries, of the frames they are fixed to and of those who registered them."""

from __future__ import annotations

import itertools
from typing import Self


class Identifier:
    """A number that no other identifier of a process has; one made without get_new_id() is not valid."""

    _numbers = itertools.count(1)
    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value = 0

    @classmethod
    def get_new_id(cls) -> Self:
        """An identifier that no other one equals."""
        made = cls()
        made._value = next(Identifier._numbers)
        return made

    def get_value(self) -> int:
        """The number. RuntimeError if it is not valid."""
        if not self._value:
            raise RuntimeError(f"{type(self).__name__}: the identifier is not valid")
        return self._value

    def is_valid(self) -> bool:
        """Whether it came from get_new_id()."""
        return self._value > 0

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._value == other._value

    def __lt__(self, other: Self) -> bool:
        return self.get_value() < other.get_value()

    def __hash__(self) -> int:
        return hash((type(self), self._value))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} value={self._value}>"


class GeometryId(Identifier):
    """Identifier of a geometry of a SceneGraph."""

    __slots__ = ()


class FrameId(Identifier):
    """Identifier of a frame of a SceneGraph."""

    __slots__ = ()


class SourceId(Identifier):
    """Identifier of a system that registers geometries: a plant."""

    __slots__ = ()


class FilterId(Identifier):
    """Identifier of a transient declaration of collision filters."""

    __slots__ = ()

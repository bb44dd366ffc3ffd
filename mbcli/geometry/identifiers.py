"""Identifiers of geometries, of the frames they are fixed to and of those who registered them."""

import itertools


class Identifier:
    """A number that no other identifier of a process has; one made without get_new_id() is not valid."""

    _numbers = itertools.count(1)
    __slots__ = ("_value",)

    def __init__(self):
        self._value = 0

    @classmethod
    def get_new_id(cls):
        made = cls()
        made._value = next(Identifier._numbers)
        return made

    def get_value(self):
        """The number. RuntimeError where it is not valid."""
        if not self._value:
            raise RuntimeError(f"{type(self).__name__}: the identifier is not valid")
        return self._value

    def is_valid(self):
        return self._value > 0

    def __eq__(self, other):
        return type(self) is type(other) and self._value == other._value

    def __lt__(self, other):
        return self.get_value() < other.get_value()

    def __hash__(self):
        return hash((type(self), self._value))

    def __repr__(self):
        return f"<{type(self).__name__} value={self._value}>"


class GeometryId(Identifier):
    __slots__ = ()


class FrameId(Identifier):
    __slots__ = ()


class SourceId(Identifier):
    __slots__ = ()


class FilterId(Identifier):
    __slots__ = ()

"""MultibodyConstraintId: a name for one constraint, different from all others of the process."""

from __future__ import annotations

from itertools import count


class MultibodyConstraintId:
    """Identifies a constraint; MultibodyConstraintId.get_new_id() makes one. Compares with its own type only."""

    __slots__ = ("_value",)

    _value: int
    _values = count(1)

    def __init__(self) -> None:
        raise TypeError("a MultibodyConstraintId comes from a plant, or from MultibodyConstraintId.get_new_id()")

    @classmethod
    def get_new_id(cls) -> MultibodyConstraintId:
        """An id that no other has."""
        return _with_value(next(cls._values))

    def get_value(self) -> int:
        """The number."""
        return self._value

    def is_valid(self) -> bool:
        """True: every id is one of a constraint."""
        return True

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _with_value, (self._value,)

    def __eq__(self, other):
        return self._value == other._value if isinstance(other, MultibodyConstraintId) else NotImplemented

    def __lt__(self, other):
        return self._value < other._value if isinstance(other, MultibodyConstraintId) else NotImplemented

    def __hash__(self):
        return hash((MultibodyConstraintId, self._value))

    def __repr__(self):
        return f"<MultibodyConstraintId value={self._value}>"


def _with_value(value):
    identifier = object.__new__(MultibodyConstraintId)
    identifier._value = value
    return identifier

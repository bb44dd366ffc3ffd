"""Values of any type that a system keeps or passes on, under the names of pydrake.common.value."""

from __future__ import annotations

from copy import deepcopy
from typing import Any


class AbstractValue:
    """Holds one object. AbstractValue.Make(object) and Value(object) make one."""

    __slots__ = ("_object",)

    def __init__(self, value: Any = None) -> None:
        self._object = value

    @staticmethod
    def Make(value: Any) -> AbstractValue:
        """A holder of a value; of None too."""
        return Value(value)

    def get_value(self) -> Any:
        """The object itself."""
        return self._object

    get_mutable_value = get_value

    def set_value(self, value: Any) -> None:
        """Holds another object from now on; a vector of numbers in a holder of a BasicVector goes into that."""
        if hasattr(self._object, "SetFromVector") and not hasattr(value, "SetFromVector"):
            value, numbers = self._object.Clone(), value
            value.SetFromVector(numbers)
        self._object = value

    def SetFrom(self, other: AbstractValue) -> None:
        """Holds a copy of what another one holds."""
        self._object = copied(other.get_value())

    def Clone(self) -> AbstractValue:
        """A holder of a copy."""
        return type(self)(copied(self._object))

    def __copy__(self) -> AbstractValue:
        return self.Clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> AbstractValue:
        return self.Clone()

    def __repr__(self) -> str:
        return f"Value({self._object!r})"


class List(list[Any]):
    """A list; List[T] is List."""

    def __class_getitem__(cls, kind: Any) -> Any:
        return cls


class ValueType(type):
    """Lets Value[T] be the class of holders of objects of type T, which T makes, as well as Value(object)."""

    def __getitem__(cls, kind: Any) -> Any:
        return TypedValue(f"Value[{getattr(kind, '__name__', kind)}]", (Value,), {"__slots__": (), "kind": kind})


class Value(AbstractValue, metaclass=ValueType):
    """The AbstractValue of an object: Value(object), or Value[type]() with an object that the type makes."""

    __slots__ = ()


class TypedValue(ValueType):
    """That of Value[T]: the holders themselves are of class Value."""

    kind: Any

    def __call__(cls, *given: Any) -> Value:
        return _made(cls.kind, *given)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Value) and isinstance(value.get_value(), cls.kind)

    def __eq__(cls, other: object) -> bool:
        return isinstance(other, TypedValue) and cls.kind == other.kind

    def __hash__(cls) -> int:
        return hash(cls.kind)


def _made(kind: Any, *given: Any) -> Value:
    if kind is object or not given or isinstance(given[0], kind if isinstance(kind, type) else object):
        return Value(given[0] if given else None if kind is object else kind())
    return Value(kind(given[0]) if hasattr(kind, "SetFromVector") else given[0])  # numbers of a vector


def held(value: Any) -> Any:
    """The object that a value holds, or the value itself if it is no holder."""
    return value.get_value() if isinstance(value, AbstractValue) else value


def copied(value: Any) -> Any:
    """A deep copy of an object, or by its Clone(); the object itself if it has no copies."""
    if hasattr(value, "Clone"):
        return value.Clone()
    try:
        return deepcopy(value)
    except (TypeError, AttributeError, NotImplementedError):  # as handles of files have none
        return value


__all__ = ["AbstractValue", "Value"]

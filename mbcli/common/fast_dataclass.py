"""`dataclass` that costs a start of the program next to nothing.

The decorator of the standard library compiles up to seven functions a class, half a millisecond together, also for
classes of which a run makes no object. Here one function serves all classes wherever speed does not matter, and the
`__init__` of a class is compiled when its first object is made. What a class is for others stays: `dataclasses.fields`,
`replace`, `asdict`, patterns of `match`, equality, hash, text, pickling.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, slots=False, kw_only=False):
        """Makes a class a dataclass; the arguments mean what they mean for `dataclasses.dataclass`."""
        if cls is None:
            return lambda cls: _dataclass(cls, frozen, eq, slots, kw_only)
        return _dataclass(cls, frozen, eq, slots, kw_only)


def _dataclass(cls: type, frozen: bool, eq: bool, slots: bool, kw_only: bool) -> type:
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # dataclasses would write the signature, which takes longer than all the rest
    own = set(vars(cls))
    if "__eq__" in own and vars(cls)["__hash__"] is None:
        own.discard("__hash__")  # it is Python that says so, because of __eq__
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    functions: dict[str, Any] = {"__init__": _first_init(made, frozen), "__repr__": _repr}
    if eq:
        functions |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        functions |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if slots:
            functions |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, function in functions.items():
        if name not in own:
            setattr(made, name, function)
    return made


def _first_init(cls: Any, frozen: bool) -> Callable[..., None]:
    """The `__init__` of the first object: it puts the compiled one in its place."""

    def __init__(self: object, *args: object, **kwargs: object) -> None:
        cls.__init__ = _compiled_init(cls, frozen)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _compiled_init(cls: Any, frozen: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_new": _NEW}
    slots = {
        name: slot
        for base in cls.__mro__
        for name, slot in vars(base).items()
        if isinstance(slot, MemberDescriptorType)
    }
    parameters: dict[bool, list[str]] = {False: [], True: []}
    lines = []
    for field in dataclasses.fields(cls):
        value = field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{field.name}"] = field.default_factory
            made = f"_make_{field.name}()"
            value, default = (f"{made} if {value} is _new else {value}", "=_new") if field.init else (made, "")
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{field.name}"] = field.default
            default = f"=_default_{field.name}"
            value = value if field.init else default[1:]
        else:
            default = ""
        if field.init:
            parameters[bool(field.kw_only)].append(field.name + default)
        if not frozen:
            lines.append(f"self.{field.name} = {value}")
        elif field.name in slots:  # less than half the time
            names[f"_set_{field.name}"] = slots[field.name].__set__
            lines.append(f"_set_{field.name}(self, {value})")
        else:
            lines.append(f"_set(self, {field.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join(["self", *parameters[False], *(["*", *parameters[True]] if parameters[True] else [])])
    body = "\n    ".join(lines or ["pass"])
    exec(f"def __init__({arguments}):\n    {body}", names)
    function = names["__init__"]
    function.__qualname__, function.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return function


_NEW = object()  # in place of a value that is made for each object


@recursive_repr()
def _repr(self: Any) -> str:
    values = ", ".join(
        f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr
    )
    return f"{type(self).__qualname__}({values})"


_getters: dict[type, Callable[[Any], tuple[Any, ...]]] = {}


def _compared(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Gives the values of an object that are compared."""
    return _getters.get(cls) or _getters.setdefault(cls, _getter(cls))


def _getter(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _eq(self: Any, other: object) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values = _compared(type(self))
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(_compared(type(self))(self))


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    if "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)

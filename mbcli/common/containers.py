"""Named views of vectors, under the names of pydrake.common.containers."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mbcli.math.array_types import Array

__all__ = ["EqualToDict", "NamedViewBase", "namedview"]


class _Key:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Key) or type(self.value) is not type(other.value):
            return False
        return bool(self.value.EqualTo(other.value))


class EqualToDict(MutableMapping[Any, Any]):
    """A dict whose keys are equal where their EqualTo() says so, since `==` of theirs makes a formula."""

    def __init__(self, *items: Any, **named: Any) -> None:
        self._held: dict[_Key, Any] = {}
        self.update(dict(*items, **named))

    def __getitem__(self, key: Any) -> Any:
        return self._held[_Key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._held[_Key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._held[_Key(key)]

    def __iter__(self) -> Iterator[Any]:
        return (key.value for key in self._held)

    def __len__(self) -> int:
        return len(self._held)

    def raw(self) -> dict[Any, Any]:
        """A dict with the same keys, of which `==` decides."""
        return dict(self)


class NamedViewBase:
    """A vector whose elements have names: view.name reads and sets one, view[:] the vector itself."""

    _fields: tuple[str, ...] = ()

    def __init__(self, value: Any) -> None:
        if len(self._fields) != len(value):
            raise AssertionError(f"{type(self).__name__} has {len(self._fields)} names, not {len(value)}")
        object.__setattr__(self, "_value", value)

    @classmethod
    def get_fields(cls) -> tuple[str, ...]:
        """The names."""
        return cls._fields

    @classmethod
    def Zero(cls) -> Any:
        """A view of zeros."""
        return cls(np.zeros(len(cls._fields)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._fields:
            raise AttributeError(f"'{type(self).__name__}' has no element '{name}'; there are {self._fields}")
        return self._value[self._fields.index(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise AttributeError(f"'{type(self).__name__}' has no element '{name}'; there are {self._fields}")
        self._value[self._fields.index(name)] = value

    def __getitem__(self, index: Any) -> Any:
        return self._value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._value[index] = value

    def __len__(self) -> int:
        return len(self._fields)

    def __iter__(self) -> Any:
        return iter(self._value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = np.asarray(self._value, dtype=dtype)
        return array.copy() if copy else array

    def _text(self, write: Callable[[Any], str]) -> str:
        parts = (f"{name}={write(value)}" for name, value in zip(self._fields, self._value, strict=True))
        return f"{type(self).__name__}({', '.join(parts)})"

    def __str__(self) -> str:
        return self._text(str)

    def __repr__(self) -> str:
        return f"<{self._text(repr)}>"


def namedview(name: str, fields: Sequence[str], *, sanitize_field_names: bool = True) -> Callable[[Any], Any]:
    """A class of views of vectors with these names of elements, made fit for Python if asked for."""
    names = [_identifier(field) for field in fields] if sanitize_field_names else list(fields)
    twice = {field for field in names if names.count(field) > 1}
    if twice:
        raise AssertionError(f"namedview '{name}': names must be unique, several are {', '.join(sorted(twice))}")
    return type(name, (NamedViewBase,), {"_fields": tuple(names)})


def _identifier(field: str) -> str:
    word = re.sub("_+", "_", re.sub(r"\W", "_", field))
    return f"_{word}" if word[:1].isdigit() else word

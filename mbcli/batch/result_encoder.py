"""Chunks of results as bytes of one format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import Array


class Encoder:
    """Writes chunks to a stream in one format."""

    def begin(self, arrays: Mapping[str, Array]) -> None:
        """Before the first chunk, whose columns these are."""
        raise NotImplementedError

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        """One chunk, whose first row has that number in the batch."""
        raise NotImplementedError

    def finish(self) -> None:
        """After the last chunk."""

    def discard(self) -> None:
        """Lets go of all but the stream."""


def component_names_of(name: str, shape: tuple[int, ...]) -> list[str]:
    """M[0,0], M[0,1], ...; the name alone of a number."""
    return [f"{name}[{','.join(map(str, index))}]" if shape else name for index in np.ndindex(shape)]


def column_names(names: Mapping[str, Sequence[str]], name: str, shape: tuple[int, ...]) -> Sequence[str]:
    """The names of the components of a result of that shape, those that are given or component_names_of()."""
    if name not in names:
        return component_names_of(name, shape)
    if len(names[name]) != math.prod(shape):
        raise ValueError(f"{len(names[name])} component names for column {name!r} of shape {shape}")
    return names[name]


def column_units(units: Mapping[str, str | Sequence[str]], name: str, count: int) -> list[str]:
    """The units of so many components of a result; none if they are not known, or those of other components."""
    given = units.get(name, ())
    found = [given] * count if isinstance(given, str) else list(given)
    return found if len(found) == count else []

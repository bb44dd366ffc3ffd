"""Rgba: a colour."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.other_names import also_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class Rgba:
    """Red, green, blue and opacity, each from 0 to 1; white unless they are given. RuntimeError for other numbers."""

    __fields__ = (SimpleNamespace(name="rgba", type=np.ndarray),)  # for mbcli.common.yaml

    def __init__(self, r: Any = 1.0, g: float = 1.0, b: float = 1.0, a: float = 1.0, *, rgba: Any = None) -> None:
        given = rgba if rgba is not None else (r if np.ndim(r) else (r, g, b, a))
        self._rgba = _checked(given)

    def r(self) -> float:
        """Red."""
        return float(self._rgba[0])

    def g(self) -> float:
        """Green."""
        return float(self._rgba[1])

    def b(self) -> float:
        """Blue."""
        return float(self._rgba[2])

    def a(self) -> float:
        """Opacity."""
        return float(self._rgba[3])

    @property
    def rgba(self) -> FloatArray:
        """All of them (4,)."""
        return self._rgba.copy()

    @rgba.setter
    def rgba(self, value: ArrayLike) -> None:
        self._rgba = _checked(value)

    @also_named(rgba="r")
    def set(self, r: Any, g: float = 0.0, b: float = 0.0, a: float = 1.0) -> None:
        """set(r, g, b, a), or set(rgba) with an array (4,)."""
        self._rgba = Rgba(r, g, b, a).rgba

    def update(
        self, r: float | None = None, g: float | None = None, b: float | None = None, a: float | None = None
    ) -> None:
        """Replaces those that are given."""
        given = (r, g, b, a)
        self._rgba = _checked([old if new is None else new for old, new in zip(self._rgba, given, strict=True)])

    def scale_rgb(self, scale: float) -> Rgba:
        """A colour whose red, green and blue are multiplied, within 0 and 1."""
        return Rgba(rgba=[*np.clip(scale * self._rgba[:3], 0.0, 1.0), self._rgba[3]])

    def __mul__(self, other: Rgba) -> Rgba:
        return Rgba(rgba=self._rgba * other.rgba)

    def __iter__(self) -> Iterator[float]:
        return iter(self._rgba.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rgba) and bool((self._rgba == other.rgba).all())

    def __hash__(self) -> int:
        return hash(tuple(self._rgba))

    def __repr__(self) -> str:
        return "Rgba(r={}, g={}, b={}, a={})".format(*self._rgba.tolist())


def _checked(rgba: Any) -> FloatArray:
    values = np.array([*rgba, 1.0] if len(rgba) == 3 else rgba, dtype=float)
    if values.shape != (4,) or not ((values >= 0.0) & (values <= 1.0)).all():
        raise RuntimeError(f"a colour has 3 or 4 numbers in the range from 0 to 1, not {values}")
    return values

"""Coulomb's law of friction between two surfaces."""

from __future__ import annotations

import math
from typing import Any


class CoulombFriction:
    """Coefficients of friction of a surface, which are those of a pair of surfaces like it.

    CoulombFriction() has none. RuntimeError if a coefficient is negative, or the dynamic one the greater.
    """

    __slots__ = ("_dynamic", "_static")

    def __init__(self, static_friction: float = 0.0, dynamic_friction: float | None = None) -> None:
        if dynamic_friction is None:
            if static_friction != 0.0:
                raise TypeError("CoulombFriction takes no coefficient or both")
            dynamic_friction = 0.0
        for name, value in (("static", static_friction), ("dynamic", dynamic_friction)):
            if not 0.0 <= value < math.inf:
                raise RuntimeError(f"CoulombFriction: the {name} coefficient must not be negative, it is {value}")
        if dynamic_friction > static_friction:
            raise RuntimeError(
                f"CoulombFriction: the dynamic coefficient {dynamic_friction} is greater than the static one, "
                f"{static_friction}"
            )
        self._static, self._dynamic = _number(static_friction), _number(dynamic_friction)

    def static_friction(self) -> float:
        """The coefficient of static friction."""
        return self._static

    def dynamic_friction(self) -> float:
        """The coefficient of sliding friction."""
        return self._dynamic

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoulombFriction):
            return NotImplemented
        return (self._static, self._dynamic) == (other._static, other._dynamic)

    def __hash__(self) -> int:
        return hash((self._static, self._dynamic))

    def __repr__(self) -> str:
        return f"CoulombFriction({self._static:g}, {self._dynamic:g})"


def _number(value: Any) -> Any:
    """A number as a float; one of another scalar type as it is."""
    return value if hasattr(value, "derivatives") or hasattr(value, "free_symbols") else float(value)


def CalcContactFrictionFromSurfaceProperties(
    surface_properties1: CoulombFriction, surface_properties2: CoulombFriction
) -> CoulombFriction:
    """The CoulombFriction of a pair of surfaces: 2 a b / (a + b) of the coefficients a and b, 0 if one is 0."""
    first, second = surface_properties1, surface_properties2
    return CoulombFriction(
        _combined(first.static_friction(), second.static_friction()),
        _combined(first.dynamic_friction(), second.dynamic_friction()),
    )


def _combined(a: float, b: float) -> float:
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0

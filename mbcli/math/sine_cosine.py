"""Sine, cosine, square root and angles of one number of any scalar type."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import Scalar


def sine_cosine(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Return sin and cos of an angle [rad]: float, complex, or an object with methods sin() and cos()."""
    if isinstance(angle, float):
        return math.sin(angle), math.cos(angle)
    if isinstance(angle, complex):
        return np.sin(angle).item(), np.cos(angle).item()
    return _function(angle, "sin")(angle), _function(angle, "cos")(angle)


def square_root(x: Scalar) -> Scalar:
    """Return the square root of a number of any scalar type."""
    if isinstance(x, float):
        return math.sqrt(x)
    return x**0.5 if isinstance(x, complex) else _function(x, "sqrt")(x)


def arctangent(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle [rad] of the point (x, y)."""
    if isinstance(y, float) and isinstance(x, float):
        return math.atan2(y, x)
    first = x if isinstance(y, float) else y
    if hasattr(first, "arctan2"):
        return type(first).arctan2(y if first is y else type(x)(y), x)
    return _function(first, "atan2")(y, x)


def arccosine(x: Scalar) -> Scalar:
    """Return the angle [rad] in [0, pi] of a cosine."""
    return math.acos(x) if isinstance(x, float) else _function(x, "arccos", "acos")(x)


def _function(x: Scalar, name: str, other: str | None = None) -> Callable[..., Scalar]:
    """Return a function by its name for objects: numpy calls their own method; SymPy has functions."""
    if hasattr(x, name):
        return lambda x: getattr(x, name)()
    if type(x).__module__.startswith("sympy"):
        from mbcli import symbolic

        return getattr(symbolic, other or name)
    return lambda x: getattr(np, name)(x).item()

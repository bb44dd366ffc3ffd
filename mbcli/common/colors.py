"""Colours: USD and glTF have numbers that are linear in light, other formats those of sRGB, as screens show them.

The curves are those of IEC 61966-2-1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Rgb = tuple[float, float, float]

_DIGITS = 6  # of single precision


def linear_of(rgb: Iterable[float]) -> Rgb:
    """The linear numbers of a colour in sRGB."""
    r, g, b = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in rgb)
    return r, g, b


def srgb_of(rgb: Iterable[float]) -> Rgb:
    """The colour in sRGB, of 6 digits, of linear numbers, those out of 0 to 1 at its end."""
    within = (min(max(float(value), 0.0), 1.0) for value in rgb)
    curve = (12.92 * value if value <= 0.0031308 else 1.055 * value ** (1.0 / 2.4) - 0.055 for value in within)
    r, g, b = (round(value, _DIGITS) for value in curve)
    return r, g, b

"""Periodic variables."""

from __future__ import annotations

import math
from typing import Any

from mbcli.errors import ModelError


def wrap_to(value: Any, low: Any, high: Any) -> Any:
    """Return value + k (high - low), k an integer, within [low, high), of any scalar type.

    Raises ModelError unless low < high and both are finite.
    """
    if not all(isinstance(x, (int, float)) for x in (value, low, high)):
        from mbcli.math.elementary import floor

        return value - (high - low) * floor((value - low) / (high - low))
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ModelError(f"wrap_to: [{low}, {high}) is not a finite interval")
    period = high - low
    wrapped = value - period * math.floor((value - low) / period)
    # Rounding can land on the open end.
    return low if wrapped >= high or wrapped < low else wrapped

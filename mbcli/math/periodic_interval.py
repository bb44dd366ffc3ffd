"""Periodic variables."""

import math

from mbcli.errors import ModelError


def wrap_to(value: float, low: float, high: float) -> float:
    """Return value + k (high - low), k an integer, within [low, high).

    Raises ModelError unless low < high and both are finite.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ModelError(f"wrap_to: [{low}, {high}) is not a finite interval")
    period = high - low
    wrapped = value - period * math.floor((value - low) / period)
    # Rounding can land on the open end.
    return low if wrapped >= high or wrapped < low else wrapped

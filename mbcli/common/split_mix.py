"""SplitMix64 (Steele, Lea and Flood 2014, Fast Splittable Pseudorandom Number Generators): bits that a word gives."""

from __future__ import annotations

from typing import Any

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # its increment


def mixed(bits: Any) -> Any:
    """Its finalizer, of a np.uint64 or an array of them: every bit moves half of those of the result."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))

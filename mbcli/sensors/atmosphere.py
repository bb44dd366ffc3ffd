"""The standard atmosphere up to 11 km: temperature falls with height (ISO 2533:1975)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

PRESSURE = 101325.0  # [Pa] at sea level
TEMPERATURE = 288.15  # [K] there
LAPSE = 0.0065  # [K/m]
GAS_CONSTANT = 287.05287  # [J/(kg K)] of dry air
GRAVITY = 9.80665  # [m/s^2]
TOP = 11000.0  # [m] above it the temperature stays


def temperature_at(height: FloatArray) -> FloatArray:
    """[K] at heights [m]."""
    return TEMPERATURE - LAPSE * np.minimum(height, TOP)


def pressure_at(height: FloatArray) -> FloatArray:
    """[Pa] at heights [m]."""
    below = PRESSURE * (temperature_at(height) / TEMPERATURE) ** (GRAVITY / (LAPSE * GAS_CONSTANT))
    above = np.maximum(height - TOP, 0.0)
    return below * np.exp(-GRAVITY * above / (GAS_CONSTANT * (TEMPERATURE - LAPSE * TOP)))


def density_at(height: FloatArray) -> FloatArray:
    """[kg/m^3] at heights [m]."""
    return pressure_at(height) / (GAS_CONSTANT * temperature_at(height))

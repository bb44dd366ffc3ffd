"""Sine and cosine of one angle of any scalar type."""

import math

import numpy as np


def sine_cosine(angle):
    """Return sin and cos of an angle [rad]: float, complex, or an object with methods sin() and cos()."""
    if isinstance(angle, float):
        return math.sin(angle), math.cos(angle)
    if isinstance(angle, complex):
        return np.sin(angle).item(), np.cos(angle).item()
    # numpy calls the object's own sin() and cos(), as symbolic and dual numbers define them.
    angle = np.array(angle, dtype=object)
    return np.sin(angle), np.cos(angle)

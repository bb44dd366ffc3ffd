"""Numbers that elements are given: finite, or not negative either, of floats or of what a context holds."""

from math import inf, isfinite

import numpy as np

from mbcli.multibody.scalars import FLOAT


def finite(value, what, scalar=FLOAT, shape=()):
    """The value as a number, or as an array of a shape; RuntimeError naming it where it is not finite or not so many.

    TypeError where it does not fit the scalar type.
    """
    if type(value) is float and isfinite(value) and shape == () and scalar is FLOAT:
        return value
    return _checked(value, what, scalar, shape, np.isfinite, "finite")


def non_negative(value, what, scalar=FLOAT, shape=()):
    """As finite(), and RuntimeError where it is negative."""
    if type(value) is float and 0.0 <= value < inf and shape == () and scalar is FLOAT:
        return value
    return _checked(value, what, scalar, shape, lambda x: np.isfinite(x) & (x >= 0.0), "finite and not negative")


def _checked(value, what, scalar, shape, valid, kind):
    array = scalar.array(value, what)
    if len(shape) == 1 and array.shape in ((), (*shape, 1)):
        array = array.reshape(-1)
    if array.shape != shape:
        raise RuntimeError(f"{what} must have shape {shape}, it has {array.shape}")
    if not valid(scalar.reals(array)).all():
        raise RuntimeError(f"{what} must be {kind}, it is {value}")
    return array if shape else array.item()

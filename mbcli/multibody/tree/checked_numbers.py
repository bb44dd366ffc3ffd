"""Numbers that elements are given: finite, or not negative either, of floats or of the numbers of a context."""

from math import inf, isfinite

import numpy as np
from numpy import ndarray

from mbcli.multibody.scalars import FLOAT


def finite(value, what, scalar=FLOAT, shape=()):
    """The value as a number, or as an array of a shape; RuntimeError naming it if it is not finite or has another size.

    TypeError if it does not fit the scalar type.
    """
    if type(value) is float and isfinite(value) and shape == () and scalar is FLOAT:
        return value
    return _checked(value, what, scalar, shape, _are_finite, "finite")


def non_negative(value, what, scalar=FLOAT, shape=()):
    """As finite(), and RuntimeError if it is negative."""
    if type(value) is float and 0.0 <= value < inf and shape == () and scalar is FLOAT:
        return value
    return _checked(value, what, scalar, shape, _are_finite_and_not_negative, "finite and not negative")


def require_finite(array, what):
    """RuntimeError naming the first element that is NaN or infinite; of objects those count that are numbers."""
    kind = array.dtype.kind
    if kind == "f" and _are_finite(array.ravel().tolist()):
        return
    values = array.real if kind != "O" else np.array([getattr(x, "real", 0.0) for x in array.flat])
    for k, value in enumerate(values.flat):
        if isinstance(value, (int, float)) and not isfinite(value):
            where = f"element {k} is" if array.size > 1 else "it is"
            raise RuntimeError(f"{what} must be finite, {where} {float(value)}")


def are_non_negative_floats(value, size):
    """Whether this is an array (size,) of floats that are finite and not negative, as from most callers."""
    if type(value) is not ndarray or value.dtype is not FLOAT.dtype or value.shape != (size,):
        return False
    return _are_finite_and_not_negative(value.tolist())


def _are_finite(values):
    return all(map(isfinite, values))


def _are_finite_and_not_negative(values):
    return all(map(isfinite, values)) and min(values, default=0.0) >= 0.0


def _checked(value, what, scalar, shape, valid, kind):
    array = scalar.array(value, what)
    if len(shape) == 1 and array.shape in ((), (*shape, 1)):
        array = array.reshape(-1)
    if array.shape != shape:
        raise RuntimeError(f"{what} must have shape {shape}, it has {array.shape}")
    if not valid(scalar.reals(array).ravel().tolist()):
        raise RuntimeError(f"{what} must be {kind}, it is {value}")
    return array if shape else array.item()

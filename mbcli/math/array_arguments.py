"""Arguments of the public classes, turned into arrays of a scalar type that is kept throughout.

Scalars are float64, complex128 (complex-step derivatives) or object (anything that adds and multiplies:
symbolic expressions, dual numbers). All other real types become float64, all other complex ones complex128.
A wrong shape or type is a TypeError that names the argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import Array, FloatArray, Scalar

_FLOAT = np.dtype(np.float64)
_COMPLEX = np.dtype(np.complex128)
_OBJECT = np.dtype(object)


def as_numbers(value: Any, name: str) -> Array:
    """Return `value` as an array of float64, complex128 or object; not a copy if none is needed."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise TypeError(f"{name}: rows of different lengths") from None
    if array.dtype is _FLOAT:
        return array
    kind = array.dtype.kind
    if kind in "fiub":
        return array.astype(_FLOAT)
    if kind == "c":
        return array.astype(_COMPLEX, copy=False)
    if kind == "O" and all(_is_number_like(element) for element in array.flat):
        return array
    raise TypeError(f"{name}: expected numbers, got {describe(value)}")


def as_array(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """Return `value` as numbers of exactly this shape; one column counts as a vector."""
    array = as_numbers(value, name)
    if array.shape == shape:
        return array
    if len(shape) == 1 and array.shape == (*shape, 1):
        return array[:, 0]
    raise TypeError(f"{name}: expected an array of shape {shape}, got {describe(value)}")


def as_scalar(value: Any, name: str) -> Scalar:
    """Return one number: a Python float or complex, or the object itself."""
    if type(value) is float:
        return value
    array = as_numbers(value, name)
    if array.ndim:
        raise TypeError(f"{name}: expected one number, got {describe(value)}")
    return array.item()


def is_scalar(value: Any) -> bool:
    """Tell whether `value` is one number, of any scalar type."""
    if isinstance(value, (float, int, complex, np.number)):
        return True
    return np.ndim(value) == 0 and _is_number_like(value)


def is_real(value: object) -> bool:
    """Tell whether a number or an array is made of real floats, so that it can be compared."""
    return isinstance(value, float) or getattr(value, "dtype", None) is _FLOAT


def real_parts(array: np.ndarray) -> FloatArray | None:
    """Return the real parts of an array, by which numbers of any type can be tested; None for symbols."""
    if array.dtype.kind != "O":
        return array.real
    parts = [real_part(x) for x in array.flat]
    return None if None in parts else np.array(parts, dtype=float).reshape(array.shape)


def real_part(value: Any) -> float | None:
    """Return the real part of a number, by which it can be tested; None for symbols."""
    if isinstance(value, float):
        return value
    real: float | None = getattr(value, "real", None)
    if real is None and getattr(value, "is_number", False):  # an expression without symbols
        return float(value)
    return real


def python_number(value: Any) -> Scalar:
    """Return a number of numpy as that of Python, another as it is."""
    return value.item() if isinstance(value, np.generic) else value


def single_argument(owner: str, **given: Any) -> Any:
    """Return the only argument that was given, None if none was; more than one is a TypeError."""
    found = {name: value for name, value in given.items() if value is not None}
    if len(found) > 1:
        raise TypeError(f"{owner}: {' and '.join(found)} cannot be given together")
    return next(iter(found.values()), None)


def _is_number_like(value: object) -> bool:
    # Strings and containers do not subtract; objects that close themselves to numpy are not elements of arrays.
    return hasattr(value, "__sub__") and getattr(value, "__array_ufunc__", True) is not None


def describe(value: object) -> str:
    """Return a description of an argument, for error messages."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of shape {np.shape(np.asarray(value, dtype=object))}"
    return type(value).__name__

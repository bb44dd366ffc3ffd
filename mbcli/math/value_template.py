"""X_[T] of classes of values: transforms, rotations, spatial vectors and inertias made of numbers of type T."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.scalar_template import ScalarTemplate, T

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import Array

_OPERATIONS = ["init", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "matmul", "neg", "getitem"]
OPERATORS = {f"__{name}__" for name in (*_OPERATIONS, "iadd", "isub", "imul", "itruediv")}
_kinds: dict[type, type] = {}  # the classes of values, and those of other scalars made of them: the class of floats


class ValueTemplate(ScalarTemplate[T]):
    """X_ of a class X of values. X_[AutoDiffXd] and X_[Expression] are classes of their own, derived from X.

    All numbers in their objects are of the scalar type, floats that are given become constants, and so are all numbers
    and values that their functions return; conditions stay True or False.

    Args:
        default: the class X; its objects keep arrays and numbers in their slots.
    """

    def __init__(self, default: type[T]) -> None:
        super().__init__(default)
        _kinds[default] = default

    def __getitem__(self, scalar: type | str) -> type[T]:
        default: Any = super().__getitem__(scalar)
        name = scalar if isinstance(scalar, str) else scalar.__name__
        return default if name == "float" else class_of(default, "Expression" if name == "Expr" else name)


@functools.cache
def class_of(default: Any, scalar: str) -> Any:
    """The class of a scalar type, by its name, derived from a class of values."""
    members: dict[str, Any] = {
        "__slots__": (),
        "__doc__": f"{default.__name__} of numbers of type {scalar}.\n\n{default.__doc__}",
    }
    for name in dir(default):
        member = inspect.getattr_static(default, name)
        if name.startswith("_") and name not in OPERATORS or member is None:
            continue
        if isinstance(member, staticmethod):
            members[name] = staticmethod(_making(member.__func__, scalar))
        elif isinstance(member, classmethod):
            members[name] = classmethod(_making(member.__func__, scalar))
        elif inspect.isfunction(member):
            members[name] = _method(member, scalar)
    kind = type(default)(f"{default.__name__}_[{scalar}]", (default,), members)
    kind.__module__ = default.__module__
    _kinds[kind] = default
    return kind


def _making(function: Callable[..., Any], scalar: str) -> Callable[..., Any]:
    """A function without object: values that it returns are of the scalar type, tolerances stay floats."""

    @functools.wraps(function)
    def make(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        return result if isinstance(result, float) else of_scalar(result, scalar)

    return make


def _method(function: Callable[..., Any], scalar: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def calculate(self: Any, *arguments: Any, **named: Any) -> Any:
        result = function(self, *arguments, **named)
        _convert_slots(self, self, scalar)  # it may have changed the object
        return result if result is self else of_scalar(result, scalar)

    return calculate


def of_scalar(value: Any, scalar: str) -> Any:
    """A result as one of a scalar type, by its name: numbers, arrays, values and tuples of them; else as it is."""
    if isinstance(value, float):
        return _constants(scalar)[1](value)
    if isinstance(value, np.ndarray):
        return _array_of(value, scalar)
    if isinstance(value, tuple):
        return tuple(of_scalar(part, scalar) for part in value)
    default = _kinds.get(type(value))
    if default is None:
        return value
    kind = class_of(default, scalar)
    return _convert_slots(value if type(value) is kind else kind.__new__(kind), value, scalar)


def _convert_slots(target: Any, source: Any, scalar: str) -> Any:
    for kind in type(source).__mro__:
        for slot in vars(kind).get("__slots__", ()):
            if not hasattr(source, slot):  # a constructor that sets one after the other
                continue
            part = getattr(source, slot)
            part = part.item() if isinstance(part, np.ndarray) and part.ndim == 0 else part
            setattr(target, slot, of_scalar(part, scalar))
    return target


def _array_of(array: Array, scalar: str) -> Array:
    number, constant = _constants(scalar)
    if array.dtype.kind not in "fO" or (array.dtype.kind == "O" and all(isinstance(x, number) for x in array.flat)):
        return array
    result = np.empty(array.shape, dtype=object)
    result.reshape(-1)[:] = [x if isinstance(x, number) else constant(x) for x in array.flat]
    return result


@functools.cache
def _constants(scalar: str) -> tuple[type[Any], Callable[[Any], Any]]:
    """The class of the numbers of a scalar type, and its conversion from float."""
    # Imported here: both build on the package that has the templates, and SymPy is an extra.
    if scalar == "AutoDiffXd":
        from mbcli.autodiffutils import AutoDiffXd

        return AutoDiffXd, AutoDiffXd
    from mbcli.symbolic import Expression

    return Expression, lambda x: Expression(int(x) if isinstance(x, float) and x.is_integer() else x)

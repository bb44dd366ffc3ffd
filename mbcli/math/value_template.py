"""X_[T] of classes of values: transforms, rotations, spatial vectors and inertias made of numbers of type T."""

from __future__ import annotations

import copy
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
    and values that their functions return. Conditions are formulas for expressions, and True or False else.

    Args:
        default: the class X; its objects keep arrays and numbers in their slots.
    """

    def __init__(self, default: type[T]) -> None:
        super().__init__(default)
        _kinds[default] = default
        default.cast = _Cast()  # type: ignore[attr-defined]
        if "__setstate__" not in vars(default):
            default.__setstate__ = _set_state  # type: ignore[attr-defined]

    def __call__(self, *given: Any, **named: Any) -> T:
        """An object of the scalar type of what is given."""
        parts = [part for value in (*given, *named.values()) for part in np.ravel(np.asarray(value, dtype=object))]
        kinds = {"Expression" if kind.startswith("sympy.") else kind for kind in (type(p).__module__ for p in parts)}
        scalar = "AutoDiffXd" if "mbcli.autodiffutils" in kinds else "Expression" if "Expression" in kinds else "float"
        return self[scalar](*given, **named)

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
    members["__reduce__"] = lambda self: (_again, (default, scalar, _slots_of(self)))
    kind = type(default)(f"{default.__name__}_[{scalar}]", (default,), members)
    kind.__module__ = default.__module__
    _kinds[kind] = default
    return kind


class _Cast:
    """value.cast[T](): the same value of numbers of type T. TypeError from numbers with derivatives or symbols."""

    def __get__(self, value: Any, kind: Any = None) -> Any:
        return self if value is None else _CastOf(value)


class _CastOf:
    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, scalar: type | str) -> Callable[[], Any]:
        name = scalar if isinstance(scalar, str) else scalar.__name__
        default = _kinds[type(self._value)]
        kind = default if name == "float" else class_of(default, "Expression" if name == "Expr" else name)
        if type(self._value) not in (default, kind):
            raise TypeError(f"a {type(self._value).__name__} is not cast to {name}")
        return lambda: copy.copy(self._value) if type(self._value) is kind else of_scalar(self._value, name)


def _set_state(self: Any, state: Any) -> None:
    """Takes what was pickled: slots, or the numbers of which pydrake makes the object."""
    if isinstance(state, tuple) and len(state) == 2 and state[0] is None:
        for slot, part in state[1].items():
            object.__setattr__(self, slot, part)
    else:
        self.__init__(*state if isinstance(state, tuple) else (state,))


def _slots_of(value: Any) -> dict[str, Any]:
    slots = [slot for kind in type(value).__mro__ for slot in vars(kind).get("__slots__", ())]
    return {slot: getattr(value, slot) for slot in slots}


def _again(default: type, scalar: str, slots: dict[str, Any]) -> Any:
    """An object of a scalar type as it was pickled."""
    kind = class_of(default, scalar)
    value = kind.__new__(kind)
    for slot, part in slots.items():
        setattr(value, slot, part)
    return value


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
        if isinstance(result, bool):
            return _condition(result) if scalar == "Expression" else result
        return result if result is self else of_scalar(result, scalar)

    return calculate


def _condition(value: bool) -> Any:
    """True or False as a formula."""
    import sympy  # there, since expressions are

    return sympy.true if value else sympy.false


def of_scalar(value: Any, scalar: str) -> Any:
    """A result as one of a scalar type, by its name: numbers, arrays, values and tuples of them; else as it is."""
    if isinstance(value, float):
        return _constants(scalar)[1](value)
    if isinstance(value, np.ndarray):
        return array_of(value, scalar)
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


def array_of(array: Array, scalar: str) -> Array:
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

"""How a configuration record states its fields: default, unit, range and choices, each declared once.

Reading YAML, `--set PATH=VALUE`, assignment from Python and the published JSON Schemas all use the same
declaration, so they accept the same values.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from math import isfinite, isnan
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from mbcli.common.suggestions import did_you_mean, name_or_list
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REQUIRED = dataclasses.MISSING


class ValueProblem(ValueError):
    """A value that a field does not take. `code` is the kind of problem: VALUE_TYPE, _RANGE or _CHOICE."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def setting(
    default: Any,
    doc: str,
    *,
    unit: str = "",
    minimum: float | None = None,
    above: float | None = None,
    choices: Sequence[str] = (),
    infinite: bool = False,
) -> Any:
    """A dataclass field with its declaration.

    :param default: the value when nothing is given; REQUIRED if it must be; a type for a new, empty one.
    :param doc: one line for people; goes to the JSON Schema.
    :param unit: of the value, "" for a pure number or text.
    :param minimum: smallest value allowed.
    :param above: the value must be greater than this.
    :param choices: the strings allowed.
    :param infinite: infinity is allowed (NaN never is).
    """
    declaration = {
        "doc": doc,
        "unit": unit,
        "minimum": minimum,
        "above": above,
        "choices": tuple(choices),
        "infinite": infinite,
    }
    kind = "default_factory" if isinstance(default, type) else "default"
    return dataclasses.field(**{kind: default}, metadata=declaration)


def accept(kind: type, value: Any, declaration: Mapping[str, Any]) -> Any:
    """`value` as the scalar type `kind` (bool, int, float, str), inside the declared range and choices.

    :raises ValueProblem: it is of another type, out of range or not a choice.
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()  # a numpy scalar
    value = _SCALARS[kind](value)
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        _check_range(value, declaration)
    choices = declaration.get("choices")
    if choices and value not in choices:
        raise ValueProblem(
            "VALUE_CHOICE",
            f"must be one of {', '.join(choices)}; found {describe(value)}",
            did_you_mean(value, choices),
        )
    return value


def describe(value: object) -> str:
    """A value in words for a message: its type and a short form of it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    short = text if len(text) <= 60 else text[:57] + "..."
    if isinstance(value, str):
        return f"the string {short}"
    return short


def _check_range(value: Any, declaration: Mapping[str, Any]) -> None:
    if isinstance(value, float) and not isfinite(value) and (isnan(value) or not declaration.get("infinite")):
        raise ValueProblem("VALUE_RANGE", f"must be a finite number; found {value!r}")
    unit = f" {declaration['unit']}" if declaration.get("unit") else ""
    minimum, above = declaration.get("minimum"), declaration.get("above")
    if minimum is not None and value < minimum:
        raise ValueProblem("VALUE_RANGE", f"must be at least {minimum:g}{unit}; found {describe(value)}")
    if above is not None and value <= above:
        raise ValueProblem("VALUE_RANGE", f"must be greater than {above:g}{unit}; found {describe(value)}")


def _as_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    hint = None
    if isinstance(value, str) and value.lower() in ("yes", "no", "on", "off", "y", "n"):
        hint = "YAML 1.2 writes true or false"
    raise ValueProblem("VALUE_TYPE", f"must be true or false; found {describe(value)}", hint)


def _as_int(value: Any) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    raise ValueProblem("VALUE_TYPE", f"must be an integer; found {describe(value)}")


def _as_float(value: Any) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise ValueProblem("VALUE_RANGE", "is too large for a number") from None
    raise ValueProblem("VALUE_TYPE", f"must be a number; found {describe(value)}")


def _as_str(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueProblem("VALUE_TYPE", f"must be a string; found {describe(value)}")


_SCALARS = {bool: _as_bool, int: _as_int, float: _as_float, str: _as_str}


class ConfigRecord:
    """Base of the mutable configuration dataclasses: every assignment is checked against the declaration.

    :raises ModelError: (a RuntimeError) the value is not one that the field takes; names field and value.
    :raises AttributeError: there is no such field.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        fields: dict[str, Any] = type(self).__dataclass_fields__  # type: ignore[attr-defined]  # of subclasses
        if name not in fields:
            raise AttributeError(f"{type(self).__name__} has no field '{name}': {name_or_list(name, fields)}")
        kind = fields[name].type
        if value is not None:
            kind = _without_none(kind)
        if kind in _SCALARS:
            try:
                value = accept(kind, value, fields[name].metadata)
            except ValueProblem as problem:
                hint = f"; {problem.hint}" if problem.hint else ""
                raise ModelError(f"{type(self).__name__}.{name} {problem}{hint}") from None
        elif typing.get_origin(kind) is dict:
            value = self._accept_mapping(name, value, typing.get_args(kind)[1], fields[name].metadata)
        elif not isinstance(value, kind):
            raise ModelError(f"{type(self).__name__}.{name} must be a {kind.__name__}; found {describe(value)}")
        object.__setattr__(self, name, value)

    def _accept_mapping(self, name: str, value: object, kind: type, declaration: Mapping[str, Any]) -> dict[str, Any]:
        """A new dict of names and scalars of one type."""
        owner = f"{type(self).__name__}.{name}"
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise ModelError(f"{owner} must be a dict of names; found {describe(value)}")
        try:
            return {key: accept(kind, entry, declaration) for key, entry in value.items()}
        except ValueProblem as problem:
            raise ModelError(f"{owner}: a value {problem}") from None


def _without_none(kind: Any) -> Any:
    """T of `T | None`, else the type itself."""
    if isinstance(kind, types.UnionType) and types.NoneType in kind.__args__ and len(kind.__args__) == 2:
        return next(argument for argument in kind.__args__ if argument is not types.NoneType)
    return kind

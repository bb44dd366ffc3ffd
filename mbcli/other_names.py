"""Arguments that callers may give under several names: pydrake has one for each overload, and renames some."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Result = TypeVar("Result")
    Given = ParamSpec("Given")


def also_named(**others: str) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """A decorator: {another name: that of the argument}. TypeError for an argument that is given twice."""

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            for other in others.keys() & named.keys():
                if others[other] in named:
                    raise TypeError(f"{function.__name__}() got {others[other]} and {other}, which are one argument")
                named[others[other]] = named.pop(other)
            return function(*arguments, **named)

        call.other_names = others  # type: ignore[attr-defined]  # for introspection
        return call

    return decorate

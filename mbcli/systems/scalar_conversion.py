"""Systems of a user's that are made anew for each type of scalar, under the names of pydrake.systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.autodiffutils import AutoDiffXd

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TemplateSystem"]

CONSTRUCT, CONSTRUCT_COPY = "_construct", "_construct_copy"  # methods of users' classes


class TemplateSystem:
    """X_[T] of a class of systems that a function of T makes; X_[None] is X_[float].

    The class has _construct(self, ..., converter=None) in place of __init__, and _construct_copy(self, other,
    converter=None), by which a system of one scalar is made from one of another.

    Args:
        name: of the template.
        make: T -> class.
    """

    def __init__(self, name: str, make: Callable[[Any], type]) -> None:
        self._name, self._make = name, make
        self._classes: dict[str, type] = {}

    @staticmethod
    def define(name: str, *unused: Any, **named: Any) -> Callable[[Callable[[Any], type]], TemplateSystem]:
        """A decorator of the function T -> class."""
        return lambda make: TemplateSystem(name, make)

    def __getitem__(self, scalar: Any) -> Any:
        scalar = float if scalar is None else scalar
        key = scalar if isinstance(scalar, str) else scalar.__name__
        if key not in self._classes:
            self._classes[key] = self._finished(self._make(scalar), scalar)
        return self._classes[key]

    def _finished(self, kind: Any, scalar: Any) -> type:
        """With an __init__, and what makes copies and systems of other scalars."""
        template = self

        def construct(system: Any, *given: Any, **named: Any) -> None:
            getattr(kind, CONSTRUCT)(system, *given, **named)

        def converted(system: Any, scalar: Any) -> Any:
            other = object.__new__(template[scalar])
            getattr(type(other), CONSTRUCT_COPY)(other, system)
            return other

        def by_name(system: Any, scalar: str) -> Any:
            if scalar == "AutoDiffXd":
                return converted(system, AutoDiffXd)
            from mbcli.symbolic import Expression  # late: needs SymPy

            return converted(system, Expression)

        return type(
            kind.__name__,
            (kind,),
            {
                "__init__": construct,
                "_converted": by_name,
                "Clone": lambda system: converted(system, scalar),
                "__module__": kind.__module__,
            },
        )

    def __repr__(self) -> str:
        return f"<TemplateSystem {self._name}>"

"""Options of solvers, and which solver a name means."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mbcli.numbered_enum import NumberedEnum


class CommonSolverOption(NumberedEnum):
    """Options that all solvers know; none of them acts here."""

    kPrintFileName = 0
    kPrintToConsole = 1
    kStandaloneReproductionFileName = 2
    kMaxThreads = 3


class SolverId:
    """The name of a solver."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        """The name."""
        return self._name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SolverId) and self._name == other.name()

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f"SolverId('{self._name}')"


class SolverOptions:
    """Options by the names of solvers. Of those, these act here, whichever solver they are of: iteration limits
    ("Major iterations limit", "max_iter", "maxiter") and tolerances of optimality ("Major optimality tolerance",
    "tol", "ftol"), and where to print how it ended (CommonSolverOption).
    """

    __fields__ = (SimpleNamespace(name="options", type=dict[str, dict[str, float | int | str]]),)
    ITERATIONS = ("Major iterations limit", "max_iter", "maxiter", "maxeval")
    TOLERANCE = ("Major optimality tolerance", "tol", "ftol")

    def __init__(self, options: dict[str, dict[Any, Any]] | None = None) -> None:
        self.options: dict[str, dict[Any, Any]] = dict(options or {})

    def SetOption(self, *given: Any, **named: Any) -> None:
        """SetOption(solver id, name, value) or SetOption(CommonSolverOption, value)."""
        *owner, key, value = [*given, *named.values()]
        self.options.setdefault(_name(owner[0]) if owner else "Drake", {})[key] = value

    def GetOptions(self, solver_id: Any) -> dict[Any, Any]:
        """{name: value} of a solver."""
        return dict(self.options.get(_name(solver_id), {}))

    def acting(self, names: tuple[Any, ...], default: Any) -> Any:
        """The value of the first of these options that is set."""
        found = [own[name] for own in self.options.values() for name in names if name in own]
        return found[0] if found else default


def _name(solver: Any) -> str:
    if isinstance(solver, SolverId):
        return solver.name()
    return str(getattr(solver, "name", solver))

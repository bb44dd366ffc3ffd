"""Options of solvers, and which solver a name means."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mbcli.numbered_enum import NumberedEnum


class CommonSolverOption(NumberedEnum):
    """Options that all solvers know; those of printing act here."""

    kPrintFileName = 0
    kPrintToConsole = 1
    kStandaloneReproductionFileName = 2
    kMaxThreads = 3


class SolverType(NumberedEnum):
    """Solvers of pydrake's."""

    kClp = 0
    kCsdp = 1
    kEqualityConstrainedQP = 2
    kGurobi = 3
    kIpopt = 4
    kLinearSystem = 5
    kMobyLCP = 6
    kMosek = 7
    kNlopt = 8
    kOsqp = 9
    kSnopt = 10
    kScs = 11
    kUnrevisedLemke = 12


NAMES = {  # of solvers that are not those of their types
    SolverType.kClp: "Clp",
    SolverType.kCsdp: "CSDP",
    SolverType.kIpopt: "Ipopt",
    SolverType.kNlopt: "NLopt",
    SolverType.kOsqp: "OSQP",
    SolverType.kScs: "SCS",
    SolverType.kSnopt: "SNOPT",
    SolverType.kEqualityConstrainedQP: "Equality constrained QP",
    SolverType.kLinearSystem: "Linear system",
    SolverType.kMobyLCP: "Moby LCP",
    SolverType.kUnrevisedLemke: "Unrevised Lemke",
    SolverType.kMosek: "MOSEK",
}


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
        key = key.name if isinstance(key, CommonSolverOption) else key
        self.options.setdefault(name_of(owner[0]) if owner else "Drake", {})[key] = value

    def GetOptions(self, solver_id: Any) -> dict[Any, Any]:
        """{name: value} of a solver."""
        return dict(self.options.get(name_of(solver_id), {}))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SolverOptions) and self.options == other.options

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SolverOptions(options={self.options!r})"

    def acting(self, names: tuple[Any, ...], default: Any) -> Any:
        """The value of the first of these options that is set."""
        keys = [name.name if isinstance(name, CommonSolverOption) else name for name in names]
        found = [own[key] for own in self.options.values() for key in keys if key in own]
        return found[0] if found else default


def name_of(solver: Any) -> str:
    """The name of a SolverId, a SolverType or a text."""
    if isinstance(solver, SolverId):
        return solver.name()
    if isinstance(solver, SolverType):
        return NAMES.get(solver, solver.name.removeprefix("k"))
    return str(getattr(solver, "name", solver))

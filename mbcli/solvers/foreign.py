"""Solvers of pydrake's by their names: their options are taken, and Solve() solves in their place."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mbcli.solvers import ipopt
from mbcli.solvers.attributes import ProgramType
from mbcli.solvers.mathematical_program import MathematicalProgram
from mbcli.solvers.options import SolverId, SolverType, name_of
from mbcli.solvers.solve import MathematicalProgramResult, Solve, solve_by_ipopt

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_HERE = ("MOSEK", "Gurobi")  # for which nothing here stands in
CONIC = ("CSDP", "SCS")  # for which Clarabel stands in, where it is installed


class SolverInterface:
    """A solver by its name."""

    NAME = ""

    @classmethod
    def id(cls) -> SolverId:
        """The name."""
        return SolverId(cls.NAME)

    def solver_id(self) -> SolverId:
        """The name."""
        return self.id()

    def SolverName(self) -> str:
        """The name as text."""
        return self.NAME

    def solver_type(self) -> SolverType | None:
        """The SolverType of the name; None if there is none."""
        return next((kind for kind in SolverType if name_of(kind) == self.NAME), None)

    def available(self) -> bool:
        """Whether programs can be solved under this name, as Solve() does."""
        return self.NAME not in NOT_HERE and (self.NAME not in CONIC or find_spec("clarabel") is not None)

    def enabled(self) -> bool:
        """As available()."""
        return self.available()

    def Solve(
        self, prog: MathematicalProgram, initial_guess: Any = None, solver_options: Any = None
    ) -> MathematicalProgramResult:
        """As the function Solve(), whose result names the solver of SciPy. RuntimeError for one that is not here."""
        if not self.available():
            raise RuntimeError(f"the solver {self.NAME} is not in mbcli: Solve(prog) takes one of SciPy's")
        return Solve(prog, initial_guess, solver_options)


class SnoptSolver(SolverInterface):
    """Nonlinear programs as Solve() takes them, by SciPy's SLSQP or IPOPT."""

    NAME = "SNOPT"


class MosekSolver(SolverInterface):
    """Mosek, which is not here."""

    NAME = "MOSEK"


class GurobiSolver(SolverInterface):
    """Gurobi, which is not here."""

    NAME = "Gurobi"


class CsdpSolver(SolverInterface):
    """Semidefinite programs, by Clarabel."""

    NAME = "CSDP"


class ScsSolver(SolverInterface):
    """Conic programs, by Clarabel."""

    NAME = "SCS"


class IpoptSolver(SolverInterface):
    """Programs without binary variables, by IPOPT where the extra `casadi` is installed; else as Solve()."""

    NAME = "Ipopt"

    def Solve(
        self, prog: MathematicalProgram, initial_guess: Any = None, solver_options: Any = None
    ) -> MathematicalProgramResult:
        """By IPOPT; its options are those of a SolverOptions by the name "Ipopt"."""
        if not ipopt.is_installed():
            return super().Solve(prog, initial_guess, solver_options)
        return solve_by_ipopt(prog, initial_guess, prog.solver_options() if solver_options is None else solver_options)


class NloptSolver(SolverInterface):
    """Nonlinear programs, by SciPy's SLSQP."""

    NAME = "NLopt"


class OsqpSolver(SolverInterface):
    """Quadratic programs, by linear equations or SciPy's SLSQP."""

    NAME = "OSQP"


class ClarabelSolver(SolverInterface):
    """Convex programs, by Clarabel where the extra `solvers` is installed; those without cones else as Solve()."""

    NAME = "Clarabel"


class ClpSolver(SolverInterface):
    """Linear programs, by SciPy's HiGHS."""

    NAME = "Clp"


class UnrevisedLemkeSolver(SolverInterface):
    """Linear complementarity, by Lemke's pivots."""

    NAME = "Unrevised Lemke"


class MobyLcpSolver(SolverInterface):
    """Linear complementarity, by Lemke's pivots."""

    NAME = "Moby LCP"


def ChooseBestSolver(prog: MathematicalProgram) -> SolverId:
    """The name of the solver of Solve(): one for all programs, which chooses."""
    return SolverId("SciPy")


_NONLINEAR = ("SNOPT", "Ipopt", "NLopt")
_SOLVERS = {  # by type of program, in the order in which pydrake takes them
    ProgramType.kLP: ("Clp", "Clarabel", *_NONLINEAR, "CSDP", "SCS"),
    ProgramType.kQP: ("Clarabel", "OSQP", *_NONLINEAR, "SCS"),
    ProgramType.kSOCP: ("Clarabel", "CSDP", "SCS", *_NONLINEAR),
    ProgramType.kSDP: ("Clarabel", "CSDP", "SCS"),
    **dict.fromkeys((ProgramType.kGP, ProgramType.kCGP), ("Clarabel", "SCS")),
    ProgramType.kQuadraticCostConicConstraint: ("Clarabel", "SCS"),
    ProgramType.kNLP: _NONLINEAR,
    ProgramType.kLCP: ("Moby LCP", "SNOPT"),
}


def GetAvailableSolvers(prog_type: ProgramType) -> list[SolverId]:
    """The names under which programs of a type are solved here."""
    return [id for id in map(SolverId, _SOLVERS.get(prog_type, ())) if MakeSolver(id).available()]


def MakeSolver(id: SolverId) -> SolverInterface:
    """A solver by its name; RuntimeError if nothing has it."""
    for kind in SolverInterface.__subclasses__():
        if id.name() == kind.NAME:
            return kind()
    raise RuntimeError(f"there is no solver named {id.name()}")


def MakeFirstAvailableSolver(solver_ids: Sequence[SolverId]) -> SolverInterface:
    """The first that is here; RuntimeError if none is."""
    for id in solver_ids:
        solver = MakeSolver(id)
        if solver.available():
            return solver
    raise RuntimeError(f"none of the solvers is here: {', '.join(id.name() for id in solver_ids)}")


def SolveInParallel(
    progs: Any,
    initial_guesses: Any = None,
    solver_options: Any = None,
    solver_ids: Any = None,
    parallelism: Any = None,
    dynamic_schedule: bool = False,
) -> list[MathematicalProgramResult]:
    """The results of programs, or of one from each guess; one after another, as Python's functions do not run together.

    Args:
        progs: a list, or a program for all guesses.
        initial_guesses: (n,) for each, or None.
        solver_options, solver_ids: one for all or one for each; None: those of the programs, the best solver.
    """
    count = len(initial_guesses) if isinstance(progs, MathematicalProgram) else len(progs)

    def at(given: Any, k: int) -> Any:
        return given[k] if isinstance(given, (list, tuple)) else given

    found = []
    for k in range(count):
        named = at(solver_ids, k)
        solver = None if named is None else MakeSolver(named)
        solve = Solve if solver is None or not solver.available() else solver.Solve
        guess = None if initial_guesses is None else initial_guesses[k]
        found.append(solve(at(progs, k), guess, at(solver_options, k)))
    return found


class _SciPy(SolverInterface):
    NAME = "SciPy"

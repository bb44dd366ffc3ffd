"""Solvers of pydrake's by their names: their options are taken, and Solve() solves in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.solvers import ipopt
from mbcli.solvers.options import SolverId
from mbcli.solvers.solve import MathematicalProgramResult, Solve, solve_by_ipopt

if TYPE_CHECKING:
    from mbcli.solvers.mathematical_program import MathematicalProgram

NOT_HERE = ("SNOPT", "Mosek", "Gurobi", "CSDP", "SCS")  # for which nothing here stands in


class _Solver:
    """A solver by its name."""

    NAME = ""

    @classmethod
    def id(cls) -> SolverId:
        """The name."""
        return SolverId(cls.NAME)

    def solver_id(self) -> SolverId:
        """The name."""
        return self.id()

    def available(self) -> bool:
        """Whether programs can be solved under this name; by SciPy, as Solve() does."""
        return self.NAME not in NOT_HERE

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


class SnoptSolver(_Solver):
    """SNOPT, which is not here."""

    NAME = "SNOPT"


class MosekSolver(_Solver):
    """Mosek, which is not here."""

    NAME = "Mosek"


class GurobiSolver(_Solver):
    """Gurobi, which is not here."""

    NAME = "Gurobi"


class CsdpSolver(_Solver):
    """CSDP, which is not here."""

    NAME = "CSDP"


class ScsSolver(_Solver):
    """SCS, which is not here."""

    NAME = "SCS"


class IpoptSolver(_Solver):
    """Programs without binary variables, by IPOPT where the extra `casadi` is installed; else as Solve()."""

    NAME = "IPOPT"

    def Solve(
        self, prog: MathematicalProgram, initial_guess: Any = None, solver_options: Any = None
    ) -> MathematicalProgramResult:
        """By IPOPT; its options are those of a SolverOptions by the name "IPOPT"."""
        if not ipopt.is_installed():
            return super().Solve(prog, initial_guess, solver_options)
        return solve_by_ipopt(prog, initial_guess, prog.solver_options() if solver_options is None else solver_options)


class NloptSolver(_Solver):
    """Nonlinear programs, by SciPy's SLSQP."""

    NAME = "NLopt"


class OsqpSolver(_Solver):
    """Quadratic programs, by linear equations or SciPy's SLSQP."""

    NAME = "OSQP"


class ClarabelSolver(_Solver):
    """Linear and quadratic programs, by SciPy's HiGHS and SLSQP."""

    NAME = "Clarabel"


class ClpSolver(_Solver):
    """Linear programs, by SciPy's HiGHS."""

    NAME = "CLP"


def ChooseBestSolver(prog: MathematicalProgram) -> SolverId:
    """The name of the solver of Solve(): one for all programs, which chooses."""
    return SolverId("SciPy")


def MakeSolver(id: SolverId) -> _Solver:
    """A solver by its name; RuntimeError if nothing has it."""
    for kind in _Solver.__subclasses__():
        if id.name() == kind.NAME:
            return kind()
    raise RuntimeError(f"there is no solver named {id.name()}")


class _SciPy(_Solver):
    NAME = "SciPy"

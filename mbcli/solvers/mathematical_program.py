"""MathematicalProgram: variables, costs, constraints and a guess."""

from __future__ import annotations

from copy import copy
from typing import Any

from mbcli.solvers.latex import program_in_latex
from mbcli.solvers.polynomial_program import PolynomialProgram


class MathematicalProgram(PolynomialProgram):
    """Decision variables with costs that are to become small and constraints that are to hold; Solve() finds them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"MathematicalProgram has no {name}()")

    def ToLatex(self, precision: int = 3) -> str:
        """The program in LaTeX, numbers to so many decimals."""
        return program_in_latex(self._variables, self.costs, self.constraints, precision)

    def __str__(self) -> str:
        lines = [f"Decision variables: {' '.join(map(str, self._variables))}", ""]
        return "\n".join([*lines, *map(str, [*self.costs, *self.constraints])])

    def Clone(self) -> MathematicalProgram:
        """A program of the same variables, costs and constraints."""
        other = MathematicalProgram()
        other.__dict__.update((name, copy(value)) for name, value in self.__dict__.items())
        return other

    __copy__ = Clone

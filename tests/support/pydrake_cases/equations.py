"""Equations that a module makes which the script imports."""

from helper_equations import limit
from pydrake.solvers import MathematicalProgram, Solve

program = MathematicalProgram()
x = program.NewContinuousVariables(2, "x")
limit(program, x)
print(*Solve(program).GetSolution(x).round(9))

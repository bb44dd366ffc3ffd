"""Copies of a program, kinds of bindings, the shape of a decomposed form."""

import copy

import numpy as np
from pydrake.math import DecomposePositiveQuadraticForm
from pydrake.solvers import Binding, Cost, LinearCost, MathematicalProgram, QuadraticCost

program = MathematicalProgram()
x = program.NewContinuousVariables(2, "x")
cost = program.AddQuadraticCost(x[0] ** 2)
copies = {"Clone": program.Clone(), "copy": copy.copy(program), "deepcopy": copy.deepcopy(program)}
program.NewContinuousVariables(3, "y")
program.AddLinearCost(x[0])
for name, other in copies.items():
    print(name, other.num_vars(), len(other.GetAllCosts()))
print(*(isinstance(cost, Binding[kind]) for kind in (QuadraticCost, LinearCost, Cost)))
print(Binding[QuadraticCost](cost.evaluator(), cost.variables()).variables().size)
R, d = DecomposePositiveQuadraticForm(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0]), 5.0)
print(R.shape, d.shape)

"""Calls by the names of arguments that overloads of pydrake have, and numbers of enumerations."""

import numpy as np
from pydrake.math import DiscreteAlgebraicRiccatiEquation
from pydrake.multibody.plant import DiscreteContactApproximation
from pydrake.multibody.tree import JacobianWrtVariable
from pydrake.solvers import (
    LinearEqualityConstraint,
    MathematicalProgram,
    PyFunctionConstraint,
    PyFunctionCost,
    Solve,
    SolverOptions,
)
from pydrake.symbolic import Monomial, Variable, sqrt
from pydrake.systems.framework import InputPortSelection
from pydrake.systems.primitives import Sine

print(int(JacobianWrtVariable.kV), int(DiscreteContactApproximation.kLagged), int(InputPortSelection.kNoInput))
print(JacobianWrtVariable.kV == JacobianWrtVariable.kV, JacobianWrtVariable.kV != JacobianWrtVariable.kQDot)
program = MathematicalProgram()
x = program.NewContinuousVariables(2, "x")
cost = program.AddL2NormCost(e=sqrt((x[0] - 1) ** 2 + (x[1] + 2) ** 2), psd_tol=1e-8, coefficient_tol=1e-8)
print(float(cost.evaluator().Eval([1.0, 1.0])[0]))
first = program.AddConstraint(LinearEqualityConstraint(a=[1.0, 1.0], beq=3.0), x)
second = program.AddConstraint(PyFunctionConstraint(num_vars=2, func=lambda x: [x[0] * x[1]], lb=[-1.0], ub=[9.0]), x)
second.evaluator().set_bounds(lower_bound=[-2.0], upper_bound=[8.0])
print(second.evaluator().lower_bound(), second.evaluator().upper_bound())
print(program.CheckSatisfied(bindings=[first, second], prog_var_vals=[1.0, 2.0], tol=1e-6))
print(PyFunctionCost(num_vars=1, func=lambda x: x[0] ** 2, description="square").Eval([3.0]))
values = np.zeros(2)
program.SetDecisionVariableValueInVector(decision_variables=x, decision_variables_new_values=[1, 2], values=values)
print(values)
options = SolverOptions(options={"Drake": {"max_iter": 3}})
print(Solve(program, np.zeros(2)).is_success())
A, B, Q, R, N = np.eye(2) * 1.1, np.eye(2), np.eye(2), np.eye(2), 0.1 * np.eye(2)
print(DiscreteAlgebraicRiccatiEquation(A=A, B=B, Q=Q, R=R, N=N).round(9))
sine = Sine(amplitudes=[1.0, 2.0], frequencies=[1.0, 1.0], phases=[0.5, 0.0], is_time_based=True)
print(sine.get_output_port(0).Eval(sine.CreateDefaultContext()))
print(Monomial(vars=[Variable("a"), Variable("b")], exponents=[1, 2]).total_degree())

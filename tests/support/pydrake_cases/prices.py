"""Shadow prices of linear, quadratic and other programs; a program without variables; affine expressions; kinds."""

import numpy as np
from pydrake.math import matmul
from pydrake.solvers import MathematicalProgram, Solve
from pydrake.symbolic import DecomposeAffineExpressions, ExpressionKind, MakeVectorVariable, cos, sqrt

program = MathematicalProgram()
x = program.NewContinuousVariables(2, "x")
constraints = [
    program.AddLinearConstraint(np.array([[1.0, 2.0], [2.0, 1.0]]), [-np.inf, -np.inf], [4.0, 5.0], x),
    program.AddBoundingBoxConstraint([0.0, 0.0], [10.0, 10.0], x),
]
program.AddLinearCost([-1.0, -1.5], 0.0, x)
result = Solve(program)
for constraint in constraints:
    print(result.GetDualSolution(constraint).round(6))

program = MathematicalProgram()
x = program.NewContinuousVariables(3, "x")
constraints = [
    program.AddLinearEqualityConstraint(np.array([[1.0, 1.0, 1.0]]), [3.0], x),
    program.AddBoundingBoxConstraint([2.0], [np.inf], x[:1]),
    program.AddLinearConstraint(np.array([[0.0, 1.0, -1.0]]), [-np.inf], [-0.5], x),
]
program.AddQuadraticCost(np.diag([1.0, 2.0, 4.0]), np.zeros(3), x)
result = Solve(program)
for constraint in constraints:
    print((result.GetDualSolution(constraint) + 0.0).round(4))
print(Solve(MathematicalProgram()).is_success())

y = MakeVectorVariable(2, "y")
M, v = DecomposeAffineExpressions(np.array([2.0 * y[0] - y[1] + 1.0, 3.0 * y[1]]), y)
print(M.tolist(), v.tolist())
for e, kind in ((y[0] + 1, "Add"), (cos(y[0]), "Cos"), (sqrt(y[0]), "Sqrt"), (y[0] / y[1], "Div"), (2 * y[0], "Mul")):
    print(e.get_kind() == getattr(ExpressionKind, kind))
print(matmul(np.eye(2), np.ones((2, 3))).tolist())

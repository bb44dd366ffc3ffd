"""Programs made alike in mbcli and pydrake: functions of the modules solvers and math -> (program, variables)."""

import numpy as np


def linear(solvers, math):
    prog = solvers.MathematicalProgram()
    x = prog.NewContinuousVariables(3, "x")
    prog.AddLinearCost([1.0, -2.0, 0.5], 0.25, x)
    prog.AddLinearConstraint(x[0] + 2.0 * x[1] - x[2] <= 4.0)
    prog.AddLinearConstraint(np.array([[1.0, 1.0, 1.0], [0.0, 1.0, -1.0]]), [-2.0, -1.0], [3.0, 1.0], x)
    prog.AddBoundingBoxConstraint(-1.0, 2.5, x)
    return prog, x


def chosen(solvers, math):
    prog = solvers.MathematicalProgram()
    b = prog.NewBinaryVariables(5)
    x = prog.NewContinuousVariables(1)
    values, weights = np.array([4.0, 2.0, 10.0, 1.0, 2.1]), np.array([12.0, 1.0, 4.0, 1.0, 2.0])
    prog.AddLinearCost(-values @ b - 0.5 * x[0])
    prog.AddLinearConstraint(weights @ b + x[0] <= 15.0)
    prog.AddBoundingBoxConstraint(0.0, 1.3, x[0])
    return prog, np.concatenate([b, x])


def equations(solvers, math):
    prog = solvers.MathematicalProgram()
    x = prog.NewContinuousVariables(4)
    prog.AddQuadraticErrorCost(np.diag([1.0, 2.0, 3.0, 4.0]), [1.0, 2.0, 3.0, 4.0], x)
    prog.AddQuadraticCost(x[0] * x[0] + 0.3 * x[0] * x[1] + x[1] * x[1] + 0.1 * x[3])
    prog.AddLinearEqualityConstraint(np.array([[1.0, 1.0, 0.0, -1.0]]), [0.5], x)
    prog.AddConstraint(math.eq(x[1:3], [1.0, 0.2] + 0.1 * x[:2]))
    return prog, x


def quadratic(solvers, math):
    prog = solvers.MathematicalProgram()
    x = prog.NewContinuousVariables(3)
    prog.Add2NormSquaredCost(np.array([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0], [2.0, 0.0, 1.0]]), [1.0, 2.0, 3.0], x)
    prog.AddLinearConstraint(x[0] + x[1] >= 1.0)
    prog.AddConstraint(math.le(x, [0.4, 2.0, 0.3]))
    return prog, x


def rosenbrock(solvers, math):
    prog = solvers.MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    prog.AddCost((1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2)
    prog.AddConstraint(x[0] ** 2 + x[1] ** 2 <= 1.5)
    prog.SetInitialGuess(x, [-1.0, 0.5])
    return prog, x


def functions(solvers, math):
    prog = solvers.MathematicalProgram()
    x = prog.NewContinuousVariables(2, "x")
    y = prog.NewContinuousVariables(1, "y")
    prog.AddCost(lambda z: np.cos(z[0]) + (z[1] - 1.0) ** 2 + z[0] * z[2] ** 2, np.concatenate([x, y]))
    prog.AddConstraint(lambda z: [z[0] ** 2 + z[1] ** 2, np.sin(z[0])], [1.0, -0.5], [4.0, 0.9], x)
    prog.AddConstraint(lambda z: [z[0] * z[1]], [0.2], [0.2], [x[0], y[0]])
    prog.SetInitialGuessForAllVariables([1.0, 1.0, 0.3])
    return prog, np.concatenate([x, y])


def apart(solvers, math):
    prog = solvers.MathematicalProgram()
    x = prog.NewContinuousVariables(2)
    prog.AddLinearConstraint(x[0] + x[1] >= 3.0)
    prog.AddBoundingBoxConstraint(0.0, 1.0, x)
    return prog, x


def cone(solvers, math):
    prog = solvers.MathematicalProgram()
    x = prog.NewContinuousVariables(3)
    prog.AddLinearCost(x[0] - 0.2 * x[2])
    prog.AddLorentzConeConstraint(np.eye(3), [0.0, -1.0, 0.0], x)
    prog.AddLinearConstraint(math.eq([x[1] + x[2]], [3.0]))
    prog.SetInitialGuess(x, [3.0, 1.0, 1.0])
    return prog, x


PROGRAMS = (linear, chosen, equations, quadratic, rosenbrock, functions, apart, cone)

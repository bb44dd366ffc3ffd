"""A controller around a symbolic system, the text of contexts with parameters, the names of solvers, SNOPT's place."""

from pydrake.examples import PendulumPlant
from pydrake.solvers import GetAvailableSolvers, MathematicalProgram, ProgramType, SnoptSolver
from pydrake.symbolic import Variable, sin
from pydrake.systems.analysis import Simulator
from pydrake.systems.controllers import PidController
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import ConstantVectorSource, SymbolicVectorSystem, VectorLogSink

x, tau = [Variable("q"), Variable("v")], Variable("tau")
builder = DiagramBuilder()
arm = builder.AddSystem(SymbolicVectorSystem(input=[tau], state=x, output=x, dynamics=[x[1], tau - 5.0 * sin(x[0])]))
control = builder.AddSystem(PidController([5.0], [2.0], [1.0]))
wanted = builder.AddSystem(ConstantVectorSource([1.0, 0.0]))
log = builder.AddSystem(VectorLogSink(2))
builder.Connect(wanted.get_output_port(), control.get_input_port_desired_state())
builder.Connect(arm.get_output_port(), control.get_input_port_estimated_state())
builder.Connect(control.get_output_port(), arm.get_input_port())
builder.Connect(arm.get_output_port(), log.get_input_port())
simulator = Simulator(builder.Build())
simulator.AdvanceTo(2.0)
data = log.FindLog(simulator.get_context()).data()
print(data.shape, data[:, -1])

builder = DiagramBuilder()
pendulum = builder.AddNamedSystem("θ", PendulumPlant())
source = builder.AddNamedSystem("source", ConstantVectorSource([1.0]))
builder.Connect(source.get_output_port(), pendulum.get_input_port())
diagram = builder.Build()
diagram.set_name("all")
print(diagram.CreateDefaultContext())

for kind in (ProgramType.kLP, ProgramType.kQP, ProgramType.kNLP, ProgramType.kMILP):
    print([solver.name() for solver in GetAvailableSolvers(kind)])
program = MathematicalProgram()
y = program.NewContinuousVariables(2)
program.AddConstraint(y[0] ** 2 + y[1] ** 2 <= 2.0)
program.AddCost(-y[0] - y[1])
found = SnoptSolver().Solve(program, [0.1, 0.2])
print(SnoptSolver().available(), found.is_success(), found.GetSolution(y).round(5), round(found.get_optimal_cost(), 5))

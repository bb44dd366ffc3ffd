"""Systems of tutorials: their equations, a regulator, a pendulum that is shown."""

import numpy as np
from pydrake.examples import (
    AcrobotParams,
    AcrobotPlant,
    PendulumGeometry,
    PendulumParams,
    PendulumPlant,
    PendulumState,
    QuadrotorPlant,
    StabilizingLQRController,
    VanDerPolOscillator,
)
from pydrake.geometry import Meshcat, MeshcatVisualizer, SceneGraph
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

rng = np.random.default_rng(0)
for kind, inputs in ((PendulumPlant, 1), (AcrobotPlant, 1), (VanDerPolOscillator, 0), (QuadrotorPlant, 4)):
    system = kind()
    context = system.CreateDefaultContext()
    for k in range(2):
        context.SetContinuousState(0.7 * rng.normal(size=context.num_continuous_states()))
        if inputs:
            system.get_input_port().FixValue(context, rng.normal(size=inputs))
        if k and kind is PendulumPlant:
            system.get_mutable_parameters(context).set_mass(2.0)
        if k and kind is AcrobotPlant:
            system.get_mutable_parameters(context).set_m2(2.0)
        print(kind.__name__, system.EvalTimeDerivatives(context).CopyToVector())
    print([system.get_output_port(k).get_name() for k in range(system.num_output_ports())])
acrobot = AcrobotPlant()
context = acrobot.CreateDefaultContext()
context.SetContinuousState([0.3, 0.4, 0.5, -0.2])
print(acrobot.MassMatrix(context), acrobot.DynamicsBiasTerm(context))
parameters = AcrobotParams()
acrobot.SetMitAcrobotParameters(parameters)
print(parameters.CopyToVector())
hover = StabilizingLQRController(QuadrotorPlant(), [0, 0, 1.5])
print(np.round(hover.D(), 6) + 0.0, hover.y0())
print(PendulumParams().with_mass(3.0).mass(), PendulumParams().length())
state = PendulumState()
state.set_theta(1.0)
print(state.CopyToVector(), state.theta())

builder = DiagramBuilder()
pendulum = builder.AddSystem(PendulumPlant())
scene_graph = builder.AddSystem(SceneGraph())
PendulumGeometry.AddToBuilder(builder, pendulum.get_state_output_port(), scene_graph)
MeshcatVisualizer.AddToBuilder(builder, scene_graph, Meshcat())
simulator = Simulator(builder.Build())
integrator = simulator.get_mutable_integrator()
integrator.set_fixed_step_mode(True)
integrator.set_maximum_step_size(0.01)
context = pendulum.GetMyMutableContextFromRoot(simulator.get_mutable_context())
pendulum.get_input_port().FixValue(context, [0.0])
context.SetContinuousState([1.0, 0.0])
simulator.AdvanceTo(0.5)
print(pendulum.get_state(context).CopyToVector())

"""An acrobot upright by a regulator of its linearization."""

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.systems.analysis import Simulator
from pydrake.systems.controllers import LinearQuadraticRegulator
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import IsControllable, Linearize, LogVectorOutput

URDF = """<robot name="acrobot"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.083" iyy="0.083" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
<inertia ixx="0.33" iyy="0.33" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<dynamics damping="0.1"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -1"/>
<axis xyz="0 1 0"/><dynamics damping="0.1"/></joint>
<transmission name="t"><type>SimpleTransmission</type><joint name="elbow"/><actuator name="motor"/></transmission>
</robot>"""

builder = DiagramBuilder()
plant = builder.AddSystem(MultibodyPlant(0.0))
Parser(plant).AddModelsFromString(URDF, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
plant.Finalize()
context = plant.CreateDefaultContext()
plant.get_actuation_input_port().FixValue(context, [0.0])
context.SetContinuousState([np.pi, 0, 0, 0])
port = plant.get_actuation_input_port().get_index()
linear = Linearize(plant, context, port, plant.get_state_output_port().get_index())
print(linear.A(), linear.B(), IsControllable(linear, 1e-6))
lqr = LinearQuadraticRegulator(plant, context, np.diag([10, 10, 1, 1]), [[1.0]], input_port_index=port)
print(np.round(lqr.D(), 6), np.round(lqr.y0(), 6))
controller = builder.AddNamedSystem("lqr", lqr)
builder.Connect(plant.get_state_output_port(), controller.get_input_port())
builder.Connect(controller.get_output_port(), plant.get_actuation_input_port())
log = LogVectorOutput(plant.get_state_output_port(), builder, 0.1)
diagram = builder.Build()
simulator = Simulator(diagram)
integrator = simulator.get_mutable_integrator()
integrator.set_fixed_step_mode(True)
integrator.set_maximum_step_size(1e-3)
rng = np.random.default_rng(0)
for _ in range(3):
    context = simulator.get_mutable_context()
    context.SetTime(0.0)
    context.SetContinuousState(np.array([np.pi, 0, 0, 0]) + 0.03 * rng.normal(size=4))
    log.FindMutableLog(context).Clear()
    simulator.Initialize()
    simulator.AdvanceTo(2.0)
    print(np.round(log.FindLog(context).data()[:, ::5], 7))

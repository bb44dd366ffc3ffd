"""What stations of arms ask for: names of a whole plant by position, buses of messages, directives in sets."""

from pydrake.lcm import DrakeLcmParams
from pydrake.math import RigidTransform
from pydrake.multibody.parsing import LoadModelDirectivesFromString, Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.lcm import ApplyLcmBusConfig

ARM = """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j"/><actuator name="m"/>
</transmission></robot>"""

plant = MultibodyPlant(0.0)
(arm,) = Parser(plant).AddModelsFromString(ARM, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("a"), RigidTransform())
plant.Finalize()
print(plant.GetActuatorNames(False), plant.GetActuatorNames(True), plant.GetActuatorNames(arm, True))
print(plant.GetPositionNames(False), plant.GetPositionNames(True, False), plant.GetVelocityNames(False, False))
print(plant.GetPositionNames(arm, True, False), plant.GetStateNames(False))

buses = ApplyLcmBusConfig({"b": DrakeLcmParams(lcm_url="memq://null"), "a": None}, DiagramBuilder())
print(buses.size(), buses.GetAllBusNames())

TEXT = """directives:
- add_model: {name: a, file: package://a/a.urdf, default_joint_positions: {j: [1.0]}}
- add_frame: {name: f, X_PF: {base_frame: a, translation: [1, 0, 0]}}
- add_weld: {parent: f, child: a, X_PC: {translation: [1, 0, 0]}}"""
print(len({*LoadModelDirectivesFromString(TEXT).directives}))

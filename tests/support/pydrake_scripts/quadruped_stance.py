"""A quadruped with drives comes to stand."""

import numpy as np
from pydrake.geometry import HalfSpace
from pydrake.math import RigidTransform
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.multibody.tree import JointActuatorIndex, PdControllerGains
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

links, joints = "", ""
for name, x, y in (("fl", 0.2, 0.1), ("fr", 0.2, -0.1), ("hl", -0.2, 0.1), ("hr", -0.2, -0.1)):
    links += f"""<link name="{name}_thigh"><inertial><origin xyz="0 0 -0.1"/><mass value="0.6"/>
<inertia ixx="0.003" iyy="0.003" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="{name}_shank"><inertial><origin xyz="0 0 -0.1"/><mass value="0.2"/>
<inertia ixx="0.001" iyy="0.001" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial>
<collision name="{name}_foot"><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.02"/></geometry></collision></link>"""
    for joint, parent, child, at in (
        ("hip", "trunk", "thigh", f"{x} {y} 0"),
        ("knee", f"{name}_thigh", "shank", "0 0 -0.2"),
    ):
        joints += f"""<joint name="{name}_{joint}" type="revolute"><parent link="{parent}"/>
<child link="{name}_{child}"/><origin xyz="{at}"/><axis xyz="0 1 0"/>
<limit lower="-2.5" upper="2.5" effort="40" velocity="30"/></joint>
<transmission name="{name}_{joint}_t"><type>SimpleTransmission</type><joint name="{name}_{joint}"/>
<actuator name="{name}_{joint}_motor"/></transmission>"""
URDF = f"""<robot name="dog"><link name="trunk"><inertial><mass value="6"/>
<inertia ixx="0.03" iyy="0.12" izz="0.14" ixy="0" ixz="0" iyz="0"/></inertial></link>{links}{joints}</robot>"""

builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.002)
if hasattr(plant, "set_step_scheme"):  # steps of pydrake are those of this scheme
    plant.set_step_scheme("drake")
(dog,) = Parser(plant).AddModelsFromString(URDF, "urdf")
plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "floor", CoulombFriction(0.9, 0.8))
for k in range(plant.num_actuators()):
    plant.get_joint_actuator(JointActuatorIndex(k)).set_controller_gains(PdControllerGains(p=150.0, d=4.0))
plant.Finalize()
diagram = builder.Build()
simulator = Simulator(diagram)
context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
stance = np.array([0.6, -1.2] * 4)
plant.SetPositions(context, dog, np.concatenate([[1, 0, 0, 0, 0, 0, 0.36], stance]))
port = plant.get_desired_state_input_port(dog)
port.FixValue(context, np.concatenate([stance, np.zeros(8)]))
for end in (0.02, 0.1, 0.5):
    simulator.AdvanceTo(end)
    print(end, np.round(plant.GetPositions(context), 4) + 0.0)
    results = plant.get_contact_results_output_port().Eval(context)
    forces = [results.point_pair_contact_info(k).contact_force() for k in range(results.num_point_pair_contacts())]
    print(len(forces), np.round(np.abs(np.sum(forces, axis=0)), 1) + 0.0)
print(np.round(plant.get_net_actuation_output_port().Eval(context), 3))

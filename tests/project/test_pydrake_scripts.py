"""Scripts written for pydrake run with `pydrake` replaced by `mbcli` in their imports, and print the same.

Texts must be equal, numbers agree within TOLERANCE. The marked half runs the scripts with pydrake itself; of what it
prints (release 1.51) some lines are recorded here, so that the other half needs no pydrake.
"""

import contextlib
import io
import re
from unittest.mock import patch

import numpy as np
import pytest

from mbcli.multibody.core.plant_settings import OTHER_DEFAULTS

TOLERANCE = 1e-9  # of the largest of 1 and the number; as many digits as the recorded prints have
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

PENDULUM = """
import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import RevoluteJoint, SpatialInertia, UnitInertia

mass, length = 1.5, 0.6
plant = MultibodyPlant(time_step=0.0)
bob = plant.AddRigidBody("bob", SpatialInertia(mass, [0, 0, -length], UnitInertia.PointMass([0, 0, -length])))
joint = plant.AddJoint(
    RevoluteJoint(
        name="pin", frame_on_parent=plant.world_frame(), frame_on_child=bob.body_frame(), axis=[0, 1, 0], damping=0.1
    )
)
joint.set_default_angle(0.25)
motor = plant.AddJointActuator("motor", joint, effort_limit=20.0)
motor.set_default_rotor_inertia(0.01)
motor.set_default_gear_ratio(3.0)
plant.Finalize()

context = plant.CreateDefaultContext()
print("start", joint.get_angle(context), joint.get_angular_rate(context))
joint.set_angle(context, np.pi / 6)
joint.set_angular_rate(context, -0.8)
plant.get_actuation_input_port().FixValue(context, [2.0])
print("M", plant.CalcMassMatrix(context))
print("gravity", plant.CalcGravityGeneralizedForces(context))
print("bias", plant.CalcBiasTerm(context))
print("xdot", plant.EvalTimeDerivatives(context).CopyToVector())
print("energies", plant.EvalKineticEnergy(context), plant.EvalPotentialEnergy(context))
print("bob", plant.EvalBodyPoseInWorld(context, bob).multiply([0, 0, -length]))
print("sizes", plant.num_positions(), plant.num_velocities(), plant.num_actuators(), plant.num_bodies())
"""

ARM = """
import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, MultibodyForces

URDF = '''
<robot name="arm">
  <link name="base"><inertial><mass value="4"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.1 0 0.02" rpy="0.1 0.2 0.3"/><mass value="1"/>
    <inertia ixx="0.002" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0 0.1 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="30" velocity="3"/><dynamics damping="0.2"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-2.5" upper="0" effort="10" velocity="5"/></joint>
  <transmission name="t1"><type>transmission_interface/SimpleTransmission</type>
    <joint name="shoulder"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
    <actuator name="shoulder_motor"/></transmission>
  <transmission name="t2"><type>transmission_interface/SimpleTransmission</type>
    <joint name="elbow"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
    <actuator name="elbow_motor"/></transmission>
</robot>'''
"""

GRAVITY_COMPENSATION = (
    ARM
    + """
plant = MultibodyPlant(0.0)
parser = Parser(plant)
(arm,) = parser.AddModelsFromString(URDF, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base", arm), RigidTransform([1, 0, 0.5]))
plant.Finalize()
context = plant.CreateDefaultContext()
plant.GetJointByName("shoulder").set_angle(context, 0.4)
plant.GetJointByName("elbow").set_angle(context, -1.1)
print("q", plant.GetPositions(context, arm))
tau_g = plant.CalcGravityGeneralizedForces(context)
print("tau_g", tau_g)
plant.get_actuation_input_port(arm).FixValue(context, -np.linalg.solve(plant.MakeActuationMatrix(), tau_g))
print("rest", np.abs(plant.EvalTimeDerivatives(context).CopyToVector()).max() < 1e-12)

plant.SetVelocities(context, [0.3, -0.7])
forces = MultibodyForces(plant)
plant.CalcForceElementsContribution(context, forces)
print("tau", plant.CalcInverseDynamics(context, np.array([1.0, 2.0]), forces))
print("again", plant.CalcInverseDynamics(context, known_vdot=np.zeros(2), external_forces=MultibodyForces(plant)))
print("names", plant.GetPositionNames(), plant.GetVelocityNames(arm), plant.GetActuatorNames())
print("limits", plant.GetPositionLowerLimits(), plant.GetVelocityUpperLimits(), plant.GetEffortUpperLimits())
"""
)

KINEMATICS = (
    ARM
    + """
plant = MultibodyPlant(0.001)
Parser(plant).AddModelsFromString(URDF, "urdf")
lower = plant.GetBodyByName("lower")
tool = plant.AddFrame(
    FixedOffsetFrame("tool", lower.body_frame(), RigidTransform(RollPitchYaw(0, np.pi / 2, 0.3), [0.2, 0, 0.05]))
)
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositions(context, [0.4, -1.1])
plant.SetVelocities(context, [0.5, 0.25])
X_WT = tool.CalcPoseInWorld(context)
print("X_WT", X_WT.GetAsMatrix4())
print("rpy", RollPitchYaw(X_WT.rotation()).vector(), X_WT.rotation().ToQuaternion().wxyz())
upper = plant.GetFrameByName("upper")
X_UT = plant.CalcRelativeTransform(context, upper, tool)
print("X_UT", X_UT.translation(), X_UT.rotation().matrix())
print("inverse", X_UT.inverse().multiply(X_UT.translation()))
points = np.array([[0.0, 0.1, 0.0], [0.0, 0.0, 0.2], [0.1, 0.0, 0.0]])
print("points", plant.CalcPointsPositions(context, tool, points, plant.world_frame()))
print("velocity", tool.CalcSpatialVelocityInWorld(context).rotational())
print("body", plant.EvalBodySpatialVelocityInWorld(context, lower).translational())
A_WB = plant.CalcSpatialAccelerationsFromVdot(context, np.array([1.0, -1.0]))[lower.index()]
print("acceleration", A_WB.rotational(), A_WB.translational())
print("com", plant.CalcCenterOfMassPositionInWorld(context), plant.CalcTotalMass(context))
print("frame", tool.name(), tool.body().name(), tool.GetFixedPoseInBodyFrame().translation())
"""
)

SIMULATION = (
    ARM
    + """
from pydrake.systems.analysis import Simulator

plant = MultibodyPlant(time_step=0.002)
Parser(plant=plant).AddModelsFromString(URDF, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
if hasattr(plant, "set_step_scheme"):  # steps of pydrake are those of this scheme
    plant.set_step_scheme("drake")
plant.Finalize()
simulator = Simulator(plant)
context = simulator.get_mutable_context()
plant.SetPositionsAndVelocities(context, [0.2, -0.5, 0.0, 0.1])
plant.get_actuation_input_port().FixValue(context, [6.0, -0.5])
simulator.Initialize()
for t in (0.002, 0.1, 0.2):
    simulator.AdvanceTo(t)
    print("t", round(context.get_time(), 9), "x", plant.GetPositionsAndVelocities(context))
print("x", context.get_discrete_state_vector().CopyToVector())
print("port", plant.get_state_output_port().Eval(context))
print(plant.time_step(), simulator.get_context().get_time() > 0.199)
"""
)

CONTINUOUS_SIMULATION = """
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import PrismaticJoint, PrismaticSpring, SpatialInertia
from pydrake.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig

plant = MultibodyPlant(0.0)
block = plant.AddRigidBody("block", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.1, 0.1))
slide = plant.AddJoint(PrismaticJoint("slide", plant.world_frame(), block.body_frame(), [1, 0, 0], damping=0.5))
plant.AddForceElement(PrismaticSpring(slide, nominal_position=0.1, stiffness=50.0))
plant.Finalize()
simulator = Simulator(plant)
ApplySimulatorConfig(SimulatorConfig(integration_scheme="runge_kutta3", accuracy=1e-10, max_step_size=0.01), simulator)
context = simulator.get_mutable_context()
slide.set_translation(context, 0.4)
slide.set_translation_rate(context, -0.2)
simulator.AdvanceTo(0.5)
print("slide", slide.get_translation(context), slide.get_translation_rate(context))
print("state", context.get_continuous_state_vector().CopyToVector())
print("energy", plant.CalcPotentialEnergy(context), plant.CalcKineticEnergy(context))
print("power", plant.CalcConservativePower(context))
context.SetTime(0.0)
context.SetContinuousState([0.0, 1.0])
print(plant.GetPositions(context), plant.GetVelocities(context), context.get_time())
"""

DIAGRAM = (
    ARM
    + """
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=0.002)
Parser(plant).AddModelsFromString(URDF, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
if hasattr(plant, "set_step_scheme"):  # steps of pydrake are those of this scheme
    plant.set_step_scheme("drake")
plant.Finalize()
diagram = builder.Build()
simulator = Simulator(diagram)
root = simulator.get_mutable_context()
context = plant.GetMyMutableContextFromRoot(root)
arm = plant.GetModelInstanceByName("arm")
plant.get_actuation_input_port(arm).FixValue(context, [6.0, -0.5])
plant.SetPositions(context, arm, [0.2, -0.5])
simulator.Initialize()
print("before", plant.get_generalized_acceleration_output_port().Eval(context))
for t in (0.0, 0.002, 0.003, 0.1):
    simulator.AdvanceTo(t)
    print("t", root.get_time(), plant.GetPositionsAndVelocities(plant.GetMyContextFromRoot(root)))
print("vdot", plant.get_generalized_acceleration_output_port(arm).Eval(context))
print("u", plant.get_net_actuation_output_port().Eval(context), plant.GetOutputPort("arm_net_actuation").Eval(context))
print("state", plant.GetOutputPort("arm_state").Eval(context))
for reaction in plant.get_reaction_forces_output_port().Eval(context):
    print("reaction", reaction.rotational(), reaction.translational())
print("body", plant.get_body_poses_output_port().Eval(context)[plant.GetBodyByName("lower").index()].translation())
print(scene_graph.get_name(), plant.get_name(), simulator.get_num_steps_taken(), simulator.get_context() is root)
"""
)

PD_CONTROL = (
    ARM
    + """
from pydrake.multibody.plant import AddMultibodyPlant, MultibodyPlantConfig
from pydrake.multibody.tree import PdControllerGains
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

builder = DiagramBuilder()
config = MultibodyPlantConfig(time_step=0.01, discrete_contact_approximation="sap", use_sampled_output_ports=False)
plant, scene_graph = AddMultibodyPlant(config, builder)
(arm,) = Parser(plant).AddModelsFromString(URDF, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
for index in plant.GetJointActuatorIndices():
    plant.get_mutable_joint_actuator(index).set_controller_gains(PdControllerGains(p=400.0, d=20.0))
plant.Finalize()
builder.ExportInput(plant.get_desired_state_input_port(arm), "desired")
builder.ExportOutput(plant.get_state_output_port(), "state")
diagram = builder.Build()
root = diagram.CreateDefaultContext()
diagram.GetInputPort("desired").FixValue(root, [0.5, -1.0, 0.0, 0.0])
context = plant.GetMyMutableContextFromRoot(root)
simulator = Simulator(diagram, root)
print("u", plant.get_net_actuation_output_port().Eval(context), plant.get_desired_state_input_port(arm).size())
for t in (0.01, 0.1, 0.5):
    simulator.AdvanceTo(t)
    print("state", diagram.GetOutputPort("state").Eval(root))
    print("u", plant.get_net_actuation_output_port(arm).Eval(context))
actuator = plant.get_joint_actuator(plant.GetJointActuatorIndices(arm)[0])
print(actuator.has_controller(), actuator.get_controller_gains().p)
"""
)

LINEARIZATION = (
    ARM
    + """
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import FirstOrderTaylorApproximation, Linearize

builder = DiagramBuilder()
plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
Parser(plant).AddModelsFromString(URDF, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositions(context, [0.3, -0.8])
tau_g = plant.CalcGravityGeneralizedForces(context)
plant.get_actuation_input_port().FixValue(context, -plant.MakeActuationMatrix().T @ tau_g)
ports = plant.get_actuation_input_port().get_index(), plant.get_state_output_port().get_index()
system = Linearize(plant, context, *ports)
print("A", system.A())
print("B", system.B())
print("C", system.C(), system.D(), system.time_period())
plant.SetVelocities(context, [0.4, 0.7])
affine = FirstOrderTaylorApproximation(plant, context, *ports)
print("A moving", affine.A())
print("f0", affine.f0(), affine.y0())
try:
    Linearize(plant, context, *ports)
except RuntimeError:
    print("moves")
"""
)

MODEL_INSTANCES = (
    ARM
    + """
plant = MultibodyPlant(0.0)
(left,) = Parser(plant, model_name_prefix="left").AddModelsFromString(URDF, "urdf")
right_parser = Parser(plant)
right_parser.SetAutoRenaming(True)
(right,) = right_parser.AddModelsFromString(URDF, "urdf")
(third,) = right_parser.AddModelsFromString(URDF, "urdf")
for i, arm in enumerate((left, right, third)):
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base", arm), RigidTransform([0, float(i), 0]))
plant.set_gravity_enabled(third, False)
plant.Finalize()
print([plant.GetModelInstanceName(i) for i in (left, right, third)], plant.num_model_instances())
context = plant.CreateDefaultContext()
plant.SetPositions(context, right, [0.1, -0.2])
plant.SetVelocities(context, third, [0.3, 0.4])
print(plant.GetPositions(context), plant.GetVelocities(context))
print(plant.GetPositionsAndVelocities(context, right), plant.num_positions(right), plant.num_actuators(left))
plant.get_actuation_input_port(left).FixValue(context, [3.0, 1.0])
plant.get_actuation_input_port(right).FixValue(context, [-1.0, 0.5])
plant.get_actuation_input_port(third).FixValue(context, [0.0, 0.0])
print("vdot", plant.EvalTimeDerivatives(context).CopyToVector()[plant.num_positions():])
print("tau_g", plant.CalcGravityGeneralizedForces(context))
v = np.arange(6.0)
print(plant.GetVelocitiesFromArray(right, v))
plant.SetVelocitiesInArray(third, np.array([10.0, 11.0]), v)
print(v, plant.GetPositionNames(right), plant.GetStateNames(third), plant.GetActuatorNames(left))
print(plant.HasBodyNamed("lower", left), plant.NumBodiesWithName("lower"), plant.HasModelInstanceNamed("nobody"))
try:
    plant.GetBodyByName("lower")
except RuntimeError:
    print("ambiguous")
print([plant.get_body(i).name() for i in plant.GetBodyIndices(right)])
print([plant.get_joint(i).name() for i in plant.GetJointIndices(left)])
"""
)

FREE_BODY = """
import numpy as np
from pydrake.all import MultibodyPlant, RigidTransform, RollPitchYaw, RotationMatrix, SpatialInertia, UnitInertia
from pydrake.common.eigen_geometry import Quaternion
from pydrake.multibody.math import SpatialVelocity

plant = MultibodyPlant(0.0)
brick = plant.AddRigidBody("brick", SpatialInertia.SolidBoxWithMass(3.0, 0.2, 0.4, 0.6))
offset = plant.AddRigidBody(
    "offset", SpatialInertia(2.0, [0.1, 0.2, 0.3], UnitInertia.SolidSphere(0.2).ShiftFromCenterOfMass([0.1, 0.2, 0.3]))
)
plant.SetDefaultFreeBodyPose(offset, RigidTransform([0, 0, 5]))
plant.mutable_gravity_field().set_gravity_vector([0, 0, -1.62])
plant.Finalize()
context = plant.CreateDefaultContext()
print(plant.GetPositionNames())
print(plant.GetPositions(context), sorted(int(i) for i in plant.GetFloatingBaseBodies()))
X_WB = RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [1, 2, 3])
plant.SetFreeBodyPose(context, brick, X_WB)
plant.SetFreeBodySpatialVelocity(context=context, body=brick, V_PB=SpatialVelocity(w=[1, 2, 3], v=[0.1, 0.2, 0.3]))
plant.SetFreeBodySpatialVelocity(offset, SpatialVelocity([0.5, 0, 0], [0, 0, 1]), context)
print(plant.GetFreeBodyPose(context, brick).IsNearlyEqualTo(X_WB, 1e-14), plant.GetVelocities(context))
print("xdot", plant.EvalTimeDerivatives(context).CopyToVector())
print("momentum", plant.CalcSpatialMomentumInWorldAboutPoint(context, [0, 0, 1]).get_coeffs())
print("com", plant.CalcCenterOfMassPositionInWorld(context))
print("com velocity", plant.CalcCenterOfMassTranslationalVelocityInWorld(context))
q = Quaternion(plant.GetPositions(context)[:4] / np.linalg.norm(plant.GetPositions(context)[:4]))
print(RotationMatrix(q).matrix() - X_WB.rotation().matrix(), brick.floating_positions_start())
qdot = plant.MapVelocityToQDot(context, plant.GetVelocities(context))
print("qdot", qdot, np.abs(plant.MapQDotToVelocity(context, qdot) - plant.GetVelocities(context)).max() < 1e-14)
"""

APPLIED_FORCES = (
    ARM
    + """
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import ExternallyAppliedSpatialForce

plant = MultibodyPlant(0.0)
Parser(plant).AddModelsFromString(URDF, "urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositions(context, [0.3, -0.6])
plant.SetVelocities(context, [0.2, 0.4])
plant.get_actuation_input_port().FixValue(context, [0.0, 0.0])
lower = plant.GetBodyByName("lower")
push = ExternallyAppliedSpatialForce()
push.body_index = lower.index()
push.p_BoBq_B = [0.2, 0.0, 0.0]
push.F_Bq_W = SpatialForce(tau=[0.0, 0.1, 0.0], f=[1.0, 0.0, 5.0])
plant.get_applied_spatial_force_input_port().FixValue(context, [push])
plant.get_applied_generalized_force_input_port().FixValue(context, np.array([0.5, -0.25]))
vdot = plant.EvalTimeDerivatives(context).CopyToVector()[2:]
print("vdot", vdot, plant.get_generalized_acceleration_output_port().Eval(context))

forces = MultibodyForces(plant)
lower.AddInForce(context, [0.2, 0, 0], SpatialForce([0, 0.1, 0], [1, 0, 5]), plant.world_frame(), forces)
print("on the body", lower.GetForceInWorld(context, forces).get_coeffs())
shoulder = plant.GetJointByName("shoulder")
shoulder.AddInOneForce(context, 0, 2.0, forces)
shoulder.AddInDamping(context, forces)
print("generalized", forces.generalized_forces(), plant.CalcGeneralizedForces(context, forces))
print("tau", plant.CalcInverseDynamics(context, vdot, forces))
more = MultibodyForces(plant=plant)
more.mutable_generalized_forces()[:] = 1.0
forces.AddInForces(more)
print(forces.generalized_forces(), forces.num_bodies(), forces.num_velocities(), more.SetZero().generalized_forces())
"""
)

INTROSPECTION = (
    ARM
    + """
from pydrake.multibody.tree import JointActuatorIndex, JointIndex, ModelInstanceIndex, world_index

plant = MultibodyPlant(0.0)
print(plant.num_bodies(), plant.is_finalized(), plant.world_body().name(), plant.world_frame().name())
Parser(plant).AddModels(file_contents=URDF, file_type=".urdf")
plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
plant.Finalize()
for index in plant.GetJointIndices():
    joint = plant.get_joint(index)
    print(int(index), joint.name(), joint.type_name(), joint.parent_body().name(), joint.child_body().name())
    print(joint.num_positions(), joint.num_velocities(), joint.position_lower_limits(), joint.position_upper_limits())
    if joint.num_velocities() == 1:
        print(joint.position_start(), joint.velocity_start(), joint.velocity_upper_limits(), joint.revolute_axis())
        print(joint.default_damping(), joint.position_suffix(0), joint.velocity_suffix(0), joint.default_positions())
for i in range(plant.num_actuators()):
    actuator = plant.get_joint_actuator(JointActuatorIndex(i))
    print(actuator.name(), actuator.joint().name(), actuator.effort_limit(), actuator.default_gear_ratio())
for i in plant.GetBodyIndices(ModelInstanceIndex(2)):
    body = plant.get_body(i)
    print(body.name(), body.default_mass(), body.default_com(), body.scoped_name().get_full(), plant.IsAnchored(body))
    print(body.default_spatial_inertia().CopyToFullMatrix6(), body.is_floating_base_body())
print(plant.GetJointByName("elbow").index() == JointIndex(1), world_index() == plant.world_body().index())
print(plant.gravity_field().gravity_vector(), plant.num_force_elements(), plant.num_actuated_dofs())
"""
)

JOINT_TYPES = """
import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint, FixedOffsetFrame, PlanarJoint, ScrewJoint, SpatialInertia, UniversalJoint, WeldJoint
)

plant = MultibodyPlant(0.0)
inertia = SpatialInertia.SolidBoxWithMass(mass=1.0, lx=0.1, ly=0.2, lz=0.3)
bodies = [plant.AddRigidBody(name, inertia) for name in ("puck", "hand", "nut", "rod", "cap")]
W = plant.world_frame()
puck = plant.AddJoint(PlanarJoint("puck", W, bodies[0].body_frame(), damping=[0.1, 0.1, 0.2]))
wrist = plant.AddJoint(BallRpyJoint("wrist", bodies[0].body_frame(), bodies[1].body_frame(), damping=0.1))
frame = plant.AddFrame(FixedOffsetFrame("mount", bodies[1], RigidTransform(RollPitchYaw(0.3, 0, 0), [0, 0.5, 0])))
nut = plant.AddJoint(ScrewJoint("nut", frame, bodies[2].body_frame(), [0, 0, 1], 0.02, 0.05))
cross = plant.AddJoint(UniversalJoint("cross", bodies[2].body_frame(), bodies[3].body_frame(), 0.3))
plant.AddJoint(WeldJoint("glue", bodies[3].body_frame(), bodies[4].body_frame(), RigidTransform([0.1, 0.2, 0.3])))
plant.Finalize()
context = plant.CreateDefaultContext()
puck.set_pose(context, [0.3, -0.2], 0.7)
puck.set_translational_velocity(context, [0.1, 0.2])
puck.set_angular_velocity(context, -0.4)
wrist.set_angles(context, [0.1, 0.2, 0.3])
wrist.set_angular_velocity(context, [0.4, 0.5, 0.6])
nut.set_translation(context, 0.03)
v = plant.GetVelocities(context)
v[nut.velocity_start()] = 1.5
plant.SetVelocities(context, v)
cross.set_angles(context, [0.5, -0.6])
cross.set_angular_rates(context, [0.2, 0.1])
print(plant.GetPositionNames(), plant.GetVelocityNames(always_add_suffix=False))
print("q", plant.GetPositions(context), "v", plant.GetVelocities(context))
print("M", plant.CalcMassMatrix(context))
qdot, vdot = np.split(plant.EvalTimeDerivatives(context).CopyToVector(), [9])
print("qdot", qdot)
print("first vdot", vdot[:6])
print("other vdot", vdot[6:])
print("N", plant.MakeVelocityToQDotMap(context).toarray(), plant.IsVelocityEqualToQDot())
print(nut.screw_pitch(), puck.get_rotation(context), wrist.get_angles(context))
"""

# what pydrake 1.51 prints, in part
RECORDED = {
    "pendulum": """
start 0.25 0.0
gravity [-4.4145]
bias [0.]
xdot [-0.8 -3.705555555556]
energies 0.20159999999999997 -7.646138290012811
bob [-0.3 0. -0.519615242271]
sizes 1 1 1 2
""",
    "gravity_compensation": """
tau_g [7.512753165568 0.623810528192]
rest True
tau [-7.104723273141 -0.565641351917]
again [-0.006840248241 -0.003794832478]
names ['arm_shoulder_q', 'arm_elbow_q'] ['shoulder_w', 'elbow_w'] ['arm_shoulder_motor', 'arm_elbow_motor']
limits [-2. -2.5] [3. 5.] [30. 10.]
""",
    "kinematics": """
inverse [0. 0. 0.]
velocity [0.095885107721 0.65 0.175516512378]
body [-0.095885107721 0. -0.175516512378]
acceleration [-0.295782174694 0.4 -0.750008603373] [-0.279528471631 0. -0.303090470896]
com [ 0.109403715823 -0.009435873082 0.080123693211] 7.0
frame tool lower [0.2 0. 0.05]
""",
    "simulation": """
t 0.002 x [ 0.200187745138 -0.500077252527 0.09387256885 -0.038626263567]
t 0.1 x [ 0.433036459337 -0.794863282448 4.494479448905 -4.970788985106]
t 0.2 x [ 1.073302834715 -1.112511678493 7.824318093533 1.016202426987]
x [ 1.073302834715 -1.112511678493 7.824318093533 1.016202426987]
port [ 1.073302834715 -1.112511678493 7.824318093533 1.016202426987]
0.002 True
""",
    "continuous_simulation": """
slide -0.14394630822447688 -0.69121666818174
state [-0.143946308224 -0.691216668182]
energy 1.4877450324087869 0.47778048237226567
power -8.430987719307936
""",
    "diagram": """
before [0. 0.]
t 0.0 [ 0.200187746843 -0.500277255281 0.093873421348 -0.138627640297]
t 0.003 [ 0.200562987492 -0.500831267459 0.187620324752 -0.277006089043]
vdot [ 42.415846939365 -13.343228286536]
u [ 6. -0.5] [ 6. -0.5]
reaction [ 0.022718929869 0.224947362985 -0.793710522239] [-13.209308632717 -7.605693491928 -3.022528089097]
reaction [-0.009661262341 -4.083054922747 -0.488421715171] [-30.611906146479 0.954560253239 46.051481273973]
scene_graph plant 52 True
""",
    "pd_control": """
u [ 30. -10.] 4
state [ 0.018165890415 -0.079334083264 1.816589041486 -7.933408326397]
u [30. -8.632518967128]
state [ 0.416929970261 -0.821588112758 3.017670983906 -3.49225820838 ]
u [-25.356444885743 -1.450608244988]
state [ 0.517819613803 -0.998073825205 0.000163603814 -0.002259007332]
u [-7.131210750333 -0.725438116183]
True 400.0
""",
    "linearization": """
 [ 45.460509528792 8.553224579638 0.929590806291 0. ]]
 [ 3.366891009861 -4.647954031456]
 [ 45.460509528792 8.553726437001 2.810590986174 0.255628781828]]
f0 [ 0. 0. 28.636221043261 -8.789836345944] [0. 0. 0. 0.]
moves
""",
    "model_instances": """
['left::arm', 'arm', 'arm_1'] 5
vdot [29.32267351619 26.599157833 18.786599625339 22.229325214489 -0.201782714951 0.376396495593]
tau_g [ 8.804479091586 0.59741184149 8.672852714999 0.613256298428 -0. -0. ]
True 3 False
ambiguous
['base', 'upper', 'lower']
['shoulder', 'elbow', 'world_welds_to_base']
""",
    "free_body": """
momentum [ 2.438312642604 -0.306337380931 0.114833351178 0.3 0.3 3.1 ]
com velocity [0.06 0.06 0.62]
qdot [-0.338514172878 0.476215130063 0.962967553568 1.493760621865 0.1 0.2 0.3 -0. 0.25 0. 0. 0. 0. 1. ] True
""",
    "applied_forces": """
vdot [ 19.898927973807 -37.469780228352] [ 19.898927973807 -37.469780228352]
on the body [ 0. -0.9 0. 1. 0. 5. ]
generalized [1.96 0. ] [-0.937889324929 -0.54 ]
tau [6.720041780368 0.403703779068]
""",
    "introspection": """
1 False world world
0 shoulder revolute base upper
1 elbow revolute upper lower
2 world_welds_to_base weld world base
shoulder_motor shoulder 30.0 1.0
elbow_motor elbow 10.0 1.0
base 4.0 [0. 0. 0.] arm::base True
""",
    "joint_types": """
q [ 0.3 -0.2 0.7 0.1 0.2 0.3 9.424777960769 0.5 -0.6 ] v [ 0.1 0.2 -0.4 0.4 0.5 0.6 1.5 0.2 0.1]
first vdot [ 0.524249003288 -0.406615417216 33.599999999999 -17.940197563997 -8.17187710265 -34.048367739348]
other vdot [ 1.58325424656 -20.013763291689 -6.732627171161]
""",
}

SCRIPTS = {name.lower(): text for name, text in globals().items() if name.isupper() and "Finalize()" in str(text)}


def run(script, library):
    """What the script prints, with its imports from the given library, whose plants step as those of pydrake."""
    text = re.sub(r"^(from|import) pydrake\b", rf"\1 {library}", script, flags=re.MULTILINE)
    printed = io.StringIO()
    as_pydrake = {} if library == "pydrake" else {"step_scheme": "drake"}
    with (
        patch.dict(OTHER_DEFAULTS, as_pydrake),
        contextlib.redirect_stdout(printed),
        np.printoptions(precision=12, suppress=True, linewidth=10_000),
    ):
        exec(compile(text, "script", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def without_numbers(line):
    return "".join(NUMBER.sub("#", line).split())


def alike(mine, other):
    """Whether two lines have the same text and nearly the same numbers."""
    if without_numbers(mine) != without_numbers(other):
        return False
    numbers = ([float(number) for number in NUMBER.findall(line)] for line in (mine, other))
    return all(abs(a - b) <= TOLERANCE * max(1.0, abs(b)) for a, b in zip(*numbers, strict=True))


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_prints_what_is_recorded_of_pydrake(name):
    printed = run(SCRIPTS[name], "mbcli").splitlines()
    for line in RECORDED[name].strip().splitlines():
        assert any(alike(mine, line) for mine in printed), line


@pytest.mark.peers("pydrake")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", SCRIPTS)
def test_script_prints_the_same_with_pydrake(name):
    ours, theirs = (run(SCRIPTS[name], library).splitlines() for library in ("mbcli", "pydrake"))
    for mine, other in zip(ours, theirs, strict=True):
        assert alike(mine, other), (mine, other)

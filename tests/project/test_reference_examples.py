"""The code examples of the reference pages, completed to scripts, run with `pydrake` replaced by `mbcli`.

Each script asserts what its example is about and prints its results; the marked half compares the prints with those
of pydrake. Left out are the examples about contact, collision filters and the inspector of a scene graph. C++ idioms
stand as Python has them: out-parameters are results, `items.plant` is the first of a pair.
"""

import pytest
from test_pydrake_scripts import alike, run

# what several scripts start from: an arm of two joints and a gripper of two fingers on its end
ROBOT = """
import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.math import SpatialAcceleration, SpatialForce, SpatialMomentum, SpatialVelocity
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame, JacobianWrtVariable, MultibodyForces, PdControllerGains, PrismaticJoint, RevoluteJoint,
    SpatialInertia, UnitInertia,
)

def robot(time_step):
    plant = MultibodyPlant(time_step)
    arm, gripper = plant.AddModelInstance("arm"), plant.AddModelInstance("gripper")
    com = [0.2, 0.0, 0.01]
    inertia = SpatialInertia(2.0, com, UnitInertia.SolidBox(0.4, 0.1, 0.1).ShiftFromCenterOfMass(com))
    upper = plant.AddRigidBody("upper", arm, inertia)
    lower = plant.AddRigidBody("end_effector", arm, inertia)
    world = plant.world_frame()
    shoulder = plant.AddJoint(RevoluteJoint("shoulder", world, upper.body_frame(), [0, 1, 0], damping=0.1))
    wrist = plant.AddFrame(FixedOffsetFrame("wrist", upper.body_frame(), RigidTransform([0.4, 0, 0])))
    elbow = plant.AddJoint(RevoluteJoint("elbow", wrist, lower.body_frame(), [0, 0.6, 0.8]))
    plant.AddJointActuator("shoulder", shoulder)
    for side, y in (("left", 0.05), ("right", -0.05)):
        finger = plant.AddRigidBody(side, gripper, SpatialInertia.SolidBoxWithMass(0.1, 0.05, 0.01, 0.02))
        X = RigidTransform([0.4, y, 0])
        base = plant.AddFrame(FixedOffsetFrame(side + "_base", lower.body_frame(), X, gripper))
        slide = plant.AddJoint(PrismaticJoint(side, base, finger.body_frame(), [0, 1, 0], damping=2.0))
        plant.AddJointActuator(side, slide, 20.0)
        if side == "left":  # between the fingers: the actuators of the arm are not neighbours
            plant.AddJointActuator("elbow", elbow)
    return plant, arm, gripper

Q, V = np.array([0.3, -0.5, 0.01, -0.02]), np.array([0.5, -0.2, 0.1, 0.3])
"""

# page of multibody.plant

ACTUATION_PER_INSTANCE = (
    ROBOT
    + """
plant, arm, gripper = robot(0.0)
plant.Finalize()
context = plant.CreateDefaultContext()
total = np.zeros(plant.num_actuated_dofs())
for instance in (arm, gripper):
    u_instance, offset = np.zeros(plant.num_actuated_dofs(instance)), 0
    for index in plant.GetJointActuatorIndices(instance):
        actuator = plant.get_joint_actuator(index)
        u_joint = [10.0 + actuator.joint().position_start()]
        assert len(u_joint) == actuator.num_inputs()
        u_instance[offset : offset + len(u_joint)] = u_joint
        offset += len(u_joint)
        total[actuator.input_start()] = u_joint[0]
    plant.get_actuation_input_port(instance).FixValue(context, u_instance)
    print(u_instance)
with_instances = plant.EvalTimeDerivatives(context).CopyToVector()
other = plant.CreateDefaultContext()
plant.get_actuation_input_port().FixValue(other, total)
assert np.allclose(with_instances, plant.EvalTimeDerivatives(other).CopyToVector(), rtol=1e-12)
print(with_instances)
"""
)

PD_GRIPPER_AND_COMPENSATED_ARM = (
    ROBOT
    + """
from pydrake.systems.analysis import Simulator

plant, arm, gripper = robot(0.005)
for name in ("shoulder", "elbow", "left", "right"):
    gains = PdControllerGains(p=300.0, d=30.0) if name in ("shoulder", "elbow") else PdControllerGains(p=50.0, d=5.0)
    plant.GetJointActuatorByName(name).set_controller_gains(gains)
plant.Finalize()
simulator = Simulator(plant)
context = simulator.get_mutable_context()
plant.SetPositions(context, Q)
tau_g = plant.CalcGravityGeneralizedForces(context)
feed_forward = [-tau_g[plant.GetJointByName(name).velocity_start()] for name in ("shoulder", "elbow")]
plant.get_actuation_input_port(arm).FixValue(context, feed_forward)
plant.get_desired_state_input_port(arm).FixValue(context, [*Q[:2], 0.0, 0.0])
# the gripper has PD alone: its actuation port stays without a value
plant.get_desired_state_input_port(gripper).FixValue(context, [0.03, -0.03, 0.0, 0.0])
assert plant.get_desired_state_input_port(gripper).size() == 2 * plant.num_actuators(gripper) == 4
simulator.AdvanceTo(1.5)
q = plant.GetPositions(context)
print("q", np.round(q, 5))  # pydrake's solver stops within its tolerance
assert np.abs(q[:2] - Q[:2]).max() < 0.02
print("net", np.round(plant.get_net_actuation_output_port(gripper).Eval(context), 3))
print("net", np.round(plant.get_net_actuation_output_port().Eval(context), 3))
"""
)

DESIRED_STATE_OF_AN_ACTUATOR = (
    ROBOT
    + """
plant, arm, gripper = robot(0.001)
for index in plant.GetJointActuatorIndices(arm):
    plant.get_mutable_joint_actuator(index).set_controller_gains(PdControllerGains(p=40.0, d=3.0))
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, np.concatenate([Q, V]))
xd = np.array([0.1, 0.2, 0.3, 0.4])
plant.get_desired_state_input_port(arm).FixValue(context, xd)
port = plant.get_desired_state_input_port(arm)
n = plant.num_actuators(arm)
for k, index in enumerate(plant.GetJointActuatorIndices(arm)):
    actuator = plant.get_joint_actuator(index)
    qd, vd = port.Eval(context)[k], port.Eval(context)[k + n]
    print(actuator.name(), qd, vd)
    assert (qd, vd) == (xd[k], xd[k + 2])
"""
)

LOADING_A_MODEL = """
import os, tempfile
import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from pydrake.systems.framework import DiagramBuilder

ACROBOT = '''<?xml version="1.0"?>
<sdf version="1.9"><model name="acrobot">
  <joint name="base_weld" type="fixed"><parent>world</parent><child>base</child></joint>
  <link name="base"/>
  <link name="upper"><inertial><pose>0 0 -0.5 0 0 0</pose><mass>1</mass>
    <inertia><ixx>0.083</ixx><iyy>0.083</iyy><izz>0.001</izz></inertia></inertial></link>
  <link name="lower"><pose>0 0.1 -1 0 0 0</pose><inertial><pose>0 0 -1 0 0 0</pose><mass>1</mass>
    <inertia><ixx>0.33</ixx><iyy>0.33</iyy><izz>0.001</izz></inertia></inertial></link>
  <joint name="shoulder" type="revolute"><parent>base</parent><child>upper</child>
    <axis><xyz>0 1 0</xyz><dynamics><damping>0.1</damping></dynamics><limit><effort>0</effort></limit></axis></joint>
  <joint name="elbow" type="revolute"><parent>upper</parent><child>lower</child>
    <axis><xyz>0 1 0</xyz><dynamics><damping>0.1</damping></dynamics></axis></joint>
</model></sdf>'''

with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "acrobot.sdf"), "w") as file:
        file.write(ACROBOT)
    acrobot = MultibodyPlant(0.0)
    parser = Parser(acrobot)
    parser.package_map().Add("robots", folder)
    (instance,) = parser.AddModelsFromUrl("package://robots/acrobot.sdf")
acrobot.Finalize()
print(acrobot.GetModelInstanceName(instance), acrobot.num_positions(), acrobot.num_actuators())
assert acrobot.GetActuatorNames() == ["acrobot_elbow"]  # an effort of zero: no actuator
context = acrobot.CreateDefaultContext()
acrobot.SetPositions(context, [1.0, 1.0])
print(acrobot.CalcMassMatrix(context), acrobot.CalcGravityGeneralizedForces(context))

# the forms of AddMultibodyPlantSceneGraph
builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.0)
items = AddMultibodyPlantSceneGraph(builder=DiagramBuilder(), time_step=0.01)
print(items[0].time_step(), plant.time_step(), type(plant) is type(items[0]), type(scene_graph) is type(items[1]))
own = MultibodyPlant(0.002)
plant_2, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), plant=own)
print(plant_2.time_step(), plant_2 is own)
plant.Finalize()
"""

MASS_PARAMETERS = (
    ROBOT
    + """
plant, arm, gripper = robot(0.0)
plant.Finalize()
context, other = plant.CreateDefaultContext(), plant.CreateDefaultContext()
body = plant.GetRigidBodyByName("end_effector")
M_BBo_B = body.CalcSpatialInertiaInBodyFrame(context)
M_BBo_B_new = SpatialInertia(2.0 * M_BBo_B.get_mass(), M_BBo_B.get_com(), M_BBo_B.get_unit_inertia())
body.SetSpatialInertiaInBodyFrame(context, M_BBo_B_new)
print(body.get_mass(context), body.get_mass(other), body.default_mass())
print(plant.CalcMassMatrix(context))
assert not np.allclose(plant.CalcMassMatrix(context), plant.CalcMassMatrix(other))
body.SetMass(context, M_BBo_B.get_mass())
assert np.allclose(plant.CalcMassMatrix(context), plant.CalcMassMatrix(other), rtol=1e-12)
"""
)

DERIVATIVES_BY_A_MASS = (
    ROBOT
    + """
from pydrake.autodiffutils import AutoDiffXd

plant, arm, gripper = robot(0.0)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, np.concatenate([Q, V]))
mass = plant.GetRigidBodyByName("end_effector").get_mass(context)
plant_autodiff = plant.ToAutoDiffXd()
context_autodiff = plant_autodiff.CreateDefaultContext()
context_autodiff.SetTimeStateAndParametersFrom(context)
body = plant_autodiff.GetRigidBodyByName("end_effector")
body.SetMass(context_autodiff, AutoDiffXd(mass, [1.0]))
M_autodiff = plant_autodiff.CalcMassMatrix(context_autodiff)
n = plant_autodiff.num_velocities()
gradients = [[M_autodiff[i, j].derivatives() for j in range(n)] for i in range(n)]
dM = np.array([[gradient[0] if gradient.size else 0.0 for gradient in row] for row in gradients])
print(dM)
h = 1e-3  # M is linear in the mass
changed = plant.CreateDefaultContext()
plant.SetPositions(changed, Q)
plant.GetRigidBodyByName("end_effector").SetMass(changed, mass + h)
assert np.allclose(dM, (plant.CalcMassMatrix(changed) - plant.CalcMassMatrix(context)) / h, atol=1e-9)
"""
)

ADDING_BODIES = """
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import SpatialInertia, UnitInertia, default_model_instance

spatial_inertia = SpatialInertia(1.2, [0.1, 0, 0], UnitInertia.SolidSphere(0.1).ShiftFromCenterOfMass([0.1, 0, 0]))
plant = MultibodyPlant(0.0)
body = plant.AddRigidBody("BodyName", spatial_inertia)
assert body.model_instance() == default_model_instance()
model_instance = plant.AddModelInstance("instance")
second = plant.AddRigidBody("BodyName", model_instance, spatial_inertia)
print(body.name(), second.name(), int(second.model_instance()), plant.NumBodiesWithName("BodyName"))
try:
    plant.AddRigidBody("BodyName", model_instance, spatial_inertia)
except RuntimeError:
    print("taken")
try:
    plant.AddRigidBody("third", spatial_inertia)
except RuntimeError:
    print("instance needed")
plant.Finalize()
print(plant.CalcTotalMass(plant.CreateDefaultContext()))
"""

MOMENTUM_ABOUT_THE_CENTRE_OF_MASS = (
    ROBOT
    + """
plant, arm, gripper = robot(0.0)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, np.concatenate([Q, V]))
p_WoScm_W = plant.CalcCenterOfMassPositionInWorld(context)
L_WScm_W = plant.CalcSpatialMomentumInWorldAboutPoint(context, p_WoScm_W)
print(L_WScm_W.rotational(), L_WScm_W.translational())
v = plant.CalcCenterOfMassTranslationalVelocityInWorld(context)
assert np.allclose(L_WScm_W.translational(), plant.CalcTotalMass(context) * v)

gripper_model_instance = plant.GetModelInstanceByName("gripper")
robot_model_instance = plant.GetBodyByName("end_effector").model_instance()
model_instances = [gripper_model_instance, robot_model_instance]
p_WoScm_W = plant.CalcCenterOfMassPositionInWorld(context, model_instances)
again = plant.CalcSpatialMomentumInWorldAboutPoint(context, model_instances, p_WoScm_W)
assert np.allclose(again.get_coeffs(), L_WScm_W.get_coeffs())
fingers = plant.CalcSpatialMomentumInWorldAboutPoint(context, [gripper_model_instance], p_WoScm_W)
print(fingers.get_coeffs())
"""
)

PORTS_BY_BODY = (
    ROBOT
    + """
plant, arm, gripper = robot(0.0)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, np.concatenate([Q, V]))
plant.get_actuation_input_port().FixValue(context, np.zeros(4))
body = plant.GetBodyByName("end_effector")
X_WB_all = plant.get_body_poses_output_port().Eval(context)
V_WB_all = plant.get_body_spatial_velocities_output_port().Eval(context)
A_WB_all = plant.get_body_spatial_accelerations_output_port().Eval(context)
arm_body_index = body.index()
print(X_WB_all[arm_body_index].GetAsMatrix4())
print(V_WB_all[arm_body_index].get_coeffs(), A_WB_all[arm_body_index].get_coeffs())
assert len(X_WB_all) == len(V_WB_all) == len(A_WB_all) == plant.num_bodies()
assert X_WB_all[arm_body_index].IsExactlyEqualTo(plant.EvalBodyPoseInWorld(context, body))
assert np.allclose(A_WB_all[arm_body_index].get_coeffs(), body.EvalSpatialAccelerationInWorld(context).get_coeffs())
"""
)

ROWS_OF_JACOBIANS = (
    ROBOT
    + """
plant, arm, gripper = robot(0.0)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, np.concatenate([Q, V]))
B, A, E = (plant.GetFrameByName(name) for name in ("left", "upper", "right"))
kV, kQDot = JacobianWrtVariable.kV, JacobianWrtVariable.kQDot
p = [0.1, 0.2, 0.3]
J = plant.CalcJacobianSpatialVelocity(context, kV, B, p, A, E)
assert np.allclose(J[:3], plant.CalcJacobianAngularVelocity(context, kV, B, A, E))
assert np.allclose(J[3:], plant.CalcJacobianTranslationalVelocity(context, kV, B, p, A, E))
assert np.allclose(J @ V, B.CalcSpatialVelocity(context, A, E).Shift(B.CalcRotationMatrix(context, E) @ p).get_coeffs())
position = plant.CalcJacobianPositionVector(context, B, p, A, E)
assert np.allclose(position, plant.CalcJacobianTranslationalVelocity(context, kQDot, B, p, A, E))
print(J)
bias = plant.CalcBiasSpatialAcceleration(context, kV, B, p, A, E)
print(bias.get_coeffs())
"""
)

EQUATIONS_OF_MOTION = (
    ROBOT
    + """
plant, arm, gripper = robot(0.0)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, np.concatenate([Q, V]))
vdot = np.array([1.0, -2.0, 0.5, 0.25])
M, Cv = plant.CalcMassMatrix(context), plant.CalcBiasTerm(context)
none = MultibodyForces(plant)
assert np.allclose(plant.CalcInverseDynamics(context, vdot, none), M @ vdot + Cv)
forces = MultibodyForces(plant)
plant.CalcForceElementsContribution(context, forces)
body = plant.GetBodyByName("left")
F_Bo_W = SpatialForce([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
body.AddInForceInWorld(context, F_Bo_W, forces)
forces.mutable_generalized_forces()[0] += 0.5
J = plant.CalcJacobianSpatialVelocity(
    context, JacobianWrtVariable.kV, body.body_frame(), np.zeros(3), plant.world_frame(), plant.world_frame()
)
damping = np.zeros(4)
for index in plant.GetJointIndices():
    joint = plant.get_joint(index)
    damping[joint.velocity_start()] = joint.GetDampingVector(context)[0] * V[joint.velocity_start()]
tau_app = plant.CalcGravityGeneralizedForces(context) - damping + J.T @ F_Bo_W.get_coeffs() + [0.5, 0, 0, 0]
tau = plant.CalcInverseDynamics(context, vdot, forces)
assert np.allclose(tau, M @ vdot + Cv - tau_app)
assert np.allclose(plant.CalcGeneralizedForces(context, forces), tau_app)
print(tau, tau_app)
assert np.allclose(plant.CalcMassMatrixViaInverseDynamics(context), M)
"""
)

STATE_OF_AN_INSTANCE = (
    ROBOT
    + """
plant, arm, gripper = robot(0.0)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, gripper, [0.01, -0.02, 0.3, -0.4])
print(plant.GetPositionsAndVelocities(context), plant.GetPositionsAndVelocities(context, gripper))
q = plant.GetPositions(context)
plant.SetPositionsInArray(arm, [0.7, 0.8], q)
print(q, plant.GetPositionsFromArray(gripper, q), plant.GetPositions(context, arm))
u = np.arange(4.0)
plant.SetActuationInArray(arm, [10.0, 20.0], u)
print(u, plant.GetActuationFromArray(gripper, u))
Sx = plant.MakeStateSelectorMatrix([plant.GetJointByName("right").index(), plant.GetJointByName("shoulder").index()])
x = plant.GetPositionsAndVelocities(context)
print(Sx @ x)
assert np.array_equal(Sx @ x, x[[3, 0, 7, 4]])
B = plant.MakeActuationMatrix()
assert np.allclose(plant.MakeActuationMatrixPseudoinverse() @ (B @ u), u)
print(B)
"""
)

# page of multibody.tree

SIMPLE_PENDULUM = """
import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia

mass, com = 1.5, [0.0, -0.5, 0.0]
plant = MultibodyPlant(0.0)
unit_inertia = UnitInertia.PointMass(com)
pendulum = plant.AddRigidBody("pendulum", SpatialInertia(mass, com, unit_inertia))
X_BM = RigidTransform([0.0, 0.1, 0.0])
frame_M = plant.AddFrame(FixedOffsetFrame("M", pendulum.body_frame(), X_BM))
elbow = plant.AddJoint(RevoluteJoint("Elbow", plant.world_frame(), frame_M, [0.0, 0.0, 1.0]))
plant.mutable_gravity_field().set_gravity_vector([0.0, -9.81, 0.0])
plant.Finalize()
context = plant.CreateDefaultContext()
elbow.set_angle(context, 0.3)
print(elbow.name(), elbow.type_name(), elbow.revolute_axis())
print(elbow.frame_on_parent().name(), elbow.frame_on_child().name())
length = 0.6
vdot = plant.EvalTimeDerivatives(context).CopyToVector()[1]
print(vdot)
assert np.isclose(vdot, -9.81 / length * np.sin(0.3), rtol=1e-12)
"""

DISHWASHER_DOOR = """
import numpy as np
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import DoorHinge, DoorHingeConfig, RevoluteJoint, SpatialInertia

plant = MultibodyPlant(0.0)
door = plant.AddRigidBody("door", SpatialInertia.SolidBoxWithMass(4.0, 0.6, 0.02, 0.6).Shift([0.3, 0.0, 0.0]))
joint = plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), door.body_frame(), [0, 0, 1]))
hinge = plant.AddForceElement(DoorHinge(joint, DoorHingeConfig(spring_constant=2.0, catch_torque=10.0)))
plant.Finalize()
context = plant.CreateDefaultContext()
joint.set_angle(context, 0.4)
joint.set_angular_rate(context, -0.2)
for angle in (0.0, 0.01, 0.02, 0.5):
    print(hinge.CalcHingeSpringTorque(angle), hinge.CalcHingeTorque(angle, 0.1))
assert hinge.CalcHingeFrictionalTorque(0.1) == -hinge.CalcHingeFrictionalTorque(-0.1)
torque = hinge.CalcHingeTorque(0.4, -0.2)
vdot = plant.EvalTimeDerivatives(context).CopyToVector()[1]
assert np.isclose(vdot * plant.CalcMassMatrix(context)[0, 0], torque)
print(vdot, plant.CalcPotentialEnergy(context), hinge.config().spring_constant)
"""

BUSHING_AS_A_JOINT = """
import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import LinearBushingRollPitchYaw, SpatialInertia

# a z-axis revolute joint on a rubber mount, its constants by the formulas of the page
natural_frequency, damping_ratio, moment, mass = 20.0, 1.0, 0.5, 3.0
k, kx = moment * natural_frequency**2, mass * natural_frequency**2
d, dx = 2 * damping_ratio * np.sqrt(moment * k), 2 * damping_ratio * np.sqrt(mass * kx)
plant = MultibodyPlant(0.0)
body = plant.AddRigidBody("body", SpatialInertia.SolidSphereWithMass(3.0, 0.2))
bushing = plant.AddForceElement(
    LinearBushingRollPitchYaw(plant.world_frame(), body.body_frame(), [k, k, 0], [d, d, 0], [kx, kx, kx], [dx, dx, dx])
)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetFreeBodyPose(context, body, RigidTransform(RollPitchYaw(0.1, -0.2, 0.7), [0.01, 0.02, -0.03]))
F_A, F_C = bushing.CalcBushingSpatialForceOnFrameA(context), bushing.CalcBushingSpatialForceOnFrameC(context)
print(F_A.get_coeffs(), F_C.get_coeffs())
R_AC = body.EvalPoseInWorld(context).rotation()
assert np.allclose(R_AC @ F_C.translational(), -F_A.translational())
plant.SetFreeBodyPose(context, body, RigidTransform(RollPitchYaw(0.0, 0.0, 0.7), [0.0, 0.0, 0.0]))
assert np.allclose(bushing.CalcBushingSpatialForceOnFrameC(context).get_coeffs(), 0.0, atol=1e-12)  # yaw is free
"""

FORCES_OF_ELEMENTS = (
    ROBOT
    + """
from pydrake.multibody.tree import LinearSpringDamper, PrismaticSpring, RevoluteSpring

plant, arm, gripper = robot(0.0)
spring = plant.AddForceElement(RevoluteSpring(plant.GetJointByName("elbow"), nominal_angle=0.2, stiffness=5.0))
plant.AddForceElement(PrismaticSpring(plant.GetJointByName("left"), nominal_position=0.0, stiffness=80.0))
world, hand = plant.world_body(), plant.GetBodyByName("end_effector")
constants = dict(free_length=0.5, stiffness=20.0, damping=2.0)
plant.AddForceElement(LinearSpringDamper(world, [0, 0, 1], hand, [0.4, 0, 0], **constants))
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, np.concatenate([Q, V]))
forces = MultibodyForces(plant)
plant.CalcForceElementsContribution(context, forces)
print(plant.CalcGeneralizedForces(context, forces))
print(plant.EvalPotentialEnergy(context), plant.CalcConservativePower(context))
spring.SetStiffness(context, 50.0)
print(spring.GetStiffness(context), spring.default_stiffness(), plant.EvalPotentialEnergy(context))
assert spring.GetNominalAngle(context) == 0.2
"""
)

FORCES_AT_POINTS = (
    ROBOT
    + """
plant, arm, gripper = robot(0.0)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositionsAndVelocities(context, np.concatenate([Q, V]))
body, frame_E = plant.GetBodyByName("end_effector"), plant.GetFrameByName("upper")
p_BP_E, F_Bp_E = np.array([0.1, 0.2, 0.3]), SpatialForce([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
forces = MultibodyForces(plant)
body.AddInForce(context, p_BP_E, F_Bp_E, frame_E, forces)
R_WE = frame_E.CalcRotationMatrixInWorld(context)
expected = F_Bp_E.Shift(-p_BP_E).Rotate(R_WE)
assert np.allclose(body.GetForceInWorld(context, forces).get_coeffs(), expected.get_coeffs())
print(expected.get_coeffs())
elbow = plant.GetJointByName("elbow")
elbow.AddInOneForce(context, 0, 2.5, forces)
elbow.AddInDamping(context, forces)
print(forces.generalized_forces())
more = MultibodyForces(plant.num_bodies(), plant.num_velocities())
more.AddInForces(forces)
assert np.array_equal(more.generalized_forces(), forces.generalized_forces())
assert not more.SetZero().generalized_forces().any()
"""
)

# page of multibody.math

MOVING_FRAMES = """
import numpy as np
from pydrake.math import RotationMatrix, RollPitchYaw
from pydrake.multibody.math import SpatialAcceleration, SpatialForce, SpatialMomentum, SpatialVelocity

w_MB, p_BoCo = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, 3.0])
V_MB, V_BC = SpatialVelocity(w_MB, [1.0, 0.0, 2.0]), SpatialVelocity([0.5, 0.4, 0.3], [0.2, 0.1, 0.0])
A_MB = SpatialAcceleration([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
A_BC = SpatialAcceleration([0.1, 0.3, 0.2], [0.6, 0.5, 0.4])
V_MC = V_MB.ComposeWithMovingFrameVelocity(p_BoCo, V_BC)
A_MC = A_MB.ComposeWithMovingFrameAcceleration(p_BoCo, w_MB, V_BC, A_BC)
w_BC, v_BC = V_BC.rotational(), V_BC.translational()
alpha, a = A_MB.rotational(), A_MB.translational()
assert np.allclose(A_MC.rotational(), alpha + A_BC.rotational() + np.cross(w_MB, w_BC))
coincident = a + np.cross(alpha, p_BoCo) + np.cross(w_MB, np.cross(w_MB, p_BoCo))
coriolis = 2 * np.cross(w_MB, v_BC)
assert np.allclose(A_MC.translational(), coincident + coriolis + A_BC.translational())
assert np.allclose(A_MB.Shift(p_BoCo, w_MB).translational(), coincident)
print(V_MC.get_coeffs(), A_MC.get_coeffs())
# with C fixed to B, composing is shifting
still = SpatialAcceleration.Zero()
assert np.allclose(
    A_MB.ComposeWithMovingFrameAcceleration(p_BoCo, w_MB, SpatialVelocity.Zero(), still).get_coeffs(),
    A_MB.Shift(p_BoCo, w_MB).get_coeffs(),
)
F_B, L_MB = SpatialForce([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]), SpatialMomentum([3.0, 2.0, 1.0], [0.3, 0.2, 0.1])
assert np.isclose(F_B.dot(V_MB), V_MB.dot(F_B)) and np.isclose(L_MB.dot(V_MB), V_MB.dot(L_MB))
assert np.isclose(F_B.Shift(p_BoCo).dot(V_MB.Shift(p_BoCo)), F_B.dot(V_MB))
R = RotationMatrix(RollPitchYaw(0.1, 0.2, 0.3))
print(F_B.dot(V_MB), L_MB.dot(V_MB), F_B.Shift(p_BoCo).get_coeffs(), V_MB.Rotate(R).get_coeffs())
assert np.isnan(SpatialForce().get_coeffs()).all() and not SpatialForce.Zero().get_coeffs().any()
"""

SCRIPTS = {
    name.lower(): text
    for name, text in globals().items()
    if name.isupper() and name != "ROBOT" and "print(" in str(text)
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_runs(name):
    assert run(SCRIPTS[name], "mbcli").strip()


@pytest.mark.peers("pydrake")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_prints_the_same_with_pydrake(name):
    ours, theirs = (run(SCRIPTS[name], library).splitlines() for library in ("mbcli", "pydrake"))
    for mine, other in zip(ours, theirs, strict=True):
        assert alike(mine, other), (mine, other)

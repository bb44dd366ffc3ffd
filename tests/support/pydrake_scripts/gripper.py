"""A gripper lifts a ball by friction and puts it down."""

import numpy as np
from pydrake.geometry import Box, Sphere
from pydrake.math import RigidTransform
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.multibody.tree import FixedOffsetFrame, PdControllerGains, PrismaticJoint, SpatialInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder, LeafSystem
from pydrake.trajectories import PiecewisePolynomial


class Pick(LeafSystem):
    """Closes the fingers, lifts the hand and puts the ball down again."""

    def __init__(self):
        super().__init__()
        times = [0.0, 0.1, 0.3, 0.6, 0.9, 1.0]
        finger = [0.06, 0.06, 0.03, 0.03, 0.03, 0.06]
        self.q = PiecewisePolynomial.FirstOrderHold(times, [[0.0, 0.0, 0.0, 0.15, 0.0, 0.0], finger, finger])
        self.v = self.q.derivative()
        self.DeclareVectorOutputPort("desired_state", 6, self.Calc)

    def Calc(self, context, output):
        t = min(context.get_time(), 1.0)
        output.SetFromVector(np.concatenate([self.q.value(t)[:, 0], self.v.value(t)[:, 0]]))


builder = DiagramBuilder()
plant, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.002)
if hasattr(plant, "set_step_scheme"):  # steps of pydrake are those of this scheme
    plant.set_step_scheme("drake")
friction = CoulombFriction(1.0, 1.0)
hand = plant.AddModelInstance("hand")
palm = plant.AddRigidBody("palm", hand, SpatialInertia.SolidBoxWithMass(1.0, 0.2, 0.1, 0.05))
above = plant.AddFrame(FixedOffsetFrame("above", plant.world_frame(), RigidTransform([0, 0, 0.2])))
joints = [plant.AddJoint(PrismaticJoint("lift", above, palm.body_frame(), [0, 0, 1]))]
for name, side in (("left", 1.0), ("right", -1.0)):
    finger = plant.AddRigidBody(name, hand, SpatialInertia.SolidBoxWithMass(0.2, 0.02, 0.04, 0.12))
    plant.RegisterCollisionGeometry(finger, RigidTransform(), Box(0.02, 0.04, 0.12), f"{name}_pad", friction)
    root = plant.AddFrame(FixedOffsetFrame(f"{name}_root", palm.body_frame(), RigidTransform([0, 0, -0.12])))
    joints.append(plant.AddJoint(PrismaticJoint(f"{name}_slide", root, finger.body_frame(), [side, 0, 0])))
for joint, p in zip(joints, (3000.0, 400.0, 400.0), strict=True):
    actuator = plant.AddJointActuator(f"{joint.name()}_motor", joint, 200.0)
    actuator.set_controller_gains(PdControllerGains(p=p, d=p / 20))
ball = plant.AddRigidBody("ball", plant.AddModelInstance("ball"), SpatialInertia.SolidSphereWithMass(0.3, 0.03))
plant.RegisterCollisionGeometry(ball, RigidTransform(), Sphere(0.03), "ball", friction)
plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform([0, 0, -0.1]), Box(2, 2, 0.2), "table", friction)
plant.Finalize()
pick = builder.AddSystem(Pick())
builder.Connect(pick.get_output_port(), plant.get_desired_state_input_port(hand))
simulator = Simulator(builder.Build())
context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
plant.SetFreeBodyPose(context, ball, RigidTransform([0, 0, 0.03]))
for joint, q in zip(joints, (0.0, 0.06, 0.06), strict=True):
    joint.set_translation(context, q)
for end in (0.1, 0.3, 0.45, 0.6, 0.9, 1.2):
    simulator.AdvanceTo(end)
    print(
        end,
        np.round(plant.EvalBodyPoseInWorld(context, ball).translation(), 3) + 0.0,
        np.round([j.get_translation(context) for j in joints], 3) + 0.0,
    )
    print(np.round(plant.get_net_actuation_output_port().Eval(context), 1) + 0.0)

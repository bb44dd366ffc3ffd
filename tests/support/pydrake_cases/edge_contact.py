# A box that is tilted by 1e-3 rad about x and 1e-4 rad about y and overlaps the ground by 0.5 mm: faces nearly touch
# all over, and pydrake has one point of contact.
from pydrake.geometry import Box
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.multibody.tree import SpatialInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

builder = DiagramBuilder()
plant, _ = AddMultibodyPlantSceneGraph(builder, 0.002)
body = plant.AddRigidBody("box", SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.12, 0.14))
for each, size, z in ((plant.world_body(), (10, 10, 1), -0.5), (body, (0.1, 0.12, 0.14), 0.0)):
    plant.RegisterCollisionGeometry(each, RigidTransform([0, 0, z]), Box(*size), "shape", CoulombFriction(0.5, 0.5))
plant.Finalize()
simulator = Simulator(builder.Build())
context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
plant.SetFreeBodyPose(context, body, RigidTransform(RollPitchYaw(1e-3, 1e-4, 0), [0, 0, 0.0695]))
simulator.AdvanceTo(0.002)
contacts = plant.get_contact_results_output_port().Eval(context)
print(contacts.num_point_pair_contacts(), plant.GetVelocities(context))

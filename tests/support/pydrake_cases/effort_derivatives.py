"""Derivatives and expressions of efforts at and below their limit."""

from pydrake.autodiffutils import InitializeAutoDiff
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import RevoluteJoint, SpatialInertia, UnitInertia
from pydrake.systems.primitives import FirstOrderTaylorApproximation

plant = MultibodyPlant(0.0)
body = plant.AddRigidBody("body", SpatialInertia(1.0, [0, 0, 0], UnitInertia(1, 1, 1)))
joint = plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), body.body_frame(), [0, 0, 1]))
plant.AddJointActuator("motor", joint, 1.0)
plant.Finalize()
dual = plant.ToAutoDiffXd()
for u in (5.0, 0.3):
    context = plant.CreateDefaultContext()
    plant.get_actuation_input_port().FixValue(context, [u])
    ports = plant.get_actuation_input_port().get_index(), plant.get_state_output_port().get_index()
    print(u, abs(FirstOrderTaylorApproximation(plant, context, *ports).B().ravel()))
    context = dual.CreateDefaultContext()
    dual.get_actuation_input_port().FixValue(context, InitializeAutoDiff([u]).ravel())
    rate = dual.EvalTimeDerivatives(context).CopyToVector()[1]
    print(rate.value(), rate.derivatives())

"""Efforts of a hinge of inertia 1 with an effort limit of 1, under an input and PD controllers."""

from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from pydrake.multibody.tree import PdControllerGains, RevoluteJoint, SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator


def efforts(step, approximation, desired, u, unlimited=False):
    plant = MultibodyPlant(step)
    if approximation:
        plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, approximation))
        plant.SetUseSampledOutputPorts(False)
    model = plant.AddModelInstance("model")
    body = plant.AddRigidBody("body", model, SpatialInertia(1.0, [0, 0, 0], UnitInertia(1, 1, 1)))
    joint = plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), body.body_frame(), [0, 0, 1]))
    motor = plant.AddJointActuator("motor", joint, 1.0)
    if desired is not None:
        motor.set_controller_gains(PdControllerGains(p=3.0, d=1.0))
    if unlimited:
        plant.RemoveAllJointActuatorEffortLimits()
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    plant.get_actuation_input_port().FixValue(context, [u])
    if desired is not None:
        plant.get_desired_state_input_port(model).FixValue(context, [desired, 0.0])
    net = plant.get_net_actuation_output_port().Eval(context)[0]
    simulator.AdvanceTo(0.1)
    return net, plant.GetVelocities(context)[0]


for step, approximation in ((0.0, None), (0.01, "kTamsi"), (0.01, "kSap"), (0.01, "kLagged"), (0.01, "kSimilar")):
    for desired, u in ((None, 5.0), (None, 0.2), (10.0, -0.5)):
        print(step, approximation, desired, u, *efforts(step, approximation, desired, u))
print(*efforts(0.0, None, None, 5.0, unlimited=True))

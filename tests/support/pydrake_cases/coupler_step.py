# Two hinges on vertical axes, q1 = 2 q2, input 1 on the first, steps of 10 ms, no contact. Symplectic Euler (pydrake
# 1.51 and step_scheme "drake"): q grows by h v(new). Under mbcli.pydrake the pair moves by h (v(old) + v(new)) / 2.
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import RevoluteJoint, SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator

for coupled in (False, True):
    plant = MultibodyPlant(0.01)
    joints = []
    for name in ("one", "two"):
        body = plant.AddRigidBody(name, SpatialInertia(1.0, [0, 0, 0], UnitInertia(1, 1, 1)))
        joints.append(plant.AddJoint(RevoluteJoint(name, plant.world_frame(), body.body_frame(), [0, 0, 1])))
    plant.AddJointActuator("motor", joints[0])
    if coupled:
        plant.AddCouplerConstraint(joints[0], joints[1], 2.0)
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    plant.get_actuation_input_port().FixValue(context, [1.0])
    simulator.AdvanceTo(0.1)
    print(coupled, plant.GetPositions(context), plant.GetVelocities(context))

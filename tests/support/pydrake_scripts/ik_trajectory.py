"""A path through poses by inverse kinematics."""

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.inverse_kinematics import InverseKinematics
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia
from pydrake.solvers import Solve
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import LogVectorOutput, TrajectorySource
from pydrake.trajectories import PiecewisePolynomial

plant = MultibodyPlant(0.0)
frame, lengths = plant.world_frame(), [0.6, 0.5, 0.2]
for k, length in enumerate(lengths):
    body = plant.AddRigidBody(f"link{k}", SpatialInertia.SolidCylinderWithMass(1.0, 0.05, length, [1, 0, 0]))
    joint = plant.AddJoint(RevoluteJoint(f"joint{k}", frame, body.body_frame(), [0, 1, 0], -2.9, 2.9))
    frame = plant.AddFrame(FixedOffsetFrame(f"end{k}", body.body_frame(), RigidTransform([length, 0, 0])))
plant.Finalize()
guess, found = np.array([0.3, 0.9, 0.4]), []
for x, z in ((0.9, -0.5), (0.8, -0.6), (0.7, -0.7), (0.6, -0.7)):
    ik = InverseKinematics(plant)
    ik.AddPositionConstraint(frame, [0, 0, 0], plant.world_frame(), [x - 1e-5, -1, z - 1e-5], [x + 1e-5, 1, z + 1e-5])
    ik.AddOrientationConstraint(plant.world_frame(), RotationMatrix.MakeYRotation(1.2), frame, RotationMatrix(), 1e-4)
    prog = ik.prog()
    prog.AddQuadraticErrorCost(np.eye(3), guess, ik.q())
    prog.SetInitialGuess(ik.q(), guess)
    result = Solve(prog)
    guess = result.GetSolution(ik.q())
    found.append(guess)
    print(result.is_success(), np.round(guess, 2) + 0.0)
times = np.arange(4.0)
curve = PiecewisePolynomial.CubicShapePreserving(times, np.round(np.transpose(found), 2), True)
context = plant.CreateDefaultContext()
for t in np.linspace(0, 3, 7):
    plant.SetPositions(context, curve.value(t))
    plant.SetVelocities(context, curve.EvalDerivative(t))
    X = frame.CalcPoseInWorld(context)
    V = frame.CalcSpatialVelocityInWorld(context)
    print(t, X.translation() + 0.0, V.rotational() + 0.0, V.translational() + 0.0)
builder = DiagramBuilder()
source = builder.AddSystem(TrajectorySource(curve, 1))
log = LogVectorOutput(source.get_output_port(), builder, 0.25)
simulator = Simulator(builder.Build())
simulator.AdvanceTo(3.0)
print(log.FindLog(simulator.get_context()).data())

"""Random states: how far positions without limits are drawn, by their units."""

import numpy as np

from mbcli.models.states import set_random_state
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import CurvilinearJoint, RevoluteJoint, SpatialInertia
from mbcli.trajectories import PiecewiseConstantCurvatureTrajectory


def test_lengths_are_drawn_within_a_metre_and_angles_within_half_a_turn():
    """The travel along a closed curve is a length, though its name does not end in x, y or z."""
    plant = MultibodyPlant(0.0)
    wagon, wheel = (plant.AddRigidBody(n, SpatialInertia.SolidSphereWithMass(1.0, 0.1)) for n in ("wagon", "wheel"))
    frame = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]
    circle = PiecewiseConstantCurvatureTrajectory([0.0, 4.0 * np.pi], [0.5], *frame, is_periodic=True)
    plant.AddJoint(CurvilinearJoint("track", plant.world_frame(), wagon.body_frame(), circle))
    plant.AddJoint(RevoluteJoint("axle", wagon.body_frame(), wheel.body_frame(), [0.0, 1.0, 0.0]))
    plant.Finalize()
    context, drawn, rng = plant.CreateDefaultContext(), [], np.random.default_rng(0)
    for _ in range(100):
        set_random_state(plant, context, rng)
        drawn.append(plant.GetPositions(context))
    largest = np.abs(drawn).max(axis=0)
    assert 0.9 < largest[0] <= 1.0 and 2.8 < largest[1] <= np.pi

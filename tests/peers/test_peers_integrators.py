"""Integrators of continuous plants against those of pydrake with the same names."""

import numpy as np
import pytest
from test_integrators import (
    SAMPLE_MODELS,
    START,
    config,
    double_pendulum,
    finished,
    stiff_pendulum as our_stiff_pendulum,
)

pytestmark = pytest.mark.peers("pydrake")

# pydrake's implicit_euler takes each step as two halves, its semi-explicit one is the same as ours
SAME = ["explicit_euler", "semi_explicit_euler", "runge_kutta2", "runge_kutta3", "bogacki_shampine3", "runge_kutta5"]
SAME_IMPLICIT = ["radau1", "radau3"]


def stepped_by_pydrake(plant, scheme, h, y, steps):
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

    simulator = Simulator(plant)
    ResetIntegratorFromFlags(simulator, scheme, h)
    simulator.get_mutable_integrator().set_fixed_step_mode(True)
    context = simulator.get_mutable_context()
    plant.SetPositionsAndVelocities(context, y)
    simulator.Initialize()
    simulator.AdvanceTo(steps * h)
    return plant.GetPositionsAndVelocities(context)


@pytest.fixture(scope="module")
def their_pendulum():
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(SAMPLE_MODELS / "double_pendulum.urdf"))
    plant.Finalize()
    return plant


@pytest.mark.parametrize("scheme", SAME + SAME_IMPLICIT)
def test_fixed_steps_are_those_of_pydrake(their_pendulum, scheme):
    theirs = stepped_by_pydrake(their_pendulum, scheme, 0.05, START, 4)
    settings = config(scheme, max_step_size=0.05, use_error_control=False)
    _, context, _ = finished(double_pendulum(), 0.2, q=START[:2], v=START[2:], config=settings)
    ours = double_pendulum().GetPositionsAndVelocities(context)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-3 if scheme in SAME_IMPLICIT else 1e-12)


def test_stiff_steps_of_runge_kutta2_are_those_of_pydrake():
    """Where h times the rate of the fast mode is 0.5 the second-order schemes differ in the second digit."""
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import RevoluteJoint, SpatialInertia, UnitInertia

    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", SpatialInertia(1.0, [0.0, 0.0, -0.1], UnitInertia(0.1, 0.1, 0.1)))
    bearing = RevoluteJoint("bearing", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0], damping=1e3)
    plant.AddJoint(bearing)
    plant.Finalize()
    theirs = stepped_by_pydrake(plant, "runge_kutta2", 5e-5, [1.0, 1.0], 3)
    settings = config("runge_kutta2", max_step_size=5e-5)
    ours = our_stiff_pendulum()
    _, context, _ = finished(ours, 1.5e-4, q=[1.0], v=[1.0], config=settings)
    np.testing.assert_allclose([*ours.GetPositions(context), *ours.GetVelocities(context)], theirs, rtol=1e-12)

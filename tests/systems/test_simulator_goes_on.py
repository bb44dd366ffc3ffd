"""A Simulator advances by one run that goes on: as one advance, and under all that changes between two advances."""

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.all import (
    AddMultibodyPlantSceneGraph,
    BodyIndex,
    CoulombFriction,
    DiagramBuilder,
    MultibodyPlant,
    Parser,
    RigidTransform,
    Simulator,
    SpatialInertia,
)
from mbcli.errors import NumericalError
from mbcli.geometry.shapes import HalfSpace
from mbcli.multibody.stepping.inputs import constant_input
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import BallRpyJoint

STEP = 0.001
ADVANCES = (1, 1, 3, 1, 10)  # steps
ARM = SAMPLES / "arm7.urdf"


@pytest.fixture(scope="module")
def arm():
    plant = MultibodyPlant(STEP)
    Parser(plant).AddModels(str(ARM))
    plant.Finalize()
    return plant


def states_of(plant, change, new_simulators):
    """The states after each advance; change(context, k) acts before the first one (k = 0) and after each."""
    context = plant.CreateDefaultContext()
    change(context, 0)
    states, simulator, steps = [], Simulator(plant, context), 0
    for k, number in enumerate(ADVANCES, 1):
        if new_simulators:
            simulator = Simulator(plant, context)
        steps += number
        simulator.AdvanceTo((steps - 0.5) * STEP)  # halfway: rounding does not decide about an update
        states.append(plant.GetPositionsAndVelocities(context))
        change(context, k)
    return np.array(states)


def assert_alike(plant, change):
    """One simulator gives what a new one for each advance gives; its states."""
    states = states_of(plant, change, new_simulators=False)
    np.testing.assert_array_equal(states, states_of(plant, change, new_simulators=True))
    assert np.isfinite(states).all()
    return states


def test_actuation_parameters_and_states_that_change_between_advances_act(arm):
    still = assert_alike(arm, lambda context, k: None)
    hand = arm.get_body(BodyIndex(arm.num_bodies() - 1))

    def pushes(context, k):
        arm.get_actuation_input_port().FixValue(context, np.full(arm.num_actuators(), 0.1 * (k + 1)))

    def weighs(context, k):
        hand.SetMass(context, 1.0 + 0.5 * k)

    def moves(context, k):
        arm.SetPositions(context, np.full(arm.num_positions(), 0.1 * k))

    for change in (pushes, weighs, moves):
        assert np.abs(assert_alike(arm, change) - still).max() > 1e-8


def test_contact_that_begins_and_masses_that_change_act():
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, STEP)
    Parser(plant).AddModels(
        file_contents="""<robot name="ball"><link name="ball"><inertial><mass value="1"/>
        <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>""",
        file_type=".urdf",
    )
    plant.RegisterCollisionGeometry(
        plant.world_body(), RigidTransform(), HalfSpace(), "ground", CoulombFriction(1.0, 1.0)
    )
    plant.Finalize()
    body = plant.GetBodyByName("ball")

    def change(context, k):
        if k == 0:
            plant.SetFreeBodyPose(context, body, RigidTransform([0.0, 0.0, 0.1005]))
        if k == 2:
            body.SetMass(context, 3.0)

    states = assert_alike(plant, change)
    assert 0.0 < states[-1][6] < 0.1005


def test_a_run_with_an_input_of_its_own_does_not_go_on(arm):
    context = arm.CreateDefaultContext()
    run = Run(arm, context, STEP, actuation=constant_input(np.zeros(arm.num_actuators())))
    with pytest.raises(ValueError, match="input of its own"):
        run.go_on(2 * STEP)


def test_a_diagram_is_at_the_time_of_its_plant_after_an_advance_that_fails():
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 1e-3)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, 0.0])
    ball = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    joint = plant.AddJoint(BallRpyJoint("socket", plant.world_frame(), ball.body_frame()))
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    root = simulator.get_mutable_context()
    context = plant.GetMyMutableContextFromRoot(root)
    joint.set_angular_velocity(context, [0.0, 1.0, 0.0])
    with pytest.raises(NumericalError, match="gimbal lock"):
        simulator.AdvanceTo(3.0)
    assert root.get_time() == context.get_time() > 1.5

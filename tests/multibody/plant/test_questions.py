"""Questions change nothing, and answers follow from parameters, state and inputs alone."""

import numpy as np
import pytest
from machine_arrays import changed, state_arrays

from mbcli.math import RigidTransform
from mbcli.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from mbcli.multibody.tree import FixedOffsetFrame, PrismaticJoint, RevoluteJoint, SpatialInertia
from mbcli.systems.analysis import Simulator

POSITIONS = np.linspace(-3.0, 3.0, 25)


@pytest.fixture(autouse=True)
def quiet_starts(recwarn):
    """Starts off the constraints, of which runs warn, are what is tested."""


def rod(time_step, distance=1.0):
    """A rod on a hinge; its tip, 1 m away, is kept at a distance from a point 1 m away on the other side.

    At the position 0 the distance is 2 m. Where tip, hinge and point are in line, the constraint is singular.
    """
    plant = MultibodyPlant(time_step)
    plant.prefers_interpreted = True
    body = plant.AddRigidBody("rod", SpatialInertia.SolidBoxWithMass(2.0, 1.0, 0.1, 0.1).Shift([-0.5, 0.0, 0.0]))
    plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0]))
    plant.AddDistanceConstraint(body, [1.0, 0.0, 0.0], plant.world_body(), [-1.0, 0.0, 0.0], distance)
    if time_step:
        plant.SetUseSampledOutputPorts(False)
    plant.Finalize()
    return plant, body


def strained_rod(time_step):
    """The distance cannot be reached: all positions violate it, and the nearest one is singular."""
    return rod(time_step, distance=3.0)


def two_rods(time_step):
    """A rod on a rod, whose tip is kept at a distance from a point."""
    plant = MultibodyPlant(time_step)
    plant.prefers_interpreted = True
    inboard = plant.world_frame()
    for k in range(2):
        body = plant.AddRigidBody(f"rod{k}", SpatialInertia.SolidBoxWithMass(1.0, 1.0, 0.1, 0.1).Shift([-0.5, 0, 0]))
        place = [0.0, 0.0, 0.0] if k == 0 else [1.0, 0.0, 0.0]
        frame = plant.AddFrame(FixedOffsetFrame(f"place{k}", inboard, RigidTransform(place)))
        plant.AddJoint(RevoluteJoint(f"hinge{k}", frame, body.body_frame(), [0.0, 1.0, 0.0]))
        inboard = body.body_frame()
    plant.AddDistanceConstraint(body, [1.0, 0.0, 0.0], plant.world_body(), [0.5, 0.0, 0.0], 1.0)
    if time_step:
        plant.SetUseSampledOutputPorts(False)
    plant.Finalize()
    return plant, body


SCENES = [rod, strained_rod, two_rods]


def outcome(function, *arguments):
    try:
        return np.asarray(function(*arguments))
    except RuntimeError as error:
        return str(error)


def error_of(function, *arguments):
    try:
        function(*arguments)
    except RuntimeError as error:
        return str(error)


def acceleration(plant, context):
    return plant.get_generalized_acceleration_output_port().Eval(context)


def context_at(plant, q, v):
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return context


@pytest.mark.parametrize("scene", SCENES)
def test_the_acceleration_of_a_step_leaves_the_velocities_of_a_context_as_they_are(scene):
    plant, body = scene(0.01)
    for q in POSITIONS:
        context = context_at(plant, *[[x] * plant.num_velocities() for x in (q, 1.3)])
        before, kinetic = state_arrays(context), plant.CalcKineticEnergy(context)
        outcome(plant.EvalBodySpatialAccelerationInWorld, context, body)
        assert not changed(before, context)
        assert plant.CalcKineticEnergy(context) == kinetic


@pytest.mark.parametrize("time_step", [0.0, 0.01])
@pytest.mark.parametrize("scene", SCENES)
def test_accelerations_do_not_depend_on_what_was_asked_before(scene, time_step):
    plant, _ = scene(time_step)
    nv, rng = plant.num_velocities(), np.random.default_rng(3)
    used = plant.CreateDefaultContext()
    for q in POSITIONS:
        q, v = q * np.ones(nv) + rng.normal(scale=0.01, size=nv), rng.normal(size=nv)
        plant.SetPositions(used, q)
        plant.SetVelocities(used, v)
        for ask in (acceleration, type(plant).CalcForwardDynamics):
            found, expected = (outcome(ask, plant, c) for c in (used, context_at(plant, q, v)))
            np.testing.assert_array_equal(found, expected)
            plant.SetPositions(used, q)  # the same
            np.testing.assert_array_equal(outcome(ask, plant, used), expected)


@pytest.mark.parametrize("scene", SCENES)
def test_steps_do_not_depend_on_what_was_asked_before(scene):
    plant, _ = scene(0.01)
    nv, rng = plant.num_velocities(), np.random.default_rng(4)
    used = plant.CreateDefaultContext()
    for q in POSITIONS[::2]:
        for _ in range(2):
            plant.SetPositions(used, rng.uniform(-3.0, 3.0, nv))
            plant.SetVelocities(used, rng.normal(size=nv))
            outcome(acceleration, plant, used)
        q, v, ends = q * np.ones(nv), rng.normal(size=nv), []
        for context in (used, context_at(plant, q, v)):
            context.SetTime(0.0)
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)
            ends.append((error_of(Simulator(plant, context).AdvanceTo, 0.03), plant.GetPositionsAndVelocities(context)))
        assert ends[0][0] == ends[1][0]
        np.testing.assert_array_equal(ends[0][1], ends[1][1])


@pytest.mark.parametrize("time_step", [0.0, 0.01])
def test_the_forces_of_joints_are_those_of_the_inputs_whatever_accelerations_were_asked_before(time_step):
    plant, _ = rod(time_step)
    context = context_at(plant, [0.5], [1.0])
    expected = [force.get_coeffs() for force in plant.get_reaction_forces_output_port().Eval(context)]
    context = context_at(plant, [0.5], [1.0])
    acceleration(plant, context)
    plant.CalcAccelerations(context, tau=[300.0], body_forces=np.full((plant.num_bodies(), 6), 50.0))
    found = [force.get_coeffs() for force in plant.get_reaction_forces_output_port().Eval(context)]
    np.testing.assert_array_equal(found, expected)


def test_a_question_between_advances_does_not_change_what_a_run_goes_on_with():
    plant, _ = two_rods(0.01)
    ends = []
    for asks in (False, True):
        context = context_at(plant, [0.3, 1.7], [1.0, -1.0])
        simulator = Simulator(plant, context)
        for k in range(1, 30):
            simulator.AdvanceTo(0.01 * k)
            if asks:
                acceleration(plant, context)
                plant.CalcForwardDynamics(context)
        ends.append(plant.GetPositionsAndVelocities(context))
    np.testing.assert_array_equal(*ends)


def test_steps_after_a_constraint_was_switched_off_are_those_of_a_plant_that_never_had_it():
    """An elastic constraint makes steps contact problems; without it they end on the constraints."""

    def end(elastic_first):
        plant = MultibodyPlant(0.01)
        plant.prefers_interpreted = True
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        body = plant.AddRigidBody("rod", SpatialInertia.SolidBoxWithMass(2.0, 1.0, 0.1, 0.1).Shift([-0.5, 0.0, 0.0]))
        plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0]))
        slider = plant.AddRigidBody("slider", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
        plant.AddJoint(PrismaticJoint("rail", plant.world_frame(), slider.body_frame(), [1.0, 0.0, 0.0]))
        points = (body, [1.0, 0.0, 0.0], slider, [0.0, 0.0, 0.0])
        plant.AddDistanceConstraint(*points, 1.5)
        spring = plant.AddDistanceConstraint(*points, 1.2, 50.0, 2.0)
        plant.Finalize()
        context = context_at(plant, [0.4, 2.3], [0.0, 0.0])
        if elastic_first:
            Simulator(plant, context).AdvanceTo(0.02)
            context.SetTime(0.0)
            plant.SetPositions(context, [0.4, 2.3])
            plant.SetVelocities(context, [0.0, 0.0])
        plant.SetConstraintActiveStatus(context, spring, False)
        Simulator(plant, context).AdvanceTo(0.05)
        return plant.GetPositionsAndVelocities(context)

    np.testing.assert_array_equal(end(True), end(False))


def test_the_arrays_of_a_state_are_read_only():
    plant, _ = two_rods(0.01)
    state = plant.CreateDefaultContext().state
    for array in (state.q, state.v, state.x):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0

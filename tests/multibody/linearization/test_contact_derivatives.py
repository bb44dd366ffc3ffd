"""Derivatives of steps in contact: against differences of steps that are solved again, symmetry and a closed form."""

import numpy as np
import pytest
from contact_scenes import FALL, Scene, own_library

from mbcli.errors import NumericalError
from mbcli.multibody.linearization.closed_form_motion import motion_in_contact
from mbcli.multibody.linearization.contact_motion import StepInContact
from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
from mbcli.multibody.linearization.plant_values import PlantValues, values_at
from mbcli.multibody.linearization.step_of_run import StepOfRun
from mbcli.systems.primitives import FirstOrderTaylorApproximation

CONVEX = ("lagged", "similar", "sap")
STEP = 1e-5


def box_on_ground(approximation="lagged", scheme="midpoint", **material):
    """A box that slides and turns on the ground, some millimetres in it, with a ball on it."""
    scene = Scene(own_library(), 0.005, approximation, **material)
    scene.plant.set_step_scheme(scheme)
    scene.ground()
    scene.box("box", 2.0, (0.4, 0.3, 0.2))
    scene.ball("ball", 0.5, 0.1)
    scene.start()
    scene.place("box", (0.1, -0.2, 0.098), (0.003, -0.002, 0.4), velocity=(0.3, 0.1, -0.02), spin=(0.0, 0.0, 0.2))
    scene.place("ball", (0.13, -0.22, 0.295), velocity=(0.1, 0.2, -0.1), spin=(0.3, 0.1, 0.2))
    return scene.plant, scene.context


def leg_on_ground():
    """Two links with motors from a sliding base, with limits of efforts and controllers far from them."""
    scene = Scene(own_library(), 0.002)
    lib, plant = scene.lib, scene.plant
    scene.ground()
    thigh = plant.AddRigidBody("thigh", lib.SpatialInertia.SolidBoxWithMass(2.0, 0.05, 0.05, 0.4))
    foot = scene.ball("foot", 0.5, 0.05)
    up = plant.AddJoint(lib.PrismaticJoint("up", plant.world_frame(), thigh.body_frame(), [0, 0, 1]))
    X = lib.RigidTransform([0.0, 0.0, -0.3])
    knee = plant.AddFrame(lib.FixedOffsetFrame("knee", thigh.body_frame(), X))
    tip = plant.AddFrame(lib.FixedOffsetFrame("tip", foot.body_frame(), lib.RigidTransform([0.1, 0.0, 0.1])))
    hinge = plant.AddJoint(lib.RevoluteJoint("hinge", knee, tip, [0, 1, 0], damping=0.1))
    plant.AddJointActuator("lift", up)
    plant.AddJointActuator("turn", hinge, 50.0)
    plant.get_joint_actuator(lib.JointActuatorIndex(0)).set_controller_gains(lib.PdControllerGains(p=50.0, d=2.0))
    plant.get_joint_actuator(lib.JointActuatorIndex(1)).set_controller_gains(lib.PdControllerGains(p=5.0, d=0.2))
    scene.start()
    plant.SetPositionsAndVelocities(scene.context, [0.437, 0.1, -0.1, 0.5])
    plant.get_actuation_input_port().FixValue(scene.context, [1.0, 0.5])
    instance = lib.ModelInstanceIndex(1)
    plant.get_desired_state_input_port(instance).FixValue(scene.context, [0.5, 0.2, 0.0, 0.0])
    return plant, scene.context


def by_solved_steps(plant, context, name, direction):
    """The derivative of v' along a change of one of the PlantValues, by steps that are solved to rounding each."""
    start = values_at(plant, context)
    solutions = []
    for k in (-2, -1, 1, 2):
        values = PlantValues(**(vars(start) | {name: getattr(start, name) + k * STEP * direction}))
        other = StepInContact(plant, context, values)
        solutions.append(other.solve())
    return (solutions[0] - 8.0 * solutions[1] + 8.0 * solutions[2] - solutions[3]) / (12.0 * STEP)


def assert_derivatives_of_step(plant, context, tolerance):
    start = values_at(plant, context)
    motion = motion_in_contact(plant, context, start)
    nq, rng = start.q.size, np.random.default_rng(4)
    N = plant.MakeVelocityToQDotMap(context).toarray()
    for name in ("q", "v", "u", "tau", "desired"):
        value = getattr(start, name)
        if not value.size:
            continue
        for _ in range(2):
            direction = rng.normal(size=value.shape)
            if name == "q":
                direction = N @ rng.normal(size=start.v.size)
            expected = by_solved_steps(plant, context, name, direction)
            found = motion.f_by[name][nq:] @ direction.ravel()
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * abs(expected).max(), err_msg=name)
    return motion


@pytest.mark.parametrize("approximation", CONVEX)
def test_derivatives_of_a_step_are_those_of_solved_steps(approximation):
    plant, context = box_on_ground(approximation)
    assert_derivatives_of_step(plant, context, 1e-7)


def test_derivatives_by_actuation_and_desired_states():
    plant, context = leg_on_ground()
    assert_derivatives_of_step(plant, context, 1e-7)


@pytest.mark.parametrize("approximation", CONVEX)
def test_velocities_answer_forces_symmetrically(approximation):
    """dv'/dtau = h H^-1 with the Hessian of a convex cost: symmetric, positive, and less than of the free bodies.

    So it is where the velocity terms are those of the start; those of the middle depend on forces themselves.
    """
    plant, context = box_on_ground(approximation, "drake")
    start, h = values_at(plant, context), plant.time_step()
    response = motion_in_contact(plant, context, start).f_by["tau"][start.q.size :] / h
    size = abs(response).max()
    np.testing.assert_allclose(response, response.T, rtol=0.0, atol=1e-7 * size)
    assert np.linalg.eigvalsh(0.5 * (response + response.T)).min() > -1e-7 * size
    free = np.linalg.inv(plant.CalcMassMatrix(context))
    assert np.linalg.eigvalsh(free - 0.5 * (response + response.T)).min() > -1e-6 * abs(free).max()


def test_a_point_that_slides_has_coulombs_law():
    """mu x the change of the normal force along the motion, and the speed has hardly an influence on that."""
    scene = Scene(own_library(), 0.001, "lagged", v_s=1e-6, dissipation=0.0)
    lib, plant = scene.lib, scene.plant
    scene.ground()
    carriage = plant.AddRigidBody("carriage", lib.SpatialInertia.SolidSphereWithMass(1e-3, 0.1))
    ball = scene.ball("ball", 2.0, 0.1)
    plant.AddJoint(lib.PrismaticJoint("x", plant.world_frame(), carriage.body_frame(), [1, 0, 0]))
    plant.AddJoint(lib.PrismaticJoint("z", carriage.body_frame(), ball.body_frame(), [0, 0, 1]))
    scene.start()
    k, h, m = 1e4, 0.001, 2.0  # two surfaces of 2e4 N/m, one on the other
    depth = m * FALL / k
    plant.SetPositionsAndVelocities(scene.context, [0.0, 0.1 - depth, 1.0, 0.0])
    A, *_, f, _, _ = plant_derivatives(plant, scene.context, None, None, True)
    share = 1.0 / (1.0 + h * h * k / m)  # the spring acts at the end of the step
    np.testing.assert_allclose(A[3], [0.0, -h * k / m * share, 0.0, share], atol=1e-5)
    # its friction is that of the force before the step
    np.testing.assert_allclose(A[2, 2], 1.0, atol=1e-6)
    np.testing.assert_allclose(f[2], 1.0 - h * 0.5 * FALL * m / (m + 1e-3), atol=1e-4)


def test_linearization_of_a_discrete_plant_takes_contact_into_account():
    plant, context = leg_on_ground()
    start = values_at(plant, context)
    motion = motion_in_contact(plant, context, start)
    system = FirstOrderTaylorApproximation(plant, context)
    np.testing.assert_array_equal(system.A()[:, : start.q.size], motion.f_by["q"])
    np.testing.assert_array_equal(system.B(), motion.f_by["u"])
    plant.SetPositions(context, start.q + [1.0, 0.0])
    assert motion_in_contact(plant, context, values_at(plant, context)) is None


def test_where_a_contact_begins_there_is_no_derivative():
    plant, context = leg_on_ground()
    q = plant.GetPositions(context).copy()
    low, high = 0.0, 0.1
    for _ in range(60):  # until the foot just touches at this instant
        middle = 0.5 * (low + high)
        plant.SetPositions(context, q + [middle, 0.0])
        touches = motion_is_in_contact(plant, context)
        low, high = (middle, high) if touches else (low, middle)
    plant.SetPositions(context, q + [low, 0.0])
    with pytest.raises(NumericalError, match="a contact begins or ends"):
        plant_derivatives(plant, context, "actuation", "state", True)


def motion_is_in_contact(plant, context):
    return StepInContact(plant, context, values_at(plant, context)).solve() is not None


def test_what_has_no_optimum_has_derivatives_by_differences():
    plant, context = box_on_ground("tamsi")
    A, *_ = plant_derivatives(plant, context, None, "state", True)
    step, start = StepOfRun(plant, context, values_at(plant, context), exact=True), values_at(plant, context)
    direction = np.random.default_rng(4).normal(size=start.v.size)
    at = [step(start.moved("v", k * STEP * direction)) for k in (-2, -1, 1, 2)]
    expected = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * STEP)
    np.testing.assert_allclose(A[:, start.q.size :] @ direction, expected, rtol=0.0, atol=1e-6 * abs(expected).max())

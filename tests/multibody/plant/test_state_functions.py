"""Functions of states: equal to the plant's own methods, strict about arrays, without memory of earlier calls."""

import numpy as np
import pytest
from random_trees import random_context, random_plant
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant, StateFunctions
from mbcli.multibody.tree import (
    BodyIndex,
    ForceElement,
    JacobianWrtVariable,
    LinearSpringDamper,
    MultibodyForces,
    default_model_instance,
)

MODELS = SAMPLES


def plant_of(name, finalize=True):
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(MODELS / name))
    if finalize:
        plant.Finalize()
    return plant


def random_state(plant, rng):
    context = plant.CreateDefaultContext()
    q = plant.GetPositions(context) + rng.uniform(-0.5, 0.5, plant.num_positions())
    if plant.num_positions() != plant.num_velocities():
        q[:4] /= np.linalg.norm(q[:4])
    v, vdot = rng.normal(size=(2, plant.num_velocities()))
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return context, q, v, vdot


def all_results(functions, frame, q, v, x):
    return {
        "inverse_dynamics": functions.inverse_dynamics(q, v, x),
        "forward_dynamics": functions.forward_dynamics(q, v, x),
        "mass_matrix": functions.mass_matrix(q),
        "bias_term": functions.bias_term(q, v),
        "gravity_forces": functions.gravity_forces(q),
        "pose": functions.pose(frame)(q),
        "velocity": functions.velocity(frame)(q, v),
        "jacobian": functions.jacobian(frame)(q),
    }


def expected_results(plant, context, frame, x):
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    M, Cv = plant.CalcMassMatrix(context), plant.CalcBiasTerm(context)
    return {
        "inverse_dynamics": plant.CalcInverseDynamics(context, x, forces),
        "forward_dynamics": plant.CalcAccelerations(context, tau=x),
        "mass_matrix": M,
        "bias_term": Cv,
        "gravity_forces": plant.CalcGravityGeneralizedForces(context),
        "pose": frame.CalcPoseInWorld(context).GetAsMatrix4(),
        "velocity": frame.CalcSpatialVelocityInWorld(context).get_coeffs(),
        "jacobian": plant.CalcJacobianSpatialVelocity(
            context, JacobianWrtVariable.kV, frame, np.zeros(3), plant.world_frame(), plant.world_frame()
        ),
    }


@pytest.mark.parametrize("name", ["arm7.urdf", "quadruped.urdf", "all_joints.sdf"])
@pytest.mark.parametrize("jit", ["0", "1"])
def test_functions_of_states_are_the_methods_of_the_plant(name, jit, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", jit)
    plant, rng = plant_of(name), np.random.default_rng(4)
    functions = StateFunctions(plant)
    frame = plant.get_body(BodyIndex(plant.num_bodies() - 1)).body_frame()
    for _ in range(2):
        context, q, v, x = random_state(plant, rng)
        found, expected = all_results(functions, frame, q, v, x), expected_results(plant, context, frame, x)
        for key, value in expected.items():
            scale = np.abs(value).max()
            np.testing.assert_allclose(found[key], value, rtol=0.0, atol=1e-12 * max(scale, 1.0), err_msg=key)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("jit", ["0", "1"])
def test_a_pose_and_a_jacobian_need_only_the_bodies_between_the_frame_and_world(seed, jit, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", jit)
    plant = random_plant(seed, num_bodies=14, trees=3, floating_bases=1, elements=False, actuated=False, sprung=False)
    context = random_context(plant, np.random.default_rng(seed))
    q, world = plant.GetPositions(context), plant.world_frame()
    for k in range(plant.num_bodies()):
        frame = plant.get_body(BodyIndex(k)).body_frame()
        functions = StateFunctions(plant)  # of arrays that no call before has filled
        np.testing.assert_array_equal(functions.pose(frame)(q), frame.CalcPoseInWorld(context).GetAsMatrix4())
        J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, frame, np.zeros(3), world, world)
        np.testing.assert_array_equal(functions.jacobian(frame)(q), J)


def test_results_go_to_out_and_depend_on_nothing_before():
    plant, rng = plant_of("quadruped.urdf"), np.random.default_rng(5)
    functions = StateFunctions(plant)
    frame = plant.GetFrameByName("trunk")
    states = [random_state(plant, rng)[1:] for _ in range(3)]
    first = [all_results(functions, frame, *state) for state in states]
    for state, expected in list(zip(states, first, strict=True))[::-1]:
        for key, value in all_results(functions, frame, *state).items():
            np.testing.assert_array_equal(value, expected[key])
    q, v, x = states[0]
    out = np.empty(plant.num_velocities())
    assert functions.inverse_dynamics(q, v, x, out=out) is out
    np.testing.assert_array_equal(out, first[0]["inverse_dynamics"])
    M = np.empty((len(v), len(v)))
    assert functions.mass_matrix(q, out=M) is M


@pytest.mark.parametrize("jit", ["0", "1"])
def test_what_is_not_an_array_of_doubles_is_converted_or_refused_by_name(jit, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", jit)
    plant = plant_of("double_pendulum.urdf")
    functions = StateFunctions(plant)
    q, v, x = np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([0.5, 0.6])
    tau = functions.inverse_dynamics(q, v, x)
    wide = np.column_stack([q, q])
    np.testing.assert_array_equal(functions.inverse_dynamics(list(q), tuple(v), x), tau)
    np.testing.assert_array_equal(functions.inverse_dynamics(wide[:, 0], v, x), tau)
    np.testing.assert_array_equal(
        functions.gravity_forces(q.astype(np.float32)), functions.gravity_forces(q.astype(np.float32).astype(float))
    )
    np.testing.assert_array_equal(functions.gravity_forces([0, 1]), functions.gravity_forces(np.array([0.0, 1.0])))
    for arguments, message in (
        ((q[:1], v, x), r"q has shape \(1,\), expected \(2,\)"),
        ((q, [1.0, 2.0, 3.0], x), r"v has shape \(3,\), expected \(2,\)"),
        ((q, v, "elbow"), "vdot is not 2 numbers"),
        ((q, v, None), "vdot"),
        ((q, v, x, np.empty(3)), "out has shape"),
        ((q, v, x, np.empty(2, dtype=np.float32)), "out is not an array of doubles"),
        ((q, v, x, [0.0, 0.0]), "out is not an array of doubles"),
    ):
        with pytest.raises(ArgumentError, match=message):
            functions.inverse_dynamics(*arguments)
    with pytest.raises(ArgumentError, match="of another plant"):
        functions.pose(plant_of("double_pendulum.urdf").world_frame())


def test_parameters_are_those_of_the_context():
    plant = plant_of("double_pendulum.urdf")
    context = plant.CreateDefaultContext()
    before = StateFunctions(plant, context).mass_matrix(np.zeros(2))
    body = plant.get_body(BodyIndex(plant.num_bodies() - 1))
    body.SetMass(context, 3.0 * body.get_mass(context))
    np.testing.assert_allclose(
        StateFunctions(plant, context).mass_matrix(np.zeros(2)), plant.CalcMassMatrix(context), atol=1e-14
    )
    assert np.abs(plant.CalcMassMatrix(context) - before).max() > 0.01


def test_what_functions_of_states_do_not_cover_is_said():
    plant = plant_of("double_pendulum.urdf", finalize=False)
    ends = [plant.get_body(BodyIndex(k)) for k in (0, plant.num_bodies() - 1)]
    plant.AddForceElement(LinearSpringDamper(ends[0], np.zeros(3), ends[1], np.ones(3), 1.0, 10.0, 1.0))
    plant.Finalize()
    with pytest.raises(ModelError, match="spring-dampers and bushings"):
        StateFunctions(plant)


def test_force_elements_of_users_are_refused():
    class Push(ForceElement):
        def CalcAndAddForceContribution(self, context, forces):
            forces.mutable_generalized_forces()[:] += 1.0

    plant = plant_of("double_pendulum.urdf", finalize=False)
    plant.AddForceElement(Push(default_model_instance()))
    plant.Finalize()
    with pytest.raises(ModelError, match="no force element of a user, Push"):
        StateFunctions(plant)

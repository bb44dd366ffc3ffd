"""Functions of many states: those of single states, whatever rows there are and on how many threads."""

import numpy as np
import pytest
from random_trees import random_plant, random_state

from mbcli.engine.queries import state_batch
from mbcli.errors import ArgumentError, ModelError
from mbcli.multibody.plant import BatchFunctions, StateFunctions
from mbcli.multibody.tree import BodyIndex, ForceElement, JacobianWrtVariable, default_model_instance

STATES = 21  # two registers and a part of one


def states_of(plant, count=STATES, seed=0):
    rng = np.random.default_rng(seed)
    q, v = zip(*(random_state(plant, rng) for _ in range(count)), strict=True)
    return np.array(q), np.array(v), rng.normal(size=(count, plant.num_velocities()))


def results_of(functions, frame, q, v, x):
    found = {
        "inverse_dynamics": functions.inverse_dynamics(q, v, x),
        "forward_dynamics": functions.forward_dynamics(q, v, x),
        "mass_matrix": functions.mass_matrix(q),
        "bias_term": functions.bias_term(q, v),
        "gravity_forces": functions.gravity_forces(q),
        "pose": functions.pose(frame)(q),
        "velocity": functions.velocity(frame)(q, v),
        "jacobian": functions.jacobian(frame)(q),
    }
    derivatives = functions.inverse_dynamics_derivatives(q, v, x), functions.forward_dynamics_derivatives(q, v, x)
    names = "dtau_dq", "dtau_dv", "dtau_dvdot", "dvdot_dq", "dvdot_dv", "dvdot_dtau"
    return found | dict(zip(names, (*derivatives[0], *derivatives[1]), strict=True))


def last_frame(plant):
    return plant.get_body(BodyIndex(plant.num_bodies() - 1)).body_frame()


@pytest.fixture(scope="module")
def tree():
    return random_plant(3, num_bodies=9, sprung=False)


def test_rows_are_those_of_single_states(tree):
    q, v, x = states_of(tree)
    many, one = BatchFunctions(tree), StateFunctions(tree)
    rows = [results_of(one, last_frame(tree), *state) for state in zip(q, v, x, strict=True)]
    for name, value in results_of(many, last_frame(tree), q, v, x).items():
        expected = np.array([row[name] for row in rows])
        np.testing.assert_allclose(value, expected, rtol=0.0, atol=1e-11 * abs(expected).max(), err_msg=name)


def test_quantities_of_the_whole_plant_are_those_of_its_methods(tree):
    q, v, x = states_of(tree, 5)
    many, context, frame = BatchFunctions(tree), tree.CreateDefaultContext(), last_frame(tree)
    energies, (p, pdot), L = many.energies(q, v), many.center_of_mass(q, v), many.momentum(q, v, [0.1, 0.2, 0.3])
    A = many.acceleration(frame)(q, v, x)
    for k in range(len(q)):
        tree.SetPositions(context, q[k])
        tree.SetVelocities(context, v[k])
        expected = tree.CalcKineticEnergy(context), tree.CalcPotentialEnergy(context)
        np.testing.assert_allclose(energies[k], expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(p[k], tree.CalcCenterOfMassPositionInWorld(context), atol=1e-12)
        np.testing.assert_allclose(pdot[k], tree.CalcCenterOfMassTranslationalVelocityInWorld(context), atol=1e-11)
        momentum = tree.CalcSpatialMomentumInWorldAboutPoint(context, [0.1, 0.2, 0.3])
        np.testing.assert_allclose(L[k], momentum.get_coeffs(), atol=1e-10)
        J = tree.CalcJacobianSpatialVelocity(
            context, JacobianWrtVariable.kV, frame, np.zeros(3), tree.world_frame(), tree.world_frame()
        )
        bias = tree.CalcBiasSpatialAcceleration(
            context, JacobianWrtVariable.kV, frame, np.zeros(3), tree.world_frame(), tree.world_frame()
        )
        np.testing.assert_allclose(A[k], J @ x[k] + bias.get_coeffs(), atol=1e-10)


def test_threads_and_other_rows_change_no_bit(tree, monkeypatch):
    monkeypatch.setattr(state_batch, "STATES_OF_A_THREAD", 4)
    q, v, x = states_of(tree)
    alone, shared = BatchFunctions(tree), BatchFunctions(tree, threads=3)
    expected = results_of(alone, last_frame(tree), q, v, x)
    for name, value in results_of(shared, last_frame(tree), q, v, x).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    for name, value in results_of(alone, last_frame(tree), q[4:9], v[4:9], x[4:9]).items():
        np.testing.assert_array_equal(value, expected[name][4:9], err_msg=name)


def test_parameters_are_those_of_the_context(tree):
    q, _, _ = states_of(tree, 2)
    context = tree.CreateDefaultContext()
    body = tree.get_body(BodyIndex(tree.num_bodies() - 1))
    body.SetMass(context, 2.0 * body.default_mass())
    np.testing.assert_allclose(
        BatchFunctions(tree, context).mass_matrix(q)[1], StateFunctions(tree, context).mass_matrix(q[1])
    )


def test_derivatives_go_to_given_arrays(tree):
    q, v, x = states_of(tree, 3)
    many, nv = BatchFunctions(tree), tree.num_velocities()
    out = [np.empty((3, nv, nv)) for _ in range(3)]
    many.inverse_dynamics_derivatives(q, v, x, out=out)
    for given, value in zip(out, many.inverse_dynamics_derivatives(q, v, x), strict=True):
        np.testing.assert_array_equal(given, value)
    with pytest.raises(ArgumentError, match="out is not three arrays"):
        many.inverse_dynamics_derivatives(q, v, x, out=out[:2])


def test_no_states_give_no_rows(tree):
    nq, nv = tree.num_positions(), tree.num_velocities()
    assert BatchFunctions(tree, threads=2).inverse_dynamics(np.empty((0, nq)), *np.empty((2, 0, nv))).shape == (0, nv)


def test_what_does_not_fit_is_named(tree):
    q, v, x = states_of(tree, 3)
    many = BatchFunctions(tree)
    with pytest.raises(ArgumentError, match=r"v has shape \(2, \d+\), expected \(3, \d+\)"):
        many.inverse_dynamics(q, v[:2], x)
    with pytest.raises(ArgumentError, match="q is not rows of"):
        many.mass_matrix("abc")
    with pytest.raises(ArgumentError, match="at least one thread"):
        BatchFunctions(tree, threads=0)
    with pytest.raises(ArgumentError, match="is of another plant"):
        many.pose(last_frame(random_plant(4, num_bodies=3)))


class Breeze(ForceElement):
    def CalcAndAddForceContribution(self, context, forces):
        forces.mutable_generalized_forces()[0] += 1.0


def test_forces_of_users_are_refused():
    plant = random_plant(5, num_bodies=3, sprung=False, finalize=False)
    plant.AddForceElement(Breeze(default_model_instance()))
    plant.Finalize()
    with pytest.raises(ModelError, match="no force element of a user"):
        BatchFunctions(plant)

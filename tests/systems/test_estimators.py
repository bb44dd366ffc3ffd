"""Observers and Kalman filters against closed forms, and pydrake's gain in discrete time."""

import numpy as np
import pytest
from peer_modules import peer

from mbcli.systems.analysis import Simulator
from mbcli.systems.estimators import (
    DiscreteTimeSteadyStateKalmanFilter,
    LuenbergerObserver,
    SteadyStateKalmanFilter,
)
from mbcli.systems.framework import DiagramBuilder
from mbcli.systems.primitives import ConstantVectorSource, LinearSystem

drake = peer("pydrake.systems.estimators")


def test_one_state_has_the_gain_of_its_quadratic_equation():
    a, w, v = -0.4, 2.0, 0.5  # 2 a p - p^2 / v + w = 0
    gain = SteadyStateKalmanFilter([[a]], [[1.0]], [[w]], [[v]])
    assert gain == pytest.approx(np.array([[a + np.sqrt(a * a + w / v)]]))


@pytest.mark.parametrize("period", [0.0, 0.1])
def test_an_error_of_an_estimate_decays_by_the_poles_of_the_observer(period):
    A, C = np.array([[0.9, 0.1], [-0.2, 0.8]]), np.array([[1.0, 0.0]])
    A = A - np.eye(2) if period == 0.0 else A
    plant = LinearSystem(A, np.array([[0.0], [1.0]]), C, [[0.0]], period)
    filter_ = SteadyStateKalmanFilter(plant, np.eye(2), np.eye(1))
    builder = DiagramBuilder()
    source = builder.AddSystem(ConstantVectorSource([0.7]))
    for system in (plant, filter_):
        builder.AddSystem(system)
    builder.Connect(source.get_output_port(), plant.get_input_port())
    builder.Connect(source.get_output_port(), filter_.get_observed_system_input_input_port())
    builder.Connect(plant.get_output_port(), filter_.get_observed_system_output_input_port())
    run = Simulator(builder.Build())
    context = plant.GetMyContextFromRoot(run.get_mutable_context())
    (context.SetDiscreteState if period else context.SetContinuousState)([1.0, -2.0])
    run.get_mutable_integrator().set_target_accuracy(1e-9)
    run.AdvanceTo(1.0)
    estimate = filter_.GetMyContextFromRoot(run.get_context())
    parts = [c.get_discrete_state_vector() if period else c.get_continuous_state_vector() for c in (context, estimate)]
    error = parts[0].CopyToVector() - parts[1].CopyToVector()
    values, vectors = np.linalg.eig(A - filter_.observer_gain() @ C)
    factors = values**10 if period else np.exp(values)
    expected = (vectors * factors) @ np.linalg.solve(vectors, [1.0, -2.0])
    np.testing.assert_allclose(error, expected.real, atol=1e-7)


def test_a_gain_of_another_shape_is_refused():
    plant = LinearSystem(np.eye(2), np.zeros((2, 0)), np.eye(2), np.zeros((2, 0)))
    with pytest.raises(RuntimeError, match=r"the gain has shape \(1, 2\), there are 2 states and 2 outputs"):
        LuenbergerObserver(plant, plant.CreateDefaultContext(), [[1.0, 2.0]])


@pytest.mark.peers("pydrake")
def test_gains_are_those_of_pydrake():
    rng = np.random.default_rng(1)
    A, C, W = rng.normal(size=(3, 3)), rng.normal(size=(2, 3)), np.diag([1.0, 2.0, 3.0])
    for ours, theirs in (
        (SteadyStateKalmanFilter, drake.SteadyStateKalmanFilter),
        (DiscreteTimeSteadyStateKalmanFilter, drake.DiscreteTimeSteadyStateKalmanFilter),
    ):
        np.testing.assert_allclose(ours(A, C, W, np.eye(2)), theirs(A, C, W, np.eye(2)), rtol=1e-9)

"""The error of a run under error control goes with the accuracy, on smooth and on stiff problems."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_integrators import (
    START,
    WITH_ERROR_CONTROL,
    config,
    double_pendulum,
    double_pendulum_derivative,
    finished,
    slider,
    stiff_pendulum,
)

from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import PrismaticJoint, RevoluteJoint, SpatialInertia, UnitInertia

WITHIN = 20.0  # [1] of the accuracy: what docs/explanation/architecture.md states for a few seconds of such motions
ACCURACIES = (1e-3, 1e-4, 1e-5)


def largest_errors(plant, q, v, until, exact, scheme, accuracies=ACCURACIES):
    """Of all states in 20 samples of runs with each accuracy, relative to max(1, |y|) as the control has them."""
    result = []
    for accuracy in accuracies:
        settings = config(scheme, accuracy=accuracy)
        _, _, rows = finished(plant, until, q=q, v=v, config=settings, sample_period=until / 20)
        y, right = np.column_stack([rows["q"], rows["v"]]), exact(rows["time"])
        result.append((abs(y - right) / np.maximum(1.0, abs(right))).max())
    return np.array(result)


def follow_the_accuracy(errors, accuracies=ACCURACIES):
    """In proportion, within a factor, and below WITHIN times it."""
    relative = errors / accuracies
    assert relative.max() < WITHIN
    assert errors[0] / errors[-1] > 0.1 * accuracies[0] / accuracies[-1]


def reference(derivative, start, until):
    return solve_ivp(derivative, (0.0, until), start, "Radau", rtol=1e-11, atol=1e-12, dense_output=True).sol


@functools.cache
def smooth_reference():
    return solve_ivp(
        double_pendulum_derivative, (0.0, 1.0), START, "DOP853", rtol=1e-12, atol=1e-12, dense_output=True
    ).sol


@pytest.mark.parametrize("scheme", WITH_ERROR_CONTROL)
def test_on_a_smooth_motion(scheme):
    errors = largest_errors(double_pendulum(), START[:2], START[2:], 1.0, lambda t: smooth_reference()(t).T, scheme)
    follow_the_accuracy(errors)


IMPLICIT = ["implicit_euler", "radau1", "radau3"]


@pytest.mark.parametrize("scheme", IMPLICIT)
def test_on_a_stiff_decay(scheme):
    """A fast mode of 1e4/s, which decays within the first steps, beside a slow one of 1e-2/s."""
    I, d, mgl = 0.1, 1e3, 9.81 * 0.1

    def derivative(t, y):
        return [y[1], (-d * y[1] - mgl * np.sin(y[0])) / I]

    exact = reference(derivative, [1.0, 1.0], 0.5)
    errors = largest_errors(stiff_pendulum(), [1.0], [1.0], 0.5, lambda t: exact(t).T, scheme)
    assert (errors / ACCURACIES).max() < WITHIN


def spring_and_pendulum():
    """A heavy slider in a viscous rail on a stiff spring carries a pendulum, which goes on swinging."""
    plant = MultibodyPlant(0.0)
    carriage = plant.AddRigidBody("carriage", SpatialInertia(1.0, np.zeros(3), UnitInertia(0.1, 0.1, 0.1)))
    bob = plant.AddRigidBody("bob", SpatialInertia(1.0, [0.0, 0.0, -0.5], UnitInertia(0.26, 0.26, 0.01)))
    rail = PrismaticJoint("rail", plant.world_frame(), carriage.body_frame(), [1.0, 0.0, 0.0], damping=2e3)
    plant.AddJoint(rail)
    plant.AddJoint(RevoluteJoint("pivot", carriage.body_frame(), bob.body_frame(), [0.0, 1.0, 0.0]))
    from mbcli.multibody.tree import PrismaticSpring

    plant.AddForceElement(PrismaticSpring(rail, 0.0, 1e5))
    plant.Finalize()
    return plant


def derivative_of_spring_and_pendulum(t, y):
    x, a, v, w = y
    c, s = 0.5 * np.cos(a), 0.5 * np.sin(a)
    # the bob's centre of mass is at x - 0.5 sin a; its inertia about the pivot is 0.26
    M = [[2.0, -c], [-c, 0.26]]
    forces = [-1e5 * x - 2e3 * v - s * w * w, -9.81 * s]
    return [v, w, *np.linalg.solve(M, forces)]


@functools.cache
def reference_of_spring_and_pendulum():
    return reference(derivative_of_spring_and_pendulum, [0.0, 1.0, 0.0, 0.0], 2.0)


@pytest.mark.parametrize("scheme", IMPLICIT)
def test_on_a_motion_with_stiff_parts(scheme):
    """Rates of 50 and 2000 /s follow the swinging of the pendulum."""
    plant = spring_and_pendulum()
    context = plant.CreateDefaultContext()
    y = np.array([0.01, 0.7, 0.3, -0.4])
    plant.SetPositionsAndVelocities(context, y)
    rates = plant.EvalTimeDerivatives(context).CopyToVector()
    np.testing.assert_allclose(rates, derivative_of_spring_and_pendulum(0.0, y), rtol=1e-9)
    exact = reference_of_spring_and_pendulum()
    errors = largest_errors(plant, [0.0, 1.0], [0.0, 0.0], 2.0, lambda t: exact(t).T, scheme)
    follow_the_accuracy(errors)


def test_without_error_control_implicit_euler_stays_of_first_order_and_its_own():
    """The extrapolated end belongs to error control; a given step is the plain method."""
    plant = slider(damping=3.0)
    settings = config("radau1", max_step_size=0.1, use_error_control=False)
    _, context, _ = finished(plant, 0.2, q=[0.5], v=[1.0], config=settings)
    v1 = 2.0 / 2.3
    v2 = v1 * v1
    np.testing.assert_allclose(plant.GetPositionsAndVelocities(context), [0.5 + 0.1 * (v1 + v2), v2], rtol=1e-12)


def test_one_controlled_step_is_two_halves_extrapolated():
    """m v' = -d v: whole 1 / (1 + z), halves 1 / (1 + z/2)^2, and twice the second less the first goes on."""
    plant = slider(damping=0.2)
    run, context, _ = finished(plant, 0.1, q=[0.0], v=[1.0], config=config("radau1", accuracy=1e-2))
    assert run.steps == 1
    z = 0.1 * 0.1
    assert plant.GetVelocities(context)[0] == pytest.approx(2.0 / (1.0 + 0.5 * z) ** 2 - 1.0 / (1.0 + z), rel=1e-12)

"""Bias accelerations: what is left of an acceleration where no velocity changes."""

import numpy as np
import pytest
from moving_states import DIFFERENCES, assert_close, derivative, moved, plant_with_frames
from random_trees import bodies_of

from mbcli.multibody.tree import JacobianWrtVariable

kQDot, kV = JacobianWrtVariable.kQDot, JacobianWrtVariable.kV
POINTS = np.array([[0.3, -0.1, 0.0], [0.5, 0.7, 0.0], [-0.2, 0.1, 0.0]])
POINT = POINTS[:, 0]
ROUNDING = 1e-12
# Rounding of accelerations of a few thousand that forward dynamics gives, where the bias is a hundred.
FORWARD_DYNAMICS = 1e-10
OPTIONS = ({}, {"trees": 2, "floating_bases": 1}, {"reversed_probability": 1.0}, {"trees": 3, "floating_bases": 1})


@pytest.fixture(params=range(4))
def scene(request):
    return plant_with_frames(request.param, **OPTIONS[request.param])


def test_bias_is_the_acceleration_less_what_vdot_gives(scene):
    """plant (c) 5: A_ABp_E = J vdot + bias, frame A moving, a third frame E."""
    plant, context, (B, A, E) = scene
    J = plant.CalcJacobianSpatialVelocity(context, kV, B, np.zeros(3), A, E)
    bias = plant.CalcBiasSpatialAcceleration(context, kV, B, np.zeros(3), A, E).get_coeffs()
    A_AB_E = B.CalcSpatialAcceleration(context, A, E).get_coeffs()
    vdot = plant.CalcForwardDynamics(context)
    assert abs(bias).max() > 0.1
    assert_close(J @ vdot + bias, A_AB_E, FORWARD_DYNAMICS)


def test_bias_is_the_rate_of_the_jacobian_times_v(scene):
    """plant (c) 5, multibody_tree (c) 1: J expressed in A, where its rate is taken; the result turns to E after it."""
    plant, context, (B, A, E) = scene
    v = plant.GetVelocities(context)

    def velocity_at(t):
        return plant.CalcJacobianSpatialVelocity(moved(plant, context, t), kV, B, POINT, A, A) @ v

    expected = derivative(velocity_at)
    R_EA = plant.CalcRelativeRotationMatrix(context, E, A).matrix()
    bias = plant.CalcBiasSpatialAcceleration(context, kV, B, POINT, A, E)
    assert_close(bias.rotational(), R_EA @ expected[:3], DIFFERENCES)
    assert_close(bias.translational(), R_EA @ expected[3:], DIFFERENCES)


def test_bias_is_quadratic_in_v(scene):
    """plant (c) 5: three times the velocity, nine times the bias."""
    plant, context, (B, A, E) = scene
    bias = plant.CalcBiasSpatialAcceleration(context, kV, B, POINT, A, E).get_coeffs()
    plant.SetVelocities(context, 3.0 * plant.GetVelocities(context))
    assert_close(plant.CalcBiasSpatialAcceleration(context, kV, B, POINT, A, E).get_coeffs(), 9.0 * bias, ROUNDING)


@pytest.mark.usefixtures(
    "compiled_here"
)  # two kernels to the last bit: in a library each may be put together otherwise
def test_biases_of_points_are_the_translational_parts(scene):
    plant, context, (B, A, E) = scene
    biases = plant.CalcBiasTranslationalAcceleration(context, kV, B, POINTS, A, E)
    expected = [plant.CalcBiasSpatialAcceleration(context, kV, B, p, A, E).translational() for p in POINTS.T]
    np.testing.assert_array_equal(biases, np.column_stack(expected))
    one = plant.CalcBiasTranslationalAcceleration(context, kV, B, POINT, A, E)
    assert one.shape == (3, 1)


def test_bias_of_the_center_of_mass_is_the_weighted_mean(scene):
    """plant (c) 5, 7: of all bodies, of one instance, which may be listed twice."""
    plant, context, (_, A, E) = scene
    left = plant.GetModelInstanceByName("left")

    def weighted(bodies):
        total = np.zeros(3)
        for body in bodies:
            com = body.CalcCenterOfMassInBodyFrame(context)
            own = plant.CalcBiasTranslationalAcceleration(context, kV, body.body_frame(), com, A, E)
            total += body.get_mass(context) * own[:, 0]
        return total / sum(body.get_mass(context) for body in bodies)

    calculate = plant.CalcBiasCenterOfMassTranslationalAcceleration
    bodies = bodies_of(plant)[1:]
    assert_close(calculate(context, kV, A, E), weighted(bodies), ROUNDING)
    of_left = calculate(context, [left, left], kV, A, E)
    assert_close(of_left, weighted([body for body in bodies if body.model_instance() == left]), ROUNDING)


def test_bias_of_the_center_of_mass_and_its_jacobian_give_its_acceleration(scene):
    plant, context, _ = scene
    W = plant.world_frame()
    J = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, kV, W, W)
    bias = plant.CalcBiasCenterOfMassTranslationalAcceleration(context, kV, W, W)
    acceleration = plant.CalcCenterOfMassTranslationalAccelerationInWorld(context)
    assert_close(J @ plant.CalcForwardDynamics(context) + bias, acceleration, FORWARD_DYNAMICS)


def test_with_respect_to_qdot_raises(scene):
    """plant (c) 5"""
    plant, context, (B, A, E) = scene
    for method, arguments in (
        ("CalcBiasSpatialAcceleration", (B, POINT)),
        ("CalcBiasTranslationalAcceleration", (B, POINTS)),
        ("CalcBiasCenterOfMassTranslationalAcceleration", ()),
    ):
        with pytest.raises(RuntimeError, match=f"{method}: with_respect_to must be kV, it is kQDot"):
            getattr(plant, method)(context, kQDot, *arguments, A, E)
    with pytest.raises(TypeError, match="CalcBiasSpatialAcceleration: with_respect_to is a JacobianWrtVariable"):
        plant.CalcBiasSpatialAcceleration(context, "v", B, POINT, A, E)


def test_wrong_points_raise(scene):
    plant, context, (B, A, E) = scene
    with pytest.raises(RuntimeError, match="p_BoBp_B is one point"):
        plant.CalcBiasSpatialAcceleration(context, kV, B, POINTS, A, E)
    with pytest.raises(RuntimeError, match=r"p_BoBi_B must have shape \(3,\) or \(3, n\), it has \(4,\)"):
        plant.CalcBiasTranslationalAcceleration(context, kV, B, np.zeros(4), A, E)

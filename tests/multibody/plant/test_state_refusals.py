"""What cannot be a state or an input is refused by name when it is set, and the context stays as it was."""

import numpy as np
import pytest

from mbcli.math import Quaternion, RigidTransform
from mbcli.multibody.math import SpatialForce, SpatialVelocity
from mbcli.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from mbcli.multibody.tree import BodyIndex, ModelInstanceIndex, RevoluteJoint, SpatialInertia
from mbcli.systems.analysis import Simulator

BOX = SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3)
NAN, INF = np.nan, np.inf


def cart(time_step=0.0):
    """A hinge and a free box: q = [angle; quaternion; position]."""
    plant = MultibodyPlant(time_step)
    door = plant.AddRigidBody("door", BOX)
    plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), door.body_frame(), [0.0, 1.0, 0.0]))
    plant.AddJointActuator("motor", plant.GetJointByName("hinge"))
    plant.AddRigidBody("box", BOX)
    plant.Finalize()
    return plant


def with_nan(size, k=0, value=NAN):
    result = np.ones(size)
    result[k] = value
    return result


SETTERS = {
    "SetPositions": lambda p, c: p.SetPositions(c, with_nan(8, 5)),
    "SetPositions with a list": lambda p, c: p.SetPositions(c, with_nan(8, 5).tolist()),
    "SetPositions with infinity": lambda p, c: p.SetPositions(c, with_nan(8, 0, INF)),
    "SetPositions of an instance": lambda p, c: p.SetPositions(c, ModelInstanceIndex(1), with_nan(8)),
    "SetVelocities": lambda p, c: p.SetVelocities(c, with_nan(7)),
    "SetPositionsAndVelocities": lambda p, c: p.SetPositionsAndVelocities(c, with_nan(15, 14)),
    "SetContinuousState": lambda p, c: c.SetContinuousState(with_nan(15, 14)),
    "set_angle": lambda p, c: p.GetJointByName("hinge").set_angle(c, NAN),
    "set_angular_rate": lambda p, c: p.GetJointByName("hinge").set_angular_rate(c, np.float64(NAN)),
    "SetFreeBodyPose": lambda p, c: p.SetFreeBodyPose(c, p.GetBodyByName("box"), RigidTransform([0.0, NAN, 0.0])),
    "SetFreeBodySpatialVelocity": lambda p, c: p.SetFreeBodySpatialVelocity(
        p.GetBodyByName("box"), SpatialVelocity(with_nan(6)), c
    ),
    "SetTranslation": lambda p, c: p.GetJointByName("box").SetTranslation(c, [0.0, NAN, 0.0]),
    "SetTime": lambda p, c: c.SetTime(NAN),
    "set_default_positions": lambda p, c: p.GetJointByName("hinge").set_default_positions([NAN]),
    "actuation": lambda p, c: p.get_actuation_input_port().FixValue(c, [NAN]),
    "generalized force": lambda p, c: p.get_applied_generalized_force_input_port().FixValue(c, with_nan(7)),
    "spatial force": lambda p, c: p.get_applied_spatial_force_input_port().FixValue(c, [push(F=with_nan(6))]),
    "point of a force": lambda p, c: p.get_applied_spatial_force_input_port().FixValue(c, [push(p=with_nan(3))]),
}


def push(F=(0.0,) * 6, p=(0.0,) * 3):
    force = ExternallyAppliedSpatialForce()
    force.body_index, force.F_Bq_W, force.p_BoBq_B = BodyIndex(1), SpatialForce(np.array(F)), np.array(p)
    return force


@pytest.mark.parametrize("call", SETTERS.values(), ids=SETTERS)
def test_numbers_that_are_not_finite_are_named(call):
    plant = cart()
    context = plant.CreateDefaultContext()
    before = plant.GetPositionsAndVelocities(context), plant.CalcForwardDynamics(context)
    with pytest.raises(RuntimeError, match=r"must be finite, (it|element \d+) is (nan|inf)") as caught:
        call(plant, context)
    assert "\n" not in str(caught.value)
    np.testing.assert_array_equal(plant.GetPositionsAndVelocities(context), before[0])
    np.testing.assert_array_equal(plant.CalcForwardDynamics(context), before[1])


def test_numbers_that_are_large_are_taken():
    plant = cart()
    context = plant.CreateDefaultContext()
    q = plant.GetPositions(context)
    q[0] = 1e200  # its square is infinite
    plant.SetPositions(context, q)
    assert plant.GetPositions(context)[0] == 1e200


def test_what_an_input_follows_must_be_finite():
    plant = cart()
    context = plant.CreateDefaultContext()
    plant.get_actuation_input_port().Follow(context, lambda _: np.array([NAN]))
    with pytest.raises(RuntimeError, match="input 'actuation' must be finite, it is nan"):
        plant.CalcForwardDynamics(context)


def test_a_force_without_a_body_is_named():
    plant = cart()
    with pytest.raises(RuntimeError, match="an applied spatial force has no body_index"):
        plant.get_applied_spatial_force_input_port().FixValue(
            plant.CreateDefaultContext(), [ExternallyAppliedSpatialForce()]
        )


COMPUTATIONS = {
    "pose": lambda p, c: p.EvalBodyPoseInWorld(c, p.GetBodyByName("box")),
    "velocity": lambda p, c: p.EvalBodySpatialVelocityInWorld(c, p.GetBodyByName("box")),
    "mass matrix": lambda p, c: p.CalcMassMatrix(c),
    "bias": lambda p, c: p.CalcBiasTerm(c),
    "accelerations": lambda p, c: p.CalcForwardDynamics(c),
    "energy": lambda p, c: p.CalcPotentialEnergy(c),
    "quaternion": lambda p, c: p.GetJointByName("box").get_quaternion(c),
    "simulation": lambda p, c: Simulator(p, c).AdvanceTo(0.1),
}


@pytest.mark.parametrize("ask", COMPUTATIONS.values(), ids=COMPUTATIONS)
@pytest.mark.parametrize("time_step", [0.0, 0.01])
def test_a_quaternion_of_zeros_is_named_by_what_needs_it(ask, time_step):
    """As in pydrake it may be set, so that positions can be set in parts."""
    plant = cart(time_step)
    context = plant.CreateDefaultContext()
    ask(plant, context)
    context = plant.CreateDefaultContext()
    plant.CalcMassMatrix(context)
    plant.SetPositions(context, np.zeros(8))
    with pytest.raises(RuntimeError, match="joint 'box': its quaternion is zero, which is not a rotation"):
        ask(plant, context)
    plant.SetFreeBodyPose(context, plant.GetBodyByName("box"), RigidTransform([0.0, 0.0, 1.0]))
    ask(plant, context)


def test_a_quaternion_of_zeros_in_one_joint():
    plant = cart()
    context = plant.CreateDefaultContext()
    plant.GetJointByName("box").SetPositions(context, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="joint 'box': its quaternion is zero"):
        plant.CalcMassMatrix(context)
    plant.GetJointByName("box").SetQuaternion(context, Quaternion())
    plant.CalcMassMatrix(context)


def test_a_quaternion_is_of_unit_length_after_steps():
    plant = cart(0.01)
    context = plant.CreateDefaultContext()
    box = plant.GetJointByName("box")
    box.set_angular_velocity(context, [3.0, 4.0, 5.0])
    Simulator(plant, context).AdvanceTo(0.1)
    held = plant.GetPositions(context)[1:5]
    assert abs(held[1:]).max() > 0.1
    assert np.linalg.norm(held) == pytest.approx(1.0, rel=1e-15)
    np.testing.assert_allclose(box.get_quaternion(context).wxyz(), held, rtol=1e-15)


def test_a_quaternion_that_is_set_to_another_length_is_given_with_unit_length():
    plant = cart(0.01)
    context = plant.CreateDefaultContext()
    box = plant.GetJointByName("box")
    held = 2.0 * np.array([0.1, 0.7, -0.5, 0.5])
    box.SetPositions(context, [*held, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(box.get_quaternion(context).wxyz(), held / np.linalg.norm(held), rtol=1e-15)


def test_a_discrete_state_is_refused_in_a_continuous_plant():
    plant = cart()
    context = plant.CreateDefaultContext()
    for call in (lambda: context.SetDiscreteState(np.zeros(15)), lambda: context.get_discrete_state_vector()):
        with pytest.raises(RuntimeError, match="the state of this plant is continuous, its time step is 0"):
            call()


def test_a_continuous_state_is_refused_in_a_discrete_plant():
    plant = cart(0.01)
    context = plant.CreateDefaultContext()
    with pytest.raises(RuntimeError, match=r"the state of this plant is discrete, its time step is 0.01 s"):
        context.SetContinuousState(np.zeros(15))
    assert context.get_continuous_state_vector().size() == 0

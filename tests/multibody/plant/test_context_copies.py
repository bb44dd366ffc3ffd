"""SetTimeStateAndParametersFrom() and Clone(): the target is in the source's state afterwards, with its own inputs."""

import numpy as np
import pytest
from random_trees import random_context, random_plant

from mbcli.autodiffutils import AutoDiffXd, ExtractValue
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import RevoluteJoint, SpatialInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder

STEP = 0.01
BOX = SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3)


def arm(sampled=False):
    plant = MultibodyPlant(STEP)
    plant.SetUseSampledOutputPorts(sampled)
    bodies = [plant.world_body()]
    for k in range(2):
        bodies.append(plant.AddRigidBody(f"link{k}", BOX))
        axis = [0.0, 1.0, 0.0]
        joint = RevoluteJoint(f"joint{k}", bodies[-2].body_frame(), bodies[-1].body_frame(), axis, damping=0.2)
        plant.AddJointActuator(f"motor{k}", plant.AddJoint(joint))
    plant.Finalize()
    return plant


def acceleration(plant, context):
    return plant.get_generalized_acceleration_output_port().Eval(context)


def test_parameters_of_the_target_that_the_source_has_not_are_gone():
    plant = arm()
    body, joint = plant.GetBodyByName("link1"), plant.GetJointByName("joint0")
    target, source = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    body.SetMass(target, 5.0)
    joint.SetDamping(target, 3.0)
    plant.CalcMassMatrix(target)
    body.SetMass(source, 4.0)
    target.SetTimeStateAndParametersFrom(source)
    assert (body.get_mass(target), joint.GetDamping(target)) == (4.0, 0.2)
    np.testing.assert_array_equal(plant.CalcMassMatrix(target), plant.CalcMassMatrix(source))
    target.SetTimeStateAndParametersFrom(plant.CreateDefaultContext())
    assert body.get_mass(target) == 2.0


def test_locks_are_those_of_the_source():
    plant = arm()
    joints = [plant.GetJointByName(f"joint{k}") for k in range(2)]
    target, source = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    joints[0].Lock(target)
    joints[1].Lock(source)
    target.SetTimeStateAndParametersFrom(source)
    assert [joint.is_locked(target) for joint in joints] == [False, True]
    source.SetTimeStateAndParametersFrom(plant.CreateDefaultContext())
    assert [joint.is_locked(source) for joint in joints] == [False, False]
    assert joints[1].is_locked(target)


def test_sampled_outputs_are_those_of_the_source():
    plant = arm(sampled=True)
    source, target = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    plant.get_actuation_input_port().FixValue(source, [1.0, 2.0])
    Simulator(plant, source).AdvanceTo(3 * STEP)
    target.SetTimeStateAndParametersFrom(source)
    assert acceleration(plant, source).any()
    np.testing.assert_array_equal(acceleration(plant, target), acceleration(plant, source))
    np.testing.assert_array_equal(acceleration(plant, source.Clone()), acceleration(plant, source))
    source.SetTimeStateAndParametersFrom(plant.CreateDefaultContext())
    assert not acceleration(plant, source).any()
    assert acceleration(plant, target).any()


def test_a_context_that_takes_from_itself_keeps_its_sampled_outputs():
    """Found by a sequence of random calls."""
    plant = arm(sampled=True)
    context = plant.CreateDefaultContext()
    plant.get_actuation_input_port().FixValue(context, [1.0, 2.0])
    Simulator(plant, context).AdvanceTo(3 * STEP)
    expected = acceleration(plant, context).copy()
    context.SetTimeStateAndParametersFrom(context)
    np.testing.assert_array_equal(acceleration(plant, context), expected)
    assert expected.any()


def test_sampled_outputs_go_to_another_scalar_type():
    plant = arm(sampled=True)
    source = plant.CreateDefaultContext()
    plant.get_actuation_input_port().FixValue(source, [1.0, 2.0])
    Simulator(plant, source).AdvanceTo(3 * STEP)
    dual = plant.ToScalarType[AutoDiffXd]()
    target = dual.CreateDefaultContext()
    target.SetTimeStateAndParametersFrom(source)
    np.testing.assert_allclose(
        ExtractValue(acceleration(dual, target)).ravel(), acceleration(plant, source), rtol=1e-12
    )


def test_inputs_stay():
    plant = arm()
    source, target = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    port = plant.get_actuation_input_port()
    port.FixValue(source, [1.0, 2.0])
    port.FixValue(target, [3.0, 4.0])
    target.SetTimeStateAndParametersFrom(source)
    np.testing.assert_array_equal(port.Eval(target), [3.0, 4.0])


def test_contexts_of_a_diagram():
    builder, plant = DiagramBuilder(), arm()
    builder.AddSystem(plant)
    diagram = builder.Build()
    source, target = diagram.CreateDefaultContext(), diagram.CreateDefaultContext()
    context = plant.GetMyContextFromRoot(source)
    source.SetTime(0.5)
    plant.GetJointByName("joint0").set_angle(context, 0.3)
    plant.GetBodyByName("link0").SetMass(context, 3.0)
    target.SetTimeStateAndParametersFrom(source)
    copied = plant.GetMyContextFromRoot(target)
    assert target.get_time() == 0.5
    np.testing.assert_array_equal(plant.CalcMassMatrix(copied), plant.CalcMassMatrix(context))
    with pytest.raises(RuntimeError, match="not made by this Diagram"):
        target.SetTimeStateAndParametersFrom(context)


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_joint(seed):
    plant = random_plant(seed, elements=True)
    rng = np.random.default_rng(seed)
    source, target = random_context(plant, rng), random_context(plant, rng)
    target.SetTimeStateAndParametersFrom(source)
    np.testing.assert_array_equal(plant.CalcForwardDynamics(target), plant.CalcForwardDynamics(source))

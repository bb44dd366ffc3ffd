"""Diagrams of other scalars, and copies of diagrams."""

import numpy as np
import pytest

from mbcli.autodiffutils import AutoDiffXd, ExtractGradient, InitializeAutoDiff
from mbcli.math import RigidTransform_
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph
from mbcli.multibody.tree import RevoluteJoint, SpatialInertia, UnitInertia
from mbcli.symbolic import Expression
from mbcli.systems.framework import Diagram, DiagramBuilder, LeafSystem
from mbcli.systems.primitives import Gain, LinearSystem


def pendulum_with_gain():
    """tau = -4 * [q] of a pendulum, through a Gain in a diagram of its own; u goes to the second gain."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    inertia = SpatialInertia(1.0, [0.0, 0.0, -0.5], UnitInertia(0.3, 0.3, 0.1))
    body = plant.AddRigidBody("bob", inertia)
    joint = plant.AddJoint(RevoluteJoint("joint", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0]))
    plant.AddJointActuator("motor", joint)
    plant.Finalize()
    plant.set_name("plant")
    gain = builder.AddNamedSystem("gain", Gain(-4.0, 1))
    builder.Connect(gain.get_output_port(), plant.get_actuation_input_port())
    builder.ExportInput(gain.get_input_port(), "u")
    builder.ExportOutput(plant.get_state_output_port(), "state")
    return builder.Build()


def test_a_diagram_of_dual_numbers_has_the_slopes_of_the_one_of_floats():
    diagram = pendulum_with_gain()
    dual = diagram.ToAutoDiffXd()
    assert isinstance(dual, Diagram) and dual is not diagram
    assert [system.get_name() for system in dual.GetSystems()] == [s.get_name() for s in diagram.GetSystems()]
    x = np.array([0.4, -0.3])

    def derivatives(system, u, x):
        context = system.CreateDefaultContext()
        plant = system.GetSubsystemByName("plant")
        system.GetInputPort("u").FixValue(context, u)
        plant.SetPositionsAndVelocities(plant.GetMyContextFromRoot(context), x)
        return system.EvalTimeDerivatives(context).CopyToVector()

    all_of = InitializeAutoDiff(np.array([0.7, *x])).ravel()
    found = derivatives(dual, all_of[:1], all_of[1:])
    step = 1e-6
    for k in range(3):
        d = np.eye(3)[k] * step
        ahead = derivatives(diagram, [0.7 + d[0]], x + d[1:])
        behind = derivatives(diagram, [0.7 - d[0]], x - d[1:])
        np.testing.assert_allclose(ExtractGradient(found)[:, k], (ahead - behind) / (2 * step), atol=1e-8)


def test_the_scene_graph_of_a_converted_diagram_is_that_of_its_plant():
    diagram = pendulum_with_gain()
    for other in (diagram.ToScalarType[AutoDiffXd](), diagram.ToSymbolic(), diagram.Clone()):
        plant = other.GetSubsystemByName("plant")
        assert any(system is plant.scene_graph for system in other.GetSystems())
        assert plant.scene_graph is not diagram.GetSubsystemByName("plant").scene_graph
        assert [port.get_name() for port in other.output_ports()] == ["state"]


def test_results_of_bodies_and_frames_are_of_the_scalar_of_their_plant():
    diagram = pendulum_with_gain()
    for scalar in (AutoDiffXd, Expression):
        plant = diagram.ToScalarType[scalar]().GetSubsystemByName("plant")
        context, bob = plant.CreateDefaultContext(), plant.GetBodyByName("bob")
        assert isinstance(bob.get_mass(context), scalar)
        assert isinstance(bob.EvalPoseInWorld(context), RigidTransform_[scalar])
        assert isinstance(bob.body_frame().GetFixedPoseInBodyFrame(), RigidTransform_[scalar])
        back = plant.ToScalarType[float]()
        assert isinstance(back.GetBodyByName("bob").get_mass(back.CreateDefaultContext()), float)


def test_a_clone_is_independent_and_what_cannot_be_cloned_is_named():
    diagram = pendulum_with_gain()
    other = diagram.Clone()
    context = other.CreateDefaultContext()
    other.GetInputPort("u").FixValue(context, [1.0])
    np.testing.assert_array_equal(other.GetOutputPort("state").Eval(context), [0.0, 0.0])
    with pytest.raises(RuntimeError, match="not made by this"):
        diagram.GetOutputPort("state").Eval(context)

    class Own(LeafSystem):
        pass

    builder = DiagramBuilder()
    builder.AddSystem(Own())
    with pytest.raises(RuntimeError, match="Own cannot be"):
        builder.Build().ToAutoDiffXd()
    builder = DiagramBuilder()
    builder.AddSystem(LinearSystem(np.eye(1), np.eye(1), np.eye(1), np.zeros((1, 1))))
    assert isinstance(builder.Build().Clone(), Diagram)

"""Diagrams of one plant and what stands beside it, and the Simulator that advances them."""

import time

import numpy as np
import pytest

from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    ExternallyAppliedSpatialForce,
    ExternallyAppliedSpatialForceMultiplexer,
    MultibodyPlant,
    Propeller,
)
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import BodyIndex, PrismaticJoint, RevoluteJoint, SpatialInertia, UnitInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder, EventStatus


def pendulum_diagram(h):
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, h)
    body = plant.AddRigidBody("bob", SpatialInertia(2.0, [0.5, 0, 0], UnitInertia.PointMass([0.5, 0, 0])))
    joint = plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0, 1, 0]))
    plant.AddJointActuator("motor", joint)
    plant.Finalize()
    builder.ExportInput(plant.get_actuation_input_port(), "torque")
    builder.ExportOutput(plant.get_state_output_port())
    return plant, builder.Build()


@pytest.mark.parametrize("h", [0.0, 0.01])
def test_a_plant_in_a_diagram_moves_as_it_does_alone(h):
    plant, diagram = pendulum_diagram(h)
    simulator = Simulator(diagram)
    root = simulator.get_mutable_context()
    context = plant.GetMyMutableContextFromRoot(root)
    assert context is plant.GetMyContextFromRoot(root)
    assert context is diagram.GetSubsystemContext(plant, root)
    diagram.get_input_port(0).FixValue(root, [0.5])
    plant.SetPositions(context, [0.3])
    simulator.Initialize()
    simulator.AdvanceTo(0.4)
    alone = plant.CreateDefaultContext()
    plant.SetPositions(alone, [0.3])
    plant.get_actuation_input_port().FixValue(alone, [0.5])
    for _ in Run(plant, alone, 0.4).blocks():
        pass
    np.testing.assert_array_equal(plant.GetPositionsAndVelocities(context), plant.GetPositionsAndVelocities(alone))
    assert root.get_time() == context.get_time() == 0.4
    np.testing.assert_array_equal(
        diagram.GetOutputPort("plant_state").Eval(root), plant.GetPositionsAndVelocities(alone)
    )
    assert diagram.GetInputPort("torque").Eval(root) == [0.5]
    assert simulator.get_system() is diagram


def test_contexts_of_others_are_refused():
    plant, diagram = pendulum_diagram(0.01)
    other_plant, other = pendulum_diagram(0.01)
    with pytest.raises(RuntimeError):
        other_plant.GetMyContextFromRoot(diagram.CreateDefaultContext())
    with pytest.raises(RuntimeError, match="not made by this Diagram"):
        other.GetSubsystemContext(other_plant, diagram.CreateDefaultContext())
    with pytest.raises(RuntimeError, match="system 'plant' has no part in the context of diagram"):
        diagram.GetSubsystemContext(other_plant, diagram.CreateDefaultContext())
    with pytest.raises(RuntimeError, match="no system named 'robot'; there are plant, scene_graph"):
        diagram.GetSubsystemByName("robot")
    assert diagram.HasSubsystemNamed("plant")
    assert diagram.GetSubsystemByName("plant") is plant


def test_what_a_builder_refuses():
    builder = DiagramBuilder()
    with pytest.raises(RuntimeError, match="no systems"):
        builder.Build()
    with pytest.raises(TypeError, match="AddSystem takes a System"):
        builder.AddSystem(object())
    plant = builder.AddNamedSystem("robot", MultibodyPlant(0.01))
    assert plant.get_name() == "robot"
    with pytest.raises(RuntimeError, match="already"):
        builder.AddSystem(plant)
    with pytest.raises(RuntimeError, match=r"Finalize\(\)"):
        builder.Build()
    plant.Finalize()
    outside = MultibodyPlant(0.0)
    outside.Finalize()
    with pytest.raises(RuntimeError, match="'state' is not part of this diagram"):
        builder.ExportOutput(outside.get_state_output_port())
    with pytest.raises(TypeError, match="Connect takes an output port and an input port"):
        builder.Connect(plant.get_actuation_input_port(), plant.get_state_output_port())
    builder.ExportInput(plant.get_actuation_input_port(), "u")
    with pytest.raises(RuntimeError, match="'actuation' is exported already"):
        builder.ExportInput(plant.get_actuation_input_port(), "v")
    with pytest.raises(RuntimeError, match="a port named 'u' already"):
        builder.ExportInput(plant.get_applied_generalized_force_input_port(), "u")
    builder.Build()
    with pytest.raises(RuntimeError, match="is built"):
        builder.Build()


def lift(h):
    """A body on a vertical slide with a propeller and a constant force, through a multiplexer."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, h)
    body = plant.AddRigidBody("cabin", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.1, 0.1))
    plant.AddJoint(PrismaticJoint("slide", plant.world_frame(), body.body_frame(), [0, 0, 1]))
    plant.Finalize()
    propeller = builder.AddSystem(Propeller(body.index()))
    mux = builder.AddSystem(ExternallyAppliedSpatialForceMultiplexer(2))
    builder.Connect(plant.get_body_poses_output_port(), propeller.get_body_poses_input_port())
    builder.Connect(propeller.get_spatial_forces_output_port(), mux.get_input_port(0))
    builder.Connect(mux.get_output_port(), plant.get_applied_spatial_force_input_port())
    builder.ExportInput(propeller.get_command_input_port(), "command")
    builder.ExportInput(mux.get_input_port(1), "more")
    with pytest.raises(RuntimeError, match="'applied_spatial_force' is connected already"):
        builder.Connect(mux.get_output_port(), plant.get_applied_spatial_force_input_port())
    with pytest.raises(RuntimeError, match="has 2 elements, input 'command' has 1"):
        builder.Connect(plant.get_state_output_port(), propeller.get_command_input_port())
    return plant, builder.Build()


@pytest.mark.parametrize("h", [0.0, 0.01])
def test_31_forces_of_connected_systems_act(h):
    plant, diagram = lift(h)
    root = diagram.CreateDefaultContext()
    force = ExternallyAppliedSpatialForce()
    force.body_index, force.F_Bq_W = BodyIndex(1), SpatialForce([0, 0, 0], [0, 0, 1.0])
    diagram.GetInputPort("command").FixValue(root, [2.0 * 9.81])
    diagram.GetInputPort("more").FixValue(root, [force])
    Simulator(diagram, root).AdvanceTo(1.0)
    z, v = plant.GetPositionsAndVelocities(plant.GetMyContextFromRoot(root))
    assert v == pytest.approx(0.5, rel=1e-12)  # half a newton a kilogram is left
    assert z == pytest.approx(0.25, rel=1e-12)


def test_a_clone_of_a_root_context_goes_its_own_way():
    plant, diagram = lift(0.01)
    root = diagram.CreateDefaultContext()
    diagram.GetInputPort("command").FixValue(root, [25.0])
    diagram.GetInputPort("more").FixValue(root, [])
    Simulator(diagram, root).AdvanceTo(0.1)
    clone = root.Clone()
    diagram.GetInputPort("command").FixValue(clone, [0.0])
    assert diagram.GetInputPort("command").Eval(root) == [25.0]
    states = []
    for context in (root, clone):
        assert context.get_time() == 0.1
        own = plant.GetMyContextFromRoot(context)
        before = plant.GetVelocities(own)[0]
        Simulator(diagram, context).AdvanceTo(0.2)
        states.append(plant.GetVelocities(own)[0] - before)
    np.testing.assert_allclose(states, [0.1 * (12.5 - 9.81), -0.1 * 9.81], rtol=1e-12)


# the simulator


def test_updates_are_pending_at_their_time_and_done_once():
    plant, diagram = pendulum_diagram(0.01)
    simulator = Simulator(diagram)
    context = plant.GetMyContextFromRoot(simulator.get_context())
    simulator.Initialize()
    velocities = [0.0]
    for call in (
        lambda: simulator.AdvanceTo(0.0),
        lambda: simulator.AdvanceTo(0.01),
        simulator.AdvancePendingEvents,
        simulator.AdvancePendingEvents,
        lambda: simulator.AdvanceTo(0.015),
        lambda: simulator.AdvanceTo(0.02),
        simulator.AdvancePendingEvents,
        lambda: simulator.AdvanceTo(0.05),
    ):
        call()
        velocities.append(plant.GetVelocities(context)[0])
    changed = [a != b for a, b in zip(velocities, velocities[1:], strict=False)]
    assert changed == [True, False, True, False, False, False, True, True]
    assert simulator.get_num_unrestricted_updates() == 5
    assert simulator.get_num_discrete_updates() == 0
    assert simulator.get_num_steps_taken() == 10
    whole = plant.CreateDefaultContext()
    for _ in Run(plant, whole, 0.05).blocks():
        pass
    np.testing.assert_array_equal(plant.GetPositionsAndVelocities(context), plant.GetPositionsAndVelocities(whole))


@pytest.mark.parametrize("h", [0.0, 0.01])
def test_a_monitor_sees_the_steps_and_ends_the_advance(h):
    plant, diagram = pendulum_diagram(h)
    simulator = Simulator(diagram)
    times = []

    def monitor(root):
        times.append(root.get_time())
        if plant.GetPositions(plant.GetMyContextFromRoot(root))[0] > 0.2:
            return EventStatus.ReachedTermination(diagram, "far enough")
        return EventStatus.DidNothing()

    simulator.set_monitor(monitor)
    status = simulator.AdvanceTo(5.0)
    end = simulator.get_context().get_time()
    assert status.return_time() == end == times[-1] < 0.5
    assert times == sorted(set(times))
    simulator.set_monitor(lambda root: EventStatus.Failed(diagram, "broken"))
    with pytest.raises(RuntimeError, match="the monitor failed at t = .* s: broken"):
        simulator.AdvanceTo(5.0)
    simulator.clear_monitor()
    simulator.AdvanceTo(1.0)
    assert simulator.get_context().get_time() == 1.0


def test_a_target_rate_holds_the_simulation_back():
    _, diagram = pendulum_diagram(0.01)
    simulator = Simulator(diagram)
    simulator.set_target_realtime_rate(2.0)
    assert simulator.get_target_realtime_rate() == 2.0
    started = time.perf_counter()
    simulator.AdvanceTo(0.2)
    assert time.perf_counter() - started >= 0.1
    assert 0.0 < simulator.get_actual_realtime_rate() <= 2.0 + 1e-6


def test_an_exported_port_has_its_own_index_and_the_size_of_the_port_behind_it():
    _, diagram = pendulum_diagram(0.01)
    port = diagram.get_input_port(0)
    assert (port.get_name(), port.get_index(), port.size()) == ("torque", 0, 1)

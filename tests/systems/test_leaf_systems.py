"""Systems of users: ports, state, events, logs and what is refused; no other engine is asked."""

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.common.value import AbstractValue, Value
from mbcli.geometry import SceneGraph
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from mbcli.multibody.tree import MultibodyForces, SpatialInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.controllers import LinearQuadraticRegulator, PidController
from mbcli.systems.framework import BasicVector, DiagramBuilder, EventStatus, LeafSystem
from mbcli.systems.primitives import (
    Adder,
    ConstantVectorSource,
    Gain,
    Integrator,
    Linearize,
    LinearSystem,
    LogVectorOutput,
    PassThrough,
)

ARM = str(SAMPLES / "arm7.urdf")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def test_outputs_are_computed_once_until_something_changes():
    calls = []

    class Counts(LeafSystem):
        def __init__(self):
            super().__init__()
            self.DeclareVectorInputPort("u", 1)
            self.DeclareVectorOutputPort("y", 1, self.calc)

        def calc(self, context, output):
            calls.append(context.get_time())
            output.SetFromVector(2.0 * self.get_input_port().Eval(context))

    builder = DiagramBuilder()
    source = builder.AddSystem(ConstantVectorSource([3.0]))
    counts = builder.AddSystem(Counts())
    adder = builder.AddSystem(Adder(2, 1))
    builder.Connect(source.get_output_port(), counts.get_input_port())
    for k in range(2):
        builder.Connect(counts.get_output_port(), adder.get_input_port(k))
    builder.ExportOutput(adder.get_output_port(), "sum")
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    assert diagram.get_output_port().Eval(root) == [12.0]
    assert diagram.get_output_port().Eval(root) == [12.0] and len(calls) == 1
    source.get_mutable_source_value(source.GetMyContextFromRoot(root)).SetFromVector([4.0])
    assert diagram.get_output_port().Eval(root) == [16.0] and len(calls) == 2
    root.SetTime(1.0)
    diagram.get_output_port().Eval(root)
    assert calls == [0.0, 0.0, 1.0]


def test_a_loop_without_a_state_is_refused_and_one_through_a_state_is_not():
    builder = DiagramBuilder()
    gain, other = builder.AddSystem(Gain(2.0, 1)), builder.AddSystem(PassThrough(1))
    builder.Connect(gain.get_output_port(), other.get_input_port())
    builder.Connect(other.get_output_port(), gain.get_input_port())
    with pytest.raises(RuntimeError, match="an algebraic loop: "):
        builder.Build()
    builder = DiagramBuilder()
    gain, state = builder.AddSystem(Gain(-2.0, 1)), builder.AddSystem(Integrator([1.0]))
    builder.Connect(gain.get_output_port(), state.get_input_port())
    builder.Connect(state.get_output_port(), gain.get_input_port())
    simulator = Simulator(builder.Build())
    simulator.get_mutable_integrator().set_target_accuracy(1e-9)
    simulator.AdvanceTo(1.0)
    x = simulator.get_context().get_continuous_state_vector()[0]
    assert x == pytest.approx(np.exp(-2.0), abs=1e-8)


def test_a_root_context_given_to_a_plant_names_the_way_to_its_own():
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    plant.Finalize()
    root = builder.Build().CreateDefaultContext()
    for call in (plant.GetPositions, plant.CalcMassMatrix, plant.EvalTimeDerivatives, plant.check_context):
        with pytest.raises(RuntimeError, match="GetMyContextFromRoot"):
            call(root)


def test_parsers_take_a_scene_graph_or_a_builder_and_no_other_thing():
    plant, graph = MultibodyPlant(0.0), SceneGraph()
    parser = Parser(plant, graph)
    (instance,) = parser.AddModels(ARM)
    assert plant.GetModelInstanceName(instance) == "arm7" and parser.scene_graph() is graph is plant.scene_graph
    (second,) = Parser(plant, "left").AddModels(ARM)
    assert plant.GetModelInstanceName(second) == "left::arm7"
    builder = DiagramBuilder()
    with pytest.raises(RuntimeError, match="0 plants"):
        Parser(builder)
    made, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    assert Parser(builder).plant() is made is Parser(builder=builder).plant()
    for wrong in (5, "text", object()):
        with pytest.raises(TypeError, match="Parser takes"):
            Parser(wrong)
    with pytest.raises(TypeError, match="scene_graph is a SceneGraph"):
        Parser(plant, object())


def test_monitors_are_called_at_the_start():
    times = []
    simulator = Simulator(Integrator([0.0]))
    simulator.get_system().get_input_port().FixValue(simulator.get_mutable_context(), [1.0])
    simulator.set_monitor(lambda context: times.append(context.get_time()))
    simulator.Initialize()
    assert times == [0.0]
    simulator.set_monitor(lambda c: EventStatus.ReachedTermination(None, "enough") if c.get_time() > 0.05 else None)
    status = simulator.AdvanceTo(10.0)
    assert not status.succeeded() and status.message() == "enough" and status.return_time() < 1.0
    assert status.reason() is type(status).ReturnReason.kReachedTerminationCondition


def test_a_python_controller_steps_a_compiled_plant_as_its_actuation_port_does():
    states = []
    for held in (False, True):
        builder = DiagramBuilder()
        plant, _ = AddMultibodyPlantSceneGraph(builder, 0.01)
        Parser(plant).AddModels(ARM)
        plant.Finalize()
        n = plant.num_actuators()
        if held:
            source = builder.AddSystem(ConstantVectorSource(np.full(n, 2.0)))
            builder.Connect(source.get_output_port(), plant.get_actuation_input_port())
        log = LogVectorOutput(plant.get_state_output_port(), builder) if held else None
        diagram = builder.Build()
        simulator = Simulator(diagram)
        context = plant.GetMyContextFromRoot(simulator.get_mutable_context())
        if not held:
            plant.get_actuation_input_port().FixValue(context, np.full(n, 2.0))
        simulator.AdvanceTo(0.2)
        states.append(plant.GetPositionsAndVelocities(context))
    np.testing.assert_array_equal(states[0], states[1])
    found = log.FindLog(simulator.get_context())
    assert found.num_samples() == 21
    np.testing.assert_array_equal(found.data()[:, -1], states[1])


def test_linearization_of_systems_is_exact():
    A, B = np.array([[0.0, 1.0], [-2.0, -0.5]]), np.array([[0.0], [1.0]])
    system = LinearSystem(A, B, np.eye(2), np.zeros((2, 1)))
    context = system.CreateDefaultContext()
    system.get_input_port().FixValue(context, [0.0])
    linear = Linearize(system, context)
    np.testing.assert_array_equal(linear.A(), A)
    np.testing.assert_array_equal(linear.B(), B)
    K, S = LinearQuadraticRegulator(A, B, np.eye(2), np.eye(1))
    np.testing.assert_allclose(A.T @ S + S @ A - S @ B @ B.T @ S + np.eye(2), 0.0, atol=1e-12)
    with pytest.raises(RuntimeError, match="R must be"):
        LinearQuadraticRegulator(A, B, np.eye(2), -np.eye(1))
    with pytest.raises(RuntimeError, match="gains have"):
        PidController([1.0], [1.0, 2.0], [1.0])
    assert K.shape == (1, 2)


def test_values_hold_copies_and_forces_of_other_scalars_are_taken():
    from mbcli.autodiffutils import AutoDiffXd
    from mbcli.multibody.math import SpatialForce_

    value = AbstractValue.Make({"a": 1})
    copy = value.Clone()
    copy.get_mutable_value()["a"] = 2
    assert value.get_value() == {"a": 1} and Value[BasicVector]().get_value().size() == 0
    plant = MultibodyPlant(0.0)
    plant.AddRigidBody("ball", SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.1, 0.1))
    plant.Finalize()
    dual = plant.ToScalarType[AutoDiffXd]()
    context, body = dual.CreateDefaultContext(), dual.GetBodyByName("ball")
    forces = MultibodyForces(dual)
    body.AddInForceInWorld(context, SpatialForce_[AutoDiffXd]([1.0, 0, 0], [0, 2.0, 0]), forces)
    assert [x.value() for x in body.GetForceInWorld(context, forces).translational()] == [0.0, 2.0, 0.0]
    assert isinstance(body.GetForceInWorld(context, forces), SpatialForce)


def test_an_arm_and_a_free_ball_in_one_instance_have_no_unique_floating_base():
    plant = MultibodyPlant(0.0)
    (arm,) = Parser(plant).AddModels(ARM)
    inertia = SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.1, 0.1)
    plant.AddRigidBody("ball", arm, inertia)
    alone = plant.AddModelInstance("alone")
    ball = plant.AddRigidBody("one", alone, inertia)
    plant.Finalize()
    assert plant.HasUniqueFloatingBaseBody(alone) and plant.GetUniqueFloatingBaseBodyOrThrow(alone) is ball
    assert not plant.HasUniqueFloatingBaseBody(arm)
    with pytest.raises(RuntimeError, match="no unique floating base"):
        plant.GetUniqueFreeBaseBodyOrThrow(arm)

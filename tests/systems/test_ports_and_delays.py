"""Indices of ports, ports of diagrams, values where nothing is connected, objects that are delayed."""

import numpy as np
import pytest

from mbcli.common.value import Value
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import SpatialInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.events import EventStatus
from mbcli.systems.framework import DiagramBuilder, InputPortIndex, OutputPortIndex
from mbcli.systems.primitives import (
    Adder,
    ConstantVectorSource,
    DiscreteTimeDelay,
    Gain,
    LogVectorOutput,
    PassThrough,
    VectorLogSink,
)


def test_ports_of_a_diagram_say_whose_they_are():
    builder = DiagramBuilder()
    adder, gain = builder.AddSystem(Adder(2, 1)), builder.AddSystem(Gain(2.0, 1))
    builder.Cascade(adder, gain)
    builder.ExportInput(adder.get_input_port(1))
    builder.ExportOutput(gain.get_output_port())
    diagram = builder.Build()
    assert diagram.GetInputPortLocators(InputPortIndex(0)) == [(adder, InputPortIndex(1))]
    assert diagram.get_output_port_locator(OutputPortIndex(0)) == (gain, OutputPortIndex(0))
    assert diagram.connection_map() == {(gain, InputPortIndex(0)): (adder, OutputPortIndex(0))}
    with pytest.raises(TypeError, match="OutputPortIndex"):
        InputPortIndex(gain.get_output_port().get_index())


def test_a_vector_passes_where_none_is_connected():
    system = PassThrough(value=[1.0, 2.0])
    context = system.CreateDefaultContext()
    np.testing.assert_array_equal(system.get_output_port().Eval(context), [1.0, 2.0])
    system.get_input_port().FixValue(context, [3.0, 4.0])
    np.testing.assert_array_equal(system.get_output_port().Eval(context), [3.0, 4.0])
    other = PassThrough(2)
    with pytest.raises(RuntimeError, match="has no value"):
        other.get_output_port().Eval(other.CreateDefaultContext())


def test_objects_come_out_as_they_were_two_updates_ago():
    delay = DiscreteTimeDelay(0.1, 2, abstract_model_value=Value("none"))
    simulator = Simulator(delay)
    context = simulator.get_mutable_context()
    seen = []
    for k in range(5):
        delay.get_input_port().FixValue(context, f"word {k}")
        simulator.AdvanceTo(0.1 * k + 0.05)
        seen.append(delay.get_output_port().Eval(context))
    assert seen == ["none", "none", "word 0", "word 1", "word 2"]


def test_the_more_severe_status_is_kept():
    system = ConstantVectorSource([1.0])
    status = EventStatus.Succeeded()
    assert status.KeepMoreSevere(EventStatus.Failed(system, "broken")) is status
    assert (status.message(), status.system()) == ("broken", system)
    assert status.KeepMoreSevere(EventStatus.DidNothing()).message() == "broken"
    assert isinstance(VectorLogSink(1).get_input_port().get_index(), InputPortIndex)


def test_a_log_keeps_samples_of_one_time():
    builder = DiagramBuilder()
    sink = LogVectorOutput(builder.AddSystem(ConstantVectorSource([1.0])).get_output_port(), builder)
    simulator = Simulator(builder.Build())
    simulator.Initialize()
    for time in (0.0, 0.1, 0.1):  # each ends a step
        simulator.AdvanceTo(time)
    np.testing.assert_allclose(sink.FindLog(simulator.get_context()).sample_times(), [0.0, 0.0, 0.1, 0.1])


def test_output_ports_of_plants_allocate_values_of_their_kind():
    plant = MultibodyPlant(0.0)
    plant.AddRigidBody("a", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for k in range(plant.num_output_ports()):
        port = plant.get_output_port(k)
        made, value = port.Allocate().get_value(), port.Eval(context)
        if port.get_data_type().name == "kVectorValued":
            assert made.size() == len(value)
            continue
        assert type(made) is type(value), port.get_name()
        if isinstance(value, list):
            assert [type(x) for x in made] == [type(x) for x in value]

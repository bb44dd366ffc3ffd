"""A plant and its scene graph as one diagram: what RobotDiagramBuilder makes."""

from importlib import import_module

import pytest
from repository import SAMPLES

from mbcli.planning import RobotDiagram, RobotDiagramBuilder
from mbcli.systems.analysis import Simulator
from mbcli.systems.primitives import ConstantVectorSource

PENDULUM = str(SAMPLES / "double_pendulum.urdf")


def built(kind, more=lambda builder: None):
    builder = kind(time_step=0.001)
    builder.parser().AddModels(PENDULUM)
    more(builder)
    return builder, builder.Build()


def test_the_diagram_has_the_plant_and_its_contexts():
    builder, diagram = built(RobotDiagramBuilder)
    assert isinstance(diagram, RobotDiagram) and builder.IsDiagramBuilt() and diagram.plant().is_finalized()
    context = diagram.CreateDefaultContext()
    plant, own = diagram.plant(), diagram.mutable_plant_context(context)
    plant.SetPositions(own, [0.3, -0.2])
    assert plant.GetPositions(diagram.plant_context(context)) == pytest.approx([0.3, -0.2])
    query = plant.get_geometry_query_input_port().Eval(own)
    assert query.inspector().num_geometries() == diagram.scene_graph().model_inspector().num_geometries()
    Simulator(diagram, context).AdvanceTo(0.01)
    assert plant.GetPositions(own)[0] != 0.3


def test_a_builder_that_has_built_is_used_up():
    builder, _ = built(RobotDiagramBuilder)
    for use in (builder.builder, builder.parser, builder.plant, builder.scene_graph, builder.Build):
        with pytest.raises(RuntimeError, match="RobotDiagramBuilder: Build"):
            use()


def test_a_diagram_with_more_systems_exports_what_its_builder_says():
    _, diagram = built(RobotDiagramBuilder, lambda b: b.builder().AddSystem(ConstantVectorSource([1.0])))
    assert (diagram.num_input_ports(), diagram.num_output_ports()) == (0, 0)


@pytest.mark.peers("pydrake")
def test_ports_are_pydrakes():
    """But for those of model instances, whose names and number each program has of its own."""
    found = []
    for kind in (RobotDiagramBuilder, import_module("pydrake.planning").RobotDiagramBuilder):
        _, diagram = built(kind)
        inputs = {diagram.get_input_port(k).get_name() for k in range(diagram.num_input_ports())}
        outputs = {diagram.get_output_port(k).get_name() for k in range(diagram.num_output_ports())}
        found.append([inputs, outputs])
    for own, theirs in zip(*found, strict=True):
        assert own == theirs

"""Systems that draw with matplotlib, poses from positions, and the polynomials and gradients that scripts use."""

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.math import ComputeNumericalGradient, NumericalGradientMethod, NumericalGradientOption, RigidTransform
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder
from mbcli.systems.planar_scenegraph_visualizer import ConnectPlanarSceneGraphVisualizer
from mbcli.systems.primitives import VectorLogSink
from mbcli.systems.pyplot_visualizer import PyPlotVisualizer
from mbcli.systems.rendering import MultibodyPositionToGeometryPose

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

BOX = """<robot name="box"><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="0.2 0.4 0.6"/></geometry></visual></link></robot>"""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def box_in_a_diagram():
    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.01)
    Parser(plant).AddModelsFromString(BOX, "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("b"), RigidTransform([0.5, 9.0, -1.0]))
    plant.Finalize()
    return builder, plant, scene_graph


def test_a_box_is_drawn_as_its_projection_to_the_plane():
    builder, _, scene_graph = box_in_a_diagram()
    visualizer = ConnectPlanarSceneGraphVisualizer(builder, scene_graph)
    diagram = builder.Build()
    diagram.ForcedPublish(diagram.CreateDefaultContext())
    (patch,) = visualizer.ax.patches
    outline = patch.get_path().vertices
    np.testing.assert_allclose(outline.min(axis=0), [0.4, -1.3])
    np.testing.assert_allclose(outline.max(axis=0), [0.6, -0.7])


def test_a_recording_of_a_planar_view_is_an_animation_of_its_poses():
    builder, _, scene_graph = box_in_a_diagram()
    visualizer = ConnectPlanarSceneGraphVisualizer(builder, scene_graph, draw_period=0.1)
    simulator = Simulator(builder.Build())
    visualizer.start_recording()
    simulator.AdvanceTo(0.35)
    animation = visualizer.get_recording_as_animation()
    assert animation._save_count == 4
    animation._draw_was_started = True  # nothing is saved


class Dot(PyPlotVisualizer):
    def __init__(self):
        super().__init__(draw_period=0.1)
        self.DeclareVectorInputPort("x", 2)
        self.drawn = []

    def draw(self, context):
        self.drawn.append(self.EvalVectorInput(context, 0).CopyToVector())


def test_a_visualizer_of_vectors_draws_contexts_and_the_columns_of_a_log():
    dot = Dot()
    context = dot.CreateDefaultContext()
    dot.get_input_port(0).FixValue(context, [1.0, 2.0])
    dot.ForcedPublish(context)
    np.testing.assert_array_equal(dot.drawn[-1], [1.0, 2.0])
    sink = VectorLogSink(2, 0.05)
    values = sink.CreateDefaultContext()
    sink.get_input_port().FixValue(values, [3.0, 4.0])
    simulator = Simulator(sink, values)
    simulator.AdvanceTo(0.5)
    animation = dot.animate(sink.GetLog(values), repeat=False)
    animation._func(2)
    np.testing.assert_array_equal(dot.drawn[-1], [3.0, 4.0])
    animation._draw_was_started = True


def test_poses_from_positions_are_those_of_the_plant():
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.01)
    Parser(plant).AddModels(str(SAMPLES / "arm7.urdf"))
    plant.Finalize()
    q = np.linspace(0.1, 0.7, plant.num_positions())
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    expected = plant.get_geometry_pose_output_port().Eval(context)
    for of_state, x in ((False, q), (True, np.concatenate([q, np.ones(plant.num_velocities())]))):
        system = MultibodyPositionToGeometryPose(plant, of_state)
        own = system.CreateDefaultContext()
        system.get_input_port().FixValue(own, x)
        found = system.get_output_port().Eval(own)
        assert found.ids() and set(found.ids()) == set(expected.ids())
        for frame in found.ids():
            np.testing.assert_array_equal(found.value(frame).GetAsMatrix4(), expected.value(frame).GetAsMatrix4())
    with pytest.raises(RuntimeError, match="must be finalized"):
        MultibodyPositionToGeometryPose(MultibodyPlant(0.0))


@pytest.mark.parametrize("method", NumericalGradientMethod)
def test_gradients_by_differences_are_near_the_exact_ones(method):
    x = np.array([0.3, -1.2])
    found = ComputeNumericalGradient(lambda y: [y[0] * y[1], np.sin(y[0])], x, NumericalGradientOption(method))
    np.testing.assert_allclose(found, [[x[1], x[0]], [np.cos(x[0]), 0.0]], atol=2e-7)

"""Meshcat and what shows diagrams in it: poses, controls, recordings, and the page in a headless Chromium."""

import json
import urllib.request

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.geometry import Box, Rgba, Role, Sphere
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.meshcat import JointSliders
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph
from mbcli.pictures.chromium import Chromium, find_chromium
from mbcli.pictures.scene import matrix4
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder
from mbcli.visualization import (
    AddDefaultVisualization,
    Meshcat,
    MeshcatVisualizer,
    ModelVisualizer,
    StartMeshcat,
)

RNG = np.random.default_rng(3)


def pose():
    return RigidTransform(RollPitchYaw(*RNG.uniform(-1.0, 1.0, 3)), RNG.uniform(-1.0, 1.0, 3))


def asked(meshcat, path):
    return json.loads(urllib.request.urlopen(meshcat.web_url() + path).read())


def told(meshcat, document):
    request = urllib.request.Request(
        meshcat.web_url() + "control", json.dumps(document).encode(), {"Content-Type": "application/json"}
    )
    return json.loads(urllib.request.urlopen(request).read())


def drawn(meshcat):
    """{name: matrix (4, 4)} of the bodies of the scene."""
    scene = meshcat.scene()
    return {
        body.name: matrix4(X) for body, X in zip(scene.bodies, np.array(asked(meshcat, "state")["X_WB"]), strict=True)
    }


def arm(time_step=0.01):
    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step)
    Parser(plant).AddModels(str(SAMPLES / "quadruped.urdf"))
    plant.Finalize()
    return builder, plant, scene_graph


def test_transforms_of_a_path_compose():
    meshcat = StartMeshcat()
    X_WA, X_AB, X_BC = pose(), pose(), pose()
    meshcat.SetObject("a/b/c", Sphere(0.1), Rgba(1, 0, 0))
    meshcat.SetTransform("a", X_WA)
    meshcat.SetTransform("a/b", X_AB.GetAsMatrix4())
    meshcat.SetTransform("/drake/a/b/c", X_BC)
    expected = (X_WA @ X_AB @ X_BC).GetAsMatrix4()
    np.testing.assert_allclose(drawn(meshcat)["a/b/c"], expected, atol=1e-8)


def test_a_path_goes_with_what_is_below_it():
    meshcat = Meshcat()
    for path in ("a/b", "a/c", "ab"):
        meshcat.SetObject(path, Box(1, 1, 1))
    meshcat.Delete("a")
    assert not meshcat.HasPath("a")
    assert meshcat.HasPath("ab") and [body.name for body in meshcat.scene().bodies] == ["World", "ab"]
    meshcat.SetProperty("ab", "visible", False)
    assert len(meshcat.scene().bodies) == 1


def test_lines_and_surfaces_are_where_their_points_are():
    meshcat = Meshcat()
    meshcat.SetLine("line", np.array([[0.0, 2.0, 2.0], [0.0, 0.0, 3.0], [1.0, 1.0, 1.0]]), 2.0)
    x, y = np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 2, 3))
    meshcat.PlotSurface("surface", x, y, x * y)
    scene = meshcat.scene()
    line, surface = (scene.meshes[shape.mesh] for shape in scene.shapes)
    low, high = line.vertices.min(axis=0), line.vertices.max(axis=0)
    np.testing.assert_allclose(low, [0, 0, 1], atol=3e-3)
    np.testing.assert_allclose(high, [2, 3, 1], atol=3e-3)
    assert len(surface.triangles) == 12
    with pytest.raises(RuntimeError, match=r"\(3, n\)"):
        meshcat.SetLineSegments("x", np.zeros((2, 3)), np.zeros((2, 3)))


def test_sliders_and_buttons_are_moved_by_the_page():
    meshcat = Meshcat()
    assert meshcat.AddSlider("s", -1.0, 1.0, 0.25, 0.3) == 0.25
    meshcat.AddButton("b", "KeyB")
    assert told(meshcat, {"name": "s", "value": 0.8})["value"] == 0.75
    for _ in range(3):
        told(meshcat, {"name": "b"})
    assert (meshcat.GetSliderValue("s"), meshcat.GetButtonClicks("b")) == (0.75, 3)
    assert "error" in told(meshcat, {"name": "none"})
    with pytest.raises(RuntimeError, match="there is no slider named 'b'"):
        meshcat.GetSliderValue("b")
    with pytest.raises(RuntimeError, match="already"):
        meshcat.AddSlider("s", 0, 1, 0.1, 0)
    meshcat.DeleteAddedControls()
    assert asked(meshcat, "state")["controls"] == []


def test_a_simulation_shows_and_records_where_bodies_are():
    builder, plant, scene_graph = arm()
    meshcat = Meshcat()
    visualizer = MeshcatVisualizer.AddToBuilder(builder, scene_graph, meshcat)
    simulator = Simulator(builder.Build())
    visualizer.StartRecording()
    simulator.AdvanceTo(0.25)
    visualizer.PublishRecording()
    simulator.get_system().ForcedPublish(simulator.get_context())
    context = plant.GetMyContextFromRoot(simulator.get_context())
    shown = drawn(meshcat)
    inspector = scene_graph.model_inspector()
    count = 0
    for geometry in inspector.GetAllGeometryIds(Role.kIllustration):
        body = plant.GetBodyFromFrameId(inspector.GetFrameId(geometry))
        expected = plant.EvalBodyPoseInWorld(context, body) @ inspector.GetPoseInFrame(geometry)
        frame = inspector.GetFrameId(geometry)
        name = f"{inspector.GetName(frame)}/{inspector.GetName(geometry)}".replace("::", "/")
        found = [X for key, X in shown.items() if key.endswith(f"/{name}")]
        np.testing.assert_allclose(found[0], expected.GetAsMatrix4(), atol=1e-7, err_msg=name)
        count += 1
    assert count > 3
    assert len(meshcat.get_mutable_recording().frames()) == 17  # of 64 a second, both ends among them
    assert "<canvas" in meshcat.StaticHtml()


def test_the_default_views_change_no_motion():
    states = []
    for shows in (False, True):
        builder, plant, _ = arm()
        if shows:
            AddDefaultVisualization(builder, Meshcat())
        simulator = Simulator(builder.Build())
        simulator.AdvanceTo(0.5)
        states.append(plant.GetPositionsAndVelocities(plant.GetMyContextFromRoot(simulator.get_context())))
    np.testing.assert_array_equal(*states)


def test_sliders_give_the_positions_of_a_plant():
    builder, plant, _ = arm()
    meshcat = Meshcat()
    AddDefaultVisualization(builder, meshcat)
    sliders = builder.AddSystem(JointSliders(meshcat, plant))
    diagram = builder.Build()
    name = plant.GetPositionNames(add_model_instance_prefix=False, always_add_suffix=False)[-1]
    before = meshcat.GetSliderValue(name)
    meshcat.SetSliderValue(name, before - 0.1)
    q = sliders.Run(diagram, timeout=0.0)
    assert abs(q[-1] - before + 0.1) <= 0.01


def test_a_model_visualizer_shows_models_once():
    visualizer = ModelVisualizer(visualize_frames=True, meshcat=Meshcat())
    visualizer.AddModels(str(SAMPLES / "quadruped.urdf"))
    visualizer.Run(loop_once=True)
    assert visualizer.meshcat().HasPath("/drake/illustration")
    with pytest.raises(RuntimeError, match=r"Finalize\(\) has been called"):
        visualizer.AddModels("other.urdf")


@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_the_page_follows_a_script():
    meshcat = Meshcat()
    meshcat.SetObject("first", Box(0.2, 0.3, 0.4), Rgba(0, 0, 1))
    with Chromium(640, 480) as browser:
        browser.open(meshcat.web_url())
        assert browser.evaluate("mbcli.ready") is True
        meshcat.SetObject("second", Sphere(0.2), Rgba(1, 0, 0))
        X = pose()
        meshcat.SetTransform("second", X)
        meshcat.AddButton("go")
        wait = "new Promise((r) => setTimeout(r, 20))"
        is_there = 'mbcli.drawnPoses().second && document.querySelectorAll("#panel button").length'
        browser.evaluate(f"(async () => {{ while (!({is_there})) await {wait}; }})()")
        found = np.reshape(browser.evaluate("mbcli.drawnPoses()")["second"], (4, 4))
        np.testing.assert_allclose(found, X.GetAsMatrix4(), atol=1e-6)
        press = '[...document.querySelectorAll("#panel button")].find((b) => b.textContent === "go")'
        browser.evaluate(f"(async () => {{ while (!({press})) await {wait}; {press}.click(); await {wait}; }})()")
        browser.evaluate(f"(async () => {{ await {wait}; await {wait}; }})()")
        assert meshcat.GetButtonClicks("go") == 1
        assert meshcat.GetNumActiveConnections() == 1
        assert not browser.problems

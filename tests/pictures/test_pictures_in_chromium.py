"""Pages of `mbcli view` and `mbcli replay` in a headless Chromium: what is drawn stands where the kinematics say."""

import dataclasses
import io
import json
import shutil
import time
from contextlib import contextmanager

import numpy as np
import pytest
from command_line import start, succeed
from repository import SAMPLES
from test_replay import expected_poses, logs, made_up_motion, png_size, standing  # noqa: F401  (two are fixtures)
from test_view import ARM, TETRAHEDRON, live, served

from mbcli.models.loading import load_model
from mbcli.pictures.chromium import Chromium, find_chromium
from mbcli.pictures.html import replay_page
from mbcli.pictures.log_scene import scene_and_motion
from mbcli.pictures.model_scene import drawing_context
from mbcli.pictures.scene import Motion, PictureBody, PictureShape, Scene, composed, matrix4
from mbcli.pictures.shape_surfaces import drawn_shapes, surface_of
from mbcli.simulation import simulate

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
TOLERANCE = 1e-4  # [m, and of elements of rotation matrices]


@pytest.fixture(scope="module")
def browser():
    with Chromium(640, 480) as browser:
        yield browser


@pytest.fixture(autouse=True)
def no_problems(request):
    """No test leaves an error or warning in the console."""
    yield
    if "browser" in request.fixturenames:
        problems = request.getfixturevalue("browser").problems
        found = problems[:]
        problems.clear()
        assert not found


@contextmanager
def viewed(browser, model):
    """The page of `mbcli view` in the browser, as long as it has a server."""
    with served(model) as server:
        browser.open(server.url)
        assert browser.evaluate("mbcli.ready") is True
        yield
        browser.open("about:blank")


def open_page(browser, path, text):
    path.write_text(text, encoding="utf-8")
    browser.open(path.as_uri())
    assert browser.evaluate("mbcli.ready") is True


def wait_until(browser, condition):
    browser.evaluate(f"(async () => {{ while (!({condition})) await new Promise((r) => setTimeout(r, 5)); }})()")


def assert_drawn_at(drawn, expected):
    """drawn: {body: 16 numbers}, expected: {body: matrix (4, 4)}."""
    assert drawn.keys() == expected.keys()
    for name, X_WB in expected.items():
        np.testing.assert_allclose(np.reshape(drawn[name], (4, 4)), X_WB, rtol=0, atol=TOLERANCE, err_msg=name)


def kinematics(plant, q):
    """{body: X_WB} by the plant alone."""
    context = drawing_context(plant, q)
    return {
        plant.name_in_contact(body): plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
        for body in plant.elements.bodies
    }


# ---------------------------------------------------------------------------------------------- view


def test_the_model_stands_where_the_kinematics_say(browser):
    model = live(SAMPLES / "quadruped.urdf", ground=0.0)
    plant, rng = model.loaded.plant, np.random.default_rng(8)
    with viewed(browser, model):
        assert_drawn_at(browser.evaluate("mbcli.drawnPoses()"), kinematics(plant, model.scene.q))
        for _ in range(2):
            q = model.scene.q + 0.5 * rng.normal(size=plant.num_positions())
            q[:4] /= np.linalg.norm(q[:4])
            browser.evaluate(f"mbcli.setPositions({json.dumps(q.tolist())})")
            assert_drawn_at(browser.evaluate("mbcli.drawnPoses()"), kinematics(plant, q))
        # every layer is drawn, and contacts push up
        browser.evaluate("mbcli.setPositions(mbcli.robot.description.q)")
        browser.evaluate("Object.keys(mbcli.panel.shown).forEach((layer) => mbcli.panel.setLayer(layer, true))")
        browser.evaluate("mbcli.moving")
        assert browser.evaluate("mbcli.robot.layers.frames.length") == plant.num_bodies()
        assert browser.evaluate("mbcli.robot.layers.inertia.length") == plant.num_bodies() - 1
        assert browser.evaluate("mbcli.robot.layers.axes.length") == 12


def test_a_slider_moves_its_joint(browser):
    model = live(SAMPLES / "quadruped.urdf")
    plant = model.loaded.plant
    with viewed(browser, model):
        for title, value in (("quadruped_front_left_knee_q", -1.2), ("quadruped_trunk yaw", 0.8)):
            browser.evaluate(
                f"""(() => {{
                  const input = document.querySelector("input[type=range][aria-label='{title}']");
                  input.value = {value};
                  input.dispatchEvent(new Event("input"));
                  return mbcli.moving;
                }})()"""
            )
        limits = plant.GetPositionLowerLimits()[plant.GetPositionNames().index("quadruped_front_left_knee_q")]
        assert browser.evaluate("mbcli.sliders[8].input.min") == str(limits)
        q = np.array(browser.evaluate("mbcli.q"))
        assert q[9] == pytest.approx(-1.2, abs=2e-3)
        np.testing.assert_allclose(q[:4], [np.cos(0.4), 0, 0, np.sin(0.4)], atol=4e-3)
        assert_drawn_at(browser.evaluate("mbcli.drawnPoses()"), kinematics(plant, q))


def test_a_model_without_shapes_is_a_skeleton(browser):
    model = live(SAMPLES / "closed_chains" / "four_bar.urdf")
    assert not model.scene.shapes
    with viewed(browser, model):
        assert browser.evaluate("mbcli.panel.shown.bones")
        ends = browser.evaluate(
            "mbcli.robot.boneEnds().map(([k, p]) => mbcli.robot.bodies[k].localToWorld(p).toArray())"
        )
    X_WB = np.array([matrix4(X) for X in model.poses({"q": model.scene.q.tolist()})["X_WB"]])
    (cut,) = [joint for joint in model.scene.joints if joint.closes_loop]
    met = X_WB[cut.parent, :3, :3] @ cut.X_PF[4:] + X_WB[cut.parent, :3, 3]
    assert sum(np.allclose(end, met, atol=TOLERANCE) for end in ends) == 2  # both sides of the loop end there


def test_the_page_follows_its_file_within_half_a_second(browser, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(height=0.5))
    (tmp_path / "tetrahedron.obj").write_text(TETRAHEDRON)
    process = start("-q", "view", path, "--weld-base", "--no-browser")
    browser.open(process.stdout.readline().strip())
    browser.evaluate("mbcli.ready")
    browser.evaluate("mbcli.setPositions([0.4])")
    taken = []
    for k in range(5):
        height = 0.6 + 0.1 * k
        began = time.monotonic()
        path.write_text(ARM.format(height=height))
        browser.evaluate(
            f"(async () => {{ while (mbcli.reloads <= {k}) await new Promise((r) => setTimeout(r, 5)); }})()"
        )
        taken.append(time.monotonic() - began)
        drawn = np.reshape(browser.evaluate("mbcli.drawnPoses()")["arm::upper"], (4, 4))
        np.testing.assert_allclose(drawn[:3, 3], [0, 0, height], atol=TOLERANCE)
        assert drawn[0, 0] == pytest.approx(np.cos(0.4), abs=TOLERANCE)  # the slider stays where it was
    print("seconds from save to picture:", [round(seconds, 3) for seconds in taken])
    assert np.median(taken) < 0.5
    path.write_text("<robot")
    wait_until(browser, "document.getElementById('message').className === 'error'")
    assert "arm.urdf" in browser.evaluate("document.getElementById('message').textContent")
    browser.open("about:blank")


# ---------------------------------------------------------------------------------------------- replay


def test_a_replay_stands_where_the_kinematics_say_at_three_times(browser, logs, tmp_path):  # noqa: F811
    runs = [scene_and_motion(logs / name) for name in ("poses.h5", "plain.h5")]
    X_WB = expected_poses(logs / "plain.h5")
    names = [body.name for body in runs[0][0].bodies]
    open_page(browser, tmp_path / "run.html", replay_page(runs, "run", traces=["front_left_shank"]))
    images = []
    for row in (0, 17, 40):
        expected = {name: matrix4(X) for name, X in zip(names, X_WB[row], strict=True)}
        browser.evaluate(f"mbcli.drawAt({runs[0][1].times[row]})")
        for run in (0, 1):
            assert_drawn_at(browser.evaluate(f"mbcli.drawnPoses({run})"), expected)
        offset = runs[0][1].contacts.offset
        assert browser.evaluate("mbcli.arrows.points?.count ?? 0") == offset[row + 1] - offset[row]
        images.append(browser.screenshot())
    assert len(set(images)) == 3 and png_size(images[0]) == (640, 480)
    places = browser.evaluate("Array.from(mbcli.traces[0].lines[0].line.all.geometry.attributes.position.array)")
    shank = names.index("quadruped::front_left_shank")
    np.testing.assert_allclose(np.reshape(places, (-1, 3)), X_WB[:, shank, 4:], atol=TOLERANCE)


def test_the_pixels_of_a_run_of_five_seconds_are_those_of_the_kinematics(browser, tmp_path):
    """One file below 2 MB: what it draws covers the picture as far as its vertices, placed by the plant, reach."""
    image = pytest.importorskip("matplotlib.image")
    log, page = tmp_path / "run.h5", tmp_path / "run.html"
    start = {"quadruped_trunk_z": 0.7, "quadruped_trunk_qx": 0.3}
    simulate(SAMPLES / "quadruped.urdf", 5.0, log=log, ground=0.0, start=start, warn=str).close()
    succeed("replay", log, "-o", page)
    assert page.stat().st_size < 2_000_000
    scene, motion = scene_and_motion(log)
    X_WB = expected_poses(log)
    browser.open(page.as_uri())
    assert browser.evaluate("mbcli.ready") is True
    for layer in ("ground", "contacts", "collision"):
        browser.evaluate(f"mbcli.panel.setLayer('{layer}', false)")
    sides = "(({x, y, width, height}) => [x, y, width, height])"
    box = browser.evaluate(f"{sides}(document.getElementById('canvas').getBoundingClientRect())")
    x, y, width, height = map(round, box)

    def drawn(visible):
        browser.evaluate(f"mbcli.robots[0].root.visible = {visible}; mbcli.stage.drawNow()")
        return image.imread(io.BytesIO(browser.screenshot()))[y : y + height, x : x + width, :3]

    found = []
    for row in (5, 45, 480):
        browser.evaluate(f"mbcli.drawAt({motion.times[row]})")
        rows, columns = np.nonzero(np.abs(drawn("true") - drawn("false")).max(axis=2) > 0.02)
        vertices = []
        for shape in drawn_shapes(scene):
            corners, _ = surface_of(shape, scene)
            X_WG = matrix4(composed(X_WB[row, shape.body], np.array(shape.X_BG)))
            vertices += (corners @ X_WG[:3, :3].T + X_WG[:3, 3]).tolist()
        project = "new THREE.Vector3(...p).project(mbcli.stage.camera).toArray()"
        places = np.array(browser.evaluate(f"{json.dumps(vertices)}.map((p) => {project})"))
        across, down = 0.5 * (1.0 + places[:, 0]) * width, 0.5 * (1.0 - places[:, 1]) * height
        expected = [across.min(), across.max(), down.min(), down.max()]
        found.append([columns.min(), columns.max() + 1, rows.min(), rows.max() + 1])
        np.testing.assert_allclose(found[-1], expected, atol=2.5)  # [pixels]
    assert np.ptp(found, axis=0).max() > 30  # it has moved


def test_poses_between_two_rows_lie_between_them(browser, logs, tmp_path):  # noqa: F811
    scene, motion = scene_and_motion(logs / "poses.h5")
    open_page(browser, tmp_path / "run.html", replay_page([(scene, motion)], "run"))
    browser.evaluate("mbcli.drawAt(0.105)")
    drawn = np.reshape(browser.evaluate("mbcli.drawnPoses()")["quadruped::trunk"], (4, 4))
    np.testing.assert_allclose(drawn[:3, 3], motion.X_WB[10:12, 1, 4:].mean(axis=0), atol=TOLERANCE)


def test_a_replay_plays_and_stops_at_its_time_line(browser, logs, tmp_path):  # noqa: F811
    open_page(browser, tmp_path / "run.html", replay_page([scene_and_motion(logs / "poses.h5")], "run", speed=0.3))
    assert browser.evaluate("mbcli.speed.value") == "0.3"
    browser.evaluate("mbcli.button.click()")
    moved = (
        "(async () => { while (mbcli.time === 0) await new Promise((r) => setTimeout(r, 10)); return mbcli.time; })()"
    )
    assert 0.0 < browser.evaluate(moved) <= 0.4
    browser.evaluate("mbcli.range.value = 0.2; mbcli.range.dispatchEvent(new Event('input'))")
    assert not browser.evaluate("mbcli.playing") and browser.evaluate("mbcli.time") == pytest.approx(0.2, abs=1e-3)


def test_surfaces_are_coloured_by_their_pressure(browser, tmp_path):
    motion = made_up_motion(nbody=1)
    scene = Scene("made up", [PictureBody("world")], motion.X_WB[0])
    open_page(browser, tmp_path / "run.html", replay_page([(scene, motion)], "surfaces"))
    values, offset = motion.surfaces.values, motion.surfaces.offset
    most = int(np.argmax(values.max(axis=1)))
    row = int(np.searchsorted(offset, most, side="right")) - 1
    browser.evaluate(f"mbcli.drawAt({motion.times[row]})")
    corners = browser.evaluate("Array.from(mbcli.surfaces.mesh.geometry.attributes.position.array)")
    drawn = np.reshape(corners, (-1, 3, 3))
    np.testing.assert_allclose(drawn, motion.surfaces.vertices[offset[row] : offset[row + 1]], atol=TOLERANCE)
    colors = np.reshape(browser.evaluate("Array.from(mbcli.surfaces.mesh.geometry.attributes.color.array)"), (-1, 3, 3))
    yellow = colors[most - offset[row], int(values[most].argmax())]
    np.testing.assert_allclose(yellow, [0.984, 0.799, 0.018], atol=0.02)  # of sRGB 253, 231, 37
    assert "Pa" in browser.evaluate("document.getElementById('panel').textContent")


def test_a_replay_shows_surfaces_with_a_legend_beside_ghosts(browser, standing, tmp_path):  # noqa: F811
    page = tmp_path / "run.html"
    succeed("replay", standing / "faces.h5", standing / "plain.h5", "-o", page, "--fps", 200)
    browser.open(page.as_uri())
    assert browser.evaluate("mbcli.ready") is True
    browser.evaluate("mbcli.drawAt(0.3)")
    _, motion = scene_and_motion(standing / "faces.h5")
    last = slice(*motion.surfaces.offset[-2:])
    drawn = browser.evaluate("Array.from(mbcli.surfaces.mesh.geometry.attributes.position.array)")
    np.testing.assert_allclose(np.reshape(drawn, (-1, 3, 3)), motion.surfaces.vertices[last], atol=TOLERANCE)
    text = browser.evaluate("document.getElementById('panel').textContent")
    largest = motion.surfaces.values.max() / 1e3
    assert "Pressure" in text and f"{largest:.3g} kPa" in text and "plain.h5" in text
    for visible in ("false", "true"):
        browser.evaluate(f"mbcli.panel.setLayer('contacts', {visible})")
        assert browser.evaluate("String(mbcli.surfaces.mesh.visible)") == visible
    # the surfaces change what is drawn under the robot: yellow and green where it presses
    with_legend = browser.evaluate("mbcli.imageAt(0.3)")
    browser.evaluate("mbcli.surfaces.set(new Float32Array(0), new Float32Array(0))")
    browser.evaluate("mbcli.stage.drawNow()")
    without = browser.evaluate("document.getElementById('canvas').toDataURL('image/png')")
    assert with_legend.startswith("data:image/png;base64,") and with_legend != without


def test_a_log_without_faces_has_no_legend(browser, standing, tmp_path):  # noqa: F811
    page = tmp_path / "run.html"
    succeed("replay", standing / "plain.h5", standing / "faces.h5", "-o", page)
    browser.open(page.as_uri())
    assert browser.evaluate("mbcli.ready") is True
    assert "Pressure" not in browser.evaluate("document.getElementById('panel').textContent")
    assert browser.evaluate("mbcli.imageAt(0.1)").startswith("data:image/png;base64,")


def test_names_of_files_are_text(browser, tmp_path):
    bad = "<img src=x onerror=\"document.title='taken'\">"
    motion = Motion(bad, np.array([0.0, 1.0]), np.tile([1.0, 0, 0, 0, 0, 0, 0], (2, 2, 1)))
    shape = PictureShape(bad, 1, "visual", "box", (1.0, 0, 0, 0, 0, 0, 0), (1.0, 1.0, 1.0))
    scene = Scene(bad, [PictureBody("world"), PictureBody(bad)], motion.X_WB[0], [shape], notes=[bad])
    open_page(browser, tmp_path / "run.html", replay_page([(scene, motion)], bad, traces=[bad]))
    browser.evaluate("mbcli.panel.setLayer('names', true)")
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert browser.evaluate("document.title").startswith(bad)


def test_a_page_can_ask_nobody(browser, logs, tmp_path):  # noqa: F811
    open_page(browser, tmp_path / "run.html", replay_page([scene_and_motion(logs / "poses.h5")], "run"))
    asked = "fetch('http://127.0.0.1:9/').then(() => 'answered', () => 'refused')"
    assert browser.evaluate(asked) == "refused"
    found = browser.problems[:]
    browser.problems.clear()
    assert found and all("Content Security Policy" in problem for problem in found)


# ---------------------------------------------------------------------------------------------- images


def test_images_and_a_video_of_a_run(logs, tmp_path):  # noqa: F811
    video = ["-o", tmp_path / "run.mp4"] if shutil.which("ffmpeg") else []
    folder = tmp_path / "50%d"  # ffmpeg reads more into such a name
    succeed("replay", logs / "poses.h5", "--frames", folder, "--fps", "5", "--size", "160x120", *video)
    images = [path.read_bytes() for path in sorted(folder.iterdir())]
    assert [png_size(image) for image in images] == [(160, 120)] * 3 and len(set(images)) == 3
    if video:
        assert (tmp_path / "run.mp4").read_bytes()[4:8] == b"ftyp"


def test_a_mesh_is_drawn_with_its_triangles(browser, tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM.format(height=0.5))
    (tmp_path / "tetrahedron.obj").write_text(TETRAHEDRON)
    from mbcli.pictures.model_scene import scene_of

    scene = scene_of(load_model(tmp_path / "arm.urdf", contact=True))
    motion = Motion("arm", np.array([0.0, 1.0]), np.stack([scene.X_WB, scene.X_WB]))
    open_page(browser, tmp_path / "arm.html", replay_page([(dataclasses.replace(scene), motion)], "arm"))
    (mesh,) = scene.meshes.values()
    corners = "Array.from(mbcli.robots[0].layers.visual[1].geometry.attributes.position.array)"
    drawn = np.reshape(browser.evaluate(corners), (-1, 3))
    np.testing.assert_allclose(drawn, mesh.vertices[mesh.triangles.reshape(-1)], atol=1e-5)
    normals = np.reshape(browser.evaluate(corners.replace("position", "normal")), (-1, 3, 3))
    a, b, c = (drawn.reshape(-1, 3, 3)[:, k] for k in range(3))
    expected = np.cross(b - a, c - a)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(normals, np.repeat(expected[:, None], 3, axis=1), atol=1e-5)  # no edge is smooth

"""Pages in a headless Chromium: where arrows point, what cameras see, time and scale, and a browser without WebGL."""

import base64
import json

import numpy as np
import pytest
from command_line import succeed
from repository import SAMPLES
from test_picture_forces import model_file
from test_picture_framing import moved_motion, picture_parts, quadruped, with_a_force  # noqa: F401  (one is a fixture)
from test_pictures_in_chromium import browser, no_problems, open_page, viewed  # noqa: F401  (two are fixtures)
from test_view import live

from mbcli.errors import MbcliError
from mbcli.pictures.cameras import VIEWS, read_camera, way_to_eye
from mbcli.pictures.chromium import Chromium, find_chromium
from mbcli.pictures.framing import frame_runs
from mbcli.pictures.html import replay_page, view_page
from mbcli.pictures.log_scene import scene_and_motion
from mbcli.pictures.scene import arrow_length
from mbcli.simulation import simulate

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
TIPS = """(() => {
    const found = [], matrix = new THREE.Matrix4();
    for (let k = 0; k < mbcli.arrows.tips.count; k++) {
        for (const mesh of [mbcli.arrows.points, mbcli.arrows.tips]) {
            mesh.getMatrixAt(k, matrix);
            found.push(matrix.elements.slice(12, 15));
        }
    }
    return found;
})()"""
EYE = "[mbcli.stage.camera.position.toArray(), mbcli.stage.controls.target.toArray()]"


@pytest.mark.parametrize("first", ["plate", "ball"])
def test_the_arrow_of_a_ball_on_a_static_plate_points_up(browser, tmp_path, first):  # noqa: F811
    path = model_file(tmp_path, "static", first)
    with viewed(browser, live(path)):
        browser.evaluate("mbcli.panel.setLayer('contacts', true)")
        browser.evaluate("mbcli.moving")
        start, tip = np.array(browser.evaluate(TIPS))
        assert tip[2] - start[2] > 0.05
        text = browser.evaluate("document.getElementById('panel').textContent")
        assert "the force on the body that moves" in text and "9.81 N" in text
    simulate(path, 0.05, log=tmp_path / "run.h5", fields="contact,poses", warn=str).close()
    run = scene_and_motion(tmp_path / "run.h5")
    open_page(browser, tmp_path / "run.html", replay_page([run], "run"))
    browser.evaluate("mbcli.drawAt(0.05)")
    start, tip = np.array(browser.evaluate(TIPS))
    size = frame_runs([run]).size
    last = np.linalg.norm(run[1].contacts.force[-1])
    assert tip[2] - start[2] == pytest.approx(0.45 * size * arrow_length(last, 9.81), rel=1e-3)
    for force in (1.0, 9.0, 30.0, 5000.0):
        expected = 0.45 * size * arrow_length(force, 9.81)
        assert browser.evaluate(f"mbcli.arrows.lengthOf({force})") == pytest.approx(expected, rel=1e-9)


def test_a_robot_that_falls_fifty_metres_stays_in_the_picture(browser, quadruped, tmp_path):  # noqa: F811
    motion = with_a_force(moved_motion(quadruped, np.outer(np.linspace(0, 1, 6), [4.0, 0, -50.0])))
    open_page(browser, tmp_path / "run.html", replay_page([(quadruped, motion)], "run"))
    seen = []
    for time in (0.0, 2.5, 5.0):
        image = browser.evaluate(f"mbcli.imageAt({time})").partition(",")[2]
        assert picture_parts(base64.b64decode(image)) == (True, True, True)
        place = "mbcli.robots[0].bodies[1].getWorldPosition(new THREE.Vector3()).project(mbcli.stage.camera).toArray()"
        seen.append(browser.evaluate(place))
    np.testing.assert_allclose(seen, [seen[0]] * 3, atol=5e-3)
    assert np.abs(seen[0][:2]).max() < 0.4
    # whoever turned the camera keeps it; an eye in World stands still
    browser.evaluate("mbcli.stage.look(mbcli.data.views.top)")
    browser.evaluate("mbcli.setTime(1)")
    eye, target = browser.evaluate(EYE)
    assert eye[2] - target[2] > 1.0 and np.abs(np.subtract(eye, target)[:2]).max() < 0.05
    open_page(
        browser, tmp_path / "eye.html", replay_page([(quadruped, motion)], "run", camera=read_camera("9,0,1:0,0,0"))
    )
    browser.evaluate("mbcli.setTime(5)")
    np.testing.assert_allclose(browser.evaluate(EYE), [[9, 0, 1], [0, 0, 0]], atol=1e-9)


@pytest.mark.parametrize("camera", [*VIEWS, "30,10,2.5"])
def test_a_camera_looks_from_where_it_was_told(browser, quadruped, tmp_path, camera):  # noqa: F811
    asked = read_camera(camera)
    (tmp_path / "page.html").write_text(
        replay_page([(quadruped, moved_motion(quadruped, np.zeros((2, 3))))], "run", camera=asked)
    )
    browser.open((tmp_path / "page.html").as_uri())
    assert browser.evaluate("mbcli.ready") is True
    way = np.subtract(*browser.evaluate(EYE))
    np.testing.assert_allclose(way / np.linalg.norm(way), way_to_eye(asked.azimuth, asked.elevation), atol=0.005)
    if asked.distance:
        assert np.linalg.norm(way) == pytest.approx(asked.distance)


def test_the_square_of_the_ground_goes_with_the_robot(browser, quadruped, tmp_path):  # noqa: F811
    motion = moved_motion(quadruped, np.outer(np.linspace(0, 1, 6), [100.0, 30.0, 0]))
    open_page(browser, tmp_path / "run.html", replay_page([(quadruped, motion)], "run"))
    browser.evaluate("mbcli.setTime(5)")
    x, y, z = browser.evaluate("mbcli.robots[0].squares[0].position.toArray()")
    assert abs(x - 100.0) < 1.0 and abs(y - 30.0) < 1.0 and z == pytest.approx(0.0, abs=1e-9)
    grid = browser.evaluate("mbcli.stage.ground.position.toArray()")
    assert abs(grid[0] - 100.0) < 1.0 and abs(grid[1] - 30.0) < 1.0


def test_images_of_a_command_take_a_camera(quadruped, tmp_path):  # noqa: F811
    simulate(
        SAMPLES / "quadruped.urdf", 0.1, log=tmp_path / "run.h5", ground=0.0, fields="poses,contact", warn=str
    ).close()
    images = []
    for camera in ("front", "top"):
        folder = tmp_path / camera
        succeed("replay", tmp_path / "run.h5", "--frames", folder, "--fps", 5, "--size", "160x120", "--camera", camera)
        images.append((folder / "0000.png").read_bytes())
        assert picture_parts(images[-1]) == (True, True, True)
    assert images[0] != images[1]


def test_a_browser_without_webgl_says_so_and_what_it_knows(quadruped, tmp_path):  # noqa: F811
    motion = with_a_force(moved_motion(quadruped, np.zeros((3, 3))))
    (tmp_path / "view.html").write_text(view_page(quadruped))
    (tmp_path / "run.html").write_text(replay_page([(quadruped, motion)], "a run"))
    with Chromium(640, 480, ["--disable-3d-apis"]) as blind:
        for name, words in (("view", ["13 bodies"]), ("run", ["a run", "13 bodies", "3 rows from 0 s to 2 s", "50 N"])):
            blind.open((tmp_path / f"{name}.html").as_uri())
            with pytest.raises(MbcliError, match="WebGL is off or missing"):
                blind.evaluate("mbcli.ready")
            message = json.loads(blind.evaluate("JSON.stringify(document.getElementById('message').textContent)"))
            assert "try another browser" in message and message.count(".") == 1
            assert not blind.evaluate("document.getElementById('message').hidden")
            blind.evaluate("new Promise((done) => setTimeout(done, 200))")
            text = blind.evaluate("document.getElementById('panel').textContent")
            assert all(word in text for word in words), text
        assert not blind.problems


def test_the_buttons_of_views_look_at_the_robot_where_it_is(browser):  # noqa: F811
    model = live(SAMPLES / "quadruped.urdf", ground=0.0)
    q = model.scene.q.copy()
    q[4:7] = 7.0, -3.0, 2.0
    with viewed(browser, model):
        before = browser.evaluate(EYE)
        browser.evaluate(f"mbcli.setPositions({json.dumps(q.tolist())})")
        assert browser.evaluate(EYE) == before  # sliders leave the camera
        browser.evaluate(
            "[...document.querySelectorAll('button')].find((each) => each.textContent === 'front').click()"
        )
        eye, target = np.array(browser.evaluate(EYE))
        np.testing.assert_allclose(target, before[1] + q[4:7] - model.scene.q[4:7], atol=0.01)
        np.testing.assert_allclose(eye[1:], target[1:], atol=0.01)

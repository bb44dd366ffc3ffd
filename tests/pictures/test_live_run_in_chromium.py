"""The page of `mbcli simulate --view` in a headless Chromium: the mouse drags bodies, the run obeys its buttons."""

import threading

import numpy as np
import pytest
from repository import SAMPLES
from test_pictures_in_chromium import assert_drawn_at, kinematics, wait_until

from mbcli.models import load_model
from mbcli.pictures.chromium import Chromium, find_chromium
from mbcli.pictures.live_run import LiveRun
from mbcli.simulation import simulate

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def browser():
    with Chromium(800, 600) as browser:
        yield browser


class Shown:
    """A run on a thread, its page in the browser."""

    def __init__(self, browser, model, **settings):
        self.browser, self.live, self.log = browser, LiveRun(1.0, browser=False), None
        self._settings, self._model = settings, model

    def __enter__(self):
        self.live.__enter__()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        while self.live._scene is None:
            assert self._thread.is_alive()
        self.browser.open(self.live.url)
        assert self.browser.evaluate("mbcli.ready") is True
        return self

    def _run(self):
        self.log = simulate(self._model, 1e4, view=self.live, warn=lambda line: None, log_rate=100, **self._settings)

    def __exit__(self, *details):
        self.live.ended = True
        self._thread.join(30)
        self.live.__exit__(*details)
        self.browser.open("about:blank")
        assert not self._thread.is_alive()

    def place_of(self, body):
        """Where the origin of a body is in the window [pixels]."""
        return self.browser.evaluate(
            f"""(() => {{
              const robot = mbcli.robot, k = robot.description.bodies.findIndex((b) => b.name.endsWith("{body}"));
              const place = robot.bodies[k].getWorldPosition(new THREE.Vector3()).project(mbcli.stage.camera);
              const rect = mbcli.stage.canvas.getBoundingClientRect();
              return [rect.left + (place.x + 1) / 2 * rect.width, rect.top + (1 - place.y) / 2 * rect.height];
            }})()"""
        )


@pytest.mark.parametrize("contact", [True, False])  # without it there is a skeleton alone
def test_a_body_is_dragged_by_the_mouse_and_the_view_stays(browser, contact):
    with Shown(browser, SAMPLES / "quadruped.urdf", contact=contact, gravity=(0.0, 0.0, 0.0)) as shown:
        camera = browser.evaluate("mbcli.stage.camera.quaternion.toArray()")
        x, y = shown.place_of("trunk")
        start = browser.evaluate("mbcli.drawnPoses()")["quadruped::trunk"][3::4][:3]
        browser.point("mousePressed", x, y, pressed=True)
        assert shown.live.drag is None or shown.live.drag.body > 0
        for k in range(1, 11):
            browser.point("mouseMoved", x, y - 8 * k, pressed=True)
        wait_until(browser, "mbcli.pull.visible")
        wait_until(browser, f"mbcli.drawnPoses()['quadruped::trunk'][11] > {start[2]} + 0.1")
        browser.point("mouseReleased", x, y - 80)
        wait_until(browser, "!mbcli.pull.visible && !mbcli.sending")
        assert shown.live.drag is None
        np.testing.assert_allclose(browser.evaluate("mbcli.stage.camera.quaternion.toArray()"), camera, atol=1e-12)
    assert shown.log.q[-1, 6] > shown.log.q[0, 6] + 0.1 and np.isfinite(shown.log.q).all()


def test_a_drag_beside_the_robot_turns_the_view(browser):
    with Shown(browser, SAMPLES / "double_pendulum.urdf", contact=False):
        before = browser.evaluate("mbcli.stage.camera.position.toArray()")
        browser.point("mousePressed", 20, 580, pressed=True)
        browser.point("mouseMoved", 120, 560, pressed=True)
        browser.point("mouseReleased", 120, 560)
        assert np.abs(np.subtract(browser.evaluate("mbcli.stage.camera.position.toArray()"), before)).max() > 1e-3


def test_buttons_and_keys_pause_step_and_end_the_run_whose_bodies_are_where_kinematics_say(browser):
    model = SAMPLES / "double_pendulum.urdf"
    plant = load_model(model, contact=True).plant
    with Shown(browser, model, start={"elbow": 1.0}) as shown:
        browser.evaluate("mbcli.pauseButton.click()")
        wait_until(browser, "mbcli.state.paused && mbcli.pauseButton.textContent === 'go on'")
        at = browser.evaluate("mbcli.state.time")
        browser.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '.', bubbles: true }))")
        wait_until(browser, f"mbcli.state.time > {at}")
        assert browser.evaluate("mbcli.state.time") == pytest.approx(at + 1e-3, abs=1e-9)
        drawn, time = browser.evaluate("mbcli.drawnPoses()"), browser.evaluate("mbcli.state.time")
        browser.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', bubbles: true }))")
        wait_until(browser, f"mbcli.state.time > {time} + 0.05")
        browser.evaluate("[...document.querySelectorAll('button')].find((b) => b.textContent === 'end').click()")
        shown._thread.join(30)
        again = simulate(model, time, start={"elbow": 1.0}, log_rate=0, warn=lambda line: None)
        assert_drawn_at(drawn, kinematics(plant, again.q[-1]))


def test_a_page_of_a_narrow_window_has_no_overflow(browser):
    browser.resize(400, 700)
    try:
        with Shown(browser, SAMPLES / "quadruped.urdf", ground=0.0, hold=True):
            assert browser.evaluate("document.documentElement.scrollWidth") <= 400
            assert browser.evaluate("document.getElementById('panel').scrollWidth") <= 400
    finally:
        browser.resize(800, 600)

"""A run that is shown while it goes: its page steers it, and a run that nobody touches is that without a page."""

import json
import threading
import time
import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import cli, start, succeed

from mbcli.log import open_log
from mbcli.models import load_model
from mbcli.pictures.live_run import LiveRun
from mbcli.simulation import resume, simulate

BOX = """<robot name="box"><link name="box"><inertial><mass value="3"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size=".2 .2 .2"/></geometry></visual></link></robot>"""
ARM = """<robot name="r"><link name="world"/><link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
<inertia ixx=".02" iyy=".05" izz=".05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="9" velocity="90"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
<joint name="j"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
<actuator name="m"/></transmission></robot>"""


def ask(live, **document):
    request = urllib.request.Request(
        f"{live.url}control", json.dumps(document).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def state(live):
    with urllib.request.urlopen(f"{live.url}state", timeout=20) as answer:
        return json.load(answer)


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


class Watched:
    """A run on a thread of its own, and what became of it."""

    def __init__(self, live, *arguments, **settings):
        self.live, self.log, self.warnings = live, None, []

        def run():
            self.log = simulate(*arguments, contact=False, view=live, warn=self.warnings.append, **settings)

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        until(lambda: live._scene is not None or not self.thread.is_alive())

    def ended(self):
        self.thread.join(30)
        assert not self.thread.is_alive()
        return self.log


def watched_command(model, log):
    """A command in a process of its own, and its page."""
    process = start("simulate", model, "--no-contact", "--view", "--no-browser", "-o", log)
    line = next(line for line in process.stderr if "http" in line)
    return process, SimpleNamespace(url=line.split()[-1])


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    return str(tmp_path / "arm.urdf")


@pytest.fixture
def box(tmp_path):
    (tmp_path / "box.urdf").write_text(BOX)
    return str(tmp_path / "box.urdf")


@pytest.fixture
def live():
    with LiveRun(None, browser=False) as live:
        yield live


@pytest.mark.parametrize("settings", [{}, {"hold": True}, {"dt": 0.0}, {"inputs": {"m": 2.0}}])
def test_a_run_that_nobody_touches_is_that_without_a_page(arm, live, settings):
    settings |= {"contact": False, "start": {"j": 0.4}, "log_rate": 1e3 if "dt" in settings else 0}
    shown, alone = simulate(arm, 0.3, view=live, **settings), simulate(arm, 0.3, **settings)
    if settings.get("dt") == 0.0:  # whose steps end at ticks
        np.testing.assert_allclose(shown.q, alone.q, rtol=0, atol=1e-5)
    else:
        np.testing.assert_array_equal(shown.q, alone.q)
        np.testing.assert_array_equal(shown.field("input/u"), alone.field("input/u"))


def test_a_pause_holds_the_run_and_single_steps_move_it_by_so_many(arm, live):
    ask(live, paused=True)
    watched = Watched(live, arm, 0.5)
    time.sleep(0.1)
    assert state(live)["time"] == 0.0 and state(live)["paused"]
    for taken in (1, 8, 9):
        ask(live, steps=taken - round(state(live)["time"] / 1e-3))
        until(lambda taken=taken: state(live)["time"] == pytest.approx(taken * 1e-3, abs=1e-9))
    time.sleep(0.1)
    assert state(live)["time"] == pytest.approx(9e-3, abs=1e-9)
    ask(live, paused=False)
    assert watched.ended().times[-1] == pytest.approx(0.5)
    assert not watched.warnings


def test_a_pulled_body_comes_to_the_pointer_and_rests_there(box, live):
    ask(live, paused=True)
    watched = Watched(live, box, 3.0, gravity=(0.0, 0.0, 0.0))
    point, target = np.array([0.1, 0.1, 0.1]), np.array([0.5, -0.2, 0.4])
    assert ask(live, drag={"body": 1, "point": point.tolist(), "target": target.tolist()}) == {}
    ask(live, paused=False)
    log = watched.ended()
    loaded = load_model(box)
    context = loaded.plant.CreateDefaultContext()
    loaded.plant.SetPositions(context, log.q[-1])
    body = loaded.plant.GetBodyByName("box")
    there = loaded.plant.EvalBodyPoseInWorld(context, body).multiply(point)
    np.testing.assert_allclose(there, target, atol=0.02)
    assert np.linalg.norm(log.v[-1]) < 0.3
    assert any("its log cannot repeat it" in line for line in watched.warnings)
    assert [event["code"] for event in log.events()] == ["acted_on_page"]


def test_a_pull_that_ends_leaves_the_body_alone(box, live):
    ask(live, paused=True)
    watched = Watched(live, box, 2.0, gravity=(0.0, 0.0, 0.0))
    ask(live, drag={"body": 1, "point": [0, 0, 0], "target": [1, 0, 0]})
    at = state(live)["time"]
    ask(live, steps=20)
    until(lambda: state(live)["time"] > at + 0.0195)
    ask(live, drag=None)
    ask(live, paused=False)
    log = watched.ended()
    after = log.times > at + 0.03
    assert after.sum() > 2 and np.ptp(log.v[after, 3]) < 1e-12 and log.v[-1, 3] > 0.1


def test_sliders_add_inputs_within_limits_and_move_targets(arm, live):
    ask(live, paused=True)
    watched = Watched(live, arm, 0.05, log_rate=0, fields="u")
    until(lambda: live._controls)
    (control,) = live._controls
    assert (control.name, control.kind, control.lower, control.upper) == ("r_m", "input", -9.0, 9.0)
    ask(live, value={"kind": "input", "name": "r_m", "value": 40.0})
    ask(live, paused=False)
    u = watched.ended().field("input/u")[:, 0]
    assert u[-1] == 9.0
    ask(live, paused=True)
    held = Watched(live, arm, 2.0, hold=True)
    until(lambda: live._controls[0].kind == "target")
    ask(live, value={"kind": "target", "name": "r_m", "value": 0.7})
    ask(live, paused=False)
    assert held.ended().q[-1, 0] == pytest.approx(0.7, abs=0.02)


@pytest.mark.parametrize(
    "document",
    [
        {"drag": {"body": 99, "point": [0, 0, 0], "target": [0, 0, 0]}},
        {"drag": {"body": 1, "point": [0, 0], "target": [0, 0, 0]}},
        {"drag": {"body": 1, "point": [0, 0, 1e999], "target": [0, 0, 0]}},
        {"value": {"kind": "input", "name": "nobody", "value": 1}},
        {"value": {"kind": "input", "name": "r_m", "value": "nan"}},
        {"speed": -1},
        {"speed": 0},
        {"speed": "fast"},
        {"steps": "many"},
        {"__init__": 1},
        {"nothing": 1},
        [1],
        3,
    ],
)
def test_what_means_nothing_is_refused_and_changes_nothing(arm, live, document):
    watched = Watched(live, arm, 0.02)
    watched.ended()
    request = urllib.request.Request(
        f"{live.url}control", json.dumps(document).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert "error" in json.load(answer)
    assert live.drag is None and not any(live.values.values()) and not live.ended


def test_a_run_goes_by_the_clock(arm):
    with LiveRun(0.5, browser=False) as live:
        begun = time.perf_counter()
        simulate(arm, 0.2, contact=False, view=live)
        assert time.perf_counter() - begun >= 0.4


def test_the_page_of_a_call_ends_with_it(arm, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    simulate(arm, 0.01, contact=False, view=True)
    (url,) = opened
    with pytest.raises(OSError):
        urllib.request.urlopen(url, timeout=5)


def test_the_end_and_a_new_start_of_a_command(arm, tmp_path):
    path = tmp_path / "run.h5"
    process, page = watched_command(arm, path)
    until(lambda: state(page)["time"] > 0.05)
    ask(page, paused=True, again=True)
    until(lambda: state(page)["run"] == 2)
    assert state(page)["time"] == 0.0
    ask(page, paused=False)
    until(lambda: state(page)["time"] > 0.02)
    ask(page, end=True)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "stopped by its page" in out
    with open_log(path) as log:
        assert log.attrs["status"] == "interrupted" and log.times[0] == 0.0
    assert "stopped by a signal" not in out
    succeed("simulate", "--resume", path, "-t", 20)
    whole = tmp_path / "whole.h5"
    succeed("simulate", arm, "--no-contact", "-t", 20, "-o", whole)
    with open_log(path) as log, open_log(whole) as other:
        np.testing.assert_array_equal(log.q, other.q)


def test_a_plain_run_is_gone_on_with_and_shown(arm, tmp_path):
    path, whole = tmp_path / "run.h5", tmp_path / "whole.h5"
    for end, name in ((0.2, path), (0.4, whole)):
        succeed("simulate", arm, "--no-contact", "--hold", "-t", end, "-o", name)
    words = ["--view", "--no-browser", "--view-speed", 0]
    succeed("simulate", "--resume", path, "-t", 0.4, *words)
    with open_log(path) as log, open_log(whole) as other:
        np.testing.assert_array_equal(log.q, other.q)
    assert "verified: same" in succeed("log", "verify", path).out


def test_options_of_a_page_without_one_and_pages_of_many_runs_are_refused(arm, tmp_path):
    (tmp_path / "starts.csv").write_text("r_j_q\n0\n0.1\n")
    assert "--view-speed needs --view" in cli("simulate", arm, "-t", 0.1, "--view-speed", 2, "--no-log").err
    result = cli("simulate", arm, "--view", "--each", "--states", tmp_path / "starts.csv", "-o", tmp_path / "a.h5")
    assert result.code == 2 and "--view" in result.err


def test_verify_says_that_a_run_was_steered_by_hand(arm, tmp_path):
    path = tmp_path / "run.h5"
    process, page = watched_command(arm, path)
    until(lambda: state(page)["time"] > 0.02)
    assert ask(page, value={"kind": "input", "name": "r_m", "value": 5.0}) == {}
    at = state(page)["time"]
    until(lambda: state(page)["time"] > at + 0.1)
    ask(page, end=True)
    _, err = process.communicate(timeout=60)
    assert "its log cannot repeat it" in err
    result = cli("log", "verify", path)
    assert result.code == 1 and result.out.startswith("somebody acted on the page of this run (--view)")


def test_what_is_not_finite_is_not_shown(arm, live):
    Watched(live, arm, 0.02).ended()
    before = state(live)
    live.show(9.0, np.full((2, 7), np.nan))
    assert state(live) == before
    ask(live, contacts=True)
    live.see(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([[0.0, 0.0, np.nan], [7.0, 8.0, 9.0]]), None)
    live.show(9.0, np.zeros((2, 7)))
    assert state(live)["contacts"] == [[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]] and state(live)["time"] == 9.0


def test_a_watched_run_of_python_goes_on_by_its_log_alone(arm, live, tmp_path):
    path = tmp_path / "run.h5"
    simulate(arm, 0.1, contact=False, start={"j": 0.4}, view=live, log=path).close()
    whole = simulate(arm, 0.2, contact=False, start={"j": 0.4})
    with resume(path, until=0.2) as log:
        np.testing.assert_array_equal(log.q, whole.q)

"""Velocity limits of joints in runs: held, reported or left alone, in steps and in continuous plants."""

import json

import numpy as np
import pytest
from command_line import succeed

from mbcli.engine.limits.joint_limits import NEARLY_RIGID
from mbcli.log.worlds import WorldsLog
from mbcli.models.loading import load_model
from mbcli.multibody.core.velocity_limits import BRAKING_TIME, stated_velocity_limits
from mbcli.simulation import simulate

INERTIA, LIMIT = 0.6, 3.0  # [kg m^2], [rad/s]
WHEEL = """<sdf version="1.9"><model name="m">
<link name="base"/>
<link name="arm"><inertial><mass>2</mass><inertia><ixx>0.6</ixx><iyy>0.6</iyy><izz>0.6</izz></inertia>
</inertial>SOLID</link>
<joint name="weld" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="hinge" type="revolute"><parent>base</parent><child>arm</child>
<axis><xyz>0 1 0</xyz><limit><velocity>SPEED</velocity></limit></axis></joint>
</model>MORE</sdf>"""
SOLID = '<collision name="c"><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision>'
BALL = """<model name="ball"><pose>3 0 0 0 0 0</pose><link name="l"><inertial><mass>1</mass></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model>"""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.fixture
def wheel(tmp_path):
    def write(speed=LIMIT, touches=False):
        path = tmp_path / "wheel.sdf"
        text = WHEEL.replace("SPEED", str(speed)).replace("SOLID", SOLID if touches else "")
        path.write_text(text.replace("MORE", BALL if touches else ""))
        return path

    return write


def run(path, torque, **settings):
    return simulate(path, 1.0, inputs={"hinge": torque}, log_rate=100, velocity_limits="clamp", warn=print, **settings)


@pytest.mark.parametrize("approximation", ["lagged", "similar", "sap", "tamsi"])
@pytest.mark.parametrize("touches", [False, True])
def test_steps_end_at_the_limit(wheel, approximation, touches):
    for sign in (1.0, -1.0):
        log = run(wheel(touches=touches), sign * 6.0, contact_approximation=approximation)
        hinge = load_model(wheel(touches=touches)).plant.GetVelocityNames().index("m_hinge_w")
        v, t = sign * log.field("state/v")[:, hinge], log.field("time")
        np.testing.assert_allclose(v, np.minimum(10.0 * t, LIMIT), atol=1e-4)
        (fast,) = log.summary.velocities_beyond
        assert (fast.limit, fast.time) == (sign * LIMIT, pytest.approx(0.7, abs=0.011))


def test_a_joint_that_is_too_fast_has_the_limit_after_a_step(wheel):
    told = []
    log = simulate(wheel(), 0.002, start={"hinge_w": 40.0}, log_rate=1000, velocity_limits="clamp", warn=told.append)
    give = NEARLY_RIGID / (1.0 + NEARLY_RIGID) * 37.0
    np.testing.assert_allclose(log.field("state/v")[1:, 0], LIMIT, atol=1.1 * give)


def test_a_continuous_plant_has_brakes_whose_slip_is_the_load(wheel):
    log = run(wheel(), 6.0, dt=0.0, accuracy=1e-6, balance=True)
    v = log.field("state/v")[-1, 0]
    assert v == pytest.approx(LIMIT + 10.0 * BRAKING_TIME, rel=1e-5)
    balance = log.summary.balance
    assert balance["limits"] == pytest.approx(-6.0 * LIMIT * 0.7, rel=1e-2)
    assert abs(balance["rest"]) < 1e-4 * balance["flow"]


def test_the_work_of_limits_is_that_of_the_motor_beyond(wheel):
    balance = run(wheel(), 6.0, balance=True).summary.balance
    assert balance["limits"] == pytest.approx(-(balance["actuators"] - 0.5 * INERTIA * LIMIT**2), rel=1e-4)


@pytest.mark.parametrize("choice", ["warn", "ignore"])
def test_other_runs_go_beyond_and_say_so(wheel, choice):
    told = []
    log = simulate(wheel(), 1.0, inputs={"hinge": 6.0}, velocity_limits=choice, warn=told.append)
    assert log.field("state/v")[-1, 0] == pytest.approx(10.0)
    words = (
        'joints were faster than their velocity limits (velocity_limits="clamp" holds them there): m_hinge_w (10 where'
    )
    assert [line.startswith(words) for line in told] == ([True] if choice == "warn" else [])
    assert len(log.summary.velocities_beyond) == (choice == "warn")


def test_limits_act_in_one_run_alone_and_zero_is_none(wheel):
    loaded = load_model(wheel())
    assert [(e.d, e.lower, e.upper) for e in stated_velocity_limits(loaded.plant)] == [(0, -LIMIT, LIMIT)]
    before = loaded.plant.model
    simulate(loaded, 0.01, velocity_limits="clamp")
    assert loaded.plant.velocity_limits == () and len(loaded.plant.model.limit_dof) == len(before.limit_dof) == 0
    assert stated_velocity_limits(load_model(wheel(0)).plant) == []


def test_the_command_holds_and_reports(wheel):
    words = ("simulate", wheel(), "-t", 0.5, "--u", "hinge=60", "--no-log", "--json", "--velocity-limits")
    held, told = succeed(*words, "clamp"), succeed(*words, "warn")
    assert "joints were held at their velocity limits: m_hinge_w (3 where the limit is 3" in held.err
    assert "--velocity-limits clamp holds them there): m_hinge_w (50 where the limit is 3" in told.err
    assert json.loads(held.out)["velocities_beyond"][0]["velocity"] == "m_hinge_w"
    assert held.json()["v"][0] == pytest.approx(LIMIT, abs=1e-2) and told.json()["v"][0] == pytest.approx(50.0)
    assert succeed(*words, "ignore").err == ""


def test_many_worlds_are_held_too(wheel, tmp_path):
    (tmp_path / "starts.csv").write_text("hinge_q,hinge_w\n0,0\n0,2\n0,30\n")
    words = ("simulate", wheel(), "--states", tmp_path / "starts.csv", "--each", "-t", 0.05)
    words += ("--u", "hinge=6")
    for choice in ("clamp", "ignore"):
        succeed(*words, "-o", tmp_path / f"{choice}.h5", "--velocity-limits", choice)
    with WorldsLog(tmp_path / "clamp.h5") as held, WorldsLog(tmp_path / "ignore.h5") as free:
        np.testing.assert_allclose(held.v[:, -1, 0], [0.5, 2.5, LIMIT], atol=1e-4)
        np.testing.assert_allclose(free.v[:, -1, 0], [0.5, 2.5, 30.5], atol=1e-9)

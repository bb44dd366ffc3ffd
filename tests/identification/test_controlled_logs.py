"""Logs of runs under PD controllers: efforts are those that acted, not what the controllers were fed forward."""

import json

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.errors import ModelError
from mbcli.identification.records import read_record
from mbcli.log import open_log
from mbcli.models import load_model
from mbcli.simulation import simulate
from mbcli.simulation.control import Follow

ARM = SAMPLES / "arm7.urdf"
SERVO = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.5 0 0"/>
<body pos="1 0 0"><joint name="k" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.5 0 0"/></body></body></worldbody>
<actuator><position name="p" joint="j" kp="20" kv="2"/><motor name="m" joint="k" gear="3"/>
<general name="g" joint="k" dyntype="none" gainprm="2" biastype="affine" biasprm="0 0 0" forcerange="-1 3"/></actuator>
</mujoco>"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    times = np.linspace(0.0, 1.0, 101)
    q = 0.3 * np.sin(np.outer(times, 3.0 + np.arange(7)))
    names = ",".join(["time", *(f"joint_{k}" for k in range(1, 8))])
    path = tmp_path_factory.mktemp("plan") / "plan.csv"
    np.savetxt(path, np.column_stack([times, q]), delimiter=",", header=names, comments="")
    return path


@pytest.mark.parametrize("way", ["computed-torque", "pd", "prescribed"])
def test_efforts_of_a_followed_motion_are_those_that_move_the_model(way, plan, tmp_path):
    """M vdot + C v - tau_g + damping = tau: a plant without the controllers needs them."""
    simulate(ARM, 1.0, trajectory=Follow(str(plan), way), log=tmp_path / "run.h5", contact=False, log_rate=0.0)
    plant = load_model(ARM, contact=False).plant
    record = read_record(str(tmp_path / "run.h5"), plant)
    succeed("log", "export", tmp_path / "run.h5", "-o", tmp_path / "run.csv")
    np.testing.assert_allclose(read_record(str(tmp_path / "run.csv"), plant).tau, record.tau, rtol=1e-12)
    with open_log(tmp_path / "run.h5") as log:
        q, v, times = log.q, log.v, log.times
    context, wanted = plant.CreateDefaultContext(), []
    for k in (200, 500, 800):
        plant.SetPositions(context, q[k])
        plant.SetVelocities(context, v[k])
        vdot = (v[k + 5] - v[k - 5]) / (times[k + 5] - times[k - 5])
        wanted.append(plant.CalcRequiredForces(context, vdot))
    found = record.tau[[200, 500, 800]]
    assert np.abs(found - wanted).max() < 0.02 * np.abs(wanted).max()


def test_a_log_without_these_efforts_is_refused(plan, tmp_path):
    simulate(ARM, 0.6, trajectory=Follow(str(plan), "pd"), log=tmp_path / "run.h5", contact=False, fields="u")
    plant = load_model(ARM, contact=False).plant
    with pytest.raises(ModelError, match=r"controllers acted in the run \(motor_1, .*does not have their efforts"):
        read_record(str(tmp_path / "run.h5"), plant)
    loads = cli("loads", tmp_path / "run.h5")
    assert loads.code == 3 and "does not have their efforts" in loads.err
    assert len(read_record(str(tmp_path / "run.h5"), plant, torques=False).time) == 61


def accelerations(model, states):
    rows = succeed("forward-dynamics", model, "--states", states).out.splitlines()
    return np.array([json.loads(row)["vdot"] for row in rows])


def test_forward_dynamics_of_a_log_are_those_of_the_run(tmp_path):
    """The arm stays where it is held; a servo of MJCF and a transmission beside it accelerate as they did."""
    simulate(ARM, 0.05, hold=True, log=tmp_path / "held.h5", contact=False)
    assert np.abs(accelerations(ARM, tmp_path / "held.h5")).max() < 1e-9
    (tmp_path / "servo.xml").write_text(SERVO)
    run = {"inputs": {"p": 0.3, "g": 2.0}, "contact": False, "log": tmp_path / "servo.h5", "log_rate": 0.0}
    with simulate(tmp_path / "servo.xml", 0.02, **run) as log:
        wanted = np.diff(log.v, axis=0)[8] / np.diff(log.times)[8]
    found = accelerations(tmp_path / "servo.xml", tmp_path / "servo.h5")
    np.testing.assert_allclose(found[8], wanted, rtol=0.02)
    succeed("log", "export", tmp_path / "servo.h5", "-o", tmp_path / "servo.csv")
    np.testing.assert_allclose(accelerations(tmp_path / "servo.xml", tmp_path / "servo.csv"), found, rtol=1e-12)
    simulate(ARM, 0.02, hold=True, log=tmp_path / "less.h5", contact=False, fields="u")
    refused = cli("forward-dynamics", ARM, "--states", tmp_path / "less.h5")
    assert refused.code == 3 and "does not have their efforts" in refused.err
    succeed("mass-matrix", ARM, "--states", tmp_path / "less.h5")
    alone = cli("forward-dynamics", tmp_path / "servo.xml", "--u", "p=0.3")
    assert "forward-dynamics is without the controllers of actuators: p; --u is their whole effort" in alone.err

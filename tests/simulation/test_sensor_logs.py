"""Sensors of a run: in its log, at their rates, with noise that the seed gives, and without effect on the motion."""

import json

import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.errors import ModelError
from mbcli.log import open_log
from mbcli.log.worlds import WorldsLog
from mbcli.simulation import resume, simulate

ARM = """<sdf version="1.9"><model name="arm"><link name="rod"><pose>0 0 -0.5 0 0 0</pose>
<sensor name="imu" type="imu"><update_rate>40</update_rate><imu><angular_velocity><y><noise type="gaussian">
<stddev>0.01</stddev><bias_mean>0.2</bias_mean><dynamic_bias_stddev>0.05</dynamic_bias_stddev>
<dynamic_bias_correlation_time>0.5</dynamic_bias_correlation_time></noise></y></angular_velocity></imu></sensor>
<sensor name="height" type="altimeter"/></link>
<joint name="hinge" type="revolute"><parent>world</parent><child>rod</child><pose relative_to="__model__"/>
<axis><xyz>0 1 0</xyz></axis><sensor name="ft" type="force_torque"/></joint></model></sdf>"""
RUN = {"start": {"hinge": 1.0}, "contact": False}


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "arm.sdf").write_text(ARM)
    return tmp_path / "arm.sdf"


def test_a_log_has_a_dataset_a_sensor_with_units_and_columns(arm, tmp_path):
    log = simulate(arm, 0.2, log=tmp_path / "run.h5", **RUN)
    assert {path for path in log.fields() if path.startswith("sensors/")} == {
        "sensors/imu",
        "sensors/height",
        "sensors/ft",
    }
    assert log.field("sensors/imu").shape == (21, 10)
    assert log.units["sensors/ft"] == ("N",) * 3 + ("N m",) * 3
    assert log.units["sensors/height"] == ("m", "m s-1")
    assert "sensors/imu" in json.loads(cli("log", "info", tmp_path / "run.h5", "--json").out)["fields"][-1]["path"]
    assert "imu:angular_velocity_y" in cli("log", "show", tmp_path / "run.h5").out
    cli("log", "export", tmp_path / "run.h5", "--to", "csv", "-o", tmp_path / "run.csv")
    assert "ft:force_z" in (tmp_path / "run.csv").read_text().splitlines()[0]


@pytest.mark.parametrize("dt", [1e-3, 0.0])
def test_sensors_change_no_bit_of_the_motion(arm, dt):
    with_sensors, without = (simulate(arm, 0.3, dt=dt, fields=fields, **RUN) for fields in ("sensors", "energy"))
    for name in ("times", "q", "v"):
        assert (getattr(with_sensors, name) == getattr(without, name)).all()


def test_accelerations_of_rows_are_the_slopes_of_velocities(arm):
    """In a discrete plant exactly those of the step from the row, in its middle, the last row among them."""
    log = simulate(arm, 0.1, log_rate=0.0, sensor_noise=False, **RUN)
    longer = simulate(arm, 0.101, log_rate=0.0, **RUN)
    wdot = np.diff(longer.v[:, 0]) / 1e-3
    angle, speed = log.q[:, 0] + 0.5e-3 * log.v[:, 0], log.v[:, 0] + 0.5e-3 * wdot
    # the mass of 1 kg and the inertia of 1 kg m^2 of a link without <inertial>
    force = log.field("sensors/ft")[:, :3]
    across, along = -0.5 * wdot - 9.81 * np.sin(angle), 0.5 * speed**2 + 9.81 * np.cos(angle)
    expected = np.column_stack([-across, 0 * angle, -along])
    np.testing.assert_allclose(force, expected, atol=1e-9)


def test_a_value_is_held_until_the_next_update(arm):
    imu = simulate(arm, 0.5, log_rate=1000.0, sensor_noise=False, **RUN).field("sensors/imu")
    new = np.flatnonzero(np.abs(np.diff(imu, axis=0)).max(axis=1)) + 1
    assert new.tolist() == list(range(25, 501, 25))


def test_noise_follows_from_the_seed_and_can_be_left_away(arm):
    first, again, other, none = (
        simulate(arm, 0.5, **RUN, **given).field("sensors/imu")
        for given in ({"seed": 3}, {"seed": 3}, {"seed": 4}, {"sensor_noise": False})
    )
    assert (first == again).all()
    assert (first[:, 5] != other[:, 5]).all()
    assert (np.delete(first, 5, axis=1) == np.delete(none, 5, axis=1)).all()
    added = (first - none)[:, 5]
    assert abs(abs(added[0]) - 0.2) < 0.05
    assert added.std() > 0.005


def test_a_run_that_goes_on_has_the_rows_of_one_without_a_break(arm, tmp_path):
    whole = simulate(arm, 0.6, log=tmp_path / "whole.h5", **RUN)
    simulate(arm, 0.23, log=tmp_path / "part.h5", **RUN)
    gone_on = resume(tmp_path / "part.h5", until=0.6)
    for path in ("sensors/imu", "sensors/height", "sensors/ft"):
        assert (whole.field(path) == gone_on.field(path)).all(), path


LATE = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0"/>
<geom type="sphere" size=".05" pos=".3 0 0" mass="1"/><site name="s"/></body></worldbody><sensor>
<jointpos name="p" joint="j" nsample="20" delay="0.03"/>
<jointvel name="w" joint="j" noise="0.01" nsample="20" interval="0.05 0" delay="0.02"/>{more}</sensor></mujoco>"""


@pytest.mark.parametrize("cut", [0.2, 0.213])  # at a sample; between two
def test_late_sensors_go_on_with_what_was_measured_before_the_break(tmp_path, cut):
    (tmp_path / "late.xml").write_text(LATE.format(more=""))
    whole = simulate(tmp_path / "late.xml", 0.4, log=tmp_path / "whole.h5", seed=3)
    simulate(tmp_path / "late.xml", cut, log=tmp_path / "part.h5", seed=3)
    gone_on = resume(tmp_path / "part.h5", until=0.4)
    for path in ("sensors/p", "sensors/w"):
        np.testing.assert_array_equal(gone_on.field(path), whole.field(path))
    assert (whole.field("sensors/p")[5:] == whole.q[2:-3, 0]).all()  # by 30 ms


@pytest.mark.parametrize("cut", ["0.2", "0.213"])
def test_late_and_noisy_sensors_of_worlds_go_on_too(tmp_path, cut):
    (tmp_path / "late.xml").write_text(LATE.format(more=""))
    (tmp_path / "starts.csv").write_text("j_q,j_w\n0.1,0\n-0.2,0.5\n")
    common = (
        tmp_path / "late.xml",
        "--states",
        tmp_path / "starts.csv",
        "--each",
        "--fields",
        "sensors",
        "--seed",
        "3",
    )
    succeed("-q", "simulate", *common, "-t", "0.4", "-o", tmp_path / "whole.h5")
    succeed("-q", "simulate", *common, "-t", cut, "-o", tmp_path / "part.h5")
    succeed("-q", "simulate", "--resume", tmp_path / "part.h5", "-t", "0.4", "-o", tmp_path / "gone_on.h5")
    with WorldsLog(tmp_path / "whole.h5") as whole, WorldsLog(tmp_path / "gone_on.h5") as gone_on:
        for k in range(2):
            for path in ("sensors/p", "sensors/w"):
                own, other = gone_on.world(k).field(path), whole.world(k).field(path)
                assert len(own) == 41
                np.testing.assert_array_equal(own, other)


def test_a_late_sensor_of_what_rows_do_not_have_ends_no_run_that_goes_on_in_silence(tmp_path):
    more = '<accelerometer name="a" site="s" nsample="20" delay="0.03"/>'
    (tmp_path / "late.xml").write_text(LATE.format(more=more))
    simulate(tmp_path / "late.xml", 0.05, log=tmp_path / "part.h5")
    with pytest.raises(
        ModelError, match=r"sensor 'a' is late by 0\.03 s, and rows of a log do not have the acceleration"
    ):
        resume(tmp_path / "part.h5", until=0.1)


def test_the_command_turns_noise_off_and_inspect_lists_sensors(arm, tmp_path):
    for word in ("on", "off"):
        cli("simulate", arm, "-t", "0.1", "--no-contact", "--sensor-noise", word, "-o", tmp_path / f"{word}.h5")
    with open_log(tmp_path / "on.h5") as on, open_log(tmp_path / "off.h5") as off:
        assert not off.field("sensors/imu")[0, 4:7].any()
        assert on.field("sensors/imu")[0, 5] != 0.0
    assert "sensor imu (imu) on rod" in cli("inspect", arm).out
    sensors = json.loads(cli("inspect", arm, "--json").out)["sensors"]
    assert [sensor["dataset"] for sensor in sensors] == ["sensors/imu", "sensors/height", "sensors/ft"]
    assert sensors[0]["update_rate"] == 40.0
    assert sensors[0]["has_noise"]
    assert cli("log", "diff", tmp_path / "on.h5", tmp_path / "off.h5").code == 1


SERVO = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0 0 -1"/></body></worldbody>
<actuator><position name="servo" joint="hinge" kp="40" kv="2" gear="2" forcerange="-30 30"/></actuator>
<sensor><actuatorfrc name="force" actuator="servo"/><jointactuatorfrc name="torque" joint="hinge"/></sensor></mujoco>"""


def test_sensors_of_actuators_give_the_efforts_of_the_steps(tmp_path):
    """Those of controllers too, which aim elsewhere in each step."""
    (tmp_path / "servo.xml").write_text(SERVO)
    log = simulate(
        tmp_path / "servo.xml", 0.1, controller=lambda time, q, v: {"servo.target": 10.0 * time}, log_rate=0.0
    )
    effort = log.field("derived/effort")[:, 0]
    assert np.ptp(effort) > 1.0
    np.testing.assert_array_equal(log.field("sensors/torque"), effort)
    np.testing.assert_allclose(log.field("sensors/force"), effort / 2.0, rtol=1e-15)

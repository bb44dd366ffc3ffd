"""Inputs end at the effort limits of actuators, and what is beyond them is told with its size and time."""

import numpy as np
import pytest
from command_line import hinge, one_robot, succeed

from mbcli.simulation import simulate

MOTOR = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j1"/>
<actuator name="motor"/></transmission>"""
LIMIT = 2.0  # [N m]


@pytest.fixture
def arm(tmp_path):
    """A file of an arm whose motor gives 2 N m."""
    text = one_robot(["base", "arm"], hinge("j1", "base", "arm", effort=LIMIT))
    path = tmp_path / "arm.urdf"
    path.write_text(text.replace("</robot>", MOTOR + "</robot>"))
    return path


def run(arm, inputs, **options):
    return simulate(str(arm), 0.2, inputs=inputs, weld="base", contact=False, log_rate=1000.0, **options)


def test_ten_times_the_limit_moves_as_the_limit(arm):
    at_limit, beyond = (run(arm, [factor * LIMIT], warn=lambda line: None) for factor in (1.0, 10.0))
    np.testing.assert_array_equal(at_limit.q, beyond.q)
    assert not np.array_equal(beyond.q, run(arm, [10 * LIMIT], effort_limits="ignore").q)
    np.testing.assert_array_equal(beyond.field("input/u"), np.full_like(beyond.field("input/u"), LIMIT))


def test_time_and_size_count_within_the_run_alone(arm, tmp_path):
    table = tmp_path / "u.csv"
    table.write_text("time,motor\n-1,-50\n0.05,1\n0.1,-7\n0.15,9\n5,100\n")
    summary = succeed(
        "simulate", arm, "--weld-base", "--no-contact", "-t", 0.2, "--no-log", "--json", "--input", table
    ).json()
    (beyond,) = summary["efforts_beyond"]
    assert beyond["most"] == -50 and beyond["limit"] == LIMIT
    assert beyond["time"] == pytest.approx(0.15)


@pytest.mark.parametrize("dt", [1e-3, 0.0])
def test_many_worlds_and_continuous_plants_end_there_too(arm, tmp_path, dt):
    if dt:
        (tmp_path / "starts.csv").write_text("j1_q,j1_w\n0,0\n0.1,0\n")
        words = ("--states", tmp_path / "starts.csv", "--each")
        result = succeed(
            "simulate", arm, "--weld-base", "--no-contact", "-t", 0.05, "--u", "motor=-30", *words, "--no-log", "--json"
        )
        assert "motor (-30 where the limit is 2" in result.err
        return
    told = []
    log = run(arm, {"motor": -30.0}, dt=dt, warn=told.append)
    assert log.field("input/u").min() == -LIMIT
    assert any("motor (-30 where the limit is 2, 0.2 s)" in line for line in told)


def test_another_word_is_an_error(arm):
    with pytest.raises(ValueError, match="effort_limits is 'clamp', 'warn' or 'ignore', not 'clip'"):
        run(arm, [1.0], effort_limits="clip")


@pytest.mark.peers("mujoco")
def test_mujoco_gives_no_more_either(tmp_path):
    import mujoco

    text = """<mujoco><option integrator="implicitfast"/><worldbody><body><joint name="j" axis="0 1 0"
      actuatorfrcrange="-2 2" actuatorfrclimited="true"/><geom type="box" size=".1 .1 .1" pos=".3 0 0" mass="1"/></body>
      </worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>"""
    path = tmp_path / "arm.xml"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.ctrl[0] = 20.0
    mujoco.mj_step(model, data)
    log = simulate(str(path), 0.01, inputs=[20.0], contact=False, log_rate=0.0, warn=lambda line: None)
    assert log.field("input/u")[-1].tolist() == data.qfrc_actuator.tolist() == [2.0]


@pytest.mark.peers("pydrake", "mujoco")
def test_trajectories_under_ten_times_the_limit_are_those_of_pydrake_and_mujoco(tmp_path):
    import mujoco
    import pydrake.all as drake

    h, count = 1e-3, 500
    path = tmp_path / "arm.xml"
    path.write_text("""<mujoco model="arm"><option integrator="Euler" timestep="0.001"/><worldbody>
      <body><joint name="a" axis="0 1 0"/>
      <inertial pos=".3 0 .05" mass="1" diaginertia=".02 .03 .04"/><body pos=".6 0 0"><joint name="b" axis="0 1 0"/>
      <inertial pos=".2 0 0" mass=".5" diaginertia=".01 .02 .02"/></body></body></worldbody>
      <actuator><motor name="ma" joint="a" forcerange="-2 2"/><motor name="mb" joint="b" forcerange="-1 1"/></actuator>
      </mujoco>""")
    inputs = [20.0, -10.0]
    options = {"contact": False, "log_rate": 0.0, "overrides": ["plant_config.step_scheme=drake"]}
    log = simulate(str(path), h * count, dt=h, inputs=inputs, warn=lambda line: None, **options)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.ctrl[:] = inputs
    mujoco.mj_step(model, data, count)
    np.testing.assert_allclose(log.q[-1], data.qpos, atol=1e-9)
    np.testing.assert_allclose(log.v[-1], data.qvel, atol=1e-9)
    plant = drake.MultibodyPlant(h)
    drake.Parser(plant).AddModels(str(path))
    for name, limit in (("ma", 2.0), ("mb", 1.0)):
        plant.GetJointActuatorByName(name).set_effort_limit(limit)
    plant.Finalize()
    simulator = drake.Simulator(plant)
    plant.get_actuation_input_port().FixValue(simulator.get_mutable_context(), inputs)
    simulator.AdvanceTo(h * count)
    found = plant.GetPositionsAndVelocities(simulator.get_context())
    np.testing.assert_allclose([*log.q[-1], *log.v[-1]], found, atol=1e-9)

"""Limits of actuators that are not the same both ways act, each of them, as in MuJoCo."""

import numpy as np
import pytest
from test_convert import convert_and_prove, load, motion_losses

from mbcli.models.loading import load_model
from mbcli.simulation.running import simulate, simulate_each

ARM = """<mujoco><option timestep="{h}" integrator="implicitfast"><flag contact="disable" gravity="disable"/></option>
<worldbody><body><joint name="j" axis="0 1 0" {joint}/><geom size=".1" mass="1" pos=".2 0 0"/>
<body pos=".4 0 0"><joint name="k" axis="0 1 0" damping=".3"/><geom size=".1" mass="1" pos=".2 0 0"/></body></body>
</worldbody><actuator>{actuators}</actuator></mujoco>"""
CASES = {
    "the force of a motor": ("", '<motor name="m" joint="j" forcerange="-1 3"/>'),
    "the force of a motor with a negative gear": ("", '<motor name="m" joint="j" gear="-2" forcerange="-1 3"/>'),
    "the control of a motor": ("", '<motor name="m" joint="j" gear="3" ctrlrange="-.2 .5"/>'),
    "the control of a motor that only pulls": ("", '<motor name="m" joint="j" gear="3" ctrlrange="0 1"/>'),
    "a joint": ('actuatorfrcrange="-1 3"', '<motor name="m" joint="j" gear="2"/>'),
    "a joint with inertia": ('actuatorfrcrange="-1 3"', '<motor name="m" joint="j" armature=".1" damping=".4"/>'),
    "a joint with two motors": ('actuatorfrcrange="-2 1"', '<motor joint="j"/><motor joint="j" gear="-2"/>'),
    "a joint with a servo": ('actuatorfrcrange="-1 3"', '<position name="m" joint="j" kp="30" kv="1"/>'),
    "a servo": ("", '<position name="m" joint="j" kp="30" kv="1" forcerange="-1 2" ctrlrange="-1 1"/>'),
    "a servo of a rate": ("", '<velocity name="m" joint="j" kv="3" forcerange="-2 1"/>'),
}


def quiet(line):
    """Inputs beyond a range are cut there, which is said."""


def path_of(tmp_path, kind, h=0.002):
    path = tmp_path / "arm.xml"
    joint, actuators = CASES[kind]
    path.write_text(ARM.format(h=h, joint=joint, actuators=actuators))
    return str(path)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", CASES)
def test_forces_within_both_limits_are_those_of_mujoco(kind, tmp_path):
    import mujoco

    path = path_of(tmp_path, kind)
    model, plant = mujoco.MjModel.from_xml_path(path), load_model(path, contact=False).plant
    data, rng, context = mujoco.MjData(model), np.random.default_rng(1), plant.CreateDefaultContext()
    for _ in range(40):
        data.qpos[:], data.qvel[:] = rng.normal(size=2), rng.normal(size=2)
        data.ctrl[:] = 4.0 * rng.normal(size=model.nu)
        mujoco.mj_forward(model, data)
        plant.SetPositions(context, data.qpos)
        plant.SetVelocities(context, data.qvel)
        plant.transmissions_at(context, data.ctrl)
        np.testing.assert_allclose(context.state.data.tau, data.qfrc_actuator, atol=1e-12)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", CASES)
def test_runs_and_worlds_have_both_limits_as_mujoco(kind, tmp_path):
    import mujoco

    h, apart = 0.002, []
    for sign in (1.0, -1.0):
        path = path_of(tmp_path, kind, h)
        model = mujoco.MjModel.from_xml_path(path)
        data = mujoco.MjData(model)
        data.ctrl[:] = 2.0 * sign
        mujoco.mj_step(model, data, 150)
        robot, u = load_model(path, contact=False, dt=h), [2.0 * sign] * model.nu
        log = simulate(robot, 0.3, inputs=u, warn=quiet)
        worlds = simulate_each(robot, {"j": [0.0, 0.5]}, 0.3, inputs=u, log=tmp_path / "all.h5", force=True, warn=quiet)
        np.testing.assert_array_equal(worlds.q[0], log.q)
        np.testing.assert_array_equal(worlds.q[1], simulate(robot, 0.3, inputs=u, start={"j": 0.5}, warn=quiet).q)
        apart.append(np.abs(np.asarray(log.q)[-1] - data.qpos).max())
    assert max(apart) < 2e-2


def test_the_energy_balance_of_a_motor_is_that_of_its_limited_force(tmp_path):
    path = path_of(tmp_path, "the force of a motor")
    robot = load_model(path, contact=False, dt=1e-3)
    log = simulate(robot, 0.5, inputs=[-4.0], fields="q,v,effort", balance=True)
    turned = float(np.asarray(log.q)[-1, 0])
    assert np.asarray(log["m_effort"])[1:] == pytest.approx(-1.0)
    assert log.summary.balance["actuators"] == pytest.approx(-turned, rel=1e-6)


@pytest.mark.parametrize("kind", CASES)
def test_they_are_written_and_read_back(kind):
    joint, actuators = CASES[kind]
    conversion = convert_and_prove(*load(ARM.format(h=0.002, joint=joint, actuators=actuators), "mjcf"), "mjcf")
    assert not motion_losses(conversion)


@pytest.mark.parametrize("target", ["urdf", "sdf"])
@pytest.mark.parametrize("kind", ["the force of a motor", "the control of a motor", "a joint", "a servo"])
def test_formats_with_one_limit_get_the_larger_and_say_so(kind, target):
    joint, actuators = CASES[kind]
    conversion = convert_and_prove(*load(ARM.format(h=0.002, joint=joint, actuators=actuators), "mjcf"), target)
    assert "ACTUATOR" in motion_losses(conversion)
    limits = {"the force of a motor": 3.0, "the control of a motor": 1.5, "a joint": 3.0, "a servo": 2.0}
    assert str(limits[kind]).encode().removesuffix(b".0") in conversion.text

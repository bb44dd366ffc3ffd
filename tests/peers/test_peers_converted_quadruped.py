"""A quadruped that `mbcli convert` wrote for MuJoCo stands there as it does here, with the same gains."""

import numpy as np
import pytest
from command_line import SAMPLES, cli

from mbcli.models.loading import load_model
from mbcli.simulation import simulate

pytestmark = pytest.mark.peers("mujoco")

KP, KD = 120.0, 4.0
POSE = {"hip_roll": 0.0, "hip_pitch": 0.7, "knee": -1.4}
DURATION = 2.0


def stance(name):
    return next((angle for ending, angle in POSE.items() if name.endswith(ending)), None)


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    output = tmp_path_factory.mktemp("quadruped") / "quadruped.xml"
    gains = ("--actuators", "position", "--kp", str(KP), "--kd", str(KD))
    done = cli("convert", str(SAMPLES / "quadruped.urdf"), "-o", str(output), "--floor", *gains, "--json")
    assert done.code == 0 and '"mujoco ' in done.out
    return output


def test_it_stands_in_mujoco_as_here(converted):
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(converted))
    # its friction creeps by default: feet drift apart, by 0.013 rad of hip roll in 2 s
    model.opt.cone, model.opt.noslip_iterations = int(mujoco.mjtCone.mjCONE_ELLIPTIC), 20
    data = mujoco.MjData(model)
    data.qpos[2] = 0.36
    for k in range(model.nu):
        joint = model.actuator_trnid[k][0]
        data.qpos[model.jnt_qposadr[joint]] = data.ctrl[k] = stance(model.joint(joint).name)
    for _ in range(round(DURATION / model.opt.timestep)):
        mujoco.mj_step(model, data)
    there = {model.joint(k).name: data.qpos[model.jnt_qposadr[k]] for k in range(1, model.njnt)}

    plant = load_model(SAMPLES / "quadruped.urdf").plant
    joints = [name.removeprefix("quadruped_") for name in plant.GetPositionNames()]
    start = {name.removesuffix("_q"): stance(name.removesuffix("_q")) for name in joints if name.endswith("_q")}
    log = simulate(
        SAMPLES / "quadruped.urdf",
        DURATION,
        dt=2e-3,
        ground=0.0,
        hold=True,
        kp=KP,
        kd=KD,
        start={**start, "trunk_z": 0.36},
    )
    here = dict(zip(log.position_names, log.q[-1], strict=True))
    height = next(value for name, value in here.items() if name.endswith("trunk_z"))
    assert 0.25 < height < 0.4 and abs(data.xpos[1][2] - height) < 2e-3
    assert data.xmat[1].reshape(3, 3)[2, 2] > 0.999  # upright
    for name, angle in there.items():
        (own,) = (value for key, value in here.items() if key.endswith(f"{name}_q"))
        assert abs(angle - own) < 1e-3, name
    assert np.abs(data.qvel).max() < 1e-2

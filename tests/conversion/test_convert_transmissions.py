"""Actuators that act through tendons, sites and cranks, written as MJCF: the forces stay, also for MuJoCo."""

import numpy as np
import pytest
from test_convert import PACKAGES, convert_and_prove, load, motion_losses
from test_convert_mjcf import damaged
from test_mjcf_actuators_peers import ACTUATORS, MODEL, SUMS, TOGETHER

from benchmarks.mjcf_actuators import compare
from mbcli.conversion.conversion_proof import prove
from mbcli.models.loading import load_model


@pytest.mark.parametrize("kind", ACTUATORS)
def test_every_kind_is_written_and_read_back_as_the_same_actuator(kind):
    conversion = convert_and_prove(*load(MODEL.replace("ACTUATOR", ACTUATORS[kind]), "mjcf"), "mjcf")
    assert not motion_losses(conversion)
    again = convert_and_prove(*load(conversion.text.decode(), "mjcf"), "mjcf")
    assert again.text.split(b"\n")[3:] == conversion.text.split(b"\n")[3:]  # but for the comment


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", ACTUATORS)
def test_forces_of_written_actuators_are_those_of_the_original_in_mujoco(kind, tmp_path):
    import mujoco

    path = tmp_path / "written.xml"
    text = MODEL.replace("ACTUATOR", ACTUATORS[kind])
    path.write_bytes(convert_and_prove(*load(text, "mjcf"), "mjcf").text)
    models = [mujoco.MjModel.from_xml_string(text), mujoco.MjModel.from_xml_path(str(path))]
    rng = np.random.default_rng(5)
    for _ in range(5):
        forces = []
        state = [rng.normal(size=getattr(models[0], n)) for n in ("nq", "nv", "nu")]
        activation = rng.uniform(size=models[0].na)
        for model in models:
            data = mujoco.MjData(model)
            data.qpos[:], data.qvel[:], data.ctrl[:] = state
            data.act[:] = activation
            mujoco.mj_normalizeQuat(model, data.qpos)
            mujoco.mj_forward(model, data)
            forces.append(data.qfrc_actuator.copy())
        assert forces[1] == pytest.approx(forces[0], rel=1e-9, abs=1e-9 * (1.0 + np.abs(forces[0]).max()))
    plant = load_model(str(path), contact=False, dt=models[1].opt.timestep).plant
    acting, differences = compare(mujoco, models[1], plant)
    assert acting == [True] and max(differences) < 1e-8


DAMAGE = {
    "another gear": (b'gear="2"', b'gear="2.001"'),
    "another gain": (b'gainprm="1"', b'gainprm="1.001"'),
    "another radius": (b'size="0.03 0.03"', b'size="0.031 0.03"'),
    "another divisor": (b'divisor="3"', b'divisor="2"'),
    "without its side": (b' sidesite="side"', b""),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_the_proof_finds_a_damaged_actuator(kind):
    text = MODEL.replace("ACTUATOR", ACTUATORS["around a cylinder at a side, and pulleys"])
    model, plant = load(text, "mjcf")
    conversion = convert_and_prove(model, plant, "mjcf")
    assert not prove(plant, conversion, PACKAGES).faults()
    assert prove(plant, damaged(conversion, *DAMAGE[kind]), PACKAGES).faults()


def test_actuators_through_one_tendon_share_it():
    both = ACTUATORS["a cylinder"] + '<motor name="n" tendon="t" gear="2"/><motor name="o" tendon="s"/>'
    text = convert_and_prove(*load(MODEL.replace("ACTUATOR", both), "mjcf"), "mjcf").text
    assert text.count(b"<fixed ") == 1 and text.count(b"<spatial ") == 1


@pytest.mark.parametrize("kind", TOGETHER)
def test_limits_of_sums_are_written(kind):
    model, plant = load(SUMS.format(TOGETHER[kind]), "mjcf")
    conversion = convert_and_prove(model, plant, "mjcf")
    assert not motion_losses(conversion)
    again, _ = load(conversion.text.decode(), "mjcf")
    limits = [[a.law.together for a in each.transmission_actuators] for each in (model, again)]
    np.testing.assert_allclose(limits[1], limits[0])


@pytest.mark.parametrize("target", ["urdf", "sdf"])
def test_other_formats_name_what_they_leave_out(target):
    model = MODEL.replace('<body pos=".3 0 0"><joint name="j3" type="ball"/>', '<body pos=".3 0 0">')
    model, plant = load(model.replace("ACTUATOR", ACTUATORS["a servo on a fixed tendon"]), "mjcf")
    assert "ACTUATOR" in motion_losses(convert_and_prove(model, plant, target))

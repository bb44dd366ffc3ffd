"""Long chains: what MuJoCo does not read is refused first, and the proof takes time in proportion."""

import os

import numpy as np
import pytest
from command_line import cli
from random_trees import random_plant

from mbcli.conversion.plant_comparison import inertias_outboard

MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def chain(n):
    links = "".join(f'<link name="l{k}">{MASS}</link>' for k in range(n))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/></joint>'
        for k in range(1, n)
    )
    return f'<robot name="r">{links}{joints}</robot>'


@pytest.mark.parametrize("command", ["convert", "convert --bundle"])
def test_a_chain_that_mujoco_does_not_read_is_refused_before_the_proof(tmp_path, monkeypatch, command):
    monkeypatch.setattr("mbcli.conversion.convert_model.prove", lambda *args, **options: pytest.fail("it is proved"))
    (tmp_path / "r.urdf").write_text(chain(500))
    result = cli(*command.split(), tmp_path / "r.urdf", "--to", "mjcf", "-o", tmp_path / "r.xml")
    assert result.code == 3
    assert "r.urdf:1:" in result.err and "link 'l496' hangs on 496 others" in result.err
    assert "MuJoCo reads no MJCF file with more than 496 bodies in each other" in result.err
    assert os.listdir(tmp_path) == ["r.urdf"]


@pytest.mark.peers("mujoco")
def test_the_longest_chain_is_that_of_mujoco():
    import mujoco

    for n in (496, 497):
        body = "<body><joint/><geom size='.1'/>" * n + "</body>" * n
        if n == 496:
            mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
        else:
            with pytest.raises(ValueError, match="DEPTH"):
                mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")


@pytest.mark.parametrize("seed", range(8))
def test_inertias_outboard_are_those_of_what_each_joint_carries(seed):
    plant = random_plant(seed, trees=2, floating_bases=1)
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(seed)
    plant.SetVelocities(context, rng.normal(size=plant.num_velocities()))
    count = 0
    for joint, whole in inertias_outboard(plant, context):
        if joint.num_velocities():
            carried = plant.GetBodiesKinematicallyAffectedBy([joint.index()])
            M = plant.CalcSpatialInertia(context, joint.frame_on_child(), carried)
            expected = M.get_mass() * np.trace(M.get_unit_inertia().CopyToFullMatrix3()) / 2.0
            assert whole == pytest.approx(expected, rel=1e-12, abs=1e-300)
            count += 1
    assert count

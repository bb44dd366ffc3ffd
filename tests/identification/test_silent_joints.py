"""Joints that move by efforts that nobody knows: efforts of the others show what they can, and no more is claimed."""

import json

import numpy as np
import pytest
from command_line import cli
from measured_motion import drawn_states, forces, hand, harmonics, otherwise, plant_of, write_csv
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError
from mbcli.identification.held_joints import held_joints, without_efforts
from mbcli.identification.identify import Settings, identify
from mbcli.identification.subject import Subject

SILENT = "joint_2"

pytestmark = pytest.mark.usefixtures("ready_kernels")


@pytest.fixture
def arms(tmp_path):
    text = (SAMPLES / "arm7.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(text)
    (tmp_path / "true.urdf").write_text(otherwise(text))
    return [plant_of(tmp_path / f"{name}.urdf", weld_base=True) for name in ("arm", "true")]


def table(plant, q, v, vdot, tau, without=()):
    """Columns of all joints; those of some have no effort."""
    found = {"time": np.arange(len(q)) / 100.0}
    for joint in plant.moving_joints():
        if joint.num_velocities():
            i, d, name = joint.position_start(), joint.velocity_start(), joint.name()
            found |= {name: q[:, i], f"v:{name}": v[:, d], f"vdot:{name}": vdot[:, d]}
            found |= {} if name in without else {f"tau:{name}": tau[:, d]}
    return found


def test_combinations_that_other_efforts_show_come_back_without_those_of_one_joint(arms, tmp_path):
    plant, true = arms
    q, v, vdot = drawn_states(true, 400, 1)
    path = write_csv(tmp_path / "a.csv", table(true, q, v, vdot, forces(true, q, v, vdot), (SILENT,)))
    result = identify(plant, [path], settings=Settings(frictions=("viscous",), no_efforts=[SILENT]))
    silent = result.subject.silent
    assert silent.sum() == 1 and len(result.names) == 6 and not any(SILENT in name for name in result.names)
    truth = Subject(true, frictions=("viscous",), armature=False, silent=silent).x0
    base = result.base
    assert base.rank == len(base.columns)
    np.testing.assert_allclose(base.values, base.combinations @ truth, atol=1e-6)
    assert not any(p.name.startswith(f"{SILENT}.") for p in result.subject.parameters)
    assert [f.code for f in result.findings if f.code == "DATA_SILENT"] and not result.looks_wrong()


def test_a_joint_whose_efforts_lack_what_it_carries_spoils_nothing_if_it_is_left_out(arms, tmp_path):
    """As of a torso with a spring or a self-locking screw: its current says nothing of weight."""
    plant, true = arms
    _, q, v, vdot = harmonics(2000, 7, 3, seconds=20.0)
    tau = forces(true, q, v, vdot) + 0.2 * np.random.default_rng(5).normal(size=v.shape)
    d = next(j.velocity_start() for j in true.moving_joints() if j.name() == SILENT)
    tau[:, d] = 3.0 * np.sign(v[:, d])
    path = write_csv(tmp_path / "a.csv", table(true, q, v, vdot, tau))
    arm = tmp_path / "arm.urdf"
    words = ("identify", arm, "--data", path, "--json", "-o", tmp_path / "new.urdf")
    as_it_is = cli(*words)
    assert as_it_is.code != 0
    left_out = cli(*words, "--no-effort", SILENT)
    document = json.loads(left_out.out)
    assert left_out.code == 0 and document["errors"]["after"] < 0.05 < document["errors"]["before"]
    assert len(document["errors_of_joints"]["data"]) == 6
    assert f'name="{SILENT}"' in (tmp_path / "new.urdf").read_text()


def test_without_the_option_the_message_names_it(arms, tmp_path):
    q, v, vdot = drawn_states(arms[1], 100, 1)
    path = write_csv(tmp_path / "a.csv", table(arms[1], q, v, vdot, v, (SILENT,)))
    result = cli("identify", tmp_path / "arm.urdf", "--data", path)
    assert result.code == 3 and "--no-effort NAME" in result.err and "joint_2" in result.err


def test_what_cannot_be_left_out_is_refused(arms, tmp_path):
    plant = arms[0]
    nothing = held_joints(plant, {})
    names = [j.name() for j in plant.moving_joints() if j.num_velocities()]
    with pytest.raises(ArgumentError, match="no efforts: .*'elbow'"):
        without_efforts(plant, ["elbow"], nothing)
    with pytest.raises(ArgumentError, match="is held, and needs none"):
        without_efforts(plant, [SILENT], held_joints(plant, {SILENT: None}))
    with pytest.raises(ModelError, match="no joint is left whose efforts are known"):
        without_efforts(plant, names, nothing)
    (tmp_path / "hand.urdf").write_text(hand())
    fingers = plant_of(tmp_path / "hand.urdf")
    with pytest.raises(ModelError, match="followers"):
        without_efforts(fingers, ["wrist"], held_joints(fingers, {}))


@pytest.mark.parametrize("words", [("--fit", "trajectory"), ("--loaded", "b.csv", "--known-load", "x=1")])
def test_options_that_need_all_efforts_or_none_refuse_it(words, arms, tmp_path):
    result = cli("identify", tmp_path / "arm.urdf", "--data", "a.csv", "--no-effort", SILENT, *words)
    assert result.code == 2 and "--no-effort" in result.err

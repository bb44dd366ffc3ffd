"""Fits by simulation of grippers with followers and of closed chains: parameters come back, and starts stay closed."""

import json

import numpy as np
import pytest
from command_line import cli
from repository import SAMPLES

from mbcli.errors import ModelError
from mbcli.identification.tangents import Tangents
from mbcli.identification.trajectory import fit_trajectory
from mbcli.models.loading import load_model
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.simulation.worlds import Worlds

FOUR_BAR = SAMPLES / "closed_chains" / "four_bar.urdf"
FINGERS = """<robot name="fingers"><link name="world"/>
  <joint name="wrist" type="continuous"><parent link="world"/><child link="palm"/><axis xyz="0 1 0"/>
    <dynamics damping="0.05"/></joint>
  <link name="palm"><inertial><origin xyz="0.05 0 -0.1"/><mass value="1.2"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="left" type="continuous"><parent link="palm"/><child link="one"/><origin xyz="0 0 -0.2"/>
    <axis xyz="0 1 0"/><dynamics damping="0.01"/></joint>
  <link name="one"><inertial><origin xyz="0.02 0 -0.1"/><mass value="0.35"/>
    <inertia ixx="0.002" iyy="0.002" izz="0.0003" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="right" type="continuous"><parent link="palm"/><child link="two"/><origin xyz="0.05 0 -0.2"/>
    <axis xyz="0 1 0"/><mimic joint="left" multiplier="-1" offset="0.1"/></joint>
  <link name="two"><inertial><origin xyz="0 0 -0.1"/><mass value="0.3"/>
    <inertia ixx="0.002" iyy="0.002" izz="0.0003" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>
"""


def motion(path, loaded, starts, without=(), steps=2000, every=5, noise=0.0):
    """A file of positions of motions from states that satisfy the constraints, one after another."""
    plant, context = loaded.plant, loaded.plant.CreateDefaultContext()
    chains, worlds = ClosedChains(context, held={}), Worlds(loaded, len(starts))
    q = np.array([chains.assemble(start).q for start in starts])
    worlds.q = q
    rows = np.concatenate((np.hstack((q, worlds.v))[:, None], worlds.rollout(steps, every=every)), axis=1)
    rows = rows[:, :, : plant.num_positions()]
    rows = rows + noise * np.random.default_rng(0).normal(size=rows.shape)
    time = np.arange(rows.shape[1]) * every * plant.time_step()
    names = plant.GetPositionNames()
    at = [k for k, name in enumerate(names) if not name.endswith(tuple(without))] if without else range(len(names))
    table = np.vstack([np.column_stack((time + 2.0 * k * time[-1], own[:, at])) for k, own in enumerate(rows)])
    header = ",".join(["time", *(f"q:{names[k]}" for k in at)])
    np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.12g")
    return str(path)


@pytest.fixture
def gripper(tmp_path):
    path = tmp_path / "gripper.urdf"
    path.write_text(FINGERS)
    return path


@pytest.mark.parametrize("without", [(), ("right_q",)])
def test_a_gripper_whose_fingers_follow_shows_mass_and_friction(without, gripper, tmp_path):
    """Also without a column of the follower: it is where the joint that it follows puts it."""
    overrides = {"body.one.mass": 0.5, "joint.left.damping": 0.03}
    file, true = (load_model(str(gripper), weld_base=True, overrides=o) for o in ({}, overrides))
    data = motion(tmp_path / "a.csv", true, [[0.6, 0.9, -0.8], [-1.0, -0.4, 0.5]], without)
    fit = fit_trajectory(file, [data], paths=list(overrides))
    found = {p.name: p.new for p in fit.parameters}
    assert found == pytest.approx(overrides, rel=2e-3)
    assert fit.figures["after"] < 1e-3 < fit.figures["before"]
    assert len(fit.names) == 3


def test_a_closed_chain_shows_the_friction_and_a_mass_of_its_links(tmp_path):
    """The loop closes in every start that is tried, and its rollouts are those of simulate."""
    overrides = {"joint.left.damping": 0.8, "body.rocker.mass": 3.0}
    true = load_model(str(FOUR_BAR), weld_base=True, overrides=overrides)
    file = load_model(str(FOUR_BAR), weld_base=True, overrides={"joint.left.damping": 0.3})
    start = true.plant.GetDefaultPositions()
    data = motion(tmp_path / "a.csv", true, [start, start + [0.4, 0.0, 0.2]], noise=1e-5)
    fit = fit_trajectory(file, [data], paths=["joint.left.damping", "body.rocker.mass"])
    found = {p.name: p.new for p in fit.parameters}
    assert found == pytest.approx(overrides, rel=5e-3)
    for p in fit.parameters:
        assert abs(p.new - overrides[p.name]) < 4.0 * p.standard_error + 1e-3 * overrides[p.name]


def test_starts_and_their_changes_satisfy_the_constraints():
    plant = load_model(str(FOUR_BAR), weld_base=True).plant
    tangents = Tangents(plant, plant.CreateDefaultContext())
    chains = ClosedChains(plant.CreateDefaultContext(), held={})
    near = chains.assemble(plant.GetDefaultPositions()).q + 1e-4
    q, v = tangents.closed(near, np.ones(3), "a.csv")
    basis = tangents.basis(q)
    assert basis.shape == (3, 1)
    for change in ([0.0, 0.0], [0.1, -2.0]):
        moved, speed = tangents.moved(q, v, basis, np.array(change))
        errors, G = chains.position_errors(moved)
        assert np.linalg.norm(errors) < 1e-11 and np.abs(G @ speed).max() < 1e-11
        assert basis[:, 0] @ (moved - q) == pytest.approx(change[0], rel=0.05, abs=1e-10)


def test_positions_of_another_mechanism_are_refused(tmp_path):
    plant = load_model(str(FOUR_BAR), weld_base=True).plant
    with pytest.raises(ModelError, match="a.csv: error: the positions do not satisfy the constraints"):
        Tangents(plant, plant.CreateDefaultContext()).closed(np.array([1.0, 2.0, 0.3]), np.zeros(3), "a.csv")
    rows = np.column_stack([np.arange(200) / 100.0, *(np.sin(np.arange(200) / 30.0),) * 3])
    header = ",".join(["time", *(f"q:{name}" for name in plant.GetPositionNames())])
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header=header, comments="")
    result = cli("identify", str(FOUR_BAR), "--data", tmp_path / "a.csv", "--fit", "trajectory")
    assert result.code == 3 and "do not satisfy the constraints" in result.err


def test_the_command_writes_the_file_of_a_gripper(gripper, tmp_path):
    true = load_model(str(gripper), weld_base=True, overrides={"joint.left.damping": 0.03})
    data = motion(tmp_path / "a.csv", true, [[0.6, 0.9, -0.8]])
    words = ("--fit", "trajectory", "--parameters", "joint.left.damping", "--json", "-o", tmp_path / "new.urdf")
    result = cli("identify", gripper, "--data", data, *words)
    assert result.code == 0, result.err
    (damping,) = json.loads(result.out)["parameters"]
    assert damping["new"] == pytest.approx(0.03, rel=5e-3)
    assert 'mimic joint="left"' in (tmp_path / "new.urdf").read_text()

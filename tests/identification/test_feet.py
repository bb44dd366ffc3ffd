"""Feet under a floating base: what is found does not depend on forces that nobody knows, or that sensors give."""

import json

import numpy as np
import pytest
from command_line import cli
from measured_motion import drawn_states, forces, otherwise, plant_of, write_csv
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError
from mbcli.identification.identify import Settings, identify
from mbcli.identification.subject import Subject
from mbcli.multibody.plant.batch_functions import BatchFunctions

LEGS = ("front_left", "front_right", "rear_left", "rear_right")
FEET = [f"{leg}_foot" for leg in LEGS]
STANCES = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0]])  # that forces can carry

pytestmark = pytest.mark.usefixtures("ready_kernels")


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """The plant of a quadruped's file, and columns of motion of one with other bodies on feet that slip and press at
    will: positions, rates, efforts of joints, contacts, and forces along the axes of the feet."""
    folder = tmp_path_factory.mktemp("standing")
    text = (SAMPLES / "quadruped.urdf").read_text()
    more = "".join(
        f'<link name="{leg}_foot"/><joint name="{leg}_ankle" type="fixed"><parent link="{leg}_shank"/>'
        f'<child link="{leg}_foot"/><origin xyz="0 0 -0.22" rpy="0.3 0.2 0.1"/></joint>'
        for leg in LEGS
    )
    text = text.replace("</robot>", more + "</robot>")
    (folder / "file.urdf").write_text(text)
    (folder / "true.urdf").write_text(otherwise(text))
    plant, true = plant_of(folder / "file.urdf"), plant_of(folder / "true.urdf")
    count = 300
    q, v, vdot = drawn_states(true, count, 1)
    touch = STANCES[np.arange(count) // 15 % len(STANCES)]
    needed, rng = forces(true, q, v, vdot), np.random.default_rng(2)
    jacobians = []
    for foot in FEET:
        J = BatchFunctions(true).jacobian(true.GetFrameByName(foot))(q)
        jacobians.append(J[:, 3:])  # along World's axes
    tau, along = needed.copy(), np.zeros((count, 4, 3))
    context = true.CreateDefaultContext()
    for k in range(count):
        on = np.flatnonzero(touch[k])
        G = np.concatenate([jacobians[i][k] for i in on] or [np.zeros((0, needed.shape[1]))])
        if len(on):
            press = rng.normal(size=3 * len(on)) * 20.0
            f = press + np.linalg.lstsq(G[:, :6].T, needed[k, :6] - G[:, :6].T @ press, rcond=None)[0]
            tau[k] = needed[k] - G.T @ f
        else:  # in flight: the base accelerates as it has to
            true.SetPositions(context, q[k])
            true.SetVelocities(context, v[k])
            M = true.CalcMassMatrix(context)
            vdot[k, :6] -= np.linalg.solve(M[:6, :6], needed[k, :6])
            tau[k], f = true.CalcRequiredForces(context, vdot[k]), np.zeros(0)
        true.SetPositions(context, q[k])
        for i, own in zip(on, f.reshape(-1, 3), strict=True):
            pose = true.GetFrameByName(FEET[i]).CalcPoseInWorld(context)
            along[k, i] = np.array(pose.rotation().matrix()).T @ own
    assert np.abs(tau[:, :6]).max() < 1e-8
    columns = {"time": np.arange(count) / 100.0}
    columns |= {f"q:{name}": q[:, k] for k, name in enumerate(true.GetPositionNames())}
    for field, values in (("v", v), ("vdot", vdot), ("tau", tau)):
        first = 6 if field == "tau" else 0
        columns |= {f"{field}:{name}": values[:, k] for k, name in enumerate(true.GetVelocityNames()) if k >= first}
    contacts = {f"u:{foot}.contact": touch[:, i] for i, foot in enumerate(FEET)}
    pressed = {f"u:{foot}.f{axis}": along[:, i, j] for i, foot in enumerate(FEET) for j, axis in enumerate("xyz")}
    return folder, plant, true, columns, contacts, pressed


def difference(result, true):
    """Of the combinations that motions can show, from their truth, in sizes of their links."""
    base, subject = result.base, result.subject
    truth = Subject(true, frictions=(), armature=False).x0
    return np.abs(base.combinations @ (result.x - truth) / subject.sizes[base.columns]).max()


@pytest.mark.parametrize("known", ["contact", "force", "both"])
def test_feet_that_touch_leave_the_truth_to_be_found(standing, tmp_path, known):
    folder, plant, true, columns, contacts, pressed = standing
    more = contacts if known == "contact" else pressed if known == "force" else contacts | pressed
    path = write_csv(tmp_path / "stands.csv", columns | more)
    result = identify(plant, [path], settings=Settings(frictions=(), armature=False, feet=FEET))
    assert result.figures["after"] < 1e-6 < 0.05 < result.figures["before"]
    assert result.base.rank == len(result.base.columns)
    assert difference(result, true) < 1e-4


def test_forces_that_are_taken_for_none_are_not_explained(standing, tmp_path):
    """The same data, with a foot that is said to be in the air."""
    folder, plant, true, columns, contacts, _ = standing
    lie = contacts | {f"u:{FEET[0]}.contact": 0.0 * contacts[f"u:{FEET[0]}.contact"]}
    path = write_csv(tmp_path / "lie.csv", columns | lie)
    assert identify(plant, [path], settings=Settings(frictions=(), armature=False, feet=FEET)).figures["after"] > 0.1


def test_feet_need_names_and_columns(standing, tmp_path):
    folder, plant, _, columns, contacts, _ = standing
    path = write_csv(tmp_path / "stands.csv", columns | contacts)
    with pytest.raises(ArgumentError, match="no frame named 'paw'"):
        identify(plant, [path], settings=Settings(feet=["paw"]))
    bare = write_csv(tmp_path / "bare.csv", columns)
    with pytest.raises(ModelError, match=f"nothing says when {FEET[0]} touches, .*u:{FEET[0]}.contact"):
        identify(plant, [bare], settings=Settings(feet=FEET))
    words = ("identify", folder / "file.urdf", "--data", path, "--feet", ",".join(FEET))
    refused = cli(*words)
    assert refused.code == 2 and "--feet needs --floating" in refused.err
    result = cli(*words, "--floating", "--friction", "none", "--no-armature", "--json")
    assert json.loads(result.out)["errors"]["after"] < 1e-6

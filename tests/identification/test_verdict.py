"""A result that is not to be trusted says so: exit code 1, and its file is written only with --force."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import cli
from measured_motion import forces, harmonics, otherwise, plant_of, write_csv
from repository import SAMPLES

from mbcli.identification.identify import identify
from mbcli.identification.verdict import _joints, verdict

FILE = SAMPLES / "double_pendulum.urdf"
JOINTS = ("shoulder", "elbow")


def columns_of(path, seed, factors=(1.0, 1.0)):
    """The columns of a motion of the robot in a file; factors: of the efforts."""
    plant = plant_of(path, weld_base=True)
    t, q, v, vdot = harmonics(1001, 2, seed, seconds=10.0, most=3)
    tau = (forces(plant, q, v, vdot) + 0.3 * v) * factors
    columns = {"time": t}
    for field, values in (("q", q), ("v", v), ("tau", tau)):
        columns |= {f"{field}:{name}": values[:, k] for k, name in enumerate(JOINTS)}
    return columns


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """A file of a robot with other masses than FILE."""
    path = tmp_path_factory.mktemp("true") / "true.urdf"
    path.write_text(otherwise(FILE.read_text()))
    return path


def judged(folder, data, *words, unseen=None):
    files = ["--data", write_csv(folder / "a.csv", data)]
    if unseen is not None:
        files += ["--validate", write_csv(folder / "b.csv", unseen)]
    result = cli("identify", str(FILE), *files, "-o", str(folder / "new.urdf"), "--json", *words)
    document = json.loads(result.out)
    return result.code, {f["code"] for f in document["findings"] if f["severity"] == "error"}, document


def test_a_good_result_has_no_finding_and_its_errors_joint_by_joint(robot, tmp_path):
    code, found, document = judged(tmp_path, columns_of(robot, 4), unseen=columns_of(robot, 5))
    assert code == 0 and not found and document["output"] == str(tmp_path / "new.urdf")
    errors = document["errors_of_joints"]
    assert list(errors) == ["data_before", "data", "validation_before", "validation"]
    for name in ("double_pendulum_shoulder_w", "double_pendulum_elbow_w"):
        assert errors["data"][name] < 0.05 < errors["data_before"][name]
        assert errors["validation"][name] < 0.05 < errors["validation_before"][name]
    text = cli("identify", str(FILE), "--data", str(tmp_path / "a.csv"), "--validate", str(tmp_path / "b.csv")).out
    assert "unseen, file  unseen, identified" in text


def test_errors_of_unseen_poses_are_told_to_be_of_gravity_alone(robot, tmp_path):
    """Static friction holds the joints with any effort: the errors of such recordings say little."""
    unseen = columns_of(robot, 5)
    poses = {name: np.full(len(unseen["time"]), values[300]) for name, values in unseen.items()}
    poses |= {"time": unseen["time"]} | {f"v:{name}": np.zeros(len(unseen["time"])) for name in JOINTS}
    codes = [
        {f["code"] for f in judged(tmp_path, columns_of(robot, 4), unseen=u)[2]["findings"]} for u in (poses, unseen)
    ]
    assert "RESULT_STANDS" in codes[0] and "RESULT_STANDS" not in codes[1]


def test_efforts_in_kgf_cm_give_a_mass_that_is_no_result_and_no_file_without_force(robot, tmp_path):
    data = columns_of(robot, 4, (10.2, 10.2))
    code, found, document = judged(tmp_path, data)
    assert code == 1 and "RESULT_MASS" in found
    assert document["output"] is None and not (tmp_path / "new.urdf").exists()
    code, found, document = judged(tmp_path, data, "--force")
    assert code == 1 and "RESULT_MASS" in found and (tmp_path / "new.urdf").exists()


def test_efforts_much_too_small_are_a_mass_that_is_no_result(robot, tmp_path):
    code, found, _ = judged(tmp_path, columns_of(robot, 4, (0.1, 0.1)))
    assert code == 1 and "RESULT_MASS" in found


def test_unseen_errors_that_are_larger_than_the_files_are_found(robot, tmp_path):
    code, found, _ = judged(tmp_path, columns_of(robot, 4), unseen=columns_of(FILE, 5))
    assert code == 1 and found == {"RESULT_WORSE"}
    assert not (tmp_path / "new.urdf").exists()


def test_a_joint_that_is_predicted_worse_than_by_nothing_is_named(robot, tmp_path):
    code, found, document = judged(tmp_path, columns_of(robot, 4), unseen=columns_of(robot, 5, (1.0, -1.0)))
    (joint,) = [f for f in document["findings"] if f["code"] == "RESULT_JOINT"]
    assert code == 1 and joint["column"] == "double_pendulum_elbow_w" and "no effort at all" in joint["message"]


def test_a_joint_that_stands_is_not_judged_by_what_friction_holds_it_with(robot, tmp_path):
    unseen = columns_of(robot, 5)
    unseen["q:elbow"], unseen["v:elbow"] = np.full(1001, 0.3), np.zeros(1001)
    unseen["tau:elbow"] = -2.0 * unseen["tau:elbow"]
    found = judged(tmp_path, columns_of(robot, 4), unseen=unseen)[1]
    assert "RESULT_JOINT" not in found


def test_efforts_that_have_nothing_to_do_with_the_motion_explain_nothing(robot, tmp_path):
    data = columns_of(robot, 4)
    rng = np.random.default_rng(1)
    for name in JOINTS:
        data[f"tau:{name}"] = rng.normal(size=len(data["time"]))
    code, found, _ = judged(tmp_path, data, "--cutoff", "5")
    assert code == 1 and "RESULT_POOR" in found


def test_dense_bodies_and_files_that_lose_what_counts_are_found(robot, tmp_path):
    path = write_csv(tmp_path / "a.csv", columns_of(robot, 4))
    result = identify(plant_of(FILE, weld_base=True), [path])
    assert verdict(result, "m.urdf", {"lower": 1e-2, "upper": 1e-2}) == []
    lower = result.x[result.subject.names.index("lower.m")]
    (dense,) = verdict(result, "m.urdf", {"lower": lower / 20_000.0})
    assert dense.code == "RESULT_DENSE" and dense.message.startswith("lower has")
    result.figures["of_file"] = 1.2 * result.figures["before"]
    (lost,) = verdict(result, "m.urdf", {})
    assert lost.code == "RESULT_FILE" and "this format cannot say" in lost.message


def tried(folder, columns, *words):
    """Exit code and codes of the findings of errors where a file is only tried."""
    result = cli("identify", str(FILE), "--validate", write_csv(folder / "b.csv", columns), "--json", *words)
    findings = json.loads(result.out)["findings"]
    assert not any("--force" in f["message"] for f in findings)
    return result.code, {f["code"] for f in findings}


def test_a_file_that_is_only_tried_is_judged_without_words_on_what_is_written(robot, tmp_path):
    assert tried(tmp_path, columns_of(FILE, 5)) == (0, set())
    code, found = tried(tmp_path, columns_of(robot, 5, (10.2, 10.2)))
    assert code == 1 and found == {"RESULT_POOR"}


def test_data_that_a_file_is_only_tried_on_are_tested_as_others_are(robot, tmp_path):
    code, found = tried(tmp_path, columns_of(robot, 5, (1.0, -1.0)))
    assert code == 1 and found == {"DATA_SIGN", "RESULT_JOINT"}


def test_a_joint_of_small_efforts_that_is_worse_than_before_is_told_and_stops_nothing():
    """Two joints of a UR10e were at 135 and 216 % on unseen motion, worse than in the vendor's file, without a word."""
    rows = SimpleNamespace(raw_tau=np.array([[50.0, 1.0, 1.0, 20.0]] * 3))
    errors, before = [0.1, 2.16, 1.35, 0.2], [0.2, 1.0, 1.4, 0.3]
    result = SimpleNamespace(
        validation=[rows], data=[], base=object(), names=list("abcd"), standing=set(), x0="before",
        per_velocity=lambda runs, x=None: errors if x is None else before,
    )  # fmt: skip
    (found,) = _joints(result, "arm.urdf")
    assert (found.code, found.severity, found.column) == ("RESULT_SMALL", "warning", "b")
    assert "2 % of the largest" in found.message and "216.0 %, with the input file 100.0 %" in found.message

"""The how-to, followed step by step on a simulated arm: each fault is found at the step that says so."""

import json
import re
import sys

import numpy as np
import pytest
from command_line import cli, succeed
from measured_motion import write_csv
from repository import ROOT

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.identification_sets import Arm

JOINTS = 3
FINDINGS, ERRORS = "read the findings", "look at the error"  # steps 4 and 5


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    return Arm(JOINTS, str(tmp_path_factory.mktemp("arm")))


@pytest.fixture(scope="module")
def recordings(arm, tmp_path_factory):
    """Steps 1 to 3: two motions that are planned, played by the robot and recorded, and one that is kept aside."""
    folder, found = tmp_path_factory.mktemp("motions"), []
    for seed in range(3):
        path = folder / f"motion{seed}.csv"
        words = ("-t", "20", "--speed", "1", "--acceleration", "3", "--seed", str(seed), "--tries", "20")
        succeed("-q", "excite", arm.path, *words, "-o", path)
        with open(path) as file:
            names = file.readline().strip().split(",")
            values = dict(zip(names, np.loadtxt(file, delimiter=",").T, strict=True))
        columns = [name for name in values if name != "time"]
        q, v, vdot = (np.stack([values[c] for c in columns[k * JOINTS : (k + 1) * JOINTS]], axis=1) for k in range(3))
        found.append((values["time"], q, v, vdot))
    return found


def recorded(arm, motion, seed, gravity=None, load=None):
    """Columns of a recording; load: from the middle on."""
    t, q, v, vdot = motion
    tau = arm.efforts(q, v, vdot, gravity=gravity)
    if load is not None:
        tau[len(t) // 2 :] = arm.efforts(q, v, vdot, load=load)[len(t) // 2 :]
    rng = np.random.default_rng(seed)
    q = q + 1e-5 * rng.normal(size=q.shape)
    tau = tau + 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape)
    columns = {"time": t}
    for field, values in (("q", q), ("tau", tau)):
        columns |= {f"{field}:{name}": values[:, k] for k, name in enumerate(arm.names)}
    return columns


def spoiled(fault, columns, names):
    """Columns with a fault of the recording."""
    q, tau = ([f"{field}:{name}" for name in names] for field in ("q", "tau"))
    other = dict(columns)
    if fault == "swapped":
        other[tau[0]], other[tau[1]] = columns[tau[1]], columns[tau[0]]
    elif fault == "mirrored":
        other[tau[1]] = -columns[tau[1]]
    elif fault == "late":
        other |= {name: np.roll(columns[name], 8) for name in tau}
    elif fault == "degrees":
        other |= {name: np.degrees(columns[name]) for name in q}
    elif fault == "dead":
        other[tau[2]] = np.zeros_like(columns[tau[2]])
    elif fault == "clipped":
        most = 0.85 * np.abs(columns[tau[1]]).max()
        other[tau[1]] = np.clip(columns[tau[1]], -most, most)
    elif fault == "kgf cm":
        other |= {name: 10.197 * columns[name] for name in tau}
    return other


FAULTS = {  # {fault: (step, code, what the finding names, words of the step)}
    "swapped": (FINDINGS, "DATA_SWAPPED", "j0", "swapped columns"),
    "mirrored": (FINDINGS, "DATA_SIGN", "j1", "mirrored signs"),
    "late": (FINDINGS, "DATA_LAG", "behind", "lags"),
    "degrees": (FINDINGS, "DATA_UNITS", "--degrees", "degrees"),
    "dead": (FINDINGS, "DATA_DEAD", "j2", "dead sensors"),
    "load": (FINDINGS, "DATA_LOAD", "l2", "a load that changes on the way"),
    "tilted": (FINDINGS, "DATA_GRAVITY", "--gravity", "a base that is tilted"),
    "kgf cm": (ERRORS, "RESULT_MASS", "kgf cm", "`RESULT_MASS`"),
}


def steps():
    """{first words of a step, in small letters: its text} of the how-to."""
    text = (ROOT / "docs" / "how-to" / "identify.md").read_text()
    parts = re.split(r"^\d\. \*\*(.*?)\*\*", text[text.index("## How to") :].partition("**Joints that")[0], flags=re.M)
    return {name.lower().rstrip("."): body for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def followed(arm, recordings, folder, fault=None):
    """Steps 4 to 6: code, findings, and whether a file was written."""
    gravity = [1.7, 2.5, -9.3] if fault == "tilted" else None
    files = []
    for k, motion in enumerate(recordings):
        columns = recorded(arm, motion, k, gravity, 0.2 if fault == "load" else None)
        files.append(write_csv(folder / f"run{k}.csv", spoiled(fault, columns, arm.names)))
    out = folder / "identified.urdf"
    result = cli("identify", arm.path, "--data", *files[:2], "--validate", files[2], "-o", out, "--json")
    findings = (
        [f["code"] + " " + str(f["column"]) + " " + f["message"] for f in json.loads(result.out)["findings"]]
        if (result.out)
        else result.err.splitlines()
    )
    return result.code, findings, out.exists(), result


def test_a_good_recording_ends_with_a_file_that_other_motion_agrees_with(arm, recordings, tmp_path):
    code, findings, is_written, result = followed(arm, recordings, tmp_path)
    assert code == 0 and is_written and all("MODEL_PLACE" in f for f in findings)
    errors = json.loads(result.out)["errors"]
    assert errors["validation"] < 0.03 < 0.1 < errors["validation_before"]
    again = cli("identify", str(tmp_path / "identified.urdf"), "--validate", str(tmp_path / "run2.csv"), "--json")
    assert again.code == 0 and json.loads(again.out)["errors"]["validation_before"] < 0.1


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_at_the_step_that_says_so(fault, arm, recordings, tmp_path):
    step, code, words, of_step = FAULTS[fault]
    exit_code, findings, is_written, _ = followed(arm, recordings, tmp_path, fault)
    assert exit_code in (1, 5) and not is_written
    assert any(code in finding and words in finding for finding in findings), findings
    (text,) = (body for name, body in steps().items() if name.startswith(step))
    assert of_step in " ".join(text.split())


def test_clipped_efforts_are_left_out_and_told_and_the_file_is_right(arm, recordings, tmp_path):
    """Step 4 names saturated sensors: rows there do not count, and what is left is enough."""
    code, findings, is_written, result = followed(arm, recordings, tmp_path, "clipped")
    assert code == 0 and is_written
    assert any("DATA_SATURATED" in finding and "j1" in finding for finding in findings), findings
    assert json.loads(result.out)["errors"]["validation"] < 0.03
    assert "saturated" in next(body for name, body in steps().items() if name.startswith(FINDINGS))

"""What is wrong with short and slow recordings, of which the filter leaves few samples, is found, or told."""

import json

import numpy as np
import pytest
from command_line import cli
from measured_motion import forces, harmonics, otherwise, plant_of, write_csv
from repository import SAMPLES

from mbcli.identification.hypotheses import SAMPLES as LOOKED_AT

FILE = SAMPLES / "double_pendulum.urdf"
JOINTS = ("shoulder", "elbow")


@pytest.fixture(scope="module")
def motion(tmp_path_factory):
    """Columns of 20 s of a slow motion at 100 rows a second, by a robot with other masses than the file."""
    path = tmp_path_factory.mktemp("true") / "true.urdf"
    path.write_text(otherwise(FILE.read_text()))
    plant = plant_of(path, weld_base=True)
    t, q, v, vdot = harmonics(2001, 2, 4, seconds=20.0, most=3)
    tau = forces(plant, q, v, vdot) + 0.3 * v
    columns = {"time": t}
    for field, values in (("q", q), ("v", v), ("tau", tau)):
        columns |= {f"{field}:{name}": values[:, k] for k, name in enumerate(JOINTS)}
    return columns


def identified(tmp_path, columns, *words):
    result = cli("identify", str(FILE), "--data", write_csv(tmp_path / "a.csv", columns), "--json", *words)
    return result, json.loads(result.out or "{}")


SPOILED = {
    "swapped": (lambda a, b: (b, a), "DATA_SWAPPED"),
    "late": (lambda a, b: (np.roll(a, 6), np.roll(b, 6)), "DATA_LAG"),
    "one late": (lambda a, b: (a, np.roll(b, 8)), "DATA_LAG"),
}


def test_a_slow_motion_of_twenty_seconds_leaves_few_samples_and_no_finding(motion, tmp_path):
    result, document = identified(tmp_path, motion)
    assert result.code == 0 and not document["findings"]
    assert document["samples"]["samples"] < LOOKED_AT


@pytest.mark.parametrize("what", SPOILED)
def test_spoiled_efforts_are_found_where_the_filter_leaves_few_samples(what, motion, tmp_path):
    spoil, code = SPOILED[what]
    a, b = spoil(motion["tau:shoulder"], motion["tau:elbow"])
    result, _ = identified(tmp_path, {**motion, "tau:shoulder": a, "tau:elbow": b})
    assert f"[{code}]" in result.err and result.code in (1, 5)  # 5: no possible bodies fit what is spoiled


def test_a_file_of_several_stretches_is_tested_as_one(motion, tmp_path):
    """Each of its stretches alone is too short."""
    kept = np.concatenate([np.arange(k, k + 150) for k in range(0, 2000, 250)])
    columns = {name: values[kept] for name, values in motion.items()}
    a, b = columns["tau:shoulder"], columns["tau:elbow"]
    result, _ = identified(tmp_path, {**columns, "tau:shoulder": b, "tau:elbow": a})
    assert "column 'double_pendulum_shoulder_w': the effort is swapped" in result.err and result.code in (1, 5)


def test_what_cannot_be_tested_is_told_with_the_recording_that_would_do(motion, tmp_path):
    columns = {name: values[:160] for name, values in motion.items()}
    result, document = identified(tmp_path, columns, "--cutoff", "2")
    (finding,) = [f for f in document["findings"] if f["code"] == "DATA_UNCHECKED"]
    assert "order, signs and lags of efforts and positions were not checked: 1.6 s of motion" in finding["message"]
    assert "s or more, in which all joints move, would do" in finding["message"]
    assert "[DATA_UNCHECKED]" in result.err
    longer = float(finding["message"].partition("a recording of ")[2].partition(" s")[0])
    columns = {name: values[: int(100 * longer) + 1] for name, values in motion.items()}
    assert not [
        f for f in identified(tmp_path, columns, "--cutoff", "2")[1]["findings"] if f["code"] == "DATA_UNCHECKED"
    ]


def test_a_recording_too_coarse_for_lags_says_so(motion, tmp_path):
    columns = {name: values[::20] for name, values in motion.items()}
    document = identified(tmp_path, {**columns, "time": 3.0 * columns["time"]})[1]
    assert any("a second are too few" in f["message"] for f in document["findings"] if f["code"] == "DATA_UNCHECKED")


def test_models_with_loops_say_that_nothing_was_tested(tmp_path):
    from measured_motion import constrained_motion, write_npz

    path = SAMPLES / "closed_chains" / "four_bar.urdf"
    plant = plant_of(path, weld_base=True)
    data = write_npz(tmp_path / "a.npz", *constrained_motion(plant, 60, 3, [0]))
    result = cli("identify", str(path), "--data", data, "--json")
    (finding,) = [f for f in json.loads(result.out)["findings"] if f["code"] == "DATA_UNCHECKED"]
    assert "constraints or followers" in finding["message"]

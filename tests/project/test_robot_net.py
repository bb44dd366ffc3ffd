"""The net over files of others: what a run came to is told rightly, and one that crashes or hangs ends alone."""

import os
import signal
import sys
import time

import pytest
from command_line import hinge, one_robot
from repository import ROOT

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.robots import runs, states
from benchmarks.robots.files import robot_files
from benchmarks.robots.forked import run_forked
from benchmarks.robots.verdicts import BUG, CAUSE, ENERGY, FAILURE, LEFT_OUT, QUATERNION, REFUSED, WELL, Report, verdict

SOLVED = {"code": 0, "message": "", "finite": True, "off_unit": 0.0}
GAIN = {"energy": 1.0, "allowed": 0.1, "balance": {"limits": 1.0}}


@pytest.mark.parametrize(
    ("result", "word"),
    [
        (SOLVED, WELL),
        (SOLVED | {"finite": False}, FAILURE),
        (SOLVED | {"off_unit": 1e-6}, QUATERNION),
        (SOLVED | {"gain": GAIN}, ENERGY),
        (SOLVED | {"gain": GAIN | {"energy": 0.05}}, WELL),
        ({"code": 5, "message": "position 'a_q' is not finite after step 1 from t = 0 s"}, FAILURE),
        ({"code": 5, "message": "the constraints are singular, with rank 0 in place of 5"}, FAILURE),
        ({"code": 3, "message": "a.urdf:1:1: error: no root"}, REFUSED),
        ({"code": 4, "message": "a.urdf: error: no such file"}, REFUSED),
        ({"code": 2, "message": "mbcli simulate: error: --hold: no joints"}, CAUSE),
        ({"code": 70, "message": "mbcli: internal error: KeyError: 1"}, BUG),
        ({"code": 5, "message": ""}, BUG),
        ({"code": 9, "message": "error"}, BUG),
        ({"died": "died of SIGSEGV"}, BUG),
        ({"raised": "ValueError: no"}, BUG),
        ({"left_out": "no limits"}, LEFT_OUT),
    ],
)
def test_a_result_has_its_verdict(result, word):
    assert verdict(result)[0] == word


def behave(task, run, kept):
    kept["count"] = kept.get("count", 0) + 1
    if run == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if run == "exit":
        os._exit(3)
    if run == "hang":
        time.sleep(60.0)
    if run == "raise":
        raise KeyError("no")
    return {"count": kept["count"]}


def test_runs_go_on_after_one_that_crashes_hangs_or_raises():
    results = []
    tasks = [("one", ["fine", "killed", "fine", "raise", "fine"]), ("other", ["hang", "exit", "fine"])]
    run_forked(tasks, behave, limit=1.0, processes=2, on_result=lambda *result: results.append(result))
    one, other = ([(run, result) for task, run, result in results if task == name] for name in ("one", "other"))
    assert [run for run, _ in one] == tasks[0][1]
    assert [result.get("count") for _, result in one] == [1, None, 1, None, 3]
    assert one[1][1] == {"died": "died of SIGKILL"}
    assert one[3][1]["raised"] == "KeyError: 'no'"
    assert [result for _, result in other] == [
        {"died": "longer than 1 s"},
        {"died": "died with exit code 3"},
        {"count": 1},
    ]


@pytest.fixture
def robots(tmp_path):
    """{name: RobotFile}: an arm in free fall, one whose last link has no mass, and a file that is not read."""
    arm = one_robot(["base", "lower", "upper"], hinge("j1", "base", "lower") + hinge("j2", "lower", "upper"))
    (tmp_path / "arm.urdf").write_text(arm)
    (tmp_path / "empty.urdf").write_text(one_robot(["base", "tool0"], hinge("j1", "base", "tool0")))
    (tmp_path / "broken.urdf").write_text(arm.replace('lower="-3"', 'lower="many"'))
    return {file.path.stem: file for file in robot_files([tmp_path])[0]}


def test_files_run_in_the_ways_of_the_command_line_and_from_their_limits(robots):
    report = Report()
    for name, run in (
        ("arm", ["way", "clamp-no-contact"]),
        ("arm", ["start", "welded", "upper", "lagged"]),
        ("empty", ["way", "weld-base"]),
        ("empty", ["start", "floating", "lower", "sap"]),
        ("broken", ["way", "plain"]),
        ("broken", ["start", "floating", "lower", "sap"]),
    ):
        report.add(robots[name], run, runs.do(robots[name], run, {}))
    assert [record["verdict"] for record in report.records] == [WELL, WELL, CAUSE, CAUSE, REFUSED, REFUSED]
    assert not report.failed()
    assert "tool0" in report.records[2]["message"]
    assert "6 runs" in report.table()


def test_starts_are_at_the_limits_and_beyond_them(robots):
    plant = runs.plant_of(robots["arm"], "welded", {}, "lagged")
    assert runs.positions_at(plant, "lower", "").tolist() == [-3.0, -3.0]
    assert runs.positions_at(plant, "upper", "").tolist() == [3.0, 3.0]
    assert set(map(abs, runs.positions_at(plant, "beyond", "seed"))) == {3.0 + runs.BEYOND}


def test_states_of_equal_runs_do_not_differ(robots):
    one, other = (states.do(robots["arm"], ["mbcli", "floating", "lower", "lagged", 2, True], {}) for _ in range(2))
    assert len(one["states"]) == 2
    assert states.difference(one, other) == 0.0
    other["states"][1][0] = float("nan")
    assert states.difference(one, other) == float("inf")

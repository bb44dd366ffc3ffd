"""What a machine does to a case of a sweep is no result: it is tried again, set aside, and tried again by --resume."""

import pytest

from mbcli.errors import ArgumentError, ResourceError
from mbcli.models import ModelText, load_model
from mbcli.sweeps import sweep
from mbcli.sweeps.cases import Cases
from mbcli.sweeps.point_run import PointRunner
from mbcli.sweeps.points import Point
from mbcli.sweeps.sweeping import prepare_sweep

MODEL = ModelText(
    b"""<sdf version="1.9"><model name="p"><link name="b"><pose>0 0 -1 0 0 0</pose></link>
<joint name="j" type="revolute"><parent>world</parent><child>b</child><pose>0 0 1 0 0 0</pose>
<axis><xyz>0 1 0</xyz><limit><effort>9</effort></limit></axis></joint></model></sdf>""",
    "p.sdf",
)
STARTS = {"state.j": [0.1, 0.5, 0.7]}
KILLER = """
import os, signal
FOLDER = os.path.dirname(os.path.abspath(__file__))
def controller(q):
    if q[0] == 0.5 and not os.path.exists(os.path.join(FOLDER, "calm")):
        with open(os.path.join(FOLDER, "deaths"), "a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return [0.0]
"""


def test_a_case_that_kills_its_workers_is_set_aside_after_three_and_tried_again_by_resume(tmp_path):
    (tmp_path / "own.py").write_text(KILLER)
    deaths, journal = tmp_path / "deaths", tmp_path / "journal"
    options = {"duration": 0.01, "run": {"controller": str(tmp_path / "own.py")}, "jobs": 1, "journal": journal}
    table = sweep(MODEL, STARTS, retries=9, **options)
    assert [row["status"] for row in table.rows] == ["ok", "lost", "ok"] and len(deaths.read_text()) == 3
    assert table.rows[1]["message"] == "set aside after 3 tries: its worker ended by signal 9"
    assert table.counts() == {"ok": 2, "lost": 1}
    again = sweep(MODEL, STARTS, retries=0, resume=True, **options)
    assert again.rows[1]["message"].startswith("set aside after 1 try: ") and len(deaths.read_text()) == 4
    (tmp_path / "calm").touch()
    done = sweep(MODEL, STARTS, resume=True, **options)
    assert done.as_csv() == sweep(MODEL, STARTS, **options | {"journal": None}).as_csv()
    assert done.counts() == {"ok": 3} and len(deaths.read_text()) == 4


def test_a_death_at_many_short_runs_costs_the_one_that_caused_it_and_no_other(tmp_path):
    (tmp_path / "own.py").write_text(KILLER)
    starts = {"state.j": [0.3] * 60 + [0.5] + [0.3] * 39}
    options = {"duration": 0.001, "run": {"controller": str(tmp_path / "own.py")}, "jobs": 2}
    table = sweep(MODEL, starts, retries=9, **options)
    assert [row["point"] for row in table.rows if row["status"] == "lost"] == [60]
    assert table.counts() == {"ok": 99, "lost": 1} and len((tmp_path / "deaths").read_text()) == 3


def test_a_file_that_was_away_for_a_while_costs_no_row(tmp_path):
    plan, away, journal = tmp_path / "plan.csv", tmp_path / "away", tmp_path / "journal"
    plan.write_text("time,j\n0,0\n1,0.4\n")
    options = {"duration": 0.01, "run": {"trajectory": str(plan)}, "jobs": 1}

    def remove(progress):
        if not progress.done:
            plan.rename(away)

    table = sweep(MODEL, STARTS, journal=journal, retries=1, on_progress=remove, **options)
    assert [row["status"] for row in table.rows] == ["file"] * 3
    assert all("set aside after 2 tries: " in row["message"] and "plan.csv" in row["message"] for row in table.rows)
    away.rename(plan)
    resumed = sweep(MODEL, STARTS, journal=journal, resume=True, **options)
    assert resumed.as_csv() == sweep(MODEL, STARTS, **options).as_csv() and resumed.counts() == {"ok": 3}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MemoryError(), "out_of_memory"),
        (OSError(28, "No space left on device"), "file"),
        (ResourceError("x.stl: error: no such file"), "file"),
        (ArgumentError("no"), "invalid_model"),
        (ZeroDivisionError("bug"), "crashed"),
    ],
)
def test_a_row_tells_the_model_from_the_machine(monkeypatch, error, status):
    prepared = prepare_sweep(load_model(MODEL), (MODEL,), {}, {"duration": 0.01}, STARTS)
    runner = PointRunner(prepared.job)

    def fail(*_):
        raise error

    monkeypatch.setattr(PointRunner, "_row", fail)
    assert runner.row(prepared.points[0])["status"] == status


def test_cases_are_taken_in_order_put_back_and_counted_once():
    points = [Point(k, k, {}) for k in range(5)]
    cases = Cases(points, len(points), retries=2)
    first = cases.take(3)
    assert [point.index for point in first] == [0, 1, 2]
    assert not cases.settle(first[1], {"status": "lost", "message": ""})
    cases.put_back([first[2]])
    assert [cases.take(9)[0].index for _ in range(2)] == [1, 2]  # each alone
    assert [point.index for point in cases.take(9)] == [3, 4] and cases.take(9) == []
    for point in points:
        assert cases.settle(point, {"status": "diverged", "message": ""})
    assert cases.left == 0
    with pytest.raises(ArgumentError, match="retries must be at least 0"):
        sweep(MODEL, STARTS, duration=0.0, retries=-1)

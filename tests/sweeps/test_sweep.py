"""Sweeps: rows of points, workers that are killed, Dask, journals that go on, and the command."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from command_line import cli, start, succeed
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError
from mbcli.models import ModelText, load_model
from mbcli.simulation import simulate
from mbcli.sweeps import sweep
from mbcli.sweeps.journal import Journal
from mbcli.sweeps.point_run import PointRunner
from mbcli.sweeps.sweeping import prepare_sweep

KILLS = int(os.environ.get("MBCLI_KILLS", "2"))
PENDULUM = str(SAMPLES / "double_pendulum.urdf")
QUADRUPED = str(SAMPLES / "quadruped.urdf")


def runner_of(model, vary, run, measures=(), loading=None, **more):
    loading = {"contact": True, **(loading or {})}
    prepared = prepare_sweep(load_model(model, **loading), (model,), loading, run, vary, measures=measures, **more)
    return PointRunner(prepared.job), prepared.points


def rows_of(*arguments, **more):
    runner, points = runner_of(*arguments, **more)
    return [runner.row(point) for point in points]


# ------------------------------------------------------------------------------------------------ rows


def test_rows_are_those_of_single_runs():
    vary = {"joint.*.damping": [0.1, 0.4], "state.elbow": [0.5, "+0.25"], "plant_config.time_step": [0.002]}
    measures = ["max(abs(elbow))", "lost=first(energy) - final(energy)", "time_of(shoulder_w < 0)"]
    rows = rows_of(PENDULUM, vary, {"duration": 0.5}, measures)
    assert len(rows) == 4
    for row, (damping, elbow) in zip(rows, [(0.1, 0.5), (0.1, 0.25), (0.4, 0.5), (0.4, 0.25)], strict=True):
        log = simulate(PENDULUM, 0.5, overrides={"joint.*.damping": damping}, dt=0.002, start={"elbow": elbow})
        assert row["status"] == "ok" and row["message"] == "" and row["end_time"] == 0.5
        assert row["max(abs(elbow))"] == np.abs(log.column("elbow")).max()
        assert row["lost"] == -row["energy_drift"] > 0.0
        finals = [row[f"final {name}"] for name in (*log.position_names, *log.velocity_names)]
        np.testing.assert_array_equal(finals, [*log.q[-1], *log.v[-1]])


SENSED = """<sdf version="1.9"><model name="p"><link name="b"><pose>0 0 -1 0 0 0</pose><inertial><mass>1</mass><inertia>
<ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial><sensor name="imu" type="imu"/>
<sensor name="up" type="altimeter"/></link><joint name="j" type="revolute"><parent>world</parent><child>b</child>
<pose>0 0 1 0 0 0</pose><axis><xyz>0 1 0</xyz><limit><effort>20</effort></limit></axis></joint></model></sdf>"""


def test_measures_of_efforts_reactions_and_sensors_are_those_of_single_runs():
    model = ModelText(SENSED.encode(), "p.sdf")
    measures = [
        "pull=max(reaction.j.force)",
        "final(reaction.p_j.force_z)",
        "spin=max(abs(sensor.imu.angular_velocity_y))",
        "rise=span(sensor.up.vertical_position)",
        "rms(effort.j)",
    ]
    rows = rows_of(model, {"state.j": [0.1, 1.0], "u.j": [2.0]}, {"duration": 0.3}, measures)
    for row, angle in zip(rows, [0.1, 1.0], strict=True):
        fields = ["reactions", "sensors", "effort"]
        log = simulate(model, 0.3, contact=True, start={"j": angle}, inputs=[2.0], fields=fields)
        reaction, imu = log.field("derived/reactions"), log.field("sensors/imu")
        assert row["pull"] == np.linalg.norm(reaction[:, 3:], axis=1).max() > 9.0
        assert row["final(reaction.p_j.force_z)"] == reaction[-1, 5]
        assert row["spin"] == np.abs(imu[:, 5]).max() and row["rms(effort.j)"] == 2.0
        assert row["rise"] == np.ptp(log.field("sensors/up")[:, 0])


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("max(sensor.imu)", r"NAME.COLUMN with one of orientation_qw,"),
        ("max(sensor.imu.speed)", r"NAME.COLUMN with one of orientation_qw,"),
        ("max(sensor.gps)", "there is no sensor 'gps'; there are imu, up"),
        ("max(reaction.j)", "a reaction is JOINT.PART with one of moment_x,"),
        ("max(reaction.k.force)", "there is no joint named 'k'"),
        ("max(effort.k)", "there is no actuator named 'k'"),
    ],
)
def test_a_measure_of_nothing_is_named(measure, message):
    model = ModelText(SENSED.encode(), "p.sdf")
    with pytest.raises(ArgumentError, match=message):
        runner_of(model, {"state.j": [0.1]}, {"duration": 0.1}, [measure])


CONTROLLER = """
class Controller:
    rate = 200
    def __init__(self, random):
        self.push = random.uniform(1.0, 2.0)
    def __call__(self, q, sensors, targets):
        return [self.push + targets.q[0] - 5.0 * q[0] - 0.1 * sensors["imu"][5]]
"""


def test_controllers_plans_and_pushes_are_those_of_single_runs_of_the_seeds_of_points(tmp_path):
    (tmp_path / "own.py").write_text(CONTROLLER)
    (tmp_path / "plan.csv").write_text("time,j\n0,0\n1,0.4\n")
    model, push = ModelText(SENSED.encode(), "p.sdf"), "b=3@random for 0.02 to 0.2"
    more = {"controller": str(tmp_path / "own.py"), "trajectory": str(tmp_path / "plan.csv"), "pushes": [push]}
    runner, points = runner_of(model, {"state.j": [0.1, 1.0]}, {"duration": 0.3, **more}, ["final(effort.j)"])
    assert points[0].seed != points[1].seed
    for point, angle in zip(points, [0.1, 1.0], strict=True):
        row = runner.row(point)
        log = simulate(model, 0.3, contact=True, start={"j": angle}, seed=point.seed, fields="effort", **more)
        assert row["final p_j_q"] == log.q[-1, 0] and row["final(effort.j)"] == log.field("derived/effort")[-1, 0]


def test_a_controller_that_fails_is_in_the_row_of_its_point(tmp_path):
    (tmp_path / "own.py").write_text("def controller(q):\n    return [1.0 / (q[0] != 0.5)]\n")
    more = {"duration": 0.01, "controller": str(tmp_path / "own.py")}
    bad, good = rows_of(ModelText(SENSED.encode(), "p.sdf"), {"state.j": [0.5, 1.0]}, more)
    assert (bad["status"], good["status"]) == ("crashed", "ok") and "own.py: error: the controller returned inf" in bad[
        "message"
    ]


def test_what_other_processes_do_not_know_is_refused_and_another_controller_is_another_sweep(tmp_path):
    model = ModelText(SENSED.encode(), "p.sdf")
    for more, message in (
        ({"controller": lambda: [0.0]}, "FILE.py:NAME or a command"),
        ({"pushes": [("b", (1.0, 0.0, 0.0))]}, "a sweep takes texts and tables"),
    ):
        with pytest.raises(ArgumentError, match=message):
            sweep(model, {"state.j": [0.1]}, duration=0.01, run=more)
    own, journal = tmp_path / "own.py", tmp_path / "t.journal"
    own.write_text("def controller():\n    return [0]\n")
    options = {"duration": 0.01, "run": {"controller": str(own)}, "journal": journal}
    assert sweep(model, {"state.j": [0.1]}, **options).counts() == {"ok": 1}
    assert sweep(model, {"state.j": [0.1]}, resume=True, **options).counts() == {"ok": 1}
    own.write_text("def controller():\n    return [1]\n")
    with pytest.raises(ModelError, match="of a sweep with other files"):
        sweep(model, {"state.j": [0.1]}, resume=True, **options)


def test_contact_maxima_and_actuation():
    quiet, strong = rows_of(
        QUADRUPED,
        {"u.front_left_knee": [0.0, -5.0]},
        {"duration": 0.1},
        ["max(contact_force_sum)", "min(u.front_left_knee)", "final(contacts)", "final(com_z)"],
        {"ground": 0.0, "hold": True},
    )
    assert (quiet["min(u.front_left_knee)"], strong["min(u.front_left_knee)"]) == (0.0, -5.0)
    log = simulate(QUADRUPED, 0.1, ground=0.0, hold=True)
    contacts = log.contacts()
    assert quiet["contact_force_max"] == np.linalg.norm(contacts["contact/force"], axis=1).max()
    assert quiet["contact_depth_max"] == contacts["contact/depth"].max()
    assert quiet["contacts_max"] == np.diff(contacts["offset"]).max() == quiet["final(contacts)"]
    knee = "final quadruped_front_left_knee_q"
    assert abs(quiet[knee]) < 1e-6 and strong[knee] < -1e-4  # the hold learns to carry it


def test_random_starts_are_drawn_by_the_seed_of_the_point():
    rows = rows_of(PENDULUM, ["state=random"], {"duration": 0.0}, samples=3, seed=4)
    again = rows_of(PENDULUM, ["state=random"], {"duration": 0.0}, samples=2, seed=4)
    starts = [row["final double_pendulum_elbow_q"] for row in rows]
    assert len(set(starts)) == 3 and starts[:2] == [row["final double_pendulum_elbow_q"] for row in again]


def test_failures_have_classes(monkeypatch):
    vary = {"body.lower.mass": [1, -1], "state.elbow": [0.1]}
    assert [row["status"] for row in rows_of(PENDULUM, vary, {"duration": 0.1})] == ["ok", "invalid_model"]
    (late,) = rows_of(PENDULUM, {"state.elbow": [0.1]}, {"duration": 1e5}, timeout=0.05)
    assert late["status"] == "timeout" and late["end_time"] < 1e5 and "stopped after 0.05 s" in late["message"]
    vary = {"state.elbow_w": [1.0, 1e200]}
    ok, diverged = rows_of(PENDULUM, vary, {"duration": 0.1}, ["max(elbow_w)"])
    assert ok["status"] == "ok" and diverged["status"] == "diverged"
    assert "max(elbow_w)" not in diverged and "is not finite" in diverged["message"]
    runner, points = runner_of(PENDULUM, {"state.elbow": [0.1]}, {"duration": 0.1})
    monkeypatch.setattr(PointRunner, "_results", lambda *_: 1 / 0)
    assert runner.row(points[0])["status"] == "crashed"


def test_one_point_does_not_change_the_next():
    runner, points = runner_of(
        PENDULUM, {"joint.*.damping": [0.3, 0.0], "body.*.mass": ["*1", "*2"]}, {"duration": 0.2}
    )
    rows = [runner.row(points[k]) for k in (0, 3, 1, 0)]
    for row in rows:
        del row["wall_time"]
    assert rows[0] == rows[3] and rows[0] != rows[1]


# ------------------------------------------------------------------------------ local workers and Dask

SWEPT = {"joint.*.damping": "uniform(0, 1)", "state.elbow": "uniform(-1, 1)", "body.lower.mass": "*normal(1, 0.5)"}
BIG = {"samples": 200, "seed": 3, "duration": 0.2, "measures": ["max(abs(elbow))", "final(energy)"]}


def workers_of(pid):
    """The processes of local workers that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            command = (stat.parent / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if parent == pid and b"mbcli.sweeps.worker" in command:
            found.append(int(stat.parent.name))
    return found


@pytest.fixture(scope="module")
def local_table():
    """200 points on two processes, of which one is killed half way."""
    killed = []

    def kill(progress):
        if 100 <= progress.done < 200 and not killed:
            killed.append(workers_of(os.getpid())[0])
            os.kill(killed[0], signal.SIGKILL)

    table = sweep(PENDULUM, SWEPT, jobs=2, on_progress=kill, **BIG)
    assert killed
    return table


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")
def test_a_worker_that_is_killed_costs_only_time(local_table):
    counts = local_table.counts()
    assert set(counts) <= {"ok", "invalid_model"} and sum(counts.values()) == 200
    assert counts["ok"] > 180
    masses, status = local_table.column("body.lower.mass (*)"), local_table.column("status")
    np.testing.assert_array_equal(status == "ok", masses >= 0.0)


@pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")
def test_a_dask_cluster_gives_the_same_table(local_table):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        table = sweep(PENDULUM, SWEPT, dask=cluster.scheduler_address, **BIG)
    assert table.as_csv() == local_table.as_csv()


# --------------------------------------------------------------------------------------------- journal


def journal_of(path, **more):
    return Journal(str(path), {"seed": 1}, [{"id": name} for name in "abc"], **more)


def test_a_journal_counts_what_verifies(tmp_path):
    path = tmp_path / "j"
    journal = journal_of(path)
    for k in range(3):
        journal.add([(k, {"status": "ok", "x": 0.1 * k, "bad": float("nan")})])
    journal.close()
    content = path.read_bytes()
    again = journal_of(path, resume=True)
    again.close()
    assert sorted(again.rows) == [0, 1, 2] and again.rows[1]["x"] == 0.1 and path.read_bytes() == content
    lines = content.splitlines(keepends=True)
    for damaged, left in (
        (content[:-1], [0, 1]),  # cut
        (content[:-40], [0, 1]),
        (content.replace(b'"x":0.1', b'"x":0.2'), [0, 2]),  # changed
        (lines[0] + lines[2] + b"\x00\xff\n" + lines[3], [1, 2]),
        (content.replace(b'"id":"b"', b'"id":"z"'), [0, 2]),
    ):
        path.write_bytes(damaged)
        again = journal_of(path, resume=True)
        again.close()
        assert sorted(again.rows) == left
    path.write_bytes(content[10:])
    with pytest.raises(ModelError, match="is not the journal of a sweep"):
        journal_of(path, resume=True)
    path.write_bytes(content)
    with pytest.raises(ModelError, match="is of a sweep with other seed"):
        Journal(str(path), {"seed": 2}, [{"id": "a"}], resume=True)


def test_a_sweep_that_is_killed_goes_on_to_the_same_table(tmp_path):
    """MBCLI_KILLS: how often."""
    points = 60 + 80 * KILLS
    command = [sys.executable, "-m", "mbcli", "sweep", PENDULUM, "--vary", f"state.elbow=linspace(-1, 1, {points})"]
    command += ["-t", "0.5", "--measure", "max(elbow)", "-j", "1"]
    whole = subprocess.run([*command, "-o", "-"], cwd=tmp_path, capture_output=True, text=True, check=True)
    moments, killed = random.Random(5), 0
    journal = tmp_path / "part.csv.journal"
    for _ in range(KILLS):
        more = ["--resume"] if journal.exists() else []
        before = journal.stat().st_size if journal.exists() else 0
        process = subprocess.Popen([*command, "-o", "part.csv", *more], cwd=tmp_path, stderr=subprocess.DEVNULL)
        while process.poll() is None and (not journal.exists() or journal.stat().st_size <= before):
            time.sleep(0.02)
        time.sleep(moments.uniform(0.0, 0.1))
        killed += process.poll() is None
        process.kill()
        process.wait()
    assert killed == KILLS
    result = subprocess.run([*command, "-o", "part.csv", "--resume"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0 and "of them before" in result.stderr
    assert (tmp_path / "part.csv").read_text() == whole.stdout


def test_an_interrupt_leaves_a_journal(tmp_path):
    words = ("sweep", PENDULUM, "--vary", "state.elbow=linspace(0, 1, 2000)", "-t", "1", "-o", "x.csv", "-j", "1")
    process = start(*words, cwd=tmp_path)
    journal = tmp_path / "x.csv.journal"
    while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 3):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume goes on with them" in err and "Traceback" not in err
    assert not (tmp_path / "x.csv").exists() and journal.read_bytes().count(b"\n") >= 3


# --------------------------------------------------------------------------------------------- command


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


SMALL = ("sweep", PENDULUM, "--vary", "joint.elbow.damping=0.1,0.2", "-t", "0.05", "-j", "1")


def test_the_table_the_document_and_the_picture(in_folder):
    result = succeed(*SMALL, "--measure", "m=max(elbow)", "-o", "t.csv", "--json", "--plot", "t.png")
    document = result.json()
    jsonschema.validate(document, json.loads(schema_text("results")))
    with open("t.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == document["columns"] and [row["joint.elbow.damping"] for row in rows] == ["0.1", "0.2"]
    assert [float(row["m"]) for row in rows] == [row[document["columns"].index("m")] for row in document["rows"]]
    assert document["counts"] == {"ok": 2} and "2 runs in" in result.err
    assert Path("t.png").read_bytes().startswith(b"\x89PNG")
    assert cli(*SMALL, "-o", "t.csv").code == 6
    other = cli(*SMALL, "-o", "t.csv", "--resume")
    assert other.code == 3 and "is of a sweep with other measures" in other.err
    again = succeed(*SMALL, "--measure", "m=max(elbow)", "-o", "t.csv", "--resume")
    assert "2 of them before" in again.err
    if find_spec("pyarrow"):
        from pyarrow import parquet

        succeed(*SMALL, "--measure", "m=max(elbow)", "-o", "t.parquet")
        table = parquet.read_table("t.parquet")
        assert table.column_names == document["columns"] and table["m"].to_pylist() == [float(r["m"]) for r in rows]


def test_a_sweep_without_a_run_that_is_ok(in_folder):
    result = cli("sweep", PENDULUM, "--vary", "state.elbow_w=1e200,-1e200", "-t", "0.05", "-j", "1")
    assert result.code == 5 and result.out.count("diverged") == 2


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 2, "--vary PATH=VALUES or --points FILE says what varies"),
        (("--vary", "joint.elbw.damping=1,2"), 2, "did you mean joint.elbow.damping?"),
        (("--vary", "joint.elbow.damping=uniform(0, 1)"), 2, "--samples says how many points are drawn"),
        (("--vary", "state.elbw=1"), 2, "--vary state.elbw: there is no position named 'elbw'; did you mean"),
        (("--vary", "u.motor=1"), 2, "--vary u.motor: there is no actuator named 'motor'"),
        (("--vary", "plant_config.tme_step=1"), 2, 'did you mean "plant_config.time_step"?'),
        (("--vary", "state.elbow=1", "--measure", "max(elbw)"), 2, "--measure: 'elbw' is not a series of a run"),
        (("--vary", "state.elbow=1", "--measure", "elbow"), 2, "--measure 'elbow': is a series"),
        (("--vary", "state.elbow=1", "--measure", "max(v)", "--measure", "max(v)"), 2, "two measures are named"),
        (("--vary", "state.elbow=1", "-o", "x.txt"), 2, "the table is a .csv or .parquet file"),
        (("--vary", "state.elbow=1", "--resume"), 2, "--resume needs -o FILE"),
        (("--vary", "state.elbow=1", "-o", "x.csv", "--resume"), 2, "--resume: there is no x.csv.journal"),
        (("--vary", "state.elbow=1", "--plot", "x.png"), 2, "--plot draws measures"),
        (
            ("--vary", "u.elbow=1", "--measure", "max(elbow)", "--plot", "gone/x.png"),
            6,
            "gone/x.png: error: cannot be written: there is no folder gone",
        ),
        (("--vary", "state.elbow=1", "--dt", "0.1", "--integrator", "radau3"), 2, "--dt is not 0"),
        (("--points", "gone.csv"), 4, "gone.csv: error: no such file"),
        (("--vary", "state.elbow=1", "--points", "x.csv"), 2, "give --vary or --points"),
        (("--vary", "state.elbow=1", "--samples", "0"), 2, "--samples"),
        (("--vary", "state.elbow=1", "-o", "gone/x.csv"), 6, "cannot be written"),
    ],
)
def test_bad_input_of_the_command(in_folder, options, code, message):
    result = cli("sweep", PENDULUM, "-t", "0.05", *options)
    assert result.code == code, result.err
    assert message in result.err and len(result.err.strip().split("\n")) == 1


def test_a_column_of_points_that_is_no_path_is_named_with_its_file(in_folder):
    Path("p.csv").write_text("elbow,joint.elbow.damping\n0.1,0.2\n")
    result = cli("sweep", PENDULUM, "-t", "0.05", "--points", "p.csv")
    assert result.code == 3 and "p.csv:1: error: column 'elbow' is no path" in result.err


def test_bad_arguments_in_python():
    with pytest.raises(ArgumentError, match="jobs must be at least 1"):
        sweep(PENDULUM, {"state.elbow": [1]}, duration=0.1, jobs=0)
    with pytest.raises(ArgumentError, match="timeout must be greater than 0 s"):
        sweep(PENDULUM, {"state.elbow": [1]}, duration=0.1, timeout=0.0)


def test_a_job_comes_back_from_its_text():
    from mbcli.parsers.package_map import PackageMap

    from mbcli.sweeps.messages import job_text, read_job
    from mbcli.sweeps.point_run import Job

    packages = PackageMap(allow_outside=True, missing_meshes="error")
    packages.add("samples", SAMPLES)
    packages.add_path(SAMPLES.parent)
    start = (np.array([0.1, 1.0 / 3.0]), np.array([np.pi, 0.0]), np.array([True, False]))
    loading = {"packages": packages, "weld": ("base",), "ground": None}
    job = Job(
        (PENDULUM, ModelText(b"\xff<", "x.urdf")), loading, {"duration": 0.1}, start, np.array([2.0]), ("max(x)",)
    )
    back = read_job(job_text(job))
    assert job_text(back) == job_text(job) and back.models == job.models and back.measures == job.measures
    assert back.loading["packages"].as_dict() == packages.as_dict() and back.loading["weld"] == ["base"]
    for one, other in zip(back.start, start, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ArgumentError, match="config: a sweep takes numbers, texts and files"):
        job_text(Job((), {"config": object()}, {}))


def test_a_plot_that_cannot_be_drawn_does_not_cost_the_table(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    words = ("--vary", "joint.elbow.damping=+1,*2", "-t", "0.01", "-j", "1", "--measure", "final(elbow)")
    result = cli("-q", "sweep", PENDULUM, *words, "--plot", "x.png", "-o", "t.csv")
    assert result.code == 2 and "nothing that varies is a number" in result.err
    rows = list(csv.DictReader(open("t.csv", newline="")))  # noqa: SIM115
    # some are added, some multiplied: neither is a number of its own
    assert [row["joint.elbow.damping"] for row in rows] == ["+1", "*2"]

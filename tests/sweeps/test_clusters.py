"""Sweeps on machines that share nothing: workers without the files of the client, killed and added, give its table."""

import json
import os
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec

import pytest
from mbcli.parsers.package_map import PackageMap
from repository import ROOT
from test_bundles import MEASURES, robot  # noqa: F401  a fixture

from benchmarks.bare_cluster import BareCluster, can_hide_folders
from mbcli.errors import ResourceError
from mbcli.sweeps import sweep
from mbcli.sweeps.cases import Cases
from mbcli.sweeps.clusters import MOST, Reply, run_on_cluster
from mbcli.sweeps.points import Point
from mbcli.sweeps.tasks import SweepCargo, program, run_task, task_text

VARY = {"state.up": "uniform(-0.005, 0.1)", "body.leg.mass": "*uniform(0, 1.2)"}
needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask")


def swept(robot, **more):  # noqa: F811
    packages = PackageMap(allow_outside=True)
    packages.add("feet", robot / "feet")
    run = {"controller": str(robot / "control" / "hop.py")}
    model = robot / "robots" / "hopper.urdf"
    settings = {"packages": packages, "ground": -0.1, "samples": 60, "duration": 0.02, "measures": MEASURES}
    return sweep(model, VARY, run=run, **settings | more)


@needs_dask
@pytest.mark.skipif(not can_hide_folders(), reason="needs mount namespaces")
def test_workers_that_see_no_file_and_are_killed_give_the_table_of_this_machine(robot, tmp_path):  # noqa: F811
    here = swept(robot, jobs=2)
    with BareCluster(tmp_path / "cluster", 2, hidden=[robot]) as cluster:
        done = []

        def look(progress):
            if progress.done and not done:
                cluster.kill()
                cluster.add()
            done.append(progress.done)

        there = swept(robot, dask=cluster.address, on_progress=look)
    assert done[-1] == 60 and len(done) < 40  # batches
    assert set(here.counts()) == {"ok"}
    assert there.as_csv() == here.as_csv()


@needs_dask
@pytest.mark.skipif(not can_hide_folders(), reason="needs mount namespaces")
def test_a_client_that_is_killed_goes_on_to_the_same_table(robot, tmp_path):  # noqa: F811
    words = [sys.executable, "-m", "mbcli", "sweep", robot / "robots/hopper.urdf", "--allow-outside"]
    words += ["--package", f"feet={robot}/feet", "--ground", "-0.1", "-t", "0.05", "--samples", "150"]
    words += ["--controller", robot / "control/hop.py", *(f"--measure={text}" for text in MEASURES)]
    words += [f"--vary={path}={values}" for path, values in VARY.items()]
    subprocess.run([*words, "-j", "2", "-o", tmp_path / "here.csv"], check=True, capture_output=True)
    journal = tmp_path / "there.csv.journal"
    with BareCluster(tmp_path / "cluster", 2, hidden=[robot]) as cluster:
        words += ["--dask", cluster.address, "-o", str(tmp_path / "there.csv")]
        client = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        while client.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 3):
            time.sleep(0.02)
        client.kill()
        assert client.wait() == -9
        again = subprocess.run([*words, "--resume"], capture_output=True, text=True)
    assert again.returncode == 0 and "of them before" in again.stderr
    assert (tmp_path / "there.csv").read_text() == (tmp_path / "here.csv").read_text()
    points = [json.loads(line.rpartition(b"\t")[0])["point"] for line in journal.read_bytes().splitlines()[1:]]
    assert sorted(points) == list(range(150))


@needs_dask
def test_a_worker_of_another_program_says_so_in_a_line(robot, tmp_path):  # noqa: F811
    told = r"worker \S+ has mbcli \S+, interpreted, the sweep has mbcli \S+, numba"
    with BareCluster(tmp_path / "cluster", 0) as cluster:
        cluster.add(MBCLI_JIT="0")
        with (
            pytest.warns(RuntimeWarning, match=told),
            pytest.raises(ResourceError, match="no worker can run the sweep: .* has mbcli"),
        ):
            swept(robot, dask=cluster.address)


@needs_dask
def test_a_worker_without_mbcli_is_named_and_the_others_do_its_work(robot, tmp_path):  # noqa: F811
    (tmp_path / "other" / "mbcli").mkdir(parents=True)
    (tmp_path / "other" / "mbcli" / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'mbcli'\")")
    told = r"worker \S+ has no mbcli of this version: No module named 'mbcli"
    with BareCluster(tmp_path / "cluster", 1) as cluster:
        bare = cluster.add(PYTHONPATH=str(tmp_path / "other"))
        with pytest.warns(RuntimeWarning, match=told):
            table = swept(robot, dask=cluster.address)
        assert bare.poll() is None
    assert table.counts() == {"ok": 60}


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
def test_a_ray_cluster_gives_the_table_of_this_machine(robot, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    here = swept(robot, jobs=2)
    monkeypatch.chdir(tmp_path)
    assert swept(robot, ray="local").as_csv() == here.as_csv()


class Machines:
    """An engine in this process: `faults` is asked what goes wrong with a task, by worker and points."""

    def __init__(self, faults, addresses=("a", "b")):
        self.faults, self.addresses = faults, addresses
        self.queue, self.sizes, self.ran = [], [], []

    def give(self, content):
        self.content = content

    def close(self):
        self.queue.clear()

    def slots(self, without):
        return len([address for address in self.addresses if address not in without])

    def submit(self, text, files, without):
        address = next((address for address in self.addresses if address not in without), self.addresses[0])
        points = [index for index, *_ in json.loads(text)["points"]]
        self.sizes.append(len(points))
        self.queue.append((len(self.sizes), address, points, text))
        return len(self.sizes)

    def ended(self):
        key, address, points, text = self.queue.pop(0)
        self.ran.append((address, points))
        fault = self.faults(address, points)
        if fault == "lost":
            return [(key, Reply(None, "KilledWorker", address))]
        if fault:
            return [(key, Reply(json.dumps({"worker": address, "fault": fault, "message": "no"}), "", address))]
        rows = [[index, {"status": "ok", "message": "", "wall_time": 0.2}] for index in points]
        return [(key, Reply(json.dumps({"worker": address, "rows": rows}), "", address))]


@pytest.fixture
def simulated(monkeypatch):
    from mbcli.sweeps import clusters
    from mbcli.sweeps.bundle import Bundle

    monkeypatch.setattr(clusters, "JOINED_WITHIN", 0.3)

    def run(faults, count=300, retries=2, machines=Machines):
        points, machines = [Point(k, k, {}) for k in range(count)], machines(faults)
        rows = [
            row
            for batch in run_on_cluster(SweepCargo(Bundle("d" * 64, b"")), Cases(points, count, retries), machines)
            for row in batch
        ]
        assert sorted(index for index, _ in rows) == list(range(count))  # none is lost, none is there twice
        return machines, dict(rows)

    return run


def test_batches_have_the_size_of_their_measured_time(simulated):
    machines, rows = simulated(lambda address, points: None)
    assert machines.sizes[0] == 4 and max(machines.sizes) == 25 <= MOST  # of 0.2 s: 5 s
    assert machines.sizes[-1] == 1  # all workers end together
    assert {row["status"] for row in rows.values()} == {"ok"}


def test_a_batch_that_loses_its_worker_is_tried_case_by_case(simulated):
    machines, rows = simulated(lambda address, points: "lost" if 17 in points else None, retries=9)
    bad = [points for _, points in machines.ran if 17 in points]
    assert len(bad) == 3 and bad[1:] == [[17], [17]]
    assert rows.pop(17)["status"] == "lost" and {row["status"] for row in rows.values()} == {"ok"}


def test_a_worker_with_a_fault_of_its_own_gets_no_more_runs(simulated):
    with pytest.warns(RuntimeWarning, match="worker a no: it gets no more runs"):
        machines, rows = simulated(lambda address, points: "file" if address == "a" else None, retries=0)
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert sum(address == "a" for address, _ in machines.ran) <= 4  # what it had before it said so
    with pytest.raises(ResourceError, match="no worker can run the sweep: a no; b no"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulated(lambda address, points: "version")


def test_a_worker_that_joins_after_all_others_refused_does_the_work(simulated):
    class Late(Machines):
        asked = 0

        def slots(self, without):
            self.asked += 1
            self.addresses = ("a", "b") if self.asked > 2 else ("a",)
            return super().slots(without)

    with pytest.warns(RuntimeWarning, match="worker a no: it gets no more runs"):
        machines, rows = simulated(lambda address, points: "file" if address == "a" else None, machines=Late)
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert {address for address, _ in machines.ran} == {"a", "b"}


def test_a_task_of_a_worker_says_why_it_cannot_run(tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path))
    text = task_text("0" * 64, [Point(0, 0, {})])
    assert json.loads(text)["program"] == program()
    reply = json.loads(run_task(text, b"no bundle"))
    assert reply["fault"] == "file" and "is not an HDF5 file" in reply["message"]
    monkeypatch.setattr("mbcli.sweeps.tasks.unpack", lambda bundle: os.stat(tmp_path / "gone"))
    assert json.loads(run_task(text, b""))["fault"] == "file"
    monkeypatch.setenv("MBCLI_JIT", "0")
    assert json.loads(run_task(text, b""))["fault"] == "version"

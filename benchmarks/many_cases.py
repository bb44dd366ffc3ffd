"""The client of a sweep alone: time, memory and bytes of many cases that its cluster answers at once.

    python -m benchmarks.many_cases [CASES...]

The client is that of `mbcli sweep --dask -o table/`. In the place of Dask stands an engine that answers each batch with
the row of the first case, which ran, so that a million cases take the client's time and no more.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PENDULUM = ROOT / "sample_models" / "double_pendulum.urdf"
SLOTS = 8  # of the cluster
SHOWN = (
    "cases",
    "wall [s]",
    "a case [ms]",
    "of these CPU",
    "memory [MB]",
    "to workers [B]",
    "from them [B]",
    "journal [B]",
    "Parquet [B]",
)


class Echo:
    """An engine whose workers know the row."""

    row = None

    def __init__(self, address):
        import distributed  # noqa: F401 - whose memory the client of Dask has, too

        self.batches, self.sent, self.got = [], 0, 0
        Echo.last = self

    def give(self, content):
        pass

    def slots(self, without):
        return SLOTS

    def submit(self, text, files, without):
        self.batches.append(text)
        self.sent += len(text)
        return self.sent  # as good a key as any: it grows

    def ended(self):
        from mbcli.sweeps.clusters import Reply

        text = self.batches.pop(0)
        key = self.sent - sum(map(len, self.batches))
        rows = [[index, self.row] for index, *_ in json.loads(text)["points"]]
        reply = json.dumps({"worker": "worker:1", "rows": rows})
        self.got += len(reply)
        yield key, Reply(reply, "", "worker:1")

    def close(self):
        pass


def prepared_sweep(count):
    """The sweep of so many starts of a double pendulum, for 0.01 s."""
    from mbcli.models import load_model
    from mbcli.sweeps.sweeping import prepare_sweep

    loaded = load_model(str(PENDULUM), contact=True)
    vary = ["state.elbow=uniform(-1, 1)"]
    return prepare_sweep(loaded, (str(PENDULUM),), {"contact": True}, {"duration": 0.01}, vary, samples=count)


def first_row():
    """The row of its first case, as JSON."""
    from mbcli.sweeps.point_run import PointRunner

    prepared = prepared_sweep(1)
    return json.dumps(PointRunner(prepared.job).row(prepared.points[0]))


def run(count, folder):
    """Runs a sweep in this process; returns the figures of SHOWN."""
    from mbcli.sweeps import dask_workers
    from mbcli.sweeps.sweeping import run_sweep

    words = [sys.executable, "-m", "benchmarks.many_cases", "--row"]
    Echo.row = json.loads(subprocess.run(words, check=True, cwd=ROOT, capture_output=True).stdout)
    prepared = prepared_sweep(count)
    dask_workers.DaskEngine = Echo
    began, used = time.perf_counter(), time.process_time()
    run_sweep(prepared, dask="none", journal=f"{folder}/table.journal", data_set=f"{folder}/table/")
    wall, used = time.perf_counter() - began, time.process_time() - used
    parts = sum(os.path.getsize(f"{folder}/table/{name}") for name in os.listdir(f"{folder}/table"))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    journal = os.path.getsize(f"{folder}/table.journal")
    each = [round(size / count) for size in (Echo.last.sent, Echo.last.got, journal, parts)]
    return [
        count,
        round(wall, 1),
        round(1e3 * wall / count, 3),
        round(1e3 * used / count, 3),
        round(memory / 1e6),
        *each,
    ]


def main(words):
    """The command: a process of its own for each count, whose memory is then known."""
    if words[:1] == ["--row"]:
        print(first_row())
        return
    if words[:1] == ["--one"]:
        with tempfile.TemporaryDirectory() as folder:
            print(*run(int(words[1]), folder))
        return
    print(*SHOWN, sep="  ")
    for count in words or ("1000", "10000", "100000"):
        subprocess.run([sys.executable, "-m", "benchmarks.many_cases", "--one", count], check=True, cwd=ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])

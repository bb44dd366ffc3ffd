"""Batches of states through the shell beside a Pinocchio script: `python -m benchmarks.batches [ROWS...]`.

`mbcli COMMAND MODEL --states FILE -o FILE` and a script of ten lines read the same states and write the same results;
the processor time of each whole process, in turn, medians. `latency`: states come one by one through a pipe, and each
row's result is waited for.
"""

import argparse
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from lxml import etree

from mbcli.all import MultibodyPlant, Parser

MODEL = Path(__file__).parents[1] / "sample_models" / "arm7.urdf"
ROUNDS = 3
SCRIPT = """
import json, sys
import numpy as np, pinocchio as pin
model = pin.buildModelFromUrdf(sys.argv[2])
data, n = model.createData(), model.nv
calls = {
    "inverse-dynamics": lambda s: pin.rnea(model, data, s[:n], s[n : 2 * n], s[2 * n :]),
    "forward-dynamics": lambda s: pin.aba(model, data, s[:n], s[n : 2 * n], s[2 * n :]),
    "mass-matrix": lambda s: np.triu(pin.crba(model, data, s[:n])).ravel(),
}
call, source, target = calls[sys.argv[1]], sys.argv[3], sys.argv[4]
if source.endswith("csv"):
    rows = np.loadtxt(source, delimiter=",", skiprows=1)
    np.savetxt(target, [call(row) for row in rows], delimiter=",")
elif source.endswith("npz"):
    rows = np.hstack(list(np.load(source).values()))
    np.savez(target, result=np.array([call(row) for row in rows]))
else:
    with open(source) as lines, open(target, "w") as out:
        for line in lines:
            result = call(np.hstack(list(json.loads(line).values())))
            out.write(json.dumps(result.tolist()) + "\\n")
"""
INPUT = {"inverse-dynamics": "vdot", "forward-dynamics": "tau", "mass-matrix": None}
LEFT_OUT = ("transmission", "dynamics")  # reflected inertias and damping, which Pinocchio does not read
CASES = [
    *(("inverse-dynamics", kind) for kind in ("csv", "jsonl", "npz")),
    *(("forward-dynamics", kind) for kind in ("csv", "npz")),
    ("mass-matrix", "npz"),
]


def write_states(folder, count, third, kinds):
    """The sample arm, and states of it in files of several kinds; third: the name of the third field, or None."""
    tree = etree.parse(str(MODEL))
    etree.strip_elements(tree, *LEFT_OUT)
    tree.write(str(folder / MODEL.name))
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(MODEL))
    plant.Finalize()
    n, rng = plant.num_velocities(), np.random.default_rng(1)
    fields = {name: rng.uniform(-1.0, 1.0, (count, n)) for name in ("q", "v", third) if name}
    if "npz" in kinds:
        np.savez(folder / "states.npz", **fields)
    if "csv" in kinds:
        names = [f"{field}:{name}" for field in fields for name in _names(plant, field)]
        header = ",".join(names)
        np.savetxt(folder / "states.csv", np.hstack(list(fields.values())), delimiter=",", header=header, comments="")
    if "jsonl" in kinds:
        with open(folder / "states.jsonl", "w") as out:
            for row in zip(*fields.values(), strict=True):
                out.write(json.dumps(dict(zip(fields, map(np.ndarray.tolist, row), strict=True))) + "\n")


def _names(plant, field):
    return plant.GetPositionNames() if field == "q" else plant.GetVelocityNames()


def seconds_of(command):
    """Processor time of a process and its children, and the time by the clock."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.perf_counter() - start, os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system, wall


def compare(command, kind, folder):
    """[processor time, time by the clock] of mbcli and of the script, medians of the rounds."""
    source = folder / f"states.{kind}"
    model = str(folder / MODEL.name)
    ours = [sys.executable, "-m", "mbcli", command, model, "--states", str(source)]
    ours += ["-o", str(folder / f"ours.{kind}"), "--force"]
    script = [sys.executable, "-c", SCRIPT, command, model, str(source), str(folder / f"theirs.{kind}")]
    seconds_of(ours)  # what it compiles is kept
    rounds = [(seconds_of(ours), seconds_of(script)) for _ in range(ROUNDS)]
    check_equal(folder, kind, command)
    return [[statistics.median(turn[who][clock] for turn in rounds) for clock in (0, 1)] for who in (0, 1)]


def check_equal(folder, kind, command):
    """The first rows of both results are equal to 1e-9."""
    ours, theirs = (_first_rows(folder / f"{who}.{kind}") for who in ("ours", "theirs"))
    if command == "mass-matrix":  # Pinocchio fills the upper triangle
        n = round(ours.shape[1] ** 0.5)
        ours = np.triu(ours.reshape(-1, n, n)).reshape(len(ours), -1)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def _first_rows(path, count=100):
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            result = next(array for name, array in arrays.items() if name != "metadata")
            return result[:count].reshape(count, -1)
    with open(path) as file:
        lines = [line for line in itertools.islice(file, count + 1) if line[0] in "[{-0123456789"][:count]
    rows = [json.loads(line) if line[0] in "[{" else [float(cell) for cell in line.split(",")] for line in lines]
    return np.array([next(iter(row.values())) if isinstance(row, dict) else row for row in rows])


def latencies(count=200):
    """Seconds from a row into the pipe to its result out of it: the first, the median and the largest of others."""
    command = [
        sys.executable,
        "-m",
        "mbcli",
        "inverse-dynamics",
        str(MODEL),
        "--states",
        "-",
        "--states-format",
        "jsonl",
    ]
    row = json.dumps({"q": [0.1] * 7, "v": [0.2] * 7, "vdot": [0.3] * 7}).encode() + b"\n"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        seconds = []
        for _ in range(count):
            start = time.perf_counter()
            process.stdin.write(row)
            process.stdin.flush()
            process.stdout.readline()
            seconds.append(time.perf_counter() - start)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    return seconds[0], statistics.median(seconds[1:]), max(seconds[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=int, default=[100_000])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    first, median, largest = latencies()
    print(
        f"latency: first row {first:.2f} s with the start, then {median * 1e3:.2f} ms, {largest * 1e3:.1f} ms at most"
    )
    print("processor time (by the clock)            mbcli       Pinocchio script  ratio")
    for count in arguments.rows:
        for command, cases in itertools.groupby(CASES, key=lambda case: case[0]):
            kinds = [kind for _, kind in cases]
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                write_states(folder, count, INPUT[command], kinds)
                for kind in kinds:
                    ours, theirs = compare(command, kind, folder)
                    pair = "".join(f"{processor:9.2f} ({clock:5.2f}) s" for processor, clock in (ours, theirs))
                    print(f"{command:17} {kind:6} {count:8} {pair} {theirs[0] / ours[0]:6.1f}", flush=True)


if __name__ == "__main__":
    main()

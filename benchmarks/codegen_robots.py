"""All functions of robots of makers as code of all targets, compiled and proved: `python -m benchmarks.codegen robots`.

`python -m benchmarks.codegen_robots FILE TARGETS` does one robot and prints a line of JSON for each target.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from importlib.util import find_spec
from pathlib import Path

from benchmarks.robots.files import robot_files
from mbcli.codegen.generation import Settings, record_functions, write_functions
from mbcli.codegen.plant_functions import PLANT_FUNCTIONS
from mbcli.codegen.target import find_target
from mbcli.errors import MbcliError
from mbcli.models.loading import load_model
from mbcli.multibody.tree import BodyIndex
from mbcli.tracing import MODEL_FUNCTIONS

PACKAGES = (
    ("airo_models", "."),
    ("upkie_description", "."),
    ("pinocchio", "../../../../share/example-robot-data/robots"),
)
MOST_VELOCITIES = 62
MOST_OF_TARGET = {"arduino": 12}  # velocities: flash of boards
OF_UNITS = ("pose", "energy")  # outputs of an FMU beside its state
PROOF_STATES = 5


def folders():
    """The folders of robots that are here."""
    found = [Path(os.environ["MBCLI_MODELS"])] if "MBCLI_MODELS" in os.environ else []
    for package, below in PACKAGES:
        spec = find_spec(package)
        if spec is not None and (Path(spec.origin).parent / below).exists():
            found.append((Path(spec.origin).parent / below).resolve())
    return found


def robots(where):
    """[(name, path, velocities)] of files with joints, one of each number of velocities and mass, small ones first."""
    found = {}
    for file in robot_files(where, ("urdf", "sdf", "mjcf"))[0]:
        try:
            plant = load_model(str(file.path)).plant
        except MbcliError:
            continue
        moving = plant.num_velocities() - 6 * len(plant.GetFloatingBaseBodies())
        if moving < 1 or plant.num_velocities() > MOST_VELOCITIES:
            continue
        mass = round(plant.CalcTotalMass(plant.CreateDefaultContext()), 3)
        found.setdefault((plant.num_velocities(), mass), (file.path.stem, str(file.path), plant.num_velocities()))
    return sorted(found.values(), key=lambda robot: robot[2])


def recorded(context, asked):
    """The functions of these that the plant has, and {name: why not} of others."""
    functions, refused = [], {}
    for name in asked:
        try:
            functions += record_functions(context, [name])
        except MbcliError as error:
            refused[name] = str(error)
    return functions, refused


def measure_robot(path, targets):
    """Prints a line of JSON for each target: operations, bytes, seconds, deviation, or why it is not."""
    plant = load_model(path).plant
    context = plant.CreateDefaultContext()
    frame = plant.get_body(BodyIndex(plant.num_bodies() - 1)).name()
    names = [f"{n}:{frame}" if f.of == "frame" else n for n, f in MODEL_FUNCTIONS.items()]
    shared, refused = recorded(context, [*names, *PLANT_FUNCTIONS])
    for target in targets:
        start, functions, of = time.perf_counter(), shared, context
        row = {"target": target, "constraints": len(plant.elements.constraints), "failure": "", "refused": refused}
        try:
            if find_target(target).time_step is not None:
                of, functions = unit_of(path, target, frame)
            with tempfile.TemporaryDirectory() as folder:
                settings = Settings(target, states=PROOF_STATES, name="robot")
                made = write_functions(of, functions, folder, settings)
                files = [each for each in Path(folder).rglob("*") if each.is_file() and "_states" not in each.name]
                row |= figures(made, sum(each.stat().st_size for each in files), time.perf_counter() - start)
        except MbcliError as error:
            row["failure"] = str(error)
        print(json.dumps(row), flush=True)


def unit_of(path, target, frame):
    """(context, functions) of a target that has plants of its own."""
    target = find_target(target)
    plant = target.plant_of(load_model(path, dt=target.time_step).plant)
    context = plant.CreateDefaultContext()
    asked = [f"{name}:{frame}" if name == "pose" else name for name in OF_UNITS]
    return context, record_functions(context, [*target.needs(context), *asked])


def figures(made, size, seconds):
    """What a row says of code that was made."""
    proofs = [f["proof"] for f in made.functions if f["proof"]]
    return {
        "functions": len(proofs),
        "operations": {f["name"]: f["operations"] for f in made.functions},
        "bytes": size,
        "seconds": seconds,
        "compile_time": proofs[0].get("compile_time"),
        "deviation": max(proof["deviation"] for proof in proofs),
        "tolerance": max(proof["tolerance"] for proof in proofs),
    }


def measure_robots(options):
    """A line a robot and target, as they come; then a line a target."""
    chosen = robots(options.models or folders())
    step = max(len(chosen) / options.count, 1.0)
    chosen = [chosen[int(k * step)] for k in range(min(options.count, len(chosen)))]
    rows = []
    for name, path, velocities in chosen:
        targets = [t for t in options.targets.split(",") if velocities <= MOST_OF_TARGET.get(t, MOST_VELOCITIES)]
        for row in rows_of_process(path, targets, options.patience):
            rows.append({"robot": name, "file": Path(path).name, "velocities": velocities} | row)
            print(_line(rows[-1]), flush=True)
        if options.json:
            Path(options.json).write_text(json.dumps(rows, indent=1))
    for target in options.targets.split(","):
        _summarize(target, [row for row in rows if row["target"] == target])
    return rows


def rows_of_process(path, targets, patience):
    """What measure_robot() prints in a process of its own; its end is told in a row of the target that it was at."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.codegen_robots", path, ",".join(targets)]
    environment = os.environ | {"MBCLI_JIT": "0"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    timer = threading.Timer(patience, process.kill)
    timer.start()
    start, left = time.perf_counter(), list(targets)
    for line in process.stdout:
        row = json.loads(line)
        left.remove(row["target"])
        yield row
    why = (process.stderr.read().strip().splitlines() or [f"exit code {process.wait()}"])[-1]
    timer.cancel()
    if time.perf_counter() - start >= patience:
        why = f"more than {patience:g} s for the targets of this robot"
    yield from ({"target": target, "failure": why, "refused": {}} for target in left)


def _line(row):
    head = f"{row['robot']:32} {row['velocities']:3} {row['target']:8}"
    if row["failure"]:
        return f"{head} {row['failure'][:150]}"
    compiled = "" if row["compile_time"] is None else f", compiled in {row['compile_time']:.1f} s"
    total = sum(row["operations"].values())
    return (
        f"{head} {row['functions']:2} functions, {total:7,} operations, {row['bytes'] / 1000:7.0f} kB, "
        f"{row['seconds']:5.1f} s{compiled}, off by {row['deviation']:.1e}"
    )


def _summarize(target, rows):
    good = [row for row in rows if not row["failure"]]
    print(f"\n{target}: {len(good)} of {len(rows)} robots, {sum(row['functions'] for row in good)} functions proved")
    for what, scale, unit in (("seconds", 1, "s"), ("compile_time", 1, "s of compilers"), ("bytes", 1e-3, "kB")):
        values = sorted(row[what] for row in good if row[what] is not None)
        if values:
            print(f"  median {scale * statistics.median(values):.1f} {unit}, at most {scale * values[-1]:.1f}")
    totals = sorted(sum(row["operations"].values()) for row in good)
    if good:
        worst = max(row["deviation"] for row in good)
        print(
            f"  median {statistics.median(totals):,.0f} operations, at most {totals[-1]:,}; off by at most {worst:.1e}"
        )


if __name__ == "__main__":
    measure_robot(sys.argv[1], sys.argv[2].split(","))

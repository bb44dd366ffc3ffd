"""Models as code: `python -m benchmarks.codegen robots|operations|speed|jax`.

    robots [FOLDER...]      `mbcli codegen` of every robot file of these folders: all functions, all targets, compiled
                            and proved; default: the folder MBCLI_MODELS, and those of the packages airo-models and
                            example-robot-data. --count N robots, --targets LIST, --patience S for each
    operations [FILE...]    operations of inverse and forward dynamics and of the mass matrix, beside those of
                            Pinocchio's algorithms, recorded by CasADi (casadi_kin_dyn)
    speed [FILE...]         nanoseconds a call of the C code, beside CasADi's C code of these records, Pinocchio in C++,
                            and the kernels, in turns
    jax [FILE...]           values and gradients of 4096 states beside the kernels, and the time of a state beside the
                            batch and MJX

Peers of `operations` and `speed` are in a Python of their own, since casadi_kin_dyn comes with a Pinocchio of its own:
`--peer PYTHON` names it (`pip install cmeel-casadi-kin-dyn`). Robots are taken with their base welded, without limits,
damping, mimic joints and transmissions, which Pinocchio does not have or counts otherwise.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from benchmarks.robots.files import robot_files
from mbcli.codegen.generation import TARGETS
from mbcli.errors import MbcliError
from mbcli.models.loading import load_model
from mbcli.multibody.tree import BodyIndex
from mbcli.tracing import MODEL_FUNCTIONS

ARM = str(Path(__file__).parents[1] / "sample_models" / "arm7.urdf")
PROOF_STATES = 5
MOST_VELOCITIES = 62


def folders():
    """The folders of robots that are here."""
    found = [Path(os.environ["MBCLI_MODELS"])] if "MBCLI_MODELS" in os.environ else []
    for package, below in (("airo_models", "."), ("pinocchio", "../../../../share/example-robot-data/robots")):
        spec = importlib.util.find_spec(package)
        if spec is not None and (Path(spec.origin).parent / below).exists():
            found.append((Path(spec.origin).parent / below).resolve())
    return found


def robots(where):
    """[(name, path, plant)] of files with joints and at most MOST_VELOCITIES, one of each, small ones first."""
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
        found.setdefault((plant.num_velocities(), mass), (file.path.stem, str(file.path), plant))
    return sorted(found.values(), key=lambda robot: robot[2].num_velocities())


def functions_of(plant, target):
    """All functions that a target has for a plant, of the frame of its last body where one is asked for."""
    frame = plant.get_body(BodyIndex(plant.num_bodies() - 1)).name()
    chosen = MODEL_FUNCTIONS if target != "fmi" else ("pose", "energy")  # outputs beside the state
    names = [f"{name}:{frame}" if MODEL_FUNCTIONS[name].of == "frame" else name for name in chosen]
    return [name for name in names if not (plant.elements.constraints and name == "forward_dynamics")]


def generate(path, target, functions, patience):
    """What `codegen --json` printed, its seconds and bytes, or the first line of its error."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["codegen", path, "--to", target, "-o", f"{folder}/code", "--proof-states", str(PROOF_STATES), "--json"]
        words += ["--functions", ",".join(functions)] if functions else []
        environment = os.environ | {"MBCLI_JIT": "0"}
        start = time.perf_counter()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "mbcli", "-q", *words],
                capture_output=True,
                text=True,
                timeout=patience,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return None, f"more than {patience:g} s"
        seconds = time.perf_counter() - start
        if done.returncode:
            return None, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        size = sum(file.stat().st_size for file in Path(folder, "code").rglob("*") if "_states" not in file.name)
        return json.loads(done.stdout) | {"seconds": seconds, "bytes": size}, ""


def measure_robots(options):
    """A line a robot and target; then a line a target."""
    chosen = robots(options.models or folders())
    step = max(len(chosen) / options.count, 1.0)
    chosen = [chosen[int(k * step)] for k in range(min(options.count, len(chosen)))]
    rows = []
    for name, path, plant in chosen:
        for target in options.targets.split(","):
            made, why = generate(path, target, functions_of(plant, target), options.patience)
            row = {"robot": name, "velocities": plant.num_velocities(), "constraints": len(plant.elements.constraints)}
            row |= {"target": target, "failure": why}
            if made is not None:
                proofs = [f["proof"] for f in made["functions"]]
                row |= {
                    "functions": len(proofs),
                    "operations": {f["name"]: f["operations"] for f in made["functions"]},
                    "bytes": made["bytes"],
                    "seconds": made["seconds"],
                    "compile_time": proofs[0].get("compile_time") if proofs[0] else None,
                    "deviation": max((proof["deviation"] for proof in proofs if proof), default=None),
                }
            rows.append(row)
            print(_line(row), flush=True)
    for target in options.targets.split(","):
        _summarize(target, [row for row in rows if row["target"] == target])
    return rows


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
    if good:
        worst = max(row["deviation"] for row in good)
        times = sorted(row["seconds"] for row in good)
        sizes = sorted(row["bytes"] for row in good)
        print(
            f"  off by at most {worst:.1e}; median {statistics.median(times):.1f} s, at most {times[-1]:.1f} s; ",
            end="",
        )
        print(f"median {statistics.median(sizes) / 1000:.0f} kB, at most {sizes[-1] / 1000:.0f} kB")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codegen", description=__doc__)
    parser.add_argument("what", choices=("robots", "operations", "speed", "jax"))
    parser.add_argument("models", nargs="*", help="folders of robots, or files")
    parser.add_argument("--count", type=int, default=60, help="robots, evenly from small to large ones")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--patience", type=float, default=300.0, help="[s] for a robot and target")
    parser.add_argument("--peer", default=sys.executable, help="the Python that has casadi_kin_dyn")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "robots":
        rows = measure_robots(options)
    elif options.what == "jax":
        from benchmarks.codegen_jax import measure_jax

        rows = [measure_jax(path) for path in options.models or [ARM]]
    else:
        from benchmarks.codegen_peers import measure_operations, measure_speed

        measure = measure_operations if options.what == "operations" else measure_speed
        rows = [measure(path, options.peer) for path in options.models or [ARM]]
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()

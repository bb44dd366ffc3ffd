"""Compares the first steps of files of others: compiled with interpreted kernels, or with pydrake's.

    python -m benchmarks.robots --compare FOLDER...
    python -m benchmarks.robots --drake FOLDER...

Two processes take the steps, each with one program; the states go through files.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.robots import states
from benchmarks.robots.files import RobotFile
from benchmarks.robots.forked import run_forked

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-9
LEAST_BEYOND = 1e-6  # [rad or m] what two steps bring back at the speed that stops return with
UNTOLD = ("equal", "left out", "not read", "inertia replaced", "limits are springs", "brought back slowly")
SIDES = {  # (library, MBCLI_JIT, steps, whether dry friction acts, in steps of the default scheme) of the two sides
    "--compare": (("mbcli", "1", states.STEPS, True), ("mbcli", "0", states.STEPS, True)),
    "--drake": (("mbcli", "1", 1, False), ("pydrake", "1", 1, False)),
}


def compare(mode, files, options):
    """Prints the runs that differ and how many do; returns the exit code."""
    started = time.monotonic()
    runs = [[b, s, a] for b in options.bases for s in ("default", *options.starts) for a in options.approximations]
    with tempfile.TemporaryDirectory() as folder:
        sides = [Side(folder, k, side, files, runs, options) for k, side in enumerate(SIDES[mode])]
        one, other = (side.results() for side in sides)
    report = Comparison([side.name for side in sides])
    for key in one:
        text = report.add(key, one[key], other.get(key, {"error": "no result"}))
        if text or options.verbose:
            print(text or f"equal  {key}", flush=True)
    print(f"\n{report.table()}\n{time.monotonic() - started:.0f} s", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(report.records, indent=1))
    if options.table:
        Path(options.table).write_text("\n".join([*report.lines, "", report.table()]) + "\n")
    return int(bool(report.lines))


class Side:
    """A process that takes the steps of all files with one program."""

    def __init__(self, folder, number, side, files, runs, options):
        library, jit, steps, friction = side
        self.name = library if jit == "1" else f"{library} interpreted"
        self._out = Path(folder) / f"{number}.jsonl"
        task = {
            "files": [[str(f.path), str(f.folder), f.format, f.sha256] for f in files],
            "runs": [[library, *run, steps, friction] for run in runs],
            "limit": options.run_limit,
            "processes": max(1, options.processes // 2),
            "out": str(self._out),
        }
        given = Path(folder) / f"{number}.json"
        given.write_text(json.dumps(task))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.robots.compare", str(given)],
            cwd=ROOT,
            env={**os.environ, "MBCLI_JIT": jit},
        )

    def results(self):
        """{"FILE: RUN": result}"""
        if self._process.wait():
            raise RuntimeError(f"{self.name}: exit code {self._process.returncode}")
        lines = map(json.loads, self._out.read_text().splitlines())
        return {f"{' '.join(run[1:4])}  {name}": result for name, run, result in lines}


class Comparison:
    """What differs between two sides."""

    def __init__(self, names):
        self._names, self.lines, self.records, self._counts = names, [], [], Counter()

    def add(self, key, one, other):
        """The line of a run that differs, else None."""
        word, text, apart = self._verdict(one, other)
        self._counts[word] += 1
        self.records.append({"run": key, "verdict": word, "apart": apart, "text": text})
        if word in UNTOLD:
            return None
        self.lines.append(f"{word:24} {key}: {text}")
        return self.lines[-1]

    def _verdict(self, one, other):
        if "left_out" in one or "left_out" in other:
            return "left out", one.get("left_out") or other.get("left_out"), None
        failed = [side.get("error") or side.get("died") or side.get("raised") for side in (one, other)]
        for k in range(2):
            if failed[k] and failed[k].startswith("does not read"):
                return "not read", f"{self._names[k]} {failed[k]}", None
        if all(failed):
            return ("equal" if failed[0] == failed[1] else "both fail"), f"{failed[0]} | {failed[1]}", None
        for k in range(2):
            if failed[k]:
                return f"{self._names[k]} fails", failed[k], None
        if one["names"] != other["names"]:
            return "another order", "names of positions differ", None
        apart = states.difference(one, other)
        if apart <= TOLERANCE:
            return "equal", "", apart
        largest = max((abs(a - b) for a, b in zip(one["M"], other["M"], strict=True)), default=0.0)
        if not largest <= TOLERANCE * max(map(abs, other["M"]), default=0.0):
            replaced = _replaced(one, other)
            if replaced and self._names[1] == "pydrake":
                return "inertia replaced", f"pydrake has another one of {', '.join(replaced)}", apart
            return "another mass matrix", f"M differs by {largest:.2g}, states by {apart:.3g}", apart
        reason = _reason(one) if self._names[1] == "pydrake" else None
        if reason is not None:
            return *reason, apart
        return "differs", f"by {apart:.3g}", apart

    def table(self):
        total = sum(self._counts.values())
        counts = ", ".join(f"{number} {word}" for word, number in self._counts.most_common())
        return f"{' and '.join(self._names)}: {total} runs: {counts}"


def _replaced(one, other):
    """Names of the links without mass, or whose inertia no body has, that have another one on the other side."""
    inertias, theirs = one["inertias"], other["inertias"]
    unphysical = [name for name, (_, physical) in inertias.items() if not physical and name in theirs]
    return [name for name in unphysical if inertias[name][0] != theirs[name][0]]


def _reason(one):
    """Why a step of mbcli is not that of pydrake: the verdict and its text; None without one that is known."""
    if one["constraints"]:
        return "another scheme", f"of {one['constraints']} constraints"
    if one["approximation"] == "tamsi" and one["limits"]:
        return "limits are springs", f"of {one['limits']} positions, in pydrake's TAMSI"
    if one["beyond"] > LEAST_BEYOND:
        return "brought back slowly", f"starts {one['beyond']:.3g} beyond a limit"
    return None


def main(given):
    """Takes the steps that a file asks for, and writes the states to another."""
    task = json.loads(Path(given).read_text())
    files = [RobotFile(Path(path), Path(folder), kind, sha) for path, folder, kind, sha in task["files"]]
    library = task["runs"][0][0]
    states.library(library)
    if library == "mbcli" and os.environ["MBCLI_JIT"] == "1":
        sample = RobotFile(ROOT / "sample_models/quadruped.urdf", ROOT / "sample_models", "urdf", "")
        for approximation in {run[3] for run in task["runs"]}:
            states.do(sample, ["mbcli", "floating", "lower", approximation, 1, True], {})
    with open(task["out"], "w", encoding="utf-8") as out:
        run_forked(
            [(file, task["runs"]) for file in files],
            states.do,
            limit=task["limit"],
            processes=task["processes"],
            on_result=lambda file, run, result: print(json.dumps([file.name, run, result]), file=out, flush=True),
        )


if __name__ == "__main__":
    main(sys.argv[1])

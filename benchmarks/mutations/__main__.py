"""Puts faults into a copy of the program, one at a time, and counts those that the quick set notices.

    python -m benchmarks.mutations [--count 30] [--seed 0] [--jobs 2] [--room WORD] [--list]

First the quick set runs as it is, then over each fault, until a test fails, as a developer runs it before a commit: it
begins with the tests near what has changed. `--list` prints the faults alone.
Exit code 1 if one of the seven named faults, or more than a sixth of the drawn ones, goes unnoticed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from benchmarks.mutations.faults import ROOT, drawn_faults, named_faults
from benchmarks.mutations.trial import copied_tree, first_failure, keep_bytecode


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=30, help="faults that are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="faults that are tried at a time")
    parser.add_argument("--room", default="", help="only faults of folders with this word")
    parser.add_argument("--list", action="store_true", help="print the faults, try none")
    options = parser.parse_args(arguments)
    faults = [*named_faults(), *drawn_faults(options.count, options.seed)]
    faults = [fault for fault in faults if options.room in fault.room]
    if options.list:
        for fault in faults:
            print(row(fault, ""))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return _tried(faults, options.jobs, Path(folder))


def row(fault, verdict) -> str:
    words = fault.words((ROOT / fault.file).read_bytes())
    return f"| {fault.file}:{fault.line} | {fault.kind} | `{words[:70]}` | {verdict} |"


def _tried(faults, jobs, folder) -> int:
    trees: SimpleQueue = SimpleQueue()
    for k in range(jobs):
        tree = copied_tree(folder / str(k))
        keep_bytecode(tree)
        trees.put(tree)

    def verdict(fault):
        tree = trees.get()
        try:
            return first_failure(tree, fault) or "NOT NOTICED"
        finally:
            trees.put(tree)

    failed = verdict(None)
    if failed != "NOT NOTICED":
        raise SystemExit(f"the quick set fails as it is: {failed}")

    print("| where | fault | old -> new | noticed by |\n|---|---|---|---|")
    noticed: Counter = Counter()
    with ThreadPoolExecutor(jobs) as pool:
        for fault, said in zip(faults, pool.map(verdict, faults), strict=True):
            print(row(fault, said), flush=True)
            noticed[fault.kind == "named", not said.startswith("NOT")] += 1
    named, drawn = (noticed[kind, True] + noticed[kind, False] for kind in (True, False))
    print(f"\nnoticed: {noticed[True, True]} of {named} named, {noticed[False, True]} of {drawn} drawn")
    return int(noticed[True, False] > 0 or noticed[False, False] > drawn / 6)


if __name__ == "__main__":
    sys.exit(main())

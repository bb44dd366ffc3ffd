"""The net over real files: every file in every way of `mbcli simulate` and from starts at limits, see runs.py.

    python -m benchmarks.robots --stepping FOLDER...

Each run ends well, or with a cause that its file gives, or it is a failure of the program.
"""

import random
import sys
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.robots import runs
from benchmarks.robots.files import robot_files
from benchmarks.robots.forked import run_forked
from benchmarks.robots.verdicts import LEFT_OUT, WELL, Report

LIMIT = 60.0  # [s] for one run
PROCESSES = 2
SAVED_EVERY = 60.0  # [s]
FORMATS = ("urdf", "sdf", "mjcf")


def sampled(files, count, seed=0):
    """At most `count` files of each origin, drawn at random; all for None."""
    if count is None:
        return files
    groups = defaultdict(list)
    for file in files:
        groups[file.origin].append(file)
    chosen = [f for group in groups.values() for f in random.Random(seed).sample(group, min(count, len(group)))]
    return sorted(chosen, key=lambda file: file.name)


def files_of(options, formats=FORMATS):
    files, _ = robot_files(options.folders, formats, options.only, options.skip)
    return sampled(files, options.sample, options.seed)


def step(options):
    """Runs what the options of `python -m benchmarks.robots` ask for; returns the exit code."""
    files = files_of(options)
    chosen = runs.runs_of_file(options.ways, options.starts, options.approximations, options.bases)
    started = time.monotonic()
    runs.warm_up()
    print(f"{len(files)} files; ready after {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    report, saving = Report(), Saving(options)

    def show(file, run, result):
        line = report.add(file, run, result)
        if line and (options.verbose or report.records[-1]["verdict"] not in (WELL, LEFT_OUT)):
            print(line, flush=True)
        saving.now_and_then(report)

    tasks = [(file, chosen) for file in files]
    run_forked(tasks, runs.do, limit=options.run_limit, processes=options.processes, on_result=show)
    saving.save(report)
    print(f"\n{report.table()}\n{time.monotonic() - started:.0f} s", flush=True)
    return int(report.failed())


class Saving:
    """Writes a report to the files of --json and --table."""

    def __init__(self, options):
        self._options, self._saved = options, time.monotonic()

    def now_and_then(self, report):
        if time.monotonic() - self._saved > SAVED_EVERY:
            self.save(report)

    def save(self, report):
        self._saved = time.monotonic()
        if self._options.json:
            write_whole(self._options.json, report.document())
        if self._options.table:
            Path(self._options.table).write_text(report.table())


def write_whole(path, text):
    """Writes a file that is never seen half written, whenever the program is ended."""
    part = Path(f"{path}.part")
    part.write_text(text)
    part.replace(path)


def add_options(parser):
    group = parser.add_argument_group("--stepping")
    group.add_argument("--ways", nargs="*", choices=tuple(runs.WAYS), default=tuple(runs.WAYS), help="[all]")
    group.add_argument("--starts", nargs="*", choices=("default", *runs.STARTS), default=runs.STARTS, help="[limits]")
    group.add_argument("--approximations", nargs="+", choices=runs.APPROXIMATIONS, default=runs.APPROXIMATIONS)
    group.add_argument("--bases", nargs="+", choices=runs.BASES, default=runs.BASES)
    group.add_argument("--run-limit", type=float, default=LIMIT, metavar="S", help=f"for one run [{LIMIT:g}]")
    group.add_argument("--processes", type=int, default=PROCESSES, metavar="N", help=f"at once [{PROCESSES}]")
    group.add_argument("--verbose", action="store_true", help="show the runs that end well, too")

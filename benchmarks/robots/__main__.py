"""Counts the robot files of folders that a peer reads, and of those the ones that mbcli reads."""

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks.robots import compare, convert, standing, stepping
from benchmarks.robots.count import LIMIT, count
from benchmarks.robots.files import FORMATS, robot_files
from benchmarks.robots.table import table

SAVED_EVERY = 60.0  # [s]


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robots", description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="robot files are looked for below it")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS[:4], help="[urdf sdf mjcf usd]")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files whose path contains it")
    parser.add_argument("--skip", nargs="+", default=[], metavar="TEXT", help="no files whose path contains one")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N files of each folder, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of that sample [0]")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="S", help="for one file and program [60]")
    parser.add_argument("--json", metavar="FILE", help="also write every record to a JSON file, as it comes")
    parser.add_argument("--table", metavar="FILE", help="also write the table to a file")
    parser.add_argument(
        "--targets", nargs="+", choices=convert.TARGETS, default=convert.TARGETS, help="of --convert [all]"
    )
    parser.add_argument("--known", metavar="FILE", help="take the answers of the peers from the JSON of an earlier run")
    parser.add_argument(
        "--standing",
        action="store_true",
        help="instead: simulate thirty robots on the ground, of packages below the FOLDERs (as site-packages)",
    )
    parser.add_argument(
        "--stepping", action="store_true", help="instead: run every file in four ways and from starts at its limits"
    )
    parser.add_argument(
        "--compare", action="store_true", help="instead: which of their first steps differ when kernels are interpreted"
    )
    parser.add_argument(
        "--drake", action="store_true", help="instead: which of their first steps pydrake takes otherwise"
    )
    parser.add_argument(
        "--convert", action="store_true", help="instead: convert every file to every format, and compare both models"
    )
    parser.add_argument(
        "--engines", action="store_true", help="of --convert: pydrake and Pinocchio read the results too"
    )
    parser.add_argument(
        "--newton", metavar="PYTHON", help="of --engines: of an environment with Newton, which reads USD"
    )
    parser.add_argument("--shuffle", action="store_true", help="of --convert: the files in an order drawn by --seed")
    parser.add_argument(
        "--resume", metavar="FILE", help="of --convert: only what is not in the JSON of an earlier run, which is kept"
    )
    parser.add_argument("--again", action="store_true", help="of --resume: the faults of that run again, too")
    stepping.add_options(parser)
    options = parser.parse_args(arguments)
    if options.standing:
        return _stand(options)
    if options.stepping:
        return stepping.step(options)
    if options.convert:
        return convert.convert(options)
    for mode in compare.SIDES:
        if getattr(options, mode.removeprefix("--")):
            return compare.compare(mode, stepping.files_of(options, ("urdf", "sdf")), options)
    files, found = robot_files(options.folders, options.formats, options.only, options.skip)
    files = stepping.sampled(files, options.sample, options.seed)
    known = _known(options.known)
    report = Report(found, len(files), options)
    report.records = count(files, known=known, limit=options.limit, on_record=report.add)
    report.save()
    print(table(report.records, found), end="")
    return 0


def _stand(options):
    lines = [standing.head()]
    print(lines[0], flush=True)

    def show(result):
        lines.append(standing.line(result))
        print(lines[-1], flush=True)

    robots = [robot for robot in standing.ROBOTS if options.only in robot[2] and not _skipped(robot[2], options.skip)]
    results = standing.stand(robots, options.folders, on_result=show)
    lines.append(standing.summary(results))
    print(lines[-1])
    if options.json:
        Path(options.json).write_text(standing.document(results))
    if options.table:
        Path(options.table).write_text("\n".join(lines) + "\n")
    return 0


def _skipped(path, skip):
    return any(text in path for text in skip)


def _known(path):
    """{(format, sha256): record} of an earlier run."""
    if path is None:
        return {}
    records = json.loads(Path(path).read_text())["files"]
    return {(record["format"], record["sha256"]): record for record in records}


class Report:
    """The records so far, saved now and then."""

    def __init__(self, found, number, options):
        self.records, self._found, self._number, self._options = [], found, number, options
        self._saved = time.monotonic()

    def add(self, record):
        self.records.append(record)
        if time.monotonic() - self._saved > SAVED_EVERY:
            self.save()
            print(f"{len(self.records)} of {self._number} files", file=sys.stderr, flush=True)

    def save(self):
        self._saved = time.monotonic()
        if self._options.json:
            document = {"found": self._found, "files": self.records}
            Path(self._options.json).write_text(json.dumps(document, indent=1))
        if self._options.table:
            Path(self._options.table).write_text(table(self.records, self._found))


if __name__ == "__main__":
    sys.exit(main())

"""Damages a sound robot in 48 ways, counts those that `mbcli check --meshes` finds; or counts alarms on good files."""

import argparse
import csv
import sys
import tempfile
from collections import Counter
from pathlib import Path

from mbcli.parsers.checks.report import SEVERITIES

from benchmarks.damages.kinds import KINDS
from benchmarks.damages.robot import FORMATS, damaged, robot, write
from benchmarks.robots.files import robot_files
from mbcli.checks.file_check import check_file

WANTED = 46  # of 48
JUDGED = Path(__file__).parent / "judged.csv"  # alarms on files of makers: file, code, lines, fault


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.damages", description=__doc__)
    parser.add_argument("--good", nargs="+", metavar="FOLDER", help="instead: alarms on the model files below FOLDERs")
    parser.add_argument("--no-meshes", action="store_true", help="do not open the meshes")
    options = parser.parse_args(arguments)
    if options.good:
        return _good(options.good, not options.no_meshes)
    with tempfile.TemporaryDirectory() as folder:
        return _damages(Path(folder), not options.no_meshes)


def found(kind, format, folder, mesh_files=True):
    """The faults that name the place of a damage, or None where its format has no such damage."""
    damage = KINDS[kind]
    if format not in damage.formats:
        return None
    if callable(damage.change):
        path = write(damaged(damage.change), format, folder)
    else:
        path = write(robot(), format, folder)
        old, new = damage.change
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
    named = damage.element.split("|")
    return [f for f in faults(path, mesh_files) if any(name in f"{f.xpath} {f.message}" for name in named)]


def faults(path, mesh_files=True):
    """The errors and warnings of a file."""
    return [f for f in check_file(str(path), mesh_files=mesh_files).findings if f.severity != "note"]


def _damages(folder, mesh_files):
    for format in FORMATS:
        for finding in faults(write(robot(), format, folder), mesh_files):
            print(f"the sound robot: {finding}")
    counts, possible = Counter(), Counter()
    for kind in KINDS:
        codes = []
        for format in FORMATS:
            named = found(kind, format, folder, mesh_files)
            if named is None:
                codes.append("")
                continue
            possible[format] += 1
            counts[format] += bool(named)
            codes.append(", ".join(dict.fromkeys(f.code for f in named)) or "MISSED")
        print(f"{kind:34}" + "".join(f"{code:24.24}" for code in codes).rstrip())
    print(", ".join(f"{format}: {counts[format]} of {possible[format]} found" for format in FORMATS))
    return 0 if counts["urdf"] >= WANTED else 1


def _good(folders, mesh_files, judged=JUDGED):
    """Lines for the alarms that were not judged, and counts by code; 1 if there is one.

    Checks of what is plausible count, and not MESH_UNREADABLE: copies of repositories may lack files.
    """
    physical = {code for code, severity in SEVERITIES.items() if severity.checked != "note"} | {"ANGLE_UNIT"}
    physical.remove("MESH_UNREADABLE")
    faults_there = _judged(judged)
    files, _ = robot_files(folders, ("urdf", "sdf", "mjcf"))
    alarms, alarmed, open_ones = Counter(), {}, 0
    for file in files:
        for finding in check_file(str(file.path), input_format=file.format, mesh_files=mesh_files).findings:
            if finding.severity == "note" or finding.code not in physical:
                continue
            place = Path(finding.place.file).resolve().relative_to(file.folder.parent).as_posix()
            is_judged = (place, finding.code, finding.place.line) in faults_there
            alarms[finding.code, is_judged] += 1
            alarmed.setdefault(finding.code, set()).add(file.name)
            if not is_judged:
                open_ones += 1
                print(f"{file.name}: {finding}".replace("\n", " ")[:600])
    if alarms:
        print(f"{'':28} {'faults of the file, as judged':>30} {'not judged':>12} {'files':>7}")
    for code in sorted(alarmed, key=lambda code: -alarms[code, True] - alarms[code, False]):
        print(f"{code:28} {alarms[code, True]:30} {alarms[code, False]:12} {len(alarmed[code]):7}")
    print(f"{len(files)} files, {alarms.total() - open_ones} alarms judged, {open_ones} not judged")
    return 1 if open_ones else 0


def _judged(path):
    """{(file, code, line)} of alarms that were read and taken for faults of their files; the table says which."""
    with open(path, newline="", encoding="utf-8") as table:
        return {(row["file"], row["code"], int(line)) for row in csv.DictReader(table) for line in row["lines"].split()}


if __name__ == "__main__":
    sys.exit(main())

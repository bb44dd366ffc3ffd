"""Damages a sound robot in 48 ways, counts those that `mbcli check --meshes` finds; or counts alarms on good files."""

import argparse
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


def _good(folders, mesh_files):
    """A line for each alarm of a check of what is plausible, and how many files have one, by code."""
    physical = {code for code, severity in SEVERITIES.items() if severity.checked != "note"} | {"ANGLE_UNIT"}
    files, _ = robot_files(folders, ("urdf", "sdf", "mjcf"))
    alarms, alarmed, checked = Counter(), Counter(), 0
    for file in files:
        findings = check_file(str(file.path), input_format=file.format, mesh_files=mesh_files).findings
        checked += 1
        told = [f for f in findings if f.severity != "note" and f.code in physical]
        for finding in told:
            print(f"{file.name}: {finding}".replace("\n", " ")[:600])
        alarms.update(f.code for f in told)
        alarmed.update({f.code for f in told})
    for code, number in alarms.most_common():
        print(f"{code:28} {number:6} alarms in {alarmed[code]:4} files")
    print(f"{checked} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())

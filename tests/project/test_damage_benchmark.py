"""The damages of benchmarks.damages: each is found where it is, and the sound robot has no fault."""

import csv

import pytest
from mbcli.parsers.checks.report import SEVERITIES

from benchmarks.damages.__main__ import JUDGED, _good, faults, found, main
from benchmarks.damages.kinds import KINDS
from benchmarks.damages.robot import FORMATS, robot, write


@pytest.mark.parametrize("format", FORMATS)
def test_the_sound_robot_has_no_fault(format, tmp_path):
    assert faults(write(robot(), format, tmp_path)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_damage_is_named_at_its_place_in_every_format(kind, tmp_path):
    assert all(found(kind, format, tmp_path) != [] for format in FORMATS)


def test_there_are_48_kinds_and_the_command_counts_them(capsys):
    assert len(KINDS) == 48 and main([]) == 0
    assert "urdf: 48 of 48 found" in capsys.readouterr().out


def test_alarms_on_good_files_are_counted_as_judged_or_not(tmp_path, capsys):
    path = write(robot(), "urdf", tmp_path)
    assert main(["--good", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 files, 0 alarms judged, 0 not judged\n"
    path.write_text(path.read_text().replace('rpy="0 0 0"/>\n    <axis', 'rpy="0 90 0"/>\n    <axis', 1))
    assert main(["--good", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "[ANGLE_UNIT]" in out and out.endswith("1 files, 0 alarms judged, 1 not judged\n")
    line = next(k for k, text in enumerate(path.read_text().splitlines(), 1) if 'rpy="0 90 0"' in text)
    judged = tmp_path / "judged.csv"
    judged.write_text(f"file,code,lines,fault\n{tmp_path.name}/robot.urdf,ANGLE_UNIT,7 {line},in degrees\n")
    assert _good([str(tmp_path)], True, judged) == 0
    assert capsys.readouterr().out.endswith("1 files, 1 alarms judged, 0 not judged\n")


def test_each_judged_alarm_says_its_fault():
    with JUDGED.open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) > 80
    for row in rows:
        assert row["code"] in SEVERITIES or row["code"] == "ANGLE_UNIT"
        assert len(row["fault"]) > 20 and row["lines"].replace(" ", "").isdigit()

"""The damages of benchmarks.damages: each is found where it is, and the sound robot has no fault."""

import pytest

from benchmarks.damages.__main__ import faults, found, main
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


def test_alarms_on_good_files_are_counted(tmp_path, capsys):
    write(robot(), "urdf", tmp_path)
    assert main(["--good", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 files\n"

"""A kind of sensor is one file: what it lacks, and what two claim, fail when they are imported."""

import sys
import types

import pytest
from mbcli.parsers.gazebo_sensors import CAMERAS, OTHERS
from mbcli.parsers.mjcf.mjcf_known import SENSORS_OF_MJCF
from repository import ROOT

from mbcli.sensors import CONSTANTS, NAMES, OPERATIONS, SENSORS, checked_kind, kinds_by_name


def copy_of(name):
    """The file of a kind, to be changed."""
    copied = types.ModuleType(f"mbcli.sensors.{name}")
    vars(copied).update(vars(SENSORS[name]))
    return copied


@pytest.mark.parametrize("missing", [*CONSTANTS, *OPERATIONS])
def test_a_file_without_one_of_its_names_fails_with_the_name_of_the_kind(missing, monkeypatch):
    kind = copy_of("gyro")
    delattr(kind, missing)
    monkeypatch.setitem(sys.modules, "mbcli.sensors.incomplete", kind)
    with pytest.raises(TypeError, match=rf"the sensor 'incomplete' lacks {missing}"):
        kinds_by_name(["imu", "incomplete"])


def test_two_kinds_cannot_have_one_name_in_a_format(monkeypatch):
    monkeypatch.setitem(sys.modules, "mbcli.sensors.second", copy_of("gyro"))
    with pytest.raises(TypeError, match="the sensors 'gyro' and 'second' have both gyro"):
        kinds_by_name(["gyro", "second"])


@pytest.mark.parametrize(("name", "value"), [("NEEDS", ("luck",)), ("CUTOFF", "below")])
def test_what_nobody_provides_is_an_error(name, value):
    kind = copy_of("gyro")
    setattr(kind, name, value)
    with pytest.raises(TypeError, match="the sensor 'gyro' has the unknown '(luck|below)'"):
        checked_kind("gyro", kind)


def test_there_is_a_file_for_each_name_and_a_name_for_each_file():
    helpers = {"__init__", "atmosphere", "axes", "earth", "noise", "rays", "settings", "signal"}
    folder = ROOT / "mbcli" / "sensors"
    assert {path.stem for path in folder.glob("*.py")} - helpers == set(NAMES) == set(SENSORS)


def test_no_type_of_a_format_is_unknown():
    """Each element of MJCF is read by a kind or reported; each type of SDFormat is one of three."""
    assert {tag for kind in SENSORS.values() for tag in kind.MJCF} <= set(SENSORS_OF_MJCF)
    of_sdf = {word for kind in SENSORS.values() for word in kind.SDF}
    assert not of_sdf & CAMERAS
    assert not of_sdf & OTHERS


def test_the_document_has_every_kind():
    text = (ROOT / "docs" / "reference" / "sensors.md").read_text(encoding="utf-8")
    for name, kind in SENSORS.items():
        line = next((line for line in text.splitlines() if line.startswith(f"| `{name}` |")), "")
        assert all(f"`{word}`" in line for word in (*kind.MJCF, *kind.SDF)), f"{name} in docs/reference/sensors.md"

"""A kind of sensor is one file: what it lacks, and what two claim, fail when they are imported."""

import re
import subprocess
import sys
import types

import pytest
from mbcli.parsers import gazebo_sensors
from mbcli.parsers.gazebo_sensors import CAMERAS, OTHERS
from mbcli.parsers.mjcf import mjcf_sensors
from mbcli.parsers.mjcf.mjcf_known import SENSORS_OF_MJCF
from repository import ROOT

from mbcli.sensors import CONSTANTS, NAMES, OPERATIONS, OPTIONAL, SENSORS, checked_kind, kinds_by_name


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


def test_what_a_file_does_not_state_is_empty(monkeypatch):
    kind = types.ModuleType("mbcli.sensors.short")
    words = {"TITLE": "nothing", "CUTOFF": "", "MJCF": {"none": "object"}, "signals": tuple, "values": tuple}
    vars(kind).update(words)
    monkeypatch.setitem(sys.modules, "mbcli.sensors.short", kind)
    found = kinds_by_name(["short"])["short"]
    assert [getattr(found, name) for name in OPTIONAL] == [{"none": "object"}, (), {}, (), {}, (), ()]
    assert found.problem({}) == ""
    kind = types.ModuleType("mbcli.sensors.short")
    vars(kind).update(words, SUROUNDINGS=("wind",))
    monkeypatch.setitem(sys.modules, "mbcli.sensors.short", kind)
    with pytest.raises(TypeError, match="short has SUROUNDINGS: did you mean SURROUNDINGS?"):
        kinds_by_name(["short"])
    del vars(kind)["SUROUNDINGS"]
    vars(kind)["SDF"] = {"none": ()}
    with pytest.raises(TypeError, match="the sensor 'short' has SDF or SDF_MOUNTS alone"):
        kinds_by_name(["short"])


def test_two_kinds_cannot_have_one_name_in_a_format(monkeypatch):
    monkeypatch.setitem(sys.modules, "mbcli.sensors.second", copy_of("gyro"))
    with pytest.raises(TypeError, match="the sensors 'gyro' and 'second' have both gyro"):
        kinds_by_name(["gyro", "second"])


@pytest.mark.parametrize(("name", "value"), [("NEEDS", ("luck",)), ("CUTOFF", "below"), ("SURROUNDINGS", ("luck",))])
def test_what_nobody_provides_is_an_error(name, value):
    kind = copy_of("gyro")
    setattr(kind, name, value)
    with pytest.raises(TypeError, match="the sensor 'gyro' has the unknown '(luck|below)'"):
        checked_kind("gyro", kind)


def test_readers_know_all_surroundings_of_their_kinds():
    for kind in SENSORS.values():
        assert not kind.SDF or set(kind.SURROUNDINGS) <= set(gazebo_sensors.SURROUNDINGS)
        assert not kind.MJCF or set(kind.SURROUNDINGS) <= set(mjcf_sensors.SURROUNDINGS)


def test_no_other_module_asks_for_the_name_of_a_kind():
    asks = re.compile(r"kind(_name\(\))? (==|!=|in|not in) [(\"'{\[]")
    rooms = ("mbcli/multibody/sensing", "mbcli/log/fields", "mbcli/multibody/parsing", "parsers")
    files = [path for room in rooms for path in (ROOT / room).rglob("*sens*.py")]
    assert len(files) > 5
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            words = re.findall(r"\"(\w+)\"", line) if asks.search(line) else []
            assert not set(words) & set(NAMES), (path, line)


@pytest.mark.parametrize("model", ["arm7.urdf", "pendulum.sdf", "pendulum.xml"])
def test_a_model_without_sensors_imports_no_kind(model):
    program = "import sys; from mbcli.models import load_model; load_model(sys.argv[1]); print(*sys.modules)"
    words = [sys.executable, "-c", program, str(ROOT / "sample_models" / model)]
    loaded = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert "mbcli.models" in loaded
    assert "mbcli.sensors" not in loaded


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

"""The log reader: unfinished, foreign, damaged and future files, and the description of the format."""

import json
import re
from pathlib import Path

import h5py
import mbcli.schemas
import numpy as np
import pytest
from repository import ROOT
from test_log_writer import ENERGY, URDF, arm_header, rows

from mbcli.errors import ModelError, ResourceError
from mbcli.log.datasets import Field
from mbcli.log.description import describe
from mbcli.log.fields import STANDARD_FIELDS
from mbcli.log.fields.activations import PATH as ACTIVATION
from mbcli.log.fields.contact import CONTACT_FIELDS, OFFSET, SURFACE_FIELDS
from mbcli.log.fields.effort import EFFORT
from mbcli.log.fields.faces import CORNER_FIELDS, FACE_FIELDS
from mbcli.log.fields.poses import POSES
from mbcli.log.fields.reactions import REACTIONS
from mbcli.log.fields.targets import POSITION as AIM, VELOCITY as AIM_VELOCITY
from mbcli.log.fields.tracking import ACCELERATION, ERROR, TARGET, VELOCITY
from mbcli.log.fields.vertices import VERTICES
from mbcli.log.format import FIXED_DATASETS, ROOT_ATTRIBUTES, SCENE
from mbcli.log.reader import Log
from mbcli.log.writer import LogWriter

DOCUMENT = ROOT / "docs" / "reference" / "log_format.md"
SCHEMA = Path(mbcli.schemas.__file__).parent / "log.schema.json"


@pytest.fixture
def path(tmp_path):
    """A complete log of 2500 rows, every 0.1 s."""
    path = tmp_path / "a.h5"
    with LogWriter(path, arm_header()) as log:
        block = rows(0, 2500)
        log.append(**(block | {"time": np.cumsum(np.full(2500, 0.1)) - 0.1}))
        log.event(0.1, 1, "warning", "CONTACT_OVERFLOW", "too many contacts")
        log.checkpoint({"q": [1.0, 2.0], "row": 7})
        log.finish("complete", 0)
    return path


def edited(path, edit):
    with h5py.File(path, "r+") as file:
        edit(file)
    return path


def test_a_log_says_what_it_is_of(path):
    with Log(path) as log:
        assert log.status == "complete"
        assert log.finished
        assert log.row_count == 2500
        assert log.fields() == ("time", "state/q", "state/v", ENERGY)
        assert log.names["state/q"] == log.position_names == ("shoulder_q", "elbow_q")
        assert log.velocity_names == ("shoulder_w", "elbow_w")
        assert log.units["state/v"] == ("rad s-1", "rad s-1")
        assert log.units[ENERGY] == ("J",)
        assert log.config == "time_step: 0.001\n"
        assert json.loads(log.model) == {"name": "arm"}
        assert log.attrs["argv"] == ["mbcli", "simulate", "arm.urdf"]
        assert log.events() == [
            {
                "time": 0.1,
                "step": 1,
                "severity": "warning",
                "code": "CONTACT_OVERFLOW",
                "message": "too many contacts",
            }
        ]
        source = log.read_sources()[0]
        assert (source.path, source.content) == ("models/arm.urdf", URDF)


@pytest.mark.parametrize("size", [1, 7, 1024, 10_000])
def test_chunks_join_to_the_whole(path, size):
    with Log(path) as log:
        chunks = list(log.chunks(["time", "state/q"], rows=size, start=3, stop=2400))
        assert max(len(chunk["time"]) for chunk in chunks) <= size
        assert {tuple(chunk) for chunk in chunks} == {("time", "state/q")}
        np.testing.assert_array_equal(np.concatenate([c["state/q"] for c in chunks]), log.q[3:2400])


def test_a_state_is_found_by_its_time_up_to_rounding(path):
    with Log(path) as log:
        assert log.times[3] != 0.3
        q, v = log.state(0.3)
        np.testing.assert_array_equal(q, [3.0, 6.0])
        np.testing.assert_array_equal(v, [-3.0, -6.0])
        np.testing.assert_array_equal(log.state(0.0)[0], [0.0, 0.0])
        np.testing.assert_array_equal(log.state(log.times[-1])[0], log.q[-1])


@pytest.mark.parametrize(
    "time, nearest",
    [
        (0.15, r"nearest: 0.1 and 0.2 s; the log goes from 0 to 249.9 s"),
        (-1.0, r"nearest: 0 s; the log goes"),
        (1e6, r"nearest: 249.9 s; the log goes"),
    ],
)
def test_a_time_between_samples_is_an_error_that_names_the_nearest(path, time, nearest):
    with Log(path) as log, pytest.raises(ResourceError, match=nearest) as error:
        log.state(time)
    assert error.value.exit_code == 4


def test_an_unknown_field_is_an_error_that_names_the_known(path):
    with Log(path) as log, pytest.raises(KeyError, match="no field derived/com; it has time, state/q"):
        log.field("derived/com")


# ---------------------------------------------------------------------------------- unfinished logs


def test_a_log_is_read_while_it_is_written(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 10))
    log.flush()
    with Log(tmp_path / "a.h5.partial") as read:
        assert (read.status, read.finished, read.row_count) == ("running", False, 10)
        log.append(**rows(10, 10))
        log.finish("complete", 0)  # a reader does not keep the writer from finishing
        assert len(read.q) == 10
    with Log(tmp_path / "a.h5") as read:
        assert (read.status, read.row_count) == ("complete", 20)


def test_datasets_of_unequal_length_are_read_to_the_common_one(path):
    edited(path, lambda file: file["state/v"].resize(2000, axis=0))
    with Log(path) as log:
        assert log.row_count == len(log.times) == len(log.q) == len(log.v) == 2000


def test_rows_without_a_time_do_not_count(path):
    def grow(file):
        for name in ("time", "state/q", "state/v", ENERGY):
            file[name].resize(2600, axis=0)

    edited(path, grow)
    with Log(path) as log:
        assert log.row_count == 2500


# ------------------------------------------------------------------------------ what is not a log


def test_a_missing_file_is_a_resource_error(tmp_path):
    with pytest.raises(ResourceError, match="no.h5: error: cannot be read: No such file") as error:
        Log(tmp_path / "no.h5")
    assert error.value.exit_code == 4


def test_other_files_are_model_errors_of_one_line(tmp_path, path):
    (tmp_path / "text.h5").write_text("hello")
    (tmp_path / "empty.h5").write_bytes(b"")
    (tmp_path / "cut.h5").write_bytes(path.read_bytes()[:3000])
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["time"] = [1.0, 2.0]
    for name, message in [
        ("text.h5", "is not an HDF5 file"),
        ("empty.h5", "is not an HDF5 file"),
        ("cut.h5", "is damaged|truncated file"),
        ("other.h5", "is not an mbcli log"),
    ]:
        with pytest.raises(ModelError, match=f"{name}: error: .*{message}") as error:
            Log(tmp_path / name)
        assert error.value.exit_code == 3
        assert "\n" not in str(error.value)


def set_attribute(place, name, value):
    """Texts are of fixed length in logs."""
    stored = np.bytes_(value) if isinstance(value, str) else value
    return lambda file: file[place].attrs.__setitem__(name, stored)


def replace(path, **options):
    def edit(file):
        attributes = dict(file[path].attrs)
        del file[path]
        file.create_dataset(path, **options)
        for name in ("names", "units"):
            file[path].attrs[name] = attributes[name]

    return edit


@pytest.mark.parametrize(
    "edit, message",
    [
        (set_attribute("/", "format_version", "2.0"), r"log format 2.0, this version of mbcli reads 1\.x"),
        (set_attribute("/", "format_version", "10.0"), "log format 10.0"),
        (set_attribute("/", "format", "other"), "is not an mbcli log"),
        (set_attribute("/", "status", "great"), "status 'great' is unknown"),
        (set_attribute("/", "argv", "[1,"), "is damaged"),
        (set_attribute("/", "exit_code", "many"), "is damaged"),
        (lambda file: file.attrs.__delitem__("status"), "root attribute status is missing"),
        (lambda file: file.__delitem__("state/q"), "state/q is missing"),
        (lambda file: file.__delitem__("state"), "state/q is missing"),
        (lambda file: file["state/q"].attrs.__delitem__("names"), "is damaged"),
        (set_attribute("state/q", "names", "just_one"), r"state/q has shape \(2500, 2\), 1 names"),
        (replace("time", data=np.zeros((5, 1))), r"time has shape \(5, 1\)"),
        (replace("state/v", data=np.zeros(5)), r"state/v has shape \(5,\)"),
        (replace("state/v", data=np.full((5, 2), b"x")), "state/v has type .S1, expected numbers"),
        (replace("state/v", data=3.0), r"state/v has shape \(\)"),
    ],
)
def test_a_damaged_log_is_a_model_error_of_one_line(path, edit, message):
    edited(path, edit)
    with pytest.raises(ModelError, match=message) as error:
        Log(path)
    assert "\n" not in str(error.value)


def test_a_later_minor_version_is_read(path):
    edited(path, set_attribute("/", "format_version", "1.7"))
    edited(path, lambda file: file.create_dataset("surface/offset", data=np.arange(3)))
    with Log(path) as log:
        assert log.row_count == 2500


def test_a_log_does_not_make_us_read_other_files(tmp_path, path):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(16))
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["q"] = np.zeros((2500, 2))

    def external_link(file):
        del file["state/q"]
        file["state/q"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "q")

    def linked_group(file):
        del file["state"]
        file["state"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/")

    def virtual(file):
        layout = h5py.VirtualLayout((2500, 2), dtype="f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "q", shape=(2500, 2))
        del file["state/q"]
        file.create_virtual_dataset("state/q", layout)

    external_storage = replace("state/v", shape=(1, 2), dtype="f8", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
    untouched = path.read_bytes()
    for edit in (external_link, linked_group, virtual, external_storage):
        path.write_bytes(untouched)
        edited(path, edit)
        with pytest.raises(ModelError, match=r"is a link|is not stored in this file"):
            Log(path)


def test_a_path_that_climbs_out_of_an_archive_is_refused(path):
    edited(path, lambda file: file.create_dataset("derived/sub/..up", data=np.zeros(2500)))
    with pytest.raises(ModelError, match="is not the path of a field"):
        Log(path)


def test_a_changed_model_file_is_noticed(path):
    def change(file):
        file["model/source/000_arm.urdf"][0] = 0

    edited(path, change)
    with Log(path) as log, pytest.raises(ModelError, match="000_arm.urdf is damaged: its sha256 differs"):
        log.read_sources()


@pytest.mark.parametrize("finished", [True, False])
def test_random_damage_is_a_model_error_or_harmless(tmp_path, finished):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 2500))
    log.event(0.1, 1, "warning", "CONTACT_OVERFLOW", "too many contacts")
    log.flush()
    partial = (tmp_path / "a.h5.partial").read_bytes()
    log.finish("complete", 0)
    rng = np.random.default_rng(11)
    content = np.frombuffer((tmp_path / "a.h5").read_bytes() if finished else partial, dtype="u1")
    refused = 0
    for _ in range(60):
        damaged = content.copy()
        damaged[rng.integers(0, 12_000, size=8)] ^= rng.integers(1, 256, size=8, dtype="u1")
        (tmp_path / "damaged.h5").write_bytes(damaged.tobytes())
        try:
            with Log(tmp_path / "damaged.h5") as log:
                log.q, log.events(), log.read_sources(), describe(log)
        except ModelError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 0


# ----------------------------------------------------------------------- the description of the format


def test_a_log_with_every_standard_field_fits_the_schema(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    header = arm_header(actuator_names=("motor",), actuator_units=("N m",), seed=5)
    own = Field("derived/frame/pose", "1", row_shape=(4, 4))
    fields = (*STANDARD_FIELDS.values(), header.input_field(), own)
    header = arm_header(actuator_names=("motor",), actuator_units=("N m",), seed=5, fields=fields)
    LogWriter(tmp_path / "a.h5", header).finish("complete", 0)
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    with Log(tmp_path / "a.h5") as log:
        layout = json.loads(json.dumps(log.layout()))
    validator.validate(layout)
    assert layout["datasets"]["derived/frame/pose"]["shape"] == [0, 4, 4]
    for damage in (
        lambda it: it["datasets"].pop("time"),
        lambda it: it["attributes"].update(status="great"),
        lambda it: it["datasets"]["derived/momentum"]["attributes"].update(units=["1"] * 6),
        lambda it: it["datasets"].update({"other/x": it["datasets"]["state/q"]}),
        lambda it: it["datasets"]["state/q"].update(shape=[0]),
    ):
        damaged = json.loads(json.dumps(layout))
        damage(damaged)
        assert not validator.is_valid(damaged)


def test_unfinished_logs_fit_the_schema_too(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    log = LogWriter(tmp_path / "a.h5", arm_header())
    with Log(tmp_path / "a.h5.partial") as read:
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(read.layout())
    log.finish("complete", 0)


def test_document_schema_and_code_name_the_same_datasets_and_attributes():
    contact = [field.path for field in CONTACT_FIELDS + SURFACE_FIELDS + FACE_FIELDS]
    of_control = (EFFORT, REACTIONS, ERROR, TARGET, VELOCITY, ACCELERATION, AIM, AIM_VELOCITY)
    own = ("input/u", POSES, VERTICES, SCENE, OFFSET, ACTIVATION)
    datasets = {*FIXED_DATASETS, *STANDARD_FIELDS, *own, *contact, *of_control}
    schema = json.loads(SCHEMA.read_text())["properties"]
    assert set(schema["datasets"]["properties"]) == datasets
    assert set(schema["datasets"]["required"]) == set(FIXED_DATASETS)
    assert set(schema["attributes"]["properties"]) == set(ROOT_ATTRIBUTES)
    text, _, _ = DOCUMENT.read_text(encoding="utf-8").partition("\n## Many worlds")  # a format of its own
    listed = set(re.findall(r"^    /([a-z_/]+[a-z]) ", text, re.MULTILINE))
    assert listed - {"checkpoint/sequence"} == datasets
    table = text.partition("Root attributes:")[2].partition("## Stability")[0]
    first_cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(first_cells))) == set(ROOT_ATTRIBUTES)


def test_the_document_gives_the_units_that_the_code_writes():
    text = DOCUMENT.read_text(encoding="utf-8")
    contact = CONTACT_FIELDS + SURFACE_FIELDS
    of_corners = [field.path for field in CORNER_FIELDS]
    for field in (*STANDARD_FIELDS.values(), *contact, *CORNER_FIELDS):
        line = re.search(rf"^    /{field.path} +(\(.*?\)) (f8|i8) +(.+?)(   .*)?$", text, re.MULTILINE)
        assert line[2] == field.dtype
        assert line[3] == ", ".join(dict.fromkeys(field.units))
        rows = "C" if field.path in of_corners else "K" if field in contact else "N"
        assert line[1] == (f"({rows}, {field.row_shape[0]})" if field.row_shape else f"({rows},)")

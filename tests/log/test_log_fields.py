"""What a run can log: every field has a file with all that there is to know of it, and everything else asks for it."""

import inspect
import json
import subprocess
import sys
import types

import numpy as np
import pytest
from command_line import SAMPLES, cli
from log_documents import document_with_fields, schema_with_fields
from repository import ROOT

from mbcli.errors import ArgumentError
from mbcli.log import fields, open_log
from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields import CONSTANTS, LOG_FIELDS, NAMES, OPERATIONS, checked_field, fields_by_name
from mbcli.log.fields.contact import OF_ALL, OF_SURFACES, RECORDED
from mbcli.log.fields.effort import EFFORT, INPUT, acted
from mbcli.log.fields.u import actuation_field
from mbcli.log.format import LogHeader
from mbcli.log.writer import LogWriter
from mbcli.models.loading import load_model
from mbcli.multibody.contact.contact_arrays import ContactRecord
from mbcli.multibody.contact.contact_groups import ContactGroups
from mbcli.simulation import running, simulate
from mbcli.simulation.recording import RowMaker, chosen_fields

PENDULUM = SAMPLES / "double_pendulum.urdf"
NO_ACTIVATION = "no actuator of the model has an activation"


def copy_of(name):
    """The file of a field, to be changed."""
    copied = types.ModuleType(f"mbcli.log.fields.{name}")
    vars(copied).update(vars(LOG_FIELDS[name]))
    return copied


# ----------------------------------------------------------------------- what is missing fails at import


@pytest.mark.parametrize("missing", [*CONSTANTS, *OPERATIONS])
def test_a_file_without_one_of_its_names_fails_at_import_with_the_name_of_the_field(missing, monkeypatch):
    field = copy_of("com")
    delattr(field, missing)
    monkeypatch.setitem(sys.modules, "mbcli.log.fields.incomplete", field)
    with pytest.raises(TypeError, match=rf"the log field 'incomplete' lacks {missing}"):
        fields_by_name(["energy", "incomplete"])


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_of_another_kind_is_an_error(constant):
    field = copy_of("com")
    setattr(field, constant, None)
    with pytest.raises(TypeError, match=f"'com' lacks {constant}"):
        checked_field("com", field)


def test_a_dataset_needs_units_a_meaning_and_an_owner(monkeypatch):
    with pytest.raises(ValueError, match="dataset derived/x: no units"):
        Dataset("derived/x", "", "A number.")
    with pytest.raises(ValueError, match="derived/x: 3 columns, 3 names, 2 units"):
        Dataset("derived/x", ("m", "m"), "A place.", ("x", "y", "z"))
    with pytest.raises(ValueError, match="dataset derived/x: no meaning"):
        Dataset("derived/x", "m", "")
    with pytest.raises(ValueError, match="field path 'other/x'"):
        Dataset("other/x", "m", "A place.")
    monkeypatch.setitem(sys.modules, "mbcli.log.fields.second", copy_of("com"))
    with pytest.raises(TypeError, match="the log fields 'com' and 'second' have both derived/com"):
        fields_by_name(["com", "second"])


def test_a_field_that_computes_other_datasets_than_it_declares_is_an_error(monkeypatch):
    plant = load_model(PENDULUM).plant
    field = copy_of("momentum")
    field.rows = lambda block: {"derived/other": block.samples.time[block.chosen]}
    monkeypatch.setattr(fields, "LOG_FIELDS", LOG_FIELDS | {"momentum": field})
    monkeypatch.setattr("mbcli.simulation.recording.LOG_FIELDS", LOG_FIELDS | {"momentum": field})
    n = 3
    samples = types.SimpleNamespace(time=np.arange(n), q=np.zeros((n, 2)), v=np.zeros((n, 2)), u=np.zeros((n, 1)))
    with pytest.raises(RuntimeError, match="'momentum' computes derived/other and declares derived/momentum"):
        RowMaker(plant, ["momentum"]).rows(samples, np.ones(n, dtype=bool))


# ----------------------------------------------------------------------- everything else asks


def test_there_is_a_file_for_each_name_and_a_name_for_each_file():
    helpers = {"__init__", "block", "body_poses", "common", "kept_contacts", "loaded_states", "logged_plant"}
    helpers |= {"sensor_rows"}
    folder = ROOT / "mbcli" / "log" / "fields"
    assert {path.stem for path in folder.glob("*.py")} - helpers == set(NAMES) == set(LOG_FIELDS)


def test_document_and_schema_describe_the_fields_that_there_are():
    for name, made in (
        ("docs/reference/log_format.md", document_with_fields),
        ("schemas/log.schema.json", schema_with_fields),
    ):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert made(text) == text, f"{name} is out of date: python tests/support/log_documents.py writes it"


def test_help_and_docstring_name_every_field_with_its_words():
    for text in (cli("simulate", "--help").out, simulate.__doc__):
        words = " ".join(text.split())
        for name, field in LOG_FIELDS.items():
            assert f"{name} ({field.WORDS})" in words
        assert "Default: all but compliance, reactions, com, momentum, poses and faces." in words


def test_an_unknown_field_is_an_error_that_lists_the_known_ones():
    plant = load_model(PENDULUM).plant
    with pytest.raises(ArgumentError, match=f"there is no 'momentun'; there are {', '.join(NAMES)}"):
        chosen_fields(["momentun"], plant)


def test_every_contact_dataset_is_read_from_an_attribute_of_contacts():
    computed = {dataset.path for dataset in (*OF_ALL, *OF_SURFACES)} - {
        f"contact/{kind}_{side}" for kind in ("body", "geometry") for side in "ab"
    }
    assert set(RECORDED) == computed
    points, surfaces = ContactRecord.__dataclass_fields__, ContactGroups.__dataclass_fields__
    for path, (attribute, _) in RECORDED.items():
        assert attribute in surfaces
        assert attribute in points or path in {dataset.path for dataset in OF_SURFACES}


@pytest.mark.parametrize(
    ("model", "settings", "reasons"),
    [
        (
            "double_pendulum.urdf",
            {"contact": False},
            {
                "compliance": "no rigid bodies can touch",
                "activations": NO_ACTIVATION,
                "contact": "no rigid bodies can touch",
                "sensors": "the model has no sensors",
                "faces": "no rigid bodies can touch",
                "solver": "no rigid bodies can touch",
                "vertices": "the model has no deformable bodies",
                "constraint_error": "the model has no constraints",
            },
        ),
        (
            "quadruped.urdf",
            {"contact": True, "ground": 0.0, "dt": 0.0},
            {
                "activations": NO_ACTIVATION,
                "sensors": "the model has no sensors",
                "faces": "no geometry of the model is compliant",
                "solver": "the plant is continuous",
                "vertices": "the model has no deformable bodies",
                "constraint_error": "the model has no constraints",
            },
        ),
        (
            "deformable/sponge.sdf",
            {"contact": True},
            {
                "compliance": "no rigid bodies can touch",
                "u": "the model has no actuators",
                "activations": NO_ACTIVATION,
                "effort": "the model has no actuators",
                "targets": "the model has no actuators",
                "reactions": "the model has deformable bodies, whose forces on joints are not known",
                "com": "the model has no mass",
                "contact": "no rigid bodies can touch",
                "sensors": "the model has no sensors",
                "faces": "no rigid bodies can touch",
                "solver": "no rigid bodies can touch",
                "constraint_error": "the model has no constraints",
            },
        ),
    ],
)
def test_a_field_says_why_a_plant_lacks_it(model, settings, reasons):
    plant = load_model(SAMPLES / model, **settings).plant
    assert {name: field.lacks(plant) for name, field in LOG_FIELDS.items() if field.lacks(plant)} == reasons
    left = [name for name in NAMES if name not in reasons]
    asked = [name for name in NAMES if not (LOG_FIELDS[name].REFUSED and name in reasons)]
    assert chosen_fields(asked, plant) == left


def test_faces_bring_contact_also_where_all_contacts_are_points():
    plant = load_model(SAMPLES / "quadruped.urdf", contact=True, ground=0.0).plant
    assert chosen_fields("faces", plant) == ["contact"]


def test_the_actuation_has_a_column_an_actuator():
    log = simulate(PENDULUM, 0.01, contact=False, fields="u")
    assert log.names["input/u"] == actuation_field(log.actuator_names, log.header.actuator_units).names


# ----------------------------------------------------------------------- what rows need


def test_rows_of_a_log_need_no_pictures():
    code = """
import sys
from mbcli.simulation import simulate
simulate(sys.argv[1], 0.01, contact=False, fields=sys.argv[2])
print([name for name in sys.modules if name.startswith("mbcli.pictures")])
"""
    command = [sys.executable, "-c", code, str(PENDULUM), "energy u com momentum"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_argument_of_simulate_reaches_the_run(monkeypatch):
    seen = {}

    def run(arguments, *of_the_call):
        seen.update(arguments)

    monkeypatch.setattr(running, "_simulate", run)
    values = {name: object() for name in inspect.signature(simulate).parameters}
    simulate(**values)
    of_the_call = {"log", "force", "on_progress", "should_stop", "warn"}
    assert seen == {name: value for name, value in values.items() if name not in of_the_call}


def test_a_dataset_that_the_format_does_not_list_is_read_and_fits_the_schema(tmp_path):
    """As /solver/step_size, which the description had once."""
    jsonschema = pytest.importorskip("jsonschema")
    path, step_size = tmp_path / "a.h5", Field("solver/step_size", "s")
    header = LogHeader(
        model_name="arm",
        position_names=("q",),
        position_units=("rad",),
        velocity_names=("v",),
        velocity_units=("rad s-1",),
        fields=(step_size,),
    )
    with LogWriter(path, header) as log:
        log.append(**{"time": [0.0], "q": [[0.1]], "v": [[0.2]], step_size.path: [0.01]})
        log.finish("complete", 0)
    with open_log(path) as log:
        assert log.field(step_size.path) == [0.01]
        assert log.units[step_size.path] == ("s",)
        schema = json.loads((ROOT / "schemas" / "log.schema.json").read_text(encoding="utf-8"))
        assert step_size.path not in schema["properties"]["datasets"]["properties"]
        jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(log.layout())))


def test_efforts_that_acted_are_those_of_the_unit_of_their_input():
    log = types.SimpleNamespace(units={EFFORT: ("N m", "N", "N"), INPUT: ("N m", "N", "1")})
    assert acted(log) == [True, True, False]

"""The published JSON Schemas: those of the records, and valid for the files that the program reads."""

import json

import jsonschema
import pytest
from command_line import cli, succeed
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.directives import read_directives
from mbcli.parsers.scenes.file_schemas import file_schemas, schema_file, schema_names, schema_text
from mbcli.parsers.yaml_source import ANY_TAG, read_yaml
from repository import SAMPLES


def plain(node):
    """YAML as a JSON Schema sees it: without tags."""
    if node.kind == "mapping":
        return {key: plain(child) for key, child in node.items()}
    return [plain(child) for child in node] if node.kind == "sequence" else node.value


def is_valid(name, text):
    root = read_yaml(text.encode(), Diagnostics(), tags=ANY_TAG)
    return jsonschema.Draft202012Validator(json.loads(schema_text(name))).is_valid(plain(root))


@pytest.mark.parametrize("name", file_schemas())
def test_the_published_schemas_are_those_of_the_records(name):
    assert schema_text(name) == schema_file(name), (
        f"schemas/{name}.schema.json is out of date: write schema_file('{name}') to it"
    )


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_one_and_is_printed(name):
    printed = succeed("schema", name).out
    assert printed == schema_text(name)
    jsonschema.Draft202012Validator.check_schema(json.loads(printed))


def test_the_command_lists_the_schemas_and_suggests_names(tmp_path):
    names = succeed("schema").out.split()
    assert names == [
        "config",
        "constraints",
        "directives",
        "log",
        "plant_config",
        "results",
        "rows",
        "scenario",
        "simulator_config",
    ]
    assert 'did you mean "scenario"?' in cli("schema", "scenrio").err
    assert cli("schema", "scenrio").code == 2
    succeed("schema", "log", "-o", tmp_path / "log.json")
    assert (tmp_path / "log.json").read_text() == schema_text("log")
    assert cli("schema", "log", "-o", tmp_path / "log.json").code == 6


def test_the_sample_files_are_valid():
    assert is_valid("directives", (SAMPLES / "herd.dmd.yaml").read_text())
    for name in ("scenario", "config"):
        assert is_valid(name, (SAMPLES / "swing.scenario.yaml").read_text())
    assert not is_valid("directives", (SAMPLES / "swing.scenario.yaml").read_text())


def test_the_public_directives_are_valid(models_dir):
    files = sorted((models_dir / "directives").glob("*.dmd.yaml"))
    assert len(files) == 3
    assert all(is_valid("directives", file.read_text()) for file in files)


@pytest.mark.parametrize(
    ("item", "valid"),
    [
        ("add_model_instance: {name: a}", True),
        ("add_weld: {parent: a, child: b}", True),
        ("add_weld: {parent: a, child: b, X_PC: {translation: [1, 2, 3], rotation: !Rpy {deg: [1, 2, 3]}}}", True),
        ("add_frame: {name: a, X_PF: {base_frame: b, rotation: !AngleAxis {angle_deg: 3, axis: [0, 0, 1]}}}", True),
        ("add_frame: {name: a, X_PF: {base_frame: b, rotation: !Identity {}}}", True),
        ("add_model: {name: a, file: b, default_joint_positions: {j: [1]}, default_free_body_pose: {b: {}}}", True),
        (
            "add_model: {name: a, file: b, default_free_body_pose: {b: {translation: !GaussianVector "
            "{mean: [1, 2, 3], stddev: [1]}, rotation: !AngleAxis {angle_deg: !Uniform {min: 1, max: 2}}}}}",
            True,
        ),
        ("add_directives: {file: a, model_namespace: b}", True),
        ("add_collision_filter_group: {name: a, members: [b], ignored_collision_filter_groups: [a]}", True),
        ("add_modl: {name: a}", False),
        ("{}", False),
        ("{add_model_instance: {name: a}, add_directives: {file: b}}", False),
        ("add_model: {name: a}", False),
        ("add_model: {name: a, file: 3}", False),
        ("add_weld: {parent: a, child: b, X_PC: {translation: [1, 2]}}", False),
        ("add_weld: {parent: a, child: b, X_PC: {rotation: !Rpy {rad: [1, 2, 3]}}}", False),
        ("add_model: {name: a, file: b, default_joint_positions: {j: 1}}", False),
    ],
)
def test_schema_and_reader_accept_the_same_directives(item, valid):
    text = f"directives:\n- {item}\n"
    assert is_valid("directives", text) == valid
    diagnostics = Diagnostics()
    read_directives(text.encode(), diagnostics)
    assert (not diagnostics.errors) == valid

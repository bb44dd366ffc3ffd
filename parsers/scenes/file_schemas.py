"""The JSON Schemas of the YAML files that mbcli reads, from the records that they are read into."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from mbcli.parsers.scenes.constraints_file import ModelConstraints
from mbcli.parsers.scenes.directives_spec import ModelDirectives
from mbcli.parsers.scenes.plant_config import RunConfig
from mbcli.parsers.scenes.scenario import UNSUPPORTED_KEYS, SceneConfig

from mbcli.config.json_schema import DIALECT, json_schema
from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.config.simulator_config import SimulatorConfig


def file_schemas() -> dict[str, dict[str, Any]]:
    """{name: schema}: the contents of `schemas/NAME.schema.json`, which a test compares."""
    return {
        "plant_config": _whole(MultibodyPlantConfig),
        "simulator_config": _whole(SimulatorConfig),
        "directives": _whole(ModelDirectives),
        "constraints": _whole(ModelConstraints),
        "scenario": _scenario_schema(),
        "config": _config_schema(),
    }


def schema_names() -> list[str]:
    """The names of all published schemas, that of the log among them."""
    suffix = ".schema.json"
    files = [file.name for file in resources.files("mbcli.schemas").iterdir()]
    return sorted(name.removesuffix(suffix) for name in files if name.endswith(suffix))


def schema_text(name: str) -> str:
    """The published schema of a name, as text."""
    return resources.files("mbcli.schemas").joinpath(f"{name}.schema.json").read_text()


def schema_file(name: str) -> str:
    """The text that belongs into the file of one of file_schemas()."""
    return json.dumps(file_schemas()[name], indent=2) + "\n"


def _whole(record_type: type) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    schema = {"$schema": DIALECT} | json_schema(record_type, definitions)
    return schema | ({"$defs": dict(sorted(definitions.items()))} if definitions else {})


def _scenario_schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    scenario = json_schema(RunConfig, definitions)
    scenario["title"] = "Scenario"
    scenario["description"] = "Settings of a run, models and initial positions"
    scenario["properties"] |= json_schema(SceneConfig, definitions)["properties"]
    for key in UNSUPPORTED_KEYS:
        scenario["properties"][key] = {"description": "Part of a Drake scenario; reported and not used"}
    named = {
        "description": "Scenarios by name, one of which is chosen",
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"$ref": "#/$defs/Scenario"},
    }
    return {
        "$schema": DIALECT,
        "title": "Scenario file",
        "description": "One scenario, or several by name",
        "anyOf": [{"$ref": "#/$defs/Scenario"}, named],
        "$defs": dict(sorted({**definitions, "Scenario": scenario}.items())),
    }


def _config_schema() -> dict[str, Any]:
    scenario = _scenario_schema()
    return scenario | {
        "title": "Configuration file",
        "description": "The settings of a plant alone, one scenario, or several by name",
        "anyOf": [{"$ref": "#/$defs/MultibodyPlantConfig"}, *scenario["anyOf"]],
    }

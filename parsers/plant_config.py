"""Configuration files: the settings of plant and simulation, as a plant configuration or a Drake scenario.

A file is one of

    time_step: 0.002                     the fields of MultibodyPlantConfig alone

    simulation_duration: 5.0             a scenario: run settings with nested records
    plant_config: {time_step: 0.002}
    simulator_config: {accuracy: 1e-6}

    Fast: {plant_config: {...}}          scenarios by name, one of which is chosen
    Precise: {plant_config: {...}}
"""

import copy
import dataclasses
from math import inf

from mbcli.config_fields import ConfigRecord, ValueProblem, json_schema, setting
from mbcli.errors import ModelError
from mbcli.multibody.plant.config import MultibodyPlantConfig
from mbcli.simulator_config import SimulatorConfig
from mbcli.suggestions import closest, name_or_list

from .yaml_records import read_into
from .yaml_source import ANY_TAG, read_yaml, scalar_value

# What a Drake scenario may hold and a run does not use yet.
UNSUPPORTED_KEYS = (
    "cameras",
    "directives",
    "initial_position",
    "lcm_buses",
    "model_drivers",
    "scene_graph_config",
    "visualization",
)


@dataclasses.dataclass(kw_only=True)
class RunConfig(ConfigRecord):
    """Settings of one run: the plant, the simulation, how long it lasts and the seed.

    Every field is checked when it is assigned.

    :raises ModelError: (a RuntimeError) a value is of the wrong type or out of range.
    """

    random_seed: int = setting(0, "Seed of every random number of the run", minimum=0)
    simulation_duration: float = setting(
        inf, "Simulated time after which the run ends", unit="s", minimum=0, infinite=True
    )
    plant_config: MultibodyPlantConfig = dataclasses.field(default_factory=MultibodyPlantConfig)
    simulator_config: SimulatorConfig = dataclasses.field(default_factory=SimulatorConfig)


def read_run_config(source, diagnostics, scenario_name=None, *, name=None):
    """The settings in a configuration file, or None if it has errors (they are in `diagnostics`).

    source: a path, or the bytes of a document. scenario_name: which of several named scenarios; needed only
    where the file has more than one. name: what places call the file; default: the path as given.
    """
    root = read_yaml(source, diagnostics, tags=ANY_TAG, name=name)
    if root is None:
        return None
    if root.kind != "mapping":
        message = f"a configuration must be a mapping; found {root.describe()}"
        diagnostics.error("VALUE_TYPE", message, place=root.place)
        return None
    scenarios = _named_scenarios(root)
    if scenario_name is not None or scenarios:
        scenario = _choose(root, scenarios, scenario_name, diagnostics)
        return None if scenario is None else _read_scenario(scenario, diagnostics)
    if _is_plant_config(root):
        plant_config = read_into(MultibodyPlantConfig, root, diagnostics)
        return None if plant_config is None else RunConfig(plant_config=plant_config)
    return _read_scenario(root, diagnostics)


def apply_overrides(config, assignments):
    """A copy of a `RunConfig` with `PATH=VALUE` applied in turn, as `plant_config.time_step=0.002`.

    VALUE is read as a plain YAML scalar: quotes are part of it.

    :raises ModelError: a path that is no setting, or a value that it does not take; the message names the
    path.
    """
    config = copy.deepcopy(config)
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        path = path.strip()
        if not equals:
            raise ModelError(f'--set {assignment}: must be PATH=VALUE, as "plant_config.time_step=0.002"')
        record, name = _resolve(config, path)
        try:
            setattr(record, name, scalar_value(text.strip()))
        except (ModelError, ValueProblem) as error:
            raise ModelError(f"--set {path}: {error}") from None
    return config


def setting_paths(record_type=RunConfig, prefix=""):
    """The path of every setting, as `apply_overrides` takes it."""
    paths = []
    for field in dataclasses.fields(record_type):
        if dataclasses.is_dataclass(field.type):
            paths += setting_paths(field.type, f"{prefix}{field.name}.")
        else:
            paths.append(prefix + field.name)
    return paths


def config_schemas():
    """The JSON Schemas of configuration files by file stem: what stands in `schemas/`, which a test
    compares."""
    plant_config, simulator_config = json_schema(MultibodyPlantConfig), json_schema(SimulatorConfig)
    scenario = json_schema(RunConfig)
    for key in UNSUPPORTED_KEYS:
        scenario["properties"][key] = {"description": "Part of a Drake scenario; reported and not used yet"}
    named = {
        "description": "Scenarios by name, one of which is chosen",
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"$ref": "#/$defs/scenario"},
    }
    run = {
        "title": "Run configuration",
        "description": "One scenario, or several by name",
        "anyOf": [{"$ref": "#/$defs/scenario"}, named],
        "$defs": {"scenario": scenario, "plant_config": plant_config, "simulator_config": simulator_config},
    }
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        "plant_config": dialect | plant_config,
        "simulator_config": dialect | simulator_config,
        "run": dialect | run,
    }


_RUN_KEYS = (*(field.name for field in dataclasses.fields(RunConfig)), *UNSUPPORTED_KEYS)
_PLANT_KEYS = tuple(field.name for field in dataclasses.fields(MultibodyPlantConfig))


def _read_scenario(node, diagnostics):
    return read_into(RunConfig, node, diagnostics, unsupported=UNSUPPORTED_KEYS)


def _named_scenarios(root):
    """The keys of a file of named scenarios: those that hold a mapping with a key of a run; none in other
    files."""
    if any(key in _RUN_KEYS or key in _PLANT_KEYS for key, _ in root.items()):
        return []
    return [key for key, child in root.items() if any(closest(inner, _RUN_KEYS) for inner, _ in child.items())]


def _choose(root, scenarios, scenario_name, diagnostics):
    """The node of the scenario to read, or None after reporting why there is none."""
    if scenario_name is None:
        if len(scenarios) == 1:
            return root.get(scenarios[0])
        message = f"the file has {len(scenarios)} scenarios and none is chosen: {', '.join(scenarios)}"
        diagnostics.error("SCENARIO_AMBIGUOUS", message, place=root.place)
        return None
    scenario = root.get(scenario_name)
    if scenario is None:
        hint = name_or_list(scenario_name, scenarios) if scenarios else "the file has no named scenarios"
        message = f'there is no scenario "{scenario_name}"'
        diagnostics.error("SCENARIO_MISSING", message, place=root.place, value=scenario_name, hint=hint)
    return scenario


def _is_plant_config(root):
    """Whether a mapping without named scenarios is to be read as a bare MultibodyPlantConfig."""
    keys = [key for key, _ in root.items()]
    if any(key in _RUN_KEYS for key in keys):
        return False
    if any(key in _PLANT_KEYS for key in keys):
        return True
    return not any(closest(key, _RUN_KEYS) for key in keys)


def _resolve(config, path):
    """The record and field name that a path names."""
    if path not in setting_paths():
        raise ModelError(f"--set {path}: no such setting: {_path_hint(path)}")
    *records, name = path.split(".")
    for record in records:
        config = getattr(config, record)
    return config, name


def _path_hint(path):
    paths = setting_paths()
    by_name = [known for known in paths if known.split(".")[-1] == path.split(".")[-1]]
    return name_or_list(by_name[0], paths) if len(by_name) == 1 else name_or_list(path, paths)

"""Scenarios: settings of a run, models and initial positions in one YAML file, as Drake's hardware simulation reads it.

A file is one of

    time_step: 0.002                     the fields of MultibodyPlantConfig alone

    directives: [...]                    directives alone

    simulation_duration: 5.0             a scenario
    plant_config: {time_step: 0.002}
    directives: [...]

    Fast: {plant_config: {...}}          scenarios by name, one of which is chosen
    Precise: {plant_config: {...}}
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from mbcli.parsers.scenes.directives_spec import ModelDirective, ModelDirectives
from mbcli.parsers.scenes.plant_config import RunConfig
from mbcli.parsers.spec import SourceFile, SourceLocation
from mbcli.parsers.yaml_records import read_into
from mbcli.parsers.yaml_source import ANY_TAG, YamlNode, read_yaml

from mbcli.common.fast_dataclass import dataclass
from mbcli.common.suggestions import closest, name_or_list
from mbcli.config.config_fields import setting
from mbcli.config.plant_config import MultibodyPlantConfig

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.diagnostics import Diagnostics

# Keys of a Drake scenario that a run does not use.
UNSUPPORTED_KEYS = ("cameras", "lcm_buses", "model_drivers", "visualization")


@dataclass(frozen=True, kw_only=True)
class SceneConfig:
    """The contents of a scenario beside the settings of the run."""

    directives: tuple[ModelDirective, ...] = setting(tuple, "Model directives, in the order in which they apply")
    initial_position: dict[str, dict[str, tuple[float, ...]]] = setting(
        dict, "Initial positions by model instance and joint [rad or m]"
    )


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One scenario of a file.

    `settings`: whether the file holds settings of the run. `position_places`: where the initial positions of
    each (model instance, joint) stand. `sources`: the files read.
    """

    run: RunConfig
    scene: SceneConfig
    place: SourceLocation
    settings: bool
    position_places: dict
    sources: tuple[SourceFile, ...]

    @property
    def directives(self) -> ModelDirectives:
        return ModelDirectives(directives=self.scene.directives)


def read_scenario(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    scenario_name: str | None = None,
    *,
    text: str | None = None,
    name: str | None = None,
) -> Scenario | None:
    """The `Scenario` in a file, or None if it has errors (they are in `diagnostics`).

    source: a path, or the bytes of a document. scenario_name: which of several named scenarios; needed only
    if the file has more than one. text: YAML text whose keys replace those of the scenario, mappings key by key.
    name: that of the file in places; default: the path as given.
    """
    found = [read_yaml(source, diagnostics, tags=ANY_TAG, name=name)]
    if text is not None:
        found.append(read_yaml(text.encode(), diagnostics, tags=ANY_TAG, name="<scenario-text>"))
    files = [file for file in found if file is not None and _is_mapping(file, diagnostics)]
    if len(files) < len(found):
        return None
    node = _chosen(files[0], scenario_name, diagnostics)
    if node is None:
        return None
    for extra in files[1:]:
        node = _merged(node, extra)
    return _scenario(node, files, diagnostics)


def read_all_scenarios(
    source: str | os.PathLike[str] | bytes, diagnostics: Diagnostics, *, name: str | None = None
) -> list[Scenario]:
    """Every `Scenario` in a file that has no errors; arguments as of read_scenario()."""
    root = read_yaml(source, diagnostics, tags=ANY_TAG, name=name)
    if root is None or not _is_mapping(root, diagnostics):
        return []
    nodes = [root.get(key) for key in _named_scenarios(root)] or [_chosen(root, None, diagnostics)]
    scenarios = [_scenario(node, [root], diagnostics) for node in nodes if node is not None]
    return [scenario for scenario in scenarios if scenario is not None]


def _scenario(node: YamlNode, files: Sequence[YamlNode], diagnostics: Diagnostics) -> Scenario | None:
    """The Scenario that a node states, or None after reporting the faults."""
    run = read_into(RunConfig, node, diagnostics, unsupported=UNSUPPORTED_KEYS, elsewhere=_SCENE_KEYS)
    scene = read_into(SceneConfig, _selected(node, _SCENE_KEYS), diagnostics)
    if run is None or scene is None:
        return None
    return Scenario(
        run=run,
        scene=scene,
        place=node.place,
        settings=any(key in _RUN_FIELDS for key, _ in node.items()),
        position_places=_position_places(node),
        sources=tuple(file.document for file in files),
    )


def read_run_config(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    scenario_name: str | None = None,
    *,
    name: str | None = None,
) -> RunConfig | None:
    """The settings in a file, without the models and positions of a scenario; arguments as of read_scenario()."""
    scenario = read_scenario(source, diagnostics, scenario_name, name=name)
    return None if scenario is None else scenario.run


def _is_mapping(root: YamlNode, diagnostics: Diagnostics) -> bool:
    if root is not None and root.kind != "mapping":
        message = f"a configuration must be a mapping; found {root.describe()}"
        diagnostics.error("VALUE_TYPE", message, place=root.place)
    return root is not None and root.kind == "mapping"


# ------------------------------------------------------------------------------------- which mapping is the scenario

_RUN_FIELDS = tuple(field.name for field in dataclasses.fields(RunConfig))
_SCENE_KEYS = tuple(field.name for field in dataclasses.fields(SceneConfig))
_SCENARIO_KEYS = (*_RUN_FIELDS, *_SCENE_KEYS, *UNSUPPORTED_KEYS)
_PLANT_KEYS = tuple(field.name for field in dataclasses.fields(MultibodyPlantConfig))


def _chosen(root: YamlNode, scenario_name: str | None, diagnostics: Diagnostics) -> YamlNode | None:
    """The node of the scenario to read, or None after reporting why there is none."""
    scenarios = _named_scenarios(root)
    if scenario_name is None and len(scenarios) > 1:
        message = f"the file has {len(scenarios)} scenarios and none is chosen: {', '.join(scenarios)}"
        diagnostics.error("SCENARIO_AMBIGUOUS", message, place=root.place)
        return None
    if scenario_name is None:
        if scenarios:
            return root.get(scenarios[0])
        return _mapping(root, {"plant_config": root}) if _is_plant_config(root) else root
    scenario = root.get(scenario_name)
    if scenario is None:
        hint = name_or_list(scenario_name, scenarios) if scenarios else "the file has no named scenarios"
        message = f'there is no scenario "{scenario_name}"'
        diagnostics.error("SCENARIO_MISSING", message, place=root.place, value=scenario_name, hint=hint)
    return scenario


def _named_scenarios(root: YamlNode) -> list[str]:
    """The keys of a file of named scenarios: those that hold a mapping with a key of a scenario; none in other
    files."""
    if any(key in _SCENARIO_KEYS or key in _PLANT_KEYS for key, _ in root.items()):
        return []
    return [key for key, child in root.items() if any(closest(inner, _SCENARIO_KEYS) for inner, _ in child.items())]


def _is_plant_config(root: YamlNode) -> bool:
    """Whether a mapping without named scenarios is to be read as a bare MultibodyPlantConfig."""
    keys = root.keys()
    if any(key in _SCENARIO_KEYS for key in keys):
        return False
    if any(key in _PLANT_KEYS for key in keys):
        return True
    return not any(closest(key, _SCENARIO_KEYS) for key in keys)


# ------------------------------------------------------------------------------------------- mappings from mappings


def _mapping(node: YamlNode, children: Mapping[str, YamlNode]) -> YamlNode:
    """A mapping of other children at the place of a node."""
    result = YamlNode("mapping", children, node.place, node.document)
    result.key_places = {key: node.key_place(key) for key in children}
    return result


def _selected(node: YamlNode, keys: Sequence[str]) -> YamlNode:
    return _mapping(node, {key: child for key, child in node.items() if key in keys})


def _merged(node: YamlNode | None, extra: YamlNode) -> YamlNode:
    """A mapping with the keys of another in place of its own; if both hold mappings, key by key."""
    if node is None or node.kind != "mapping" or extra.kind != "mapping" or node.tag or extra.tag:
        return extra
    result = _mapping(node, {**node.value, **{key: _merged(node.get(key), child) for key, child in extra.items()}})
    result.key_places.update({key: extra.key_place(key) for key, _ in extra.items()})
    return result


def _position_places(node: YamlNode) -> dict[tuple[str, str], SourceLocation]:
    """The places of the initial positions of each (model instance, joint)."""
    models = node.get("initial_position")
    if models is None:
        return {}
    return {(model, joint): joints.key_place(joint) for model, joints in models.items() for joint, _ in joints.items()}

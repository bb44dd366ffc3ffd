"""Whether a log is of the model and the settings that a run is to go on with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.common.json_text import to_json
from mbcli.errors import ModelError
from mbcli.models.description import describe
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.scenario import read_run_config
from mbcli.simulation.recording import contact_settings, parameter_settings, plain_config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from mbcli.models.loaded_model import LoadedModel

NOT_COMPARED = ("place", "X_FM", "parent_model_instance")  # files may move; logs of format 1.3 lack the others
MAY_CHANGE = ("random_seed", "simulation_duration")  # settings that a run may go on with otherwise


def require_same_model(
    path: str, loaded: LoadedModel, digests: Set[str], names: Sequence[Sequence[str]], model: str, config: str
) -> None:
    """ModelError that says what differs.

    Args:
        path: of the log.
        loaded: the model now.
        digests: SHA-256 of the model files in the log; names: of its positions, and of its velocities.
        model, config: the resolved model (JSON) and configuration (YAML) in the log.
    """
    plant = loaded.plant
    if digests != {source.sha256 for source in loaded.sources}:
        raise ModelError(f"{path}: error: is of other model files: a run goes on with the same model")
    if [list(each) for each in names] != [plant.GetPositionNames(), plant.GetVelocityNames()]:
        raise ModelError(
            f"{path}: error: its coordinates are not those of this model ({argument('weld')}, {argument('weld_base')}?)"
        )
    described = describe(loaded, measured=False) | contact_settings(loaded) | parameter_settings(loaded)
    there, here = _essential(_document(path, model)), _essential(json.loads(to_json(described)))
    for settings in (there, here):
        settings["contact"] = _contact_that_acts(settings["contact"])
    for key in here:
        if there.get(key) != here[key]:
            raise ModelError(f"{path}: error: is of a model with other {key}: give the same options")
    diagnostics = Diagnostics()
    recorded = read_run_config(config.encode(), diagnostics, name=f"{path}: /config/resolved")
    diagnostics.raise_if_errors()
    before, now = _settings(plain_config(recorded)), _settings(plain_config(loaded.config))
    for name in now | before:
        if name not in MAY_CHANGE and before.get(name) != now.get(name):
            raise ModelError(f"{path}: error: was run with {name} = {before.get(name)}, now it is {now.get(name)}")


def _document(path: str, text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ModelError(f"{path}: error: its /model/resolved is not a JSON document")
    return document


def _essential(document: Mapping[str, Any]) -> dict[str, Any]:
    """The contents of a model, without the places of its files."""
    keys: tuple[str, ...] = (
        "gravity",
        "bodies",
        "joints",
        "frames",
        "actuators",
        "force_elements",
        "constraints",
        "contact",
    )
    keys += ("parameters",)  # set by name
    return {key: _without_places(document.get(key)) for key in keys}


def _contact_that_acts(settings: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
    """What contact_settings() say: None if nothing touches, else ground and filters; logs of format 1.0 had none."""
    if not settings or not settings["simulated"]:
        return None
    left_out = settings.get("without_contact", [])
    filtered = "none" if settings.get("self_contact") == "none" else left_out
    return settings["ground"], settings.get("terrain"), filtered, settings.get("decompose", False)


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(item) for key, item in value.items() if key not in NOT_COMPARED}
    return [_without_places(item) for item in value] if isinstance(value, list) else value


def _settings(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{path: value} of nested settings."""
    result: dict[str, Any] = {}
    for key, value in config.items():
        result |= _settings(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return result

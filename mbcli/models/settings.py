"""The settings of a run or analysis: from a configuration file, from a scenario among the models, and one by one."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING

from mbcli.common.argument_names import argument
from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import ArgumentError, ResourceError
from mbcli.parsers.file_format import find_model_file
from mbcli.parsers.formats import FORMATS, OF_FILE_TYPE, format_of_name
from mbcli.parsers.scenes.plant_config import RunConfig, apply_overrides

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Protocol, TypeAlias

    from mbcli.errors import ModelError
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.scenes.scenario import Scenario

    class TextModel(Protocol):
        """A model that is not a file, as ModelText."""

        @property
        def content(self) -> bytes: ...

        @property
        def name(self) -> str: ...

    ModelSource: TypeAlias = str | os.PathLike[str] | TextModel

STEP = "plant_config.time_step"


class Settings:
    """What files say beside the models.

    A scenario's settings count if it is a model or given as configuration, where only one can hold some.

    Args:
        models: ModelText, or what a file is named.
        packages: PackageMap.
        diagnostics: Diagnostics, which gets the findings.
        file_type: format of the models, None for that of their names.
        config: a file (YAML), a RunConfig, MultibodyPlantConfig or SimulatorConfig; None for the defaults.
        scenario_name, scenario_text: which scenario of a file, and YAML whose keys replace those of it.
        overrides: PATH=VALUE texts.
        strict: whether warnings are errors.

    Attributes:
        config: RunConfig.
        scenarios: for each model its Scenario, or None.
        files: the files of scenarios and settings that were read.
        leave_the_step_to_models: whether nothing here states the time step.
    """

    def __init__(
        self,
        models: Sequence[ModelSource],
        packages: PackageMap,
        diagnostics: Diagnostics,
        *,
        file_type: str | None = None,
        config: Any = None,
        scenario_name: str | None = None,
        scenario_text: str | None = None,
        overrides: Iterable[str] = (),
        strict: bool = False,
    ) -> None:
        self._diagnostics, self._strict = diagnostics, strict
        self._text = scenario_text
        self.scenarios = [
            self._read(*_source(model, packages), scenario_name) if _is_scenario(model, file_type) else None
            for model in models
        ]
        read = {str(model): scenario for model, scenario in zip(models, self.scenarios, strict=True) if scenario}
        holders = {model: scenario for model, scenario in read.items() if scenario.settings}
        self.files = [source for scenario in read.values() for source in scenario.sources]
        self._positions = list(read.values())
        run = _run_config(config)
        if config is not None and run is None:
            given = holders[argument("config")] = self._read_config(config, scenario_name if not read else None)
            if not given.scene.directives:
                self._positions.append(given)
        if len(holders) > 1 or (run is not None and holders):
            held = [*holders] if run is None else [*holders, argument("config")]
            raise ArgumentError(f"{' and '.join(held)} both hold settings of the run: give one of them")
        if not holders and not read and (scenario_name is not None or scenario_text is not None):
            raise ArgumentError(f"{argument('scenario_name')} and {argument('scenario_text')} need a scenario")
        if run is None:
            run = next((scenario.run for scenario in holders.values()), RunConfig())
        self.config = apply_overrides(run, overrides)
        overridden = [text.partition("=")[0].strip() for text in overrides]
        self.leave_the_step_to_models = config is None and not holders and STEP not in overridden

    def _read(self, source: str | os.PathLike[str] | bytes, name: str | None, scenario_name: str | None) -> Scenario:
        from mbcli.parsers.scenes.scenario import read_scenario  # most models come without settings

        scenario = read_scenario(source, self._diagnostics, scenario_name, text=self._text, name=name)
        self._diagnostics.raise_if_errors(strict=self._strict)
        if scenario is None:
            raise ModelError(f"{source!r} has no scenario")
        return scenario

    def _read_config(self, path: str | os.PathLike[str], scenario_name: str | None) -> Scenario:
        if not os.path.exists(path):
            raise ResourceError(f"{path}: error: no such file")
        scenario = self._read(path, None, scenario_name)
        if scenario.scene.directives:
            message = (
                f"as {argument('config')} the models and positions of a scenario are not used: give it as "
                f"{argument('model')}"
            )
            self._diagnostics.warning("KEY_UNSUPPORTED", message, place=scenario.place, attribute="directives")
        return scenario

    def apply_initial_positions(self, plant: MultibodyPlant) -> None:
        """The initial positions of the scenarios become default positions of the plant."""
        from mbcli.multibody.parsing.named_positions import set_named_positions

        for scenario in self._positions:
            for key, message in set_named_positions(plant, scenario.scene.initial_position).items():
                place = scenario.position_places[key]
                self._diagnostics.error("INITIAL_POSITION", message, place=place, attribute="initial_position")
        self._diagnostics.raise_if_errors(strict=self._strict)


def _run_config(config: Any) -> RunConfig | None:
    """A RunConfig from one that was made in Python; None for a file."""
    if isinstance(config, RunConfig):
        return copy.deepcopy(config)
    if isinstance(config, MultibodyPlantConfig):
        return RunConfig(plant_config=copy.deepcopy(config))
    if isinstance(config, SimulatorConfig):
        return RunConfig(simulator_config=copy.deepcopy(config))
    return None


def _is_scenario(model: ModelSource, file_type: str | None) -> bool:
    """Whether a model is read as a scenario, which may have directives alone."""
    known = format_of_name(str(model)) if file_type is None else OF_FILE_TYPE.get(file_type)
    return known is not None and FORMATS[known].IS_SCENE and FORMATS[known].HOLDS_SETTINGS


def _source(model: ModelSource, packages: PackageMap) -> tuple[str | bytes, str | None]:
    """The source and name for read_scenario()."""
    if isinstance(model, (str, os.PathLike)):
        return find_model_file(model, packages), None
    return model.content, model.name

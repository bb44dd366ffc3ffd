"""The settings of a command: from a configuration file, from a scenario among the models, and from --set."""

import os
import sys

import click

from mbcli.errors import ResourceError

SCENARIO_SUFFIXES = (".yaml", ".yml")
DIRECTIVES_SUFFIX = ".dmd.yaml"


class Settings:
    """The contents of the files among the options, beside the models.

    `config`: RunConfig. `scenarios`: {model: Scenario} of the models that are scenarios. `files`: those of them
    that were read. A scenario's settings count if it is a model or given by --config, where only one can hold some.
    """

    def __init__(self, models, packages, options, diagnostics):
        from mbcli.parsers.scenes.plant_config import RunConfig, apply_overrides

        self._options, self._diagnostics = options, diagnostics
        names = [model for model in models if _is_scenario(model, options)]
        self.scenarios = {model: self._read(*_source(model, packages), options.scenario_name) for model in names}
        holders = {model: scenario for model, scenario in self.scenarios.items() if scenario.settings}
        self.files = [source for scenario in self.scenarios.values() for source in scenario.sources]
        self._positions = list(self.scenarios.values())
        if options.config_file is not None:
            config = holders["--config"] = self._read_config()
            if not config.scene.directives:
                self._positions.append(config)
        if len(holders) > 1:
            raise click.UsageError(f"{' and '.join(holders)} both hold settings of the run: give one of them")
        if not holders and (options.scenario_name or options.scenario_text) and not names:
            raise click.UsageError("--scenario-name and --scenario-text need a scenario")
        run = next((scenario.run for scenario in holders.values()), RunConfig())
        self.config = apply_overrides(run, options.overrides)

    def _read(self, source, name, scenario_name):
        from mbcli.parsers.scenes.scenario import read_scenario

        scenario = read_scenario(source, self._diagnostics, scenario_name, text=self._options.scenario_text, name=name)
        self._diagnostics.raise_if_errors(strict=self._options.strict)
        return scenario

    def _read_config(self):
        path = self._options.config_file
        if not os.path.exists(path):
            raise ResourceError(f"{path}: error: no such file")
        scenario = self._read(path, None, self._options.scenario_name if not self.scenarios else None)
        if scenario.scene.directives:
            message = "as --config the models and positions of a scenario are not used: give it as MODEL"
            self._diagnostics.warning("KEY_UNSUPPORTED", message, place=scenario.place, attribute="directives")
        return scenario

    def apply_initial_positions(self, plant):
        """The initial positions of the scenarios become default positions of the plant."""
        from mbcli.multibody.parsing.named_positions import set_named_positions

        for scenario in self._positions:
            for key, message in set_named_positions(plant, scenario.scene.initial_position).items():
                place = scenario.position_places[key]
                self._diagnostics.error("INITIAL_POSITION", message, place=place, attribute="initial_position")
        self._diagnostics.raise_if_errors(strict=self._options.strict)


def _is_scenario(model, options):
    """Whether a model is read as a scenario, which may have directives alone."""
    if options.input_format is not None:
        return options.input_format == "scenario"
    name = model.lower()
    return name.endswith(SCENARIO_SUFFIXES) and not name.endswith(DIRECTIVES_SUFFIX)


def _source(model, packages):
    """The source and name for read_scenario()."""
    from mbcli.parsers.file_format import find_model_file

    return (sys.stdin.buffer.read(), "<stdin>") if model == "-" else (find_model_file(model, packages), None)

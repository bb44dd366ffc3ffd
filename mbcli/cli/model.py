"""From model arguments and options to a finalized plant."""

import os
import sys
from dataclasses import dataclass

import click

from mbcli.errors import ModelError, ResourceError


@dataclass
class LoadedModel:
    """A finalized plant, what it was read from, the settings, and the findings of the parse."""

    plant: object
    specs: list
    config: object  # RunConfig
    diagnostics: object

    @property
    def sources(self):
        """Every model file read, once."""
        unique = {source.path: source for spec in self.specs for source in spec.sources}
        return list(unique.values())

    def description(self):
        """The `model` entry of every JSON document."""
        return {
            "name": ", ".join(spec.name for spec in self.specs),
            "files": [{"path": source.path, "sha256": source.sha256} for source in self.sources],
        }


def load(options, ctx, *, time_step=None):
    """Reads the models and settings that the options name.

    Args:
        options: the values of options.model_options.
        ctx: click context; its verbosity decides which findings are printed.
        time_step: [s], where a command's own option sets it.
    """
    from mbcli.multibody.parsing import Parser
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.parsers.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    config = _config(options, diagnostics)
    if time_step is not None:
        config.plant_config.time_step = time_step
    plant = MultibodyPlant(config.plant_config.time_step)
    _apply(config.plant_config, plant)
    parser = Parser(plant, diagnostics=diagnostics, packages=_packages(options))
    parser.SetAutoRenaming(True)
    if options.strict:
        parser.SetStrictParsing()
    try:
        for model in options.models:
            _add(parser, model, options)
    finally:
        report(diagnostics, ctx)
    for name in options.welds:
        frame = find_frame(plant, name)
        if frame.is_world_frame():
            raise click.UsageError("--weld: the world cannot be welded to itself", ctx)
        plant.WeldFrames(plant.world_frame(), frame)
    if options.weld_base:
        _weld_bases(plant)
    plant.Finalize()
    return LoadedModel(plant, parser.specs, config, diagnostics)


def _config(options, diagnostics):
    from mbcli.parsers.plant_config import RunConfig, apply_overrides, read_run_config

    if options.config_file is None:
        config = RunConfig()
    else:
        if not os.path.exists(options.config_file):
            raise ResourceError(f"{options.config_file}: no such file")
        config = read_run_config(options.config_file, diagnostics, options.scenario_name)
        diagnostics.raise_if_errors(strict=options.strict)
    return apply_overrides(config, options.overrides)


def _apply(config, plant):
    plant._discrete_contact_approximation = config.discrete_contact_approximation


def _packages(options):
    from mbcli.parsers.package_map import PackageMap

    packages = PackageMap()
    for entry in options.packages:
        name, equals, directory = entry.partition("=")
        if not equals or not name or not directory:
            raise click.UsageError(f"--package takes NAME=DIR, not '{entry}'")
        packages.add(name, directory)
    for directory in options.package_paths:
        packages.add_path(directory)
    return packages


def _add(parser, model, options):
    if model == "-":
        if options.input_format is None:
            raise click.UsageError("a model from standard input needs --input-format")
        parser.AddModels(file_contents=sys.stdin.buffer.read(), file_type=options.input_format)
    else:
        parser.AddModels(model, file_type=options.input_format)


def find_frame(plant, name):
    """A frame or body by its name, or by `instance::name` where several models have one of that name."""
    instance, scoped, element = name.rpartition("::")
    if scoped and plant.HasModelInstanceNamed(instance):
        where = plant.GetModelInstanceByName(instance)
    else:
        where, element = None, name
    try:
        return plant.GetFrameByName(element, where)
    except RuntimeError as error:
        raise ModelError(str(error)) from None


def _weld_bases(plant):
    """Welds what would float where its file puts it."""
    for mobod in plant._forest()[0]:
        if mobod.joint is None:
            body = plant._bodies[mobod.link]
            plant.WeldFrames(plant.world_frame(), body.body_frame(), plant.GetDefaultFreeBodyPose(body))


def report(diagnostics, ctx):
    """Prints the findings that are no errors, as far as the verbosity wants them; errors are raised elsewhere."""
    verbosity = (ctx.obj or {}).get("verbosity", 0)
    wanted = {1: ("warning", "note"), 0: ("warning",)}.get(verbosity, ())
    colors = {"warning": "yellow", "note": None}
    for finding in diagnostics.findings:
        if finding.severity in wanted:
            click.secho(str(finding), err=True, fg=colors[finding.severity])

"""From model arguments and options to a loaded model."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import usage_errors
from mbcli.cli.output import emit, outputs, tell, warn
from mbcli.cli.progress_lines import MeshProgress
from mbcli.common.coordinate_names import listed
from mbcli.common.output_files import refuse_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.cli.options import Options
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.models.loading import ModelSource
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.frame import Frame
    from mbcli.parsers.diagnostics import Diagnostic
    from mbcli.parsers.package_map import PackageMap

WITH_DEFORMABLES = ("inspect", "simulate", "sweep", "view", "compare", "convert", "codegen")
"""The commands whose results cover deformable bodies, or say what they leave out."""


def load(
    options: Options,
    ctx: click.Context,
    *,
    contact: bool = False,
    ground: float | None = None,
    models: Sequence[ModelSource] | None = None,
    **plant_settings: Any,
) -> LoadedModel:
    """Reads the models and settings that the options name; prints the findings as far as the verbosity wants them.

    Args:
        options: the values of options.model_options.
        ctx: click context; its verbosity decides which findings are printed.
        contact: whether geometries are registered, and so can touch.
        ground: [m] height of a ground, None for none.
        models: what models_to_load() gave, if it was asked already.
        plant_settings: dt, contact_model, contact_approximation, if a command's own options set them.
    """
    from mbcli.models.loading import load_model

    with usage_errors(), MeshProgress(shown=(ctx.obj or {}).get("verbosity", 0) >= 0) as progress:
        loaded = load_model(
            models_to_load(options) if models is None else models,
            contact=contact,
            ground=ground,
            **loading_arguments(options),
            on_findings=lambda findings: report(findings, ctx),
            on_mesh=progress,
            **plant_settings,
        )
    soft = loaded.plant.elements.deformable_bodies
    if soft and ctx.info_name not in WITH_DEFORMABLES and (ctx.obj or {}).get("verbosity", 0) >= 0:
        names = ", ".join(body.full_name() for body in soft)
        warn(f"{ctx.info_name} is of the rigid bodies alone, not of the deformable {names}")
    for output in outputs(ctx):
        refuse_inputs(output, [source.path for source in loaded.sources])
    return loaded


def models_to_load(options: Options) -> list[ModelSource]:
    """The models as load_model() takes them; '-' is read from stdin."""
    from mbcli.models.loading import ModelText

    return [ModelText(sys.stdin.buffer.read(), "<stdin>") if model == "-" else model for model in given_models(options)]


def loading_arguments(options: Options) -> dict[str, Any]:
    """The arguments of load_model() that the values of options.model_options stand for."""
    return {
        "weld": options.welds,
        "weld_base": options.weld_base,
        "gravity": options.gravity,
        "actuators": options.actuators,
        "constraints": options.constraints_file,
        "loops": options.loops,
        "srdf": options.srdf_files,
        "self_contact": options.self_contact,
        "decompose": options.decompose or None,
        "config": options.config_file,
        "overrides": options.overrides,
        "scenario_name": options.scenario_name,
        "scenario_text": options.scenario_text,
        "packages": read_packages(options),
        "file_type": options.input_format,
        "strict": options.strict,
    }


def given_models(options: Options) -> list[str]:
    """The MODEL arguments, and the scenario of --scenario-file."""
    models = [*options.models, *([options.scenario_file] if options.scenario_file is not None else [])]
    if not models:
        raise click.UsageError("Missing argument 'MODEL...'")
    return models


def read_packages(options: Options) -> PackageMap:
    """The PackageMap of the resource_options, or the one that answers in their place."""
    if options.package_map is not None:
        return options.package_map
    from mbcli.parsers.package_map import PackageMap

    packages = PackageMap(
        allow_outside=options.allow_outside,
        missing_meshes=options.missing_meshes,
        missing_includes=options.missing_includes,
    )
    for entry in options.packages:
        name, equals, directory = entry.partition("=")
        if not equals or not name or not directory:
            raise click.UsageError(f"--package takes NAME=DIR, not '{entry}'")
        packages.add(name, directory)
    for directory in options.package_paths:
        packages.add_path(directory)
    packages.xacro_arguments = _xacro_arguments(options)
    models = getattr(options, "models", ())
    packages.xacro_arguments_are_shared = len(models) > 1 or any(map(os.path.isdir, models))
    return packages


expand_option = click.option(
    "--expand", is_flag=True, help="Print the document that xacro makes of MODEL, and nothing else; it is --xacro too."
)


def print_expanded(options: Options, output: Any) -> None:
    """Prints the expanded xacro file that --expand asks for."""
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.file_format import find_model_file
    from mbcli.parsers.urdf.xacro_files import expand

    if len(options.models) != 1 or options.models[0] == "-":
        raise click.UsageError("--expand is for one MODEL, a file")
    options.xacro = True
    packages, diagnostics = read_packages(options), Diagnostics()
    path = diagnostics.main_file = find_model_file(options.models[0], packages)
    expanded = expand(path, packages, diagnostics)
    diagnostics.raise_if_errors()
    if expanded is not None:
        emit(expanded[0].decode().rstrip("\n"), output)


def _xacro_arguments(options: Options) -> dict[str, str] | None:
    """{name: value} of --xacro-arg, None without --xacro."""
    if not options.xacro:
        if options.xacro_args:
            raise click.UsageError("--xacro-arg needs --xacro")
        return None
    arguments = {}
    for entry in options.xacro_args:
        name, assigned, value = entry.partition(":=")
        if not assigned or not name:
            raise click.UsageError(f"--xacro-arg takes NAME:=VALUE, not '{entry}'")
        arguments[name] = value
    return arguments


def find_frame(plant: MultibodyPlant, name: str, option: str) -> Frame:
    """A frame or body by its name, or by `instance::name` if several models have one of that name."""
    from mbcli.models.loading import find_frame

    with usage_errors():
        return find_frame(plant, name, option)


def report(findings: Sequence[Diagnostic], ctx: click.Context) -> None:
    """Prints the findings that are not errors, as far as the verbosity wants them, and how many more there are of a
    kind; errors are raised elsewhere. Several that a terminal has shown before become one line."""
    from mbcli.cli.shown_warnings import shown_before
    from mbcli.parsers.diagnostics import first_of_each_kind

    verbosity = (ctx.obj or {}).get("verbosity", 0)
    wanted = {1: ("warning", "note"), 0: ("warning",)}.get(verbosity, ())
    # once a file, however often it is a MODEL
    once = {str(finding): finding for finding in findings if finding.severity in wanted}
    shown, more = first_of_each_kind(once.values())
    lines = [*map(str, shown), *more]
    if len(lines) > 1 and verbosity == 0 and shown_before(lines):
        files = listed(list(dict.fromkeys(finding.place.file for finding in shown)))
        lines = [f"mbcli: {len(once)} warnings of {files} as before (mbcli check lists them)"]
    for line in lines:
        tell(line, colour="yellow" if ": warning: " in line else None)

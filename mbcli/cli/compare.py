"""`mbcli compare`: one model in several engines, two models, or the models of two folders."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.compare_policies import are_policies, compare_policies
from mbcli.cli.compared_folders import compare_folders
from mbcli.cli.many_files import file_engine_options, take_where
from mbcli.cli.model import given_models, load, loading_arguments, models_to_load
from mbcli.cli.options import (
    MODEL_KEYS,
    STATE_KEYS,
    Number,
    Options,
    model_options,
    output_options,
    state_is_given,
    state_options,
    take,
    take_output,
    usage_errors,
)
from mbcli.cli.output import emit, refuse_existing
from mbcli.common.json_text import to_json
from mbcli.errors import MbcliError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.comparison.differences import Comparison

FOUND = 1  # exit code: something differs
DURATION = 1.0  # [s] that engines simulate by default
PEERS = ("pydrake", "pinocchio", "mujoco", "pybullet")
LOGS = (".h5", ".hdf5")


@click.command()
@model_options
@click.option("--engines", metavar="LIST", help=f"Which engines: {', '.join(PEERS)}. Default: those installed.")
@click.option("--tolerance", type=Number(minimum=0.0), metavar="E", help="Relative differences up to E count as equal.")
@click.option(
    "--duration",
    type=Number(minimum=0.0),
    metavar="S",
    help="Simulated time of each engine, without contact; 0: no simulation. Default 1 s.",
)
@click.option("--dynamics-only", is_flag=True, help="Two models: leave out shapes and frames.")
@click.option("--shapes", is_flag=True, help="Two models: compare only shapes and their contact.")
@click.option("--task", metavar="FILE", help="Policies: the task file whose episodes they act in.")
@click.option("--episodes", type=click.IntRange(min=1), metavar="N", help="Policies: how many; default 20.")
@click.option("--seed", type=click.IntRange(min=0), metavar="SEED", help="Policies: of the episodes; default 0.")
@file_engine_options
@state_options
@output_options
@click.pass_context
def compare(ctx: click.Context, **values: Any) -> int:
    """Compare one model in every engine that is installed, two models, or policies; exit code 1 if something differs.

    With one MODEL: coordinates are matched by name; M, bias, gravity, accelerations, poses and masses are compared at
    the state, then where a simulation ends. With two: every element and parameter by name, meshes by the content of
    their files, then the motion. Each difference comes with its likely cause. The exit code is 4 if an engine of
    --engines, or every one, gave no result. Logs are compared by `mbcli log diff`.

    Two folders: models of one name, or of one name but for the format, are pairs, each compared as two models are; a
    model without a partner is a difference. Each pair has a row, and the exit code is the largest. Options -j, --dask
    and --ray compare many at a time, and print the same.

    Policies (ONNX or TorchScript files) act in the same episodes of --task. Their mean returns have 95 % intervals, and
    so has the mean difference to those of the first: a difference if its interval has no 0.

    \b
    mbcli compare robot.urdf
    mbcli compare robot.urdf --weld-base --at elbow=0.5 --engines mujoco,pinocchio
    mbcli compare last_week.urdf robot.urdf
    mbcli compare robot.urdf robot.sdf --tolerance 1e-6 --json
    mbcli compare robot.urdf robot.sdf --dynamics-only
    mbcli compare last_week/ robots/ -j 8
    mbcli compare old.onnx new.onnx --task balance.task.yaml --episodes 50
    """
    where = take_where(values)
    model, state, output = take(values, MODEL_KEYS), take(values, STATE_KEYS), take_output(values)
    options = take(values, tuple(values))
    output.output_format = output.result_format() or "text"
    if output.output_format not in ("text", "json"):
        raise click.UsageError(f"compare gives text or json, not {output.output_format}")
    if output.output not in (None, "-"):
        refuse_existing(output.output, output.force)
    given = given_models(model)
    folders = [name for name in given if os.path.isdir(name)]
    if where is not None and len(folders) != 2:
        raise click.UsageError("-j, --dask and --ray are for the models of two folders")
    if are_policies(ctx, given, options):
        with usage_errors():
            document, text, differs = compare_policies(given, options)
        emit(to_json(document) if output.output_format == "json" else text, output)
        return FOUND if differs else 0
    if any(name.lower().endswith(LOGS) for name in given):
        raise click.UsageError("two logs are compared by `mbcli log diff`")
    if len(given) > 2:
        raise click.UsageError(f"compare takes one model or two, not {len(given)}")
    if len(given) == 2:
        _refuse_for_two(state, options)
    if len(folders) == 2:
        own = vars(options) | {"verbosity": ctx.obj["verbosity"]}
        document, text, code = compare_folders(folders, vars(model) | {"models": (), "own": own}, where, case)
        emit(to_json(document) if output.output_format == "json" else text, output)
        return code
    with usage_errors():
        run = _two_models if len(given) == 2 else _engines
        document, text, missing = run(ctx, model, state, options)
    emit(to_json(document) if output.output_format == "json" else text, output)
    if document["quantities"]:
        return FOUND
    if missing:  # who compares in a script is not to take it for agreement
        raise ResourceError("; ".join(f"{name} was not compared: {document['engines'][name]}" for name in missing))
    return 0


def case(options: Options, values: Mapping[str, str]) -> dict[str, Any]:
    """What differs between the two models of one pair of many, or its error."""
    options, own = copy.copy(options), Options(**options.own)
    options.models = (values["file"], values["other"])
    ctx = click.Context(click.Command("compare"), info_name="compare", obj={"verbosity": own.verbosity})
    try:
        document, _, _ = _two_models(ctx, options, Options(), own)
    except MbcliError as error:
        return {"exit_code": error.exit_code, "error": str(error)}
    except click.UsageError as error:
        return {"exit_code": error.exit_code, "error": error.format_message()}
    found = document["quantities"]
    return {"exit_code": FOUND if found else 0, "compared": document["compared"], "quantities": found}


def _refuse_for_two(state: Options, options: Options) -> None:
    """Refuses options that are of one model."""
    if options.engines is not None:
        raise click.UsageError("--engines is for one model")
    if options.duration is not None:
        raise click.UsageError("--duration is for one model: two are compared without a simulation")
    if state_is_given(state):
        raise click.UsageError("two models are compared at random states: no options of the state")
    if options.dynamics_only and options.shapes:
        raise click.UsageError("--dynamics-only and --shapes leave nothing to compare")


def _two_models(
    ctx: click.Context, model: Options, state: Options, options: Options
) -> tuple[dict[str, Any], str, list[str]]:
    from mbcli.comparison.model_comparison import ALL, DYNAMICS, SHAPES, TOLERANCE, compare_models

    part = DYNAMICS if options.dynamics_only else SHAPES if options.shapes else ALL

    sources = models_to_load(model)
    both = [load(model, ctx, contact=True, models=[source]) for source in sources]
    tolerance = TOLERANCE if options.tolerance is None else options.tolerance
    result = compare_models(*both, tolerance=tolerance, part=part)
    document = _document(result, [loaded.description() for loaded in both])
    if not result.differences:
        return document, f"the models are the same ({len(result.compared)} quantities, tolerance {tolerance:g})", []
    rows = [[d.name, d.where, _size(d.worst), d.cause] for d in result.differences]
    text = _left_table(rows, ["quantity", "where", "difference", "A, B and likely cause"])
    return document, f"{text}\n{len(result.differences)} differences; A is {sources[0]}, B is {sources[1]}", []


def _engines(
    ctx: click.Context, model: Options, state: Options, options: Options
) -> tuple[dict[str, Any], str, list[str]]:
    if options.dynamics_only or options.shapes:
        raise click.UsageError("--dynamics-only and --shapes are for two models")
    from mbcli.cli.state import set_state
    from mbcli.comparison.engine_comparison import TOLERANCE, compare_engines

    wanted = None if options.engines is None else [name for name in options.engines.replace(",", " ").split() if name]
    loaded = load(model, ctx, dt=0.0)
    context = loaded.plant.CreateDefaultContext()
    set_state(loaded, context, state)
    tolerance = TOLERANCE if options.tolerance is None else options.tolerance
    result = compare_engines(
        loaded,
        (loaded.plant.GetPositions(context), loaded.plant.GetVelocities(context)),
        engines=wanted,
        tolerance=tolerance,
        duration=DURATION if options.duration is None else options.duration,
        loading=loading_arguments(model),
    )
    document = _document(result, [loaded.description()])
    lines = [f"{name}: {what}" for name, what in result.engines.items()]
    if result.differences:
        rows = [[d.engine, d.name, d.where, _size(d.worst), d.cause] for d in result.differences]
        lines += ["", _left_table(rows, ["engine", "quantity", "where", "difference", "likely cause"])]
    elif result.compared:
        worst = max(result.compared.values())
        lines.append(f"the engines agree: {', '.join(result.compared)}; the largest relative difference is {worst:.3g}")
    missing = result.without_result if wanted is not None or not result.compared else []
    return document, "\n".join(lines), missing


def _document(result: Comparison, models: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema": "mbcli/compare",
        "schema_version": 1,
        "model": models[0],
        "other_model": models[1] if len(models) > 1 else None,
        "tolerance": result.tolerance,
        "engines": result.engines,
        "compared": result.compared,
        "quantities": [difference.as_dict() for difference in result.differences],
    }


def _size(value: float) -> str:
    return f"{value:.3g}" if value != float("inf") else "-"


def _left_table(rows: list[list[str]], header: list[str]) -> str:
    """Columns to the left, the last one as long as it is."""
    cells = [[*row[:-1]] for row in [header, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)), row[-1]]).rstrip()
        for row in [header, *rows]
    )

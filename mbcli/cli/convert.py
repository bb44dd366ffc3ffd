"""`mbcli convert`: model files as others, each with a list of the changes and a proof."""

from __future__ import annotations

import os
from typing import Any

import click

from mbcli.cli.conversions import SERVOS, Conversions
from mbcli.cli.many_files import file_engine_options, model_files, take_where
from mbcli.cli.options import MODEL_KEYS, Number, model_options, take
from mbcli.cli.output import refuse_existing
from mbcli.common.output_files import is_special
from mbcli.common.suggestions import alternatives
from mbcli.parsers.formats import FORMATS, OF_FILE_TYPE, TARGETS, format_of_name


@click.command()
@model_options
@click.option("--to", "target", type=click.Choice(TARGETS), help="Format of OUT; default: by its suffix.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="The file to write; default: stdout. For several MODELs: a folder, which gets a file named after each.",
)
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option(
    "--lossy",
    is_flag=True,
    help="Write the file even if the losses change the model's motion; otherwise that is an error.",
)
@click.option(
    "--bundle",
    is_flag=True,
    help="Copy the meshes, and the files that these name, to a folder `meshes` beside OUT; MJCF gets those that MuJoCo "
    "does not read as OBJ. USD holds them itself.",
)
@click.option("--kp", type=Number(above=0.0), metavar="KP", help="Stiffness of all servos of --actuators position.")
@click.option("--kd", type=Number(minimum=0.0), metavar="KD", help="Damping of all servos of --actuators.")
@click.option(
    "--float-base", is_flag=True, help="Release bases that fixed joints hold at the world, so that they float."
)
@click.option("--floor", is_flag=True, help="Add a floor at z = 0, and in MJCF a light.")
@file_engine_options
@click.option("--json", "as_json", is_flag=True, help="Print the losses and the proof as one JSON document.")
@click.pass_context
def convert(
    ctx: click.Context,
    target: str | None,
    output: str | None,
    force: bool,
    as_json: bool,
    lossy: bool,
    bundle: bool,
    kp: float | None,
    kd: float | None,
    float_base: bool,
    floor: bool,
    **values: Any,
) -> int | None:
    """Write models as URDF, SDFormat, MJCF or USD.

    \b
    mbcli convert robot.urdf -o robot.sdf
    mbcli convert robot.urdf --to mjcf -o robot.xml --bundle --actuators position --floor
    mbcli convert scene.dmd.yaml --to urdf > scene.urdf
    mbcli convert robot.urdf -o robot.usda
    mbcli convert robots/*.urdf --to mjcf -o mujoco/
    mbcli convert robots/ --to mjcf -o mujoco/ --bundle --dask tcp://HOST:8786

    Includes, merges and nested models become one model, with MODEL::NAME called MODEL__NAME; frames are resolved.
    Elements that the format lacks or has in another form are listed on stderr, of the latter the first of each code;
    `mbcli -v convert` lists all, as --json does under `losses`. The last line says what was written, what proved it,
    and how much was lost or changed. Mesh names lead from the folder of OUT to the same files, or with --bundle to
    their copies; package:// names stay in URDF and SDFormat.

    Before the file is written, the text is read back. M(q), C(q, v) v, gravity, other forces, poses and limits must
    equal those of the model at random states, to 1e-9 (USD, with numbers of single precision: to 1e-5); so must shapes,
    their contact properties and the pairs that may touch. Otherwise the exit code is 5. MJCF is proved by MuJoCo too,
    USD by Newton, if they are installed; one that does not start is named, and the file is written. The exit code is 3
    if the model would move differently because the format lacks an element; with --lossy the element is left out, and
    the rest is proved.

    A MODEL may be a folder: it stands for all model files below it. Several MODELs are converted one by one; a table
    shows the result of each, and the exit code is the largest. Many are converted by several processes or by a cluster
    whose workers need none of the files: what is written is the same.
    """
    where, options = take_where(values), take(values, MODEL_KEYS)
    options.models = tuple(model_files(options.models, options.xacro))
    if not options.models:
        raise click.UsageError("Missing argument 'MODEL...'")
    if options.constraints_file is not None:
        raise click.UsageError("--constraints: convert writes MODEL alone, the constraints stay in their own file")
    if (kp is not None and options.actuators != "position") or (kd is not None and options.actuators not in SERVOS):
        raise click.UsageError("--kp and --kd need --actuators position, --kd alone position or velocity")
    to_file = output not in (None, "-")
    path = output or ""  # if it goes to a file
    many = len(options.models) > 1 or (to_file and _is_folder(path))
    if many and not to_file:
        raise click.UsageError(f"{len(options.models)} MODELs need -o with a folder")
    if many and os.path.exists(path) and not os.path.isdir(path):
        raise click.UsageError(f"{len(options.models)} MODELs need a folder, {output} is a file")
    target = target or (None if many else _target(output))
    if target is None:
        raise click.UsageError("--to names the format of several files")
    if where is not None and not many:
        raise click.UsageError("--jobs, --dask and --ray are for several MODELs, and -o with a folder")
    if as_json and not to_file:
        raise click.UsageError("--json needs -o: both cannot go to stdout")
    if options.decompose and not bundle and not FORMATS[target].target().embeds_meshes:
        raise click.UsageError("--decompose needs --bundle: the convex parts are files of their own")
    if bundle and not to_file:
        raise click.UsageError("--bundle needs -o: the meshes go beside that file")
    if to_file and not many and not is_special(path):
        refuse_existing(path, force)
    conversions = Conversions(ctx, options, target, force, lossy, bundle, as_json)
    conversions.ask(kp, kd, float_base, floor)
    conversions.where = where
    if many:
        return conversions.to_folder(path)
    conversions.to_file(output if to_file else None)
    return None


def _is_folder(output: str) -> bool:
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


def _target(output: str | None) -> str:
    suffix = os.path.splitext(output or "")[1]
    named = format_of_name(output or "") or OF_FILE_TYPE.get(suffix[1:].lower())
    if named not in TARGETS:
        raise click.UsageError(f"--to names the format if the suffix of -o does not: {alternatives(TARGETS)}")
    return named

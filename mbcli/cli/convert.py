"""`mbcli convert`: a model file as another one, with a list of the changes and a proof."""

import os

import click

from mbcli.cli.model import load, read_packages
from mbcli.cli.options import MODEL_KEYS, joined, model_options, take
from mbcli.cli.output import document, printable, refuse_existing, write_file
from mbcli.common.json_text import to_json
from mbcli.common.output_files import is_special
from mbcli.errors import ModelError, NumericalError
from mbcli.parsers.formats import FORMATS, TARGETS, format_of_name

PROOF_SEED = 0
MAX_OF_KIND = 10  # losses that are printed


@click.command()
@model_options
@click.option("--to", "target", type=click.Choice(TARGETS), help="Format of OUT; default: by its suffix.")
@click.option("-o", "--output", metavar="OUT", help="The file to write; default: stdout.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option(
    "--lossy",
    is_flag=True,
    help="Write the file even if the losses change the model's motion; otherwise that is an error.",
)
@click.option(
    "--bundle", is_flag=True, help="Copy the meshes, and the files that these name, to a folder `meshes` beside OUT."
)
@click.option("--json", "as_json", is_flag=True, help="Print the losses and the proof as one JSON document.")
@click.pass_context
def convert(ctx, target, output, force, lossy, bundle, as_json, **values):
    """Write a model as URDF or SDFormat.

    \b
    mbcli convert robot.urdf -o robot.sdf
    mbcli convert scene.dmd.yaml --to urdf > scene.urdf
    mbcli convert world.sdf -o robot.urdf --json
    mbcli convert robot.urdf -o /elsewhere/robot.sdf --bundle

    Includes, merges and nested models become one model, with MODEL::NAME called MODEL__NAME; frames are resolved.
    Elements that the format lacks, or has in another form, are listed on stderr, or under `losses` with --json. Mesh
    names lead from the folder of OUT to the same files, or with --bundle to their copies; package:// names stay.

    Before anything is written, the text is read back: M(q), C(q, v) v, gravity, other forces, poses and limits must be
    those of the model at random states, to 1e-9, and so must shapes, their contact properties and what may touch;
    otherwise the exit code is 5. The exit code is 3 if the model would move differently because the format lacks an
    element; --lossy leaves it out, and the proof is then of the rest.
    """
    options = take(values, MODEL_KEYS)
    if len(options.models) != 1:
        raise click.UsageError(f"convert takes one MODEL, not {len(options.models)}")
    if options.constraints_file is not None:
        raise click.UsageError("--constraints: convert writes MODEL alone, the constraints stay in their own file")
    to_file = output not in (None, "-")
    target = target or _target(output)
    if as_json and not to_file:
        raise click.UsageError("--json needs -o: both cannot go to stdout")
    if bundle and not to_file:
        raise click.UsageError("--bundle needs -o: the meshes go beside that file")
    if to_file and not is_special(output):
        refuse_existing(output, force)
    from mbcli.conversion.conversion_proof import prove
    from mbcli.conversion.mesh_bundle import bundle_names, copy_bundle
    from mbcli.parsers.writing.conversion import converted, mesh_paths
    from mbcli.parsers.writing.losses import Loss

    loaded = load(options, ctx)
    if len(loaded.read) != 1:
        raise ModelError(f"{options.models[0]}: error: has {len(loaded.read)} models, one can be converted")
    packages = read_packages(options)
    folder = (os.path.dirname(output) if to_file else "") or os.curdir
    model = _model(loaded)
    copies = bundle_names(mesh_paths(model)) if bundle else {}
    conversion = converted(model, target, packages=packages, folder=folder, copies=copies)
    tells = not as_json and ctx.obj["verbosity"] >= 0
    if tells:
        _report(conversion.losses)
    fatal = [loss for loss in conversion.losses if loss.kind == "motion"]
    if fatal and not lossy:
        lines = [
            f"{loss.place}: error: {FORMATS[target].TITLE} cannot express {loss.message} (--lossy leaves it out)"
            for loss in fatal
        ]
        raise ModelError("\n".join(lines))
    proof = prove(loaded.plant, conversion, packages, seed=PROOF_SEED)
    faults = proof.faults()
    if faults:
        raise NumericalError(
            f"the {target} file would not be the same mechanism: {joined(*faults)}; nothing is written"
        )
    more, place = [], loaded.read[0].place
    if not proof.same_order:
        more.append(Loss("changed", "ORDER", "the coordinates come in another order", place))
    for name in copy_bundle(copies, folder, packages, force):
        more.append(Loss("lost", "MESH", f"the file {name}, which a mesh names: it is not copied", place))
    if tells:
        _report(more)
    losses = [*conversion.losses, *more]
    text = conversion.text.decode()
    if to_file:
        write_file(output, text, force)
    else:
        click.echo(text, nl=False)
    if as_json:
        click.echo(to_json(_document(loaded, target, output, losses, proof)))


def _target(output):
    named = format_of_name(output or "")
    if named not in TARGETS:
        *first, last = TARGETS
        raise click.UsageError(f"--to names the format if the suffix of -o does not: {', '.join(first)} or {last}")
    return named


def _model(loaded):
    from mbcli.multibody.parsing.model_of_scene import model_of_scene
    from mbcli.parsers.writing.flatten import flattened

    return model_of_scene(loaded.plant, flattened(loaded.read[0]))


def _report(losses):
    """A line for each loss, ten of a kind, and one for the others of it."""
    colors = {"motion": "red", "lost": "yellow"}
    kinds = {}
    for loss in losses:
        kinds.setdefault((loss.kind, loss.code), []).append(loss)
    for (kind, code), found in kinds.items():
        shown = click.style(kind, fg=colors.get(kind, "cyan"))
        for loss in found[:MAX_OF_KIND]:
            click.echo(f"{printable(str(loss.place))}: {shown}: {printable(loss.message)} [{code}]", err=True)
        if len(found) > MAX_OF_KIND:
            more = f"and {len(found) - MAX_OF_KIND:,} more"
            click.echo(f"{printable(found[0].place.file)}: {shown}: {more} [{code}]", err=True)


def _document(loaded, target, output, losses, proof):
    losses = [
        {
            "kind": loss.kind,
            "code": loss.code,
            "message": loss.message,
            "file": loss.place.file,
            "line": loss.place.line,
            "column": loss.place.column,
        }
        for loss in losses
    ]
    return document(
        "convert",
        loaded,
        format=target,
        output=output,
        losses=losses,
        proof={"tolerance": proof.tolerance, "seed": PROOF_SEED, "deviations": proof.deviations},
    )

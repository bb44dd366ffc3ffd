"""`mbcli codegen`: functions of a model as code of other languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.model import load
from mbcli.cli.options import MODEL_KEYS, model_options, take
from mbcli.cli.output import document, emit, table, tell, warn
from mbcli.common.json_text import to_json

if TYPE_CHECKING:
    from mbcli.codegen import Generated
    from mbcli.models.loaded_model import LoadedModel

TARGETS = ("c", "python", "jax", "casadi", "fmi", "arduino", "onnx")


@click.command()
@model_options
@click.option(
    "--functions",
    metavar="LIST",
    help="Functions with commas between them: inverse_dynamics (default), forward_dynamics, mass_matrix, bias, "
    "gravity, pose:FRAME, velocity:FRAME, jacobian:FRAME, center_of_mass, com_velocity, com_jacobian, energy, "
    "momentum, position_rates, mass_matrix_factor, regressor, step, constrained_dynamics, sensors or sensors:NAME. "
    "With --to fmi: outputs beside q and v; default none.",
)
@click.option("--to", "target", type=click.Choice(TARGETS), default="c", show_default=True, help="The language.")
@click.option(
    "--real", type=click.Choice(["double", "float"]), default="double", show_default=True, help="The numbers of C code."
)
@click.option(
    "--free",
    "free_paths",
    multiple=True,
    metavar="PATHS",
    help="Parameters that stay free, named as for --set, without a value, with commas between them: "
    "body.*.mass,joint.elbow.damping. Functions have these numbers as one more input, p.",
)
@click.option("--derivatives", is_flag=True, help="For each function another one, with its first derivatives.")
@click.option("--name", metavar="NAME", help="The name of the files, and of functions in C; default: the model's.")
@click.option(
    "--proof-states",
    "states",
    type=click.IntRange(min=1),
    metavar="N",
    help="Random states of the proof; default: 1000, and 100 for functions of more than 5000 operations.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="SEED", help="Of these states.")
@click.option("-o", "--output", metavar="FOLDER", required=True, help="The folder that the files go to; it may be new.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def codegen(ctx: click.Context, functions: str | None, output: str, force: bool, as_json: bool, **values: Any) -> None:
    """Write functions of a model as C, Python, JAX, CasADi or ONNX code, or an FMU, and prove it.

    \b
    mbcli codegen arm.urdf --functions inverse_dynamics,jacobian:tool -o arm/
    mbcli codegen arm.urdf --functions forward_dynamics --derivatives --to casadi -o arm_casadi/
    mbcli codegen arm.urdf --to fmi --functions pose:tool -o arm_unit/

    The engine's own kernels run once on numbers that record what is done to them. The record becomes straight code,
    one assignment an operation. C code is C99, allocates nothing and calls sin, cos and sqrt alone.

    The code is run at random states within the limits of the model, C code by a compiler of this machine (CC, cc, gcc,
    clang, or the wheel ziglang), and must give what the kernels give, to 1e-12 of the largest number of each output,
    with --real float to 1e-5. Otherwise nothing is written, and the exit code is 5. The proof is written beside the
    code, as proof.json; NAME.json has coordinates, inputs, outputs and the elements of derivatives that are not zero.

    --to fmi writes an FMU (FMI 3.0) for co-simulation and model exchange: efforts of actuators in, positions and
    velocities out, and what --functions gives at these. It is a continuous plant, as `mbcli simulate --dt 0` has it.
    For Arduino the C code becomes a library of numbers in single precision.

    Contact is no part of these functions. Where the model has constraints, forward dynamics cannot be written but as
    constrained_dynamics, and inverse dynamics is that of the tree, as `mbcli inverse-dynamics` has it. A step is one
    in which no limit acts; it tells where one could. Deformable bodies, spring-dampers and bushings cannot be
    written: exit code 3.
    """
    from mbcli.codegen import FreeParameters, Settings, generate
    from mbcli.codegen.target import find_target

    settings = {key: values.pop(key) for key in ("target", "real", "derivatives", "states", "seed")}
    name = values.pop("name")
    free_paths = [path.strip() for each in values.pop("free_paths") for path in each.split(",") if path.strip()]
    model = take(values, MODEL_KEYS)
    target = find_target(settings["target"])
    loaded = load(model, ctx, dt=target.time_step)
    plant = target.plant_of(loaded.plant)
    plant.prefers_interpreted = True
    quiet = ctx.obj["verbosity"] < 0
    generated = generate(
        plant.CreateDefaultContext(),
        target.functions if functions is None else [each.strip() for each in functions.split(",") if each.strip()],
        output,
        Settings(name=name or "", title=loaded.specs[0].name, source=_source(loaded), **settings),
        free=FreeParameters(loaded, free_paths) if free_paths else None,
        force=force,
        tell=(lambda line: None) if quiet else tell,
    )
    if not generated.proofs and not quiet:
        warn("there is no C compiler here: the code was not compiled, and is not proved (pip install ziglang)")
    if as_json:
        content: dict[str, Any] = {
            "position_names": plant.GetPositionNames(),
            "velocity_names": plant.GetVelocityNames(),
            "target": settings["target"],
            "files": generated.files,
            "functions": generated.functions,
        }
        click.echo(to_json(document("codegen", loaded, **content)))
    else:
        emit(_text(generated))


def _source(loaded: LoadedModel) -> tuple[str, ...]:
    from mbcli import __version__

    return (
        f"Made by mbcli {__version__} from",
        *(f"{source.path} (sha256 {source.sha256})" for source in loaded.sources),
    )


def _text(generated: Generated) -> str:
    rows = []
    for each in generated.functions:
        proof = each["proof"]
        shown = ["not run", "", ""]
        if proof is not None:
            time = "" if proof["nanoseconds"] is None else f"{proof['nanoseconds']:.0f} ns"
            shown = [f"{proof['deviation']:.1e}", str(proof["states"]), time]
        rows.append([each["name"], str(each["operations"]), *shown])
    lines = [table(rows, ["function", "operations", "deviation", "states", "a call"]), ""]
    return "\n".join([*lines, *(f"wrote {path}" for path in generated.files)])

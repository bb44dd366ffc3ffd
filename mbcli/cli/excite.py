"""`mbcli excite`: a motion from which parameters can be identified."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.identify import held_words
from mbcli.cli.model import load
from mbcli.cli.options import MODEL_KEYS, Number, model_options, take, usage_errors
from mbcli.cli.output import document, emit, number, refuse_existing, table, tell
from mbcli.common.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.identification.excitation import Motion
    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


@click.command()
@model_options
@click.option("-t", "--duration", type=Number(above=0.0), default=20.0, metavar="T", help="Duration [s]. [20]")
@click.option("--rate", type=Number(above=0.0), default=100.0, metavar="HZ", help="Samples per second. [100]")
@click.option(
    "--basis",
    type=click.Choice(["fourier", "bsplines"]),
    default="fourier",
    help="What motions are made of: Fourier series or B-splines. [fourier]",
)
@click.option("--harmonics", type=click.IntRange(2, 50), metavar="N", help="Of the Fourier series. [5]")
@click.option("--points", type=click.IntRange(4, 200), metavar="N", help="Of the B-splines. [15]")
@click.option(
    "--held", metavar="LIST", help="Joints that do not move: NAME at its default, NAME=VALUE [rad or m] elsewhere."
)
@click.option(
    "--margin", type=Number(above=0.0), default=0.9, metavar="PART", help="Part of the limits that is used. [0.9]"
)
@click.option("--speed", type=Number(above=0.0), metavar="V", help="No joint is faster [rad/s or m/s].")
@click.option(
    "--acceleration", type=Number(above=0.0), metavar="A", help="Largest acceleration of any joint [rad/s^2 or m/s^2]."
)
@click.option("--collisions/--no-collisions", default=True, help="Refuse motions in which bodies touch. [collisions]")
@click.option("--tries", type=click.IntRange(min=0), default=400, metavar="N", help="Motions that are tried. [400]")
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Of the search. [0]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-o", "--output", metavar="FILE", help="Write the motion: CSV, or another format by the suffix.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.pass_context
def excite(ctx: click.Context, **values: Any) -> None:
    """A motion within limits from which masses, inertias and friction can be identified.

    Bases are welded. Each joint moves by a Fourier series or B-spline that begins and ends at rest, within the limits
    of its position, velocity, acceleration and effort, so that the condition number of the equations is small. The rows
    have time, positions, velocities and accelerations.

    \b
    mbcli excite robot.urdf -t 20 -o motion.csv
    mbcli inverse-dynamics robot.urdf --states motion.csv --format csv
    """
    model = take(values, MODEL_KEYS)
    options = take(values, tuple(values))
    output = options.output
    if output is not None:
        refuse_existing(output, options.force)
    model.weld_base = True
    loaded = load(model, ctx, contact=options.collisions)
    plant = loaded.plant

    from mbcli.identification.excitation import Within, excite as find_motion
    from mbcli.identification.held_joints import ALL, held_joints

    if (options.harmonics if options.basis == "bsplines" else options.points) is not None:
        raise click.UsageError("--harmonics needs --basis fourier, --points --basis bsplines")
    still = held_words(options.held)
    if ALL in still:
        raise click.UsageError("--held: 'all' are those that data lack, and there are no data: name them")
    with usage_errors():
        motion = find_motion(
            plant,
            options.duration,
            rate=options.rate,
            basis=options.basis,
            harmonics=options.harmonics or 5,
            points=options.points or 15,
            held=held_joints(plant, still),
            within=Within(options.margin, options.speed, options.acceleration),
            tries=options.tries,
            seed=options.seed,
            collides=_touching(plant) if options.collisions else None,
        )
    if output is not None:
        _write(loaded, motion, output, options.force)
    content: dict[str, Any] = {
        "output": output,
        "duration": options.duration,
        "rows": len(motion.time),
        "condition": motion.condition,
        "first_condition": motion.first,
        "rank": motion.rank,
        "use": motion.use,
    }
    if options.as_json:
        emit(to_json(document("excite", loaded, **content)))
        return
    lines = [
        f"{len(motion.time)} rows, {options.duration:g} s; {motion.rank} base parameters with friction, condition "
        f"{motion.condition:.3g} (random motions: {motion.first:.3g})"
    ]
    kinds = list(motion.use)
    rows = [
        [name, *(number(motion.use[kind][name]) if motion.use[kind][name] > 0.0 else "-" for kind in kinds)]
        for name in motion.use["position"]
    ]
    lines.append(table(rows, ["part of its limit", *kinds]))
    if output is not None:
        lines.append(f"motion: {output}")
    else:
        tell("mbcli: -o FILE writes the motion")
    emit("\n".join(lines))


def _touching(plant: MultibodyPlant) -> Callable[[FloatArray], bool] | None:
    """q -> whether bodies touch that do not at the default positions; None if there is nothing that could."""
    from mbcli.models.contacts import contact_points

    if plant.num_collision_geometries() == 0:
        return None
    context = plant.CreateDefaultContext()

    def pairs() -> set[tuple[str, str]]:
        return {(c["body_a"], c["body_b"]) for c in contact_points(context, single_points=True)}

    always = pairs()

    def collides(q: FloatArray) -> bool:
        plant.SetPositions(context, q)
        return bool(pairs() - always)

    return collides


def _write(loaded: LoadedModel, motion: Motion, output: str, force: bool) -> None:
    from mbcli.batch import FORMAT_OF_SUFFIX
    from mbcli.batch.result_writer import open_results

    plant = loaded.plant
    names = {
        "q": plant.GetPositionNames(),
        "v": [f"v:{name}" for name in plant.GetVelocityNames()],
        "vdot": [f"vdot:{name}" for name in plant.GetVelocityNames()],
    }
    kind = FORMAT_OF_SUFFIX.get(os.path.splitext(output)[1].lower(), "csv")
    with open_results(output, kind, force=force, metadata={}, component_names=names, component_units={}) as writer:
        writer.write({"time": motion.time, "q": motion.q, "v": motion.v, "vdot": motion.vdot})

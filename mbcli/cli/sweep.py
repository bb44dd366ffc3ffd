"""`mbcli sweep`: many runs of one model into one table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.model import load, loading_arguments, models_to_load
from mbcli.cli.options import (
    MODEL_KEYS,
    STATE_KEYS,
    HoldCommand,
    Number,
    model_options,
    setting_option,
    state_is_given,
    state_options,
    take,
    together,
    usage_errors,
)
from mbcli.cli.output import document, refuse_existing, tell
from mbcli.cli.run_settings import SWEEP_OPTIONS, plant_arguments, read_actuation, refuse_two_controls, run_arguments
from mbcli.cli.sweep_running import check_outputs, engine_options, exit_code, journal_beside, report, run_points
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.common.output_files import refuse_missing_folder

if TYPE_CHECKING:
    from mbcli.cli.options import Options
    from mbcli.math.array_types import BoolArray, FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.sweeps.result_table import ResultTable
    from mbcli.sweeps.sweeping import Sweep

SAMPLINGS = ("grid", "latin-hypercube", "monte-carlo")  # as points.py has them; importing it would slow --help down
RUN_KEYS = tuple(option.parameter for option in SWEEP_OPTIONS)

GRAMMAR = """
\b
What varies, PATH=VALUES:
  PATH  as --set: joint.elbow.damping, body.*.mass, geometry.foot.friction, plant_config.time_step;
        state.NAME: a position or velocity at the start, by the names of --at; u.NAME: actuation;
        state=random: a random start of each point
  0.1,0.2,0.5            a list
  linspace(0, 1, 11)     so many values from the first to the last; geomspace(0.01, 10, 7)
  arange(0, 1, 0.1)      steps, without the end
  uniform(0, 1)          a distribution, with --samples; loguniform(0.01, 1), normal(1, 0.1),
                         integers(1, 6), choice(0.1, 0.5, 2)
  *0.8,*1,*1.2           relative to the model: *uniform(0.8, 1.2), +normal(0, 0.01)
\b
Measures, EXPRESSION or NAME=EXPRESSION, over the rows of the run (--log-rate):
  min max mean std rms first final span integral fraction   of a series
  time_of(CONDITION)  time_of_min  time_of_max              [s]
  abs sqrt exp log sin cos tan sign, + - * / **, < <= > >= == !=, and or not
  series: positions and velocities by name (the end will do, 'in quotes' if it has other signs), u.ACTUATOR,
  time, energy, energy_kinetic, energy_potential, com_x, com_y, com_z, constraint_error, contacts,
  contact_force, contact_force_sum, contact_depth, slip_speed;
  effort.ACTUATOR (with what controllers add); reaction.JOINT.force_x and so on in the joint's axes,
  reaction.JOINT.force, .moment (their sizes); sensor.NAME, sensor.NAME.COLUMN;
  of a deformable body BODY.x, .y, .z (mass centre), .low, .high (its least and largest z)
\b
Columns: point, seed, what varies, status, message, measures, end_time [s], energy_start, energy_end,
energy_drift [J], contacts_max, contact_force_max [N], contact_depth_max [m], with --balance [J] balance_CAUSE of each
entry that simulate has, final NAME of each coordinate.
status: ok; what the model did: diverged (not finite, or not solved: the final state is the last good one),
invalid_model, timeout, crashed; what a machine did: lost (the worker), out_of_memory, file, version, which are
tried again, --retries times and by --resume. Exit code 5 if no run is ok.
"""


class SweepCommand(HoldCommand):
    """A command, three words of which are commands of their own."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> click.Context:
        if args[:1] in (["status"], ["merge"], ["run"]):
            from mbcli.cli import sweep_parts

            return getattr(sweep_parts, args[0]).make_context(f"{info_name} {args[0]}", args[1:], *more, **extra)
        return super().make_context(info_name, args, *more, **extra)


@click.command(cls=SweepCommand, epilog=GRAMMAR)
@click.option(
    "--vary",
    multiple=True,
    metavar="PATH=VALUES",
    help="A path and its values, see below; several options make a grid.",
)
@click.option(
    "--points", metavar="FILE", help="A CSV file instead of --vary: a header of paths, then a row for each run."
)
@click.option("--samples", type=click.IntRange(min=1), metavar="N", help="Draw N points instead of a grid.")
@click.option("--sampling", type=click.Choice(SAMPLINGS), help="Default: grid; with --samples monte-carlo.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Seed of the points and of each run's own seed. [0]",
)
@click.option("--measure", "measures", multiple=True, metavar="EXPRESSION", help="A figure of each run, see below.")
@click.option("--timeout", type=Number(above=0.0), metavar="S", help="Give up a run after this wall-clock time.")
@engine_options
@click.option(
    "--bundle",
    metavar="FILE",
    help="Run nothing: write the sweep to FILE or an address in a store, with model, meshes, controllers and tables; "
    "`mbcli sweep run FILE` runs it where these are not.",
)
@click.option("--plot", metavar="FILE", help="Draw the measures against what varies: .png, .svg, .pdf (mbcli[plot]).")
@click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON document.")
@model_options
@state_options
@together(*map(setting_option, SWEEP_OPTIONS))
@click.pass_context
def sweep(ctx: click.Context, **values: Any) -> int:
    """Run a model at many values of its parameters and starts, and write one table.

    Each core runs one process, which loads the model once; with --dask or --ray a cluster runs them. A stopped or
    killed sweep continues with --resume, to the same table. `mbcli sweep status OUTPUT` shows how far a sweep is,
    `mbcli sweep merge OUTPUT` writes the table of one that ran in parts, and `mbcli sweep run BUNDLE` runs one that
    --bundle has written.

    \b
    mbcli sweep arm.urdf --vary joint.elbow.damping=0.1,0.2,0.5 --at elbow=1 -t 2 -o damping.csv
    mbcli sweep arm.urdf --vary "joint.*.damping=*linspace(0.5, 2, 7)" --measure "max(abs(elbow))" -o table.csv
    mbcli sweep quadruped.urdf --ground --hold --samples 200 --sampling latin-hypercube -o falls.csv \\
      --vary "geometry.*.friction=uniform(0.2, 1)" --vary "body.trunk.mass=*normal(1, 0.1)" \\
      --measure "min(trunk_z)" --measure "fall=time_of(trunk_z < 0.2)" --plot falls.png
    mbcli sweep walker.xml --pose stand --controller trot.py --push "trunk=60@random for 0.1" -t 4 \\
      --vary "body.trunk.mass=*linspace(0.8, 1.2, 9)" --measure "min(trunk_z)" -o pushed.csv
    mbcli sweep arm.urdf --vary state=random --samples 1000 --dask tcp://cluster:8786 -o table.csv
    mbcli sweep arm.urdf --points runs.csv -o runs_done.csv
    """
    from mbcli.sweeps.sweeping import prepare_sweep

    model, state, run = take(values, MODEL_KEYS), take(values, STATE_KEYS), take(values, RUN_KEYS)
    run.no_log, run.log_path, run.input_file, run.controller_pickle = True, None, None, False  # of `simulate` alone
    refuse_two_controls(run)
    options = take(values, tuple(values))
    if not options.vary and options.points is None:
        raise click.UsageError("--vary PATH=VALUES or --points FILE says what varies")
    with usage_errors():
        _check_outputs(options)
        models = models_to_load(model)
        loading = _loading(model, run)
        loaded = load(model, ctx, **plant_arguments(run), models=models)
        prepared = prepare_sweep(
            loaded,
            [m if not isinstance(m, str) or "://" in m else os.path.abspath(m) for m in models],
            loading,
            run_arguments(run, of_sweeps=True),
            options.vary or None,
            points=options.points,
            sampling=options.sampling,
            samples=options.samples,
            seed=options.seed,
            measures=options.measures,
            start=_start(loaded, state),
            u=read_actuation(loaded.plant, run),
            timeout=options.timeout,
        )
        quiet = (ctx.obj or {}).get("verbosity", 0) < 0
        if options.bundle is not None:
            _write_bundle(options.bundle, prepared, quiet)
            return 0
        table, progress = run_points(prepared, options, quiet)
        _write(options, table, prepared, loaded)
    if not quiet:
        report(table, progress, options)
    return exit_code(table)


def _check_outputs(options: Options) -> None:
    """Errors of what is to be written, before anything is loaded."""
    if options.plot is not None:
        from mbcli.sweeps.plot import check_plot

        check_plot(options.plot)
        refuse_missing_folder(options.plot)
        if not options.measures:
            raise click.UsageError("--plot draws measures: give --measure")
        refuse_existing(options.plot, options.force or options.resume)
    if options.bundle is not None:
        if options.output is not None or options.as_json:
            raise click.UsageError("--bundle runs nothing: no -o, --json; `mbcli sweep run` takes the bundle")
        from mbcli.sweeps import stores

        options.bundle = stores.as_place(options.bundle)
        stores.refuse_existing(options.bundle, options.force)
        return
    check_outputs(options)


def _loading(model: Options, run: Options) -> dict[str, Any]:
    """The arguments of load_model(), which mean the same in another process."""
    arguments = loading_arguments(model) | plant_arguments(run)
    for name in ("constraints", "config"):
        if isinstance(arguments[name], str):
            arguments[name] = os.path.abspath(arguments[name])
    arguments["srdf"] = tuple(map(os.path.abspath, arguments["srdf"]))
    return arguments


def _write_bundle(place: str, prepared: Sweep, quiet: bool) -> None:
    from mbcli.sweeps.packed_sweep import pack_sweep
    from mbcli.sweeps.stores import write_bytes

    write_bytes(place, pack_sweep(prepared).content)
    if not quiet:
        tell(f"mbcli: {counted(len(prepared.points), 'run')} and their files are in {place}")


def _start(loaded: LoadedModel, state: Options) -> tuple[FloatArray, FloatArray, BoolArray] | None:
    """(q, v, mask of stated positions) of the state options; None without any."""
    from mbcli.cli.state import set_state

    if not state_is_given(state):
        return None
    context = loaded.plant.CreateDefaultContext()
    stated = set_state(loaded, context, state)
    pairs = zip(context.state.deformables, loaded.plant.CreateDefaultContext().state.deformables, strict=True)
    if any((own.values != default.values).any() for own, default in pairs):
        raise click.UsageError("runs of a sweep start with deformable bodies as they are by default: no --state LOG")
    return loaded.plant.GetPositions(context), loaded.plant.GetVelocities(context), stated


def _write(options: Options, table: ResultTable, prepared: Sweep, loaded: LoadedModel) -> None:
    if options.as_json:
        result = document(
            "sweep",
            loaded,
            points=len(table.rows),
            seed=prepared.seed,
            counts=table.counts(),
            varied=list(table.varied),
            measures=prepared.measures,
            columns=list(table.columns),
            rows=[[row.get(name) for name in table.columns] for row in table.rows],
            output=options.output,
            journal=journal_beside(options),
        )
        click.echo(to_json(result))
    elif options.output in (None, "-"):
        click.echo(table.as_csv(), nl=False)
    if options.plot is not None:
        from mbcli.sweeps.column_units import column_units
        from mbcli.sweeps.measures import Measure
        from mbcli.sweeps.plot import plot_table

        units = column_units(loaded, prepared.variations, map(Measure, prepared.job.measures))
        plot_table(table, prepared.measures, options.plot, units)

"""`mbcli sweep`: many runs of one model into one table."""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
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
from mbcli.cli.output import document, refuse_existing, refuse_given_inputs, tell
from mbcli.cli.run_settings import SWEEP_OPTIONS, plant_arguments, read_actuation, refuse_two_controls, run_arguments
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.common.output_files import refuse_missing_folder
from mbcli.errors import OutputError

if TYPE_CHECKING:
    from mbcli.cli.options import Options
    from mbcli.math.array_types import BoolArray, FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.sweeps.result_table import ResultTable
    from mbcli.sweeps.sweeping import Sweep, SweepProgress

SAMPLINGS = ("grid", "latin-hypercube", "monte-carlo")  # as points.py has them; importing it would slow --help down
RUN_KEYS = tuple(option.parameter for option in SWEEP_OPTIONS)
RETRIES = 2  # as cases.py has it
NONE_OK = 5  # exit code if no run came to its end
DRAWN_EVERY = 0.2  # [s] a line of progress

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
energy_drift [J], contacts_max, contact_force_max [N], contact_depth_max [m], final NAME of each coordinate.
status: ok; what the model did: diverged (not finite, or not solved: the final state is the last good one),
invalid_model, timeout, crashed; what a machine did: lost (the worker), out_of_memory, file, version, which are
tried again, --retries times and by --resume. Exit code 5 if no run is ok.
"""


class SweepCommand(HoldCommand):
    """A command, two words of which are commands of their own."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> click.Context:
        if args[:1] in (["status"], ["merge"]):
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
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; default: one a core.")
@click.option(
    "--dask", "--scheduler", metavar="ADDRESS", help="Run on this Dask cluster, as tcp://host:8786 (mbcli[dask])."
)
@click.option(
    "--ray", metavar="ADDRESS", help="Run on this Ray cluster: auto, host:6379, ray://host:10001 (mbcli[ray])."
)
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=RETRIES,
    metavar="N",
    help=f"Try a run again N times, on another worker, for what a machine did: see status. [{RETRIES}]",
)
@click.option("--shard", metavar="K/N", help="Run part K of N alone, as in an array of jobs; `sweep merge` joins them.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The table: .csv, .parquet (mbcli[parquet]), or FOLDER/ of Parquet files written while runs end; FILE.journal "
    "keeps finished runs. FILE may lie in a store: s3://bucket/table.csv (mbcli[s3]). Default: CSV to stdout.",
)
@click.option(
    "--resume", is_flag=True, help="Continue from FILE.journal: run what is not in it, and what a machine spoilt."
)
@click.option("--plot", metavar="FILE", help="Draw the measures against what varies: .png, .svg, .pdf (mbcli[plot]).")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON document.")
@model_options
@state_options
@together(*map(setting_option, SWEEP_OPTIONS))
@click.pass_context
def sweep(ctx: click.Context, **values: Any) -> int:
    """Run a model at many values of its parameters and starts, and write one table.

    Each core runs one process, which loads the model once; with --dask or --ray a cluster runs them. A stopped or
    killed sweep continues with --resume, to the same table. `mbcli sweep status OUTPUT` shows how far a sweep is, and
    `mbcli sweep merge OUTPUT` writes the table of one that ran in parts.

    \b
    mbcli sweep arm.urdf --vary joint.elbow.damping=0.1,0.2,0.5 --at elbow=1 -t 2 -o damping.csv
    mbcli sweep arm.urdf --vary "joint.*.damping=*linspace(0.5, 2, 7)" --measure "max(abs(elbow))" -o table.csv
    mbcli sweep quadruped.urdf --ground --hold --samples 200 --sampling latin-hypercube -o falls.csv \\
      --vary "geometry.*.friction=uniform(0.2, 1)" --vary "body.trunk.mass=*normal(1, 0.1)" \\
      --measure "min(trunk_z)" --measure "fall=time_of(trunk_z < 0.2)" --plot falls.png
    mbcli sweep walker.xml --pose stand --controller trot.py --push "trunk=60@random for 0.1" -t 4 \\
      --vary "body.trunk.mass=*linspace(0.8, 1.2, 9)" --measure "min(trunk_z)" -o pushed.csv
    mbcli sweep arm.urdf --vary state=random --samples 1000 --dask tcp://cluster:8786 -o table.csv
    mbcli sweep arm.urdf --points runs.csv -o table.csv --resume
    """
    from mbcli.sweeps.sweeping import prepare_sweep, run_sweep

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
        journal = _journal(options)
        quiet = (ctx.obj or {}).get("verbosity", 0) < 0
        with closing(ProgressLine(shown=not quiet)) as progress:
            try:
                table = run_sweep(
                    prepared,
                    jobs=options.jobs,
                    dask=options.dask,
                    ray=options.ray,
                    retries=options.retries,
                    shard=options.shard,
                    journal=journal,
                    data_set=options.output if _is_data_set(options) else None,
                    resume=options.resume,
                    on_progress=progress,
                )
            except BaseException:
                if journal is not None and progress.done and not quiet:
                    progress.close()
                    click.echo(f"mbcli: {progress.done} runs are in {journal}; --resume goes on with them", err=True)
                raise
        _write(options, table, prepared, loaded)
    if not quiet:
        _report(table, progress)
        if options.shard is not None:
            click.echo(f"mbcli: they are in {journal}; `mbcli sweep merge {options.output}` writes the table", err=True)
    return 0 if table.counts().get("ok") else NONE_OK


def _check_outputs(options: Options) -> None:
    """Errors of what is to be written, before anything is loaded."""
    from mbcli.cli.sweep_parts import check_format
    from mbcli.sweeps import stores
    from mbcli.sweeps.data_set import check_folder, is_folder

    if options.plot is not None:
        from mbcli.sweeps.plot import check_plot

        check_plot(options.plot)
        refuse_missing_folder(options.plot)
        if not options.measures:
            raise click.UsageError("--plot draws measures: give --measure")
        refuse_existing(options.plot, options.force or options.resume)
    if options.output in (None, "-"):
        if options.resume:
            raise click.UsageError("--resume needs -o FILE, whose journal it goes on with")
        if options.shard is not None:
            raise click.UsageError("--shard needs -o FILE, beside which its journal lies")
        return
    options.output = stores.as_place(options.output)
    check_format(options.output)
    if is_folder(options.output):
        check_folder(options.output, options.force or options.resume)
    journal = _journal(options) or ""
    if options.resume:
        refuse_given_inputs(options.output)
        if options.shard is None and not stores.exists(journal):  # a script of an array is the same each time
            raise click.UsageError(f"--resume: there is no {journal}")
        return
    if not is_folder(options.output):
        refuse_given_inputs(options.output)
        stores.refuse_existing(options.output, options.force)
    if stores.exists(journal) and not options.force:
        raise OutputError(f"{journal}: error: exists: --resume goes on with it, --force replaces it")


def _loading(model: Options, run: Options) -> dict[str, Any]:
    """The arguments of load_model(), which mean the same in another process."""
    arguments = loading_arguments(model) | plant_arguments(run)
    for name in ("constraints", "config"):
        if isinstance(arguments[name], str):
            arguments[name] = os.path.abspath(arguments[name])
    arguments["srdf"] = tuple(map(os.path.abspath, arguments["srdf"]))
    return arguments


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


def _journal(options: Options) -> str | None:
    """The journal beside the output."""
    from mbcli.sweeps.shards import journal_of, parse_shard

    if options.output in (None, "-"):
        return None
    return journal_of(options.output, None if options.shard is None else parse_shard(options.shard))


def _is_data_set(options: Options) -> bool:
    """Whether the run itself writes the output."""
    return options.output is not None and options.output.endswith("/") and options.shard is None


def _write(options: Options, table: ResultTable, prepared: Sweep, loaded: LoadedModel) -> None:
    replace = options.force or options.resume
    if options.output not in (None, "-") and options.shard is None and not _is_data_set(options):
        from mbcli.cli.sweep_parts import write_table

        write_table(table, options.output, replace)
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
            journal=_journal(options),
        )
        click.echo(to_json(result))
    elif options.output in (None, "-"):
        click.echo(table.as_csv(), nl=False)
    if options.plot is not None:
        from mbcli.sweeps.plot import plot_table

        plot_table(table, prepared.measures, options.plot)


def _report(table: ResultTable, progress: ProgressLine) -> None:
    """How the sweep went, on stderr."""
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in table.counts().items())
    earlier = f", {progress.taken_over} of them before" if progress.taken_over else ""
    click.echo(f"mbcli: {counted(len(table.rows), 'run')} in {progress.seconds:.3g} s{earlier}: {counts}", err=True)
    shown: dict[str, Any] = {}
    for row in table.rows if counts != f"{len(table.rows)} ok" else ():
        if row["message"] and row["status"] != "ok":
            shown.setdefault(row["message"], row)
        if len(shown) == 3:
            break
    for message, row in shown.items():
        tell(f"mbcli: point {row['point']}, {row['status']}: {message}")


class ProgressLine:
    """One line on stderr if that is a terminal."""

    def __init__(self, shown: bool) -> None:
        self._active, self._drawn_at = shown and sys.stderr.isatty(), 0.0
        self.done = self.taken_over = 0
        self.seconds = 0.0

    def __call__(self, progress: SweepProgress) -> None:
        self.done, self.taken_over, self.seconds = progress.done, progress.taken_over, progress.seconds
        now = time.monotonic()
        if not self._active or now - self._drawn_at < DRAWN_EVERY:
            return
        self._drawn_at = now
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        sys.stderr.write(
            f"\r\x1b[K{progress.done / progress.count:4.0%}  {progress.done} of {progress.count} runs{left} "
        )
        sys.stderr.flush()

    def close(self) -> None:
        if self._active and self._drawn_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._active = False

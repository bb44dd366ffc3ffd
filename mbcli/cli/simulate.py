"""`mbcli simulate`: from a model to a log."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.live_page import live_run
from mbcli.cli.model import given_models, load
from mbcli.cli.options import (
    AT_START,
    MODEL_KEYS,
    ROW_FORMATS,
    STATE_KEYS,
    HoldCommand,
    Options,
    optional_model_options,
    row_options,
    setting_options,
    state_is_given,
    state_options,
    take,
    together,
    usage_errors,
)
from mbcli.cli.output import document, number, printable, refuse_given_inputs, require_finite, tell, warn
from mbcli.cli.plan_option import take_plan
from mbcli.cli.progress_lines import CompilingLine, TerminalLine
from mbcli.cli.run_settings import plant_arguments, read_actuation, refuse_two_controls, run_arguments
from mbcli.cli.signals import Terminated, ending_signals
from mbcli.cli.task_option import place_by_task, take_task
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.errors import ModelError
from mbcli.parsers.load_arguments import (
    CONTACT,
    DEFAULT_SLEEP_TOLERANCE,
    GROUND,
    HOLD,
    STEP,
    HoldArguments,
    LoadArguments,
)
from mbcli.simulation.run_arguments import RunArguments
from mbcli.simulation.setting_groups import ACCOUNT, ACTING, INPUT, INTEGRATION, LOG, TIME, VIEW

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.simulation.progress import Progress
    from mbcli.simulation.recorded_run import RecordedRun
    from mbcli.simulation.summary import Summary

MOST_EFFORTS = 3  # in the text of a summary

SUMMARY_KEYS = """
\b
Keys of the JSON document, beside those that all have; q and v are those of the end:
  status                        complete or interrupted
  steps, refused_steps          steps of this run; those that error control tried and did not take
  start_time, end_time          [s] of this run
  simulated_time, wall_time     [s]; the wall-clock time of the steps, without compiling and writing
  realtime_rate                 their quotient, null if it is not known
  time_step, integrator         [s], 0 for a continuous plant; null for a discrete one
  energy_start, energy_end      [J] kinetic and potential; of the first and the last row
  energy_drift                  [J] their difference
  energy_error                  [J] the largest change in a row, where forces only exchange kinetic and
                                potential energy; null where something drives, brakes or touches
  balance                       null without --balance, or with forces from Python; else [J]: work on the
                                plant of actuators, joint_damping, joint_friction (dry), force_elements
                                (without storage), contact, limits, constraints (and projections),
                                unexplained (of no cause: rounding, sleep), pushes and plugins (their
                                forces on bodies); energy_change; flow: all this
                                and the range of the kinetic energy; rest: energy_change less all work,
                                the error of the integration; compliance_change: of the energy that
                                compliant contact stores; contact_friction, contact_dissipation: works,
                                the parts of contact beside it; with --each a list of each, one a world
  constraint_error              largest norm of the position errors in the rows; null without constraints
  contact                       null if nothing can touch; else most_contacts, in a row, most_faces, those
                                of them that are faces of surfaces; in discrete plants also, of the
                                contact problems solved (one a step, and that of the last row), problems,
                                mean_contacts, most_contacts, mean_iterations, most_iterations (of
                                Newton's method), largest_residual (relative); with --sleep
                                sleeping_bodies at the end, whose contacts are in rows and not in
                                problems; with deformable bodies
                                unsettled_steps, whose iterations ended too early, and largest_change of
                                velocities by the last ones (relative)
  efforts                       of the rows, of actuators with controllers and those that hold and drive:
                                actuator; most, last and limit (null without one) [N m or N];
                                time_at_limit [s]
  tracking                      null without --trajectory; else position and largest_error of its joints
  exceeded_limits               positions that were beyond their limits in some row
  exceeded_efforts              actuators whose input is beyond their effort limit
  efforts_beyond                each with actuator, limit and most [N m or N], and time [s] beyond it
  velocities_beyond             velocities at their limits, or beyond where these do not act: each with
                                velocity, limit and most [rad/s or m/s], and time [s] there in the rows
  log, rows                     the file (null without one) and the rows in it
"""


class SimulateCommand(HoldCommand):
    """A command with --sleep too, whose number may be left out."""

    left_out = HoldCommand.left_out | {"--sleep": f"{DEFAULT_SLEEP_TOLERANCE:g}"}


MAKERS = {  # of other files, by their suffixes, from a log
    **dict.fromkeys((".gif", ".mp4", ".webm", ".html", ".htm"), "replay"),
    **dict.fromkeys((".png", ".svg", ".pdf"), "log plot"),
    **dict.fromkeys((".csv", ".jsonl", ".npz", ".parquet", ".mat", ".rrd"), "log export"),
    ".mcap": "log export --to ros",
}


@click.command(cls=SimulateCommand, epilog=SUMMARY_KEYS)
@optional_model_options
@setting_options(RunArguments, TIME)
@setting_options(LoadArguments, STEP)
@setting_options(RunArguments, INTEGRATION)
@setting_options(LoadArguments, GROUND, CONTACT)
@setting_options(HoldArguments, HOLD)
@setting_options(RunArguments, INPUT)
@state_options
@click.option(
    "--states",
    metavar="STARTS",
    help="A run from every row, all at once, into one log: a CSV, JSONL, NPZ, Parquet or Arrow file or a log ('-': "
    "stdin) of starts, with constant actuation if it has u.",
)
@click.option("--states-format", type=click.Choice(ROW_FORMATS), help="Format of --states.")
@together(*row_options)
@click.option("--each", is_flag=True, help="A run from every state, which --states alone means, too.")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads for --each (default: all processors) and for deformable bodies (1, the default, or 2).",
)
@setting_options(RunArguments, ACTING)
@setting_options(RunArguments, VIEW)
@click.option(
    "-o", "--log", "log_path", metavar="FILE", help="The log to write; default: the name of the model file with .h5."
)
@setting_options(RunArguments, LOG)
@click.option("--no-log", is_flag=True, help="Write no log.")
@setting_options(RunArguments, ACCOUNT)
@click.option(
    "--resume",
    "resume_path",
    metavar="LOG",
    help="Continue the run of this log (or of the .partial one of a killed run, or all runs of --each), to the same "
    "rows as without a break. Without MODEL, with the command that the log records.",
)
@click.option("--force", is_flag=True, help="Replace an existing log.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON document.")
@click.pass_context
def simulate(ctx: click.Context, **values: Any) -> int:
    """Run a model over time and write an HDF5 log.

    The plant is discrete with a step of 1 ms unless the file, --dt, --integrator or the configuration say otherwise.
    Collision geometries touch, even those of one robot. Exceptions: a joint connects their links, a filter separates
    them, or they overlap at the default positions. --ground or another model adds a ground. Inputs are clamped to the
    effort limits of actuators. Joints end at their position limits: at rigid stops, with --dt 0 at compliant ones.

    \b
    mbcli simulate pendulum.urdf --at hinge=1 -t 10
    mbcli simulate quadruped.urdf --ground --hold -t 2
    mbcli simulate quadruped.urdf --ground --at quadruped_trunk_z=0.6 -t 2
    mbcli simulate arm.urdf --weld base --input torques.csv -o run.h5
    mbcli simulate cart.sdf --integrator runge_kutta5 --accuracy 1e-8 --log-rate 1000
    mbcli simulate arm.urdf --weld base --controller swing_up.py:Swing --controller-rate 500
    mbcli simulate --resume run.h5 -t 20
    mbcli simulate quadruped.urdf --ground --hold --states starts.csv --each -t 2 -o all.h5
    """
    if values["resume_path"] is not None:
        if state_is_given(Options(**values)):
            raise click.UsageError(
                "--resume takes its state from the log: no --pose, --q, --v, --at, --state or --random"
            )
        if not values["models"] and values["scenario_file"] is None:
            return _repeat_command(ctx, values)
        from mbcli.log.worlds import is_worlds_log

        values["each"] |= is_worlds_log(values["resume_path"])
    return _run_command(ctx, values)


def _repeat_command(ctx: click.Context, values: dict[str, Any]) -> int:
    """Runs the command that a log records, with the options that are given now after its own."""
    from mbcli.cli import recorded_command
    from mbcli.log import open_log
    from mbcli.log.embedded_files import same_on_disk
    from mbcli.log.worlds import is_worlds_log

    path = values["resume_path"]
    given = [name for name in ctx.params if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    many = is_worlds_log(path)
    with open_log(path) as log:
        words, sources = recorded_command.recorded_words(log), log.read_sources()
    recorded = recorded_command.recorded_parameters(simulate, words, path)
    if "-" in recorded.get("models", ()):
        raise click.UsageError("--resume: the model came from standard input: give MODEL and the options again")
    of_start = {*STATE_KEYS, *(recorded_command.OF_STARTS if many else ())}
    left_out = {*recorded_command.DROPPED, *of_start}
    kept = {name: value for name, value in recorded.items() if name not in left_out}
    kept = {name: value for name, value in kept.items() if recorded_command.is_harmless(name) or name not in given}
    names = [source.path for source in sources]
    recorded_command.refuse_foreign(kept, names, simulate, path, "give it again")
    if not same_on_disk(sources):
        raise ModelError(
            f"{path}: error: its model files are not where they were, or have changed: give MODEL and the options again"
        )
    kept |= {name: value for name, value in recorded.items() if name in of_start}  # to run it anew
    models = kept.pop("models", ())
    now = {name: values[name] for name in given if name != "resume_path"}
    words = [word for part in (kept, now, {"models": models}) for word in recorded_command.words_of(simulate, part)]
    if ctx.obj:
        ctx.obj["arguments"] = ["simulate", *words]
    again = simulate.make_context("simulate", list(words), parent=ctx.parent)
    for key in ("log_path", "force", "as_json", "resume_path", *STATE_KEYS):
        again.params[key] = values[key]
    with again:
        return _run_command(again, again.params)


def _run_command(ctx: click.Context, values: dict[str, Any]) -> int:
    quiet = (ctx.obj or {}).get("verbosity", 0) < 0
    policy = take_task(ctx, values, quiet)
    plan = take_plan(values) if policy is None else None
    model, state = take(values, MODEL_KEYS), take(values, STATE_KEYS)
    options = take(values, tuple(values))
    options.policy, options.plan = policy, plan
    refuse_two_controls(options)
    of_plant = plant_arguments(options)
    if policy is not None:
        of_plant |= policy.beside_load
    each = options.states is not None or options.each or options.states_format or options.fill
    if each:
        from mbcli.cli.simulate_worlds import require_each, run_each

        require_each(options, state)
    output = None if options.no_log else options.log_path or _default_log(given_models(model)[0], options.resume_path)
    if output is not None:
        _check_output(output, options)
    loaded = load(model, ctx, **of_plant)
    plant = loaded.plant
    if options.contact_approximation is not None and not plant.is_discrete():
        raise click.UsageError("--contact-approximation is for discrete plants, this one is continuous")
    if options.sleep_tolerance and not plant.is_discrete():
        raise click.UsageError("--sleep is for discrete plants, this one is continuous")
    if options.threads is not None and not each:
        if not plant.elements.deformable_bodies:
            raise click.UsageError("--threads is for --states --each, and for models with deformable bodies")
        plant.deformable_model().SetParallelism(options.threads)
    if each:
        options.at_start = AT_START
        with usage_errors():
            given = read_actuation(plant, options)
        return run_each(ctx, loaded, state, options, given, output, StopSignal(), quiet)
    with live_run(options, quiet) as options.view:
        while True:
            summary, context, code = _run_once(ctx, loaded, state, options, output, quiet)
            if options.view is None or code or not options.view.again:
                break
            options.force = True  # of the log that has just been written
    result = document("simulate", loaded, context, **summary.as_dict())
    click.echo(to_json(result) if options.as_json else "\n".join(map(printable, render(summary.as_dict(), code))))
    require_finite(summary.as_dict())
    return {"complete": 0, "interrupted": code}[summary.status]


def _run_once(
    ctx: click.Context, loaded: LoadedModel, state: Options, options: Options, output: str | None, quiet: bool
) -> tuple[Summary, Context, int]:
    """The Summary of a run, its context, and the exit code of the signal that ended it, 0 without one."""
    progress, stop = RunLine(not quiet and options.view is None, every=0.2), StopSignal()
    with usage_errors():
        run = _recorded_run(ctx, loaded, state, options, quiet)
    run.prepare((lambda line: None) if quiet else lambda line: tell(f"mbcli: {line}"), resumed=options.resume_path)
    compiling = compiling_line(loaded.plant, run.context, quiet)

    def begin() -> None:
        compiling.close()
        stop.listen()

    with stop, closing(progress), compiling:
        summary = run.run(
            output,
            resumed=options.resume_path,
            force=options.force,
            should_stop=stop,
            on_progress=progress,
            on_start=begin,
        )
    return summary, run.context, stop.exit_code


def _check_output(path: str, options: Options) -> None:
    """OutputError if no log can be written, before anything is loaded; UsageError for the name of another file."""
    from mbcli.simulation.log_target import check_log_target

    for target in (path, f"{path}.partial"):
        refuse_given_inputs(target, but=options.resume_path)
    maker = MAKERS.get(os.path.splitext(path)[1].lower())
    if maker is not None:
        raise click.UsageError(f"-o is for a log, an HDF5 file: `mbcli {maker} LOG -o {path}` makes this of one")
    check_log_target(path, options.resume_path, options.force)


def _recorded_run(
    ctx: click.Context, loaded: LoadedModel, state: Options, options: Options, quiet: bool
) -> RecordedRun:
    from mbcli.cli.state import set_state
    from mbcli.simulation.recorded_run import RecordedRun

    by_task = options.policy is not None and not state_is_given(state)

    def start(plant: MultibodyPlant, context: Context) -> BoolArray:
        if not by_task:
            return set_state(loaded, context, state)
        seed = loaded.config.random_seed if options.seed is None else options.seed
        return place_by_task(options.policy, loaded, seed, plant, context)

    return RecordedRun(
        loaded,
        start=start,
        inputs=read_actuation(loaded.plant, options),
        **run_arguments(options),
        logged_seed=state.random_seed,
        command=["mbcli", *(ctx.obj or {}).get("arguments", [])],
        warn=(lambda line: None) if quiet else warn,
    )


def _default_log(model: str, resume_path: str | None) -> str:
    if resume_path is not None:
        return resume_path.removesuffix(".old").removesuffix(".partial")
    stem = "model" if model == "-" else os.path.splitext(os.path.basename(model))[0]
    return stem.removesuffix(".dmd") + ".h5"


def compiling_line(plant: MultibodyPlant, context: Context, quiet: bool) -> CompilingLine:
    """The CompilingLine of the first run of a plant on this machine."""
    from mbcli.multibody.stepping.run import kernels_to_compile

    missing = [] if quiet else kernels_to_compile(plant, context)
    seconds = 15 if context.state.contact is not None or plant.elements.constraints else 10
    return CompilingLine("the simulation", seconds, missing, shown=bool(missing))


class StopSignal:
    """Ctrl-C, SIGTERM or SIGHUP: the run ends after the current block of steps; a second signal ends it at once."""

    def __init__(self) -> None:
        self._previous: dict[int, Any]
        self.exit_code, self._previous = 0, {}

    def __enter__(self) -> StopSignal:
        return self

    def listen(self) -> None:
        """From now on signals end the run so, until the context manager is left."""
        if threading.current_thread() is threading.main_thread():
            self._previous = {s: signal.signal(s, self._stop) for s in (signal.SIGINT, *ending_signals())}

    def __exit__(self, *_: object) -> None:
        for s, handler in self._previous.items():
            signal.signal(s, handler)

    def _stop(self, signum: int, frame: object) -> None:
        if self.exit_code:
            raise KeyboardInterrupt if signum == signal.SIGINT else Terminated(signum)
        self.exit_code = 128 + signum

    def __call__(self) -> int:
        return self.exit_code


class RunLine(TerminalLine):
    """How far a run is."""

    def __call__(self, progress: Progress) -> None:
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        self.draw(
            lambda: (
                f"{progress.part:4.0%}  {progress.time:.4g} of {progress.end:g} s, "
                f"{_rate(progress.realtime_rate)} times real time{left}"
            )
        )


def render(summary: dict[str, Any], code: int = 0) -> list[str]:
    """Lines of a summary; code: of the signal that ended the run, 0 without one."""
    if summary["integrator"] is None:
        how = f"{counted(summary['steps'], 'step')} of {summary['time_step']:g} s"
    else:
        how = f"{counted(summary['steps'], 'step')} of {summary['integrator']}, {summary['refused_steps']} more refused"
    rate = "" if summary["realtime_rate"] is None else f" ({_rate(summary['realtime_rate'])} times real time)"
    lines = [f"simulated {summary['simulated_time']:.6g} s in {summary['wall_time']:.3g} s{rate}: {how}"]
    if summary["energy_start"] is not None:
        off = summary["energy_error"]
        error = "" if off is None else f", off by at most {abs(off):.2g} J"
        start, end = number(summary["energy_start"]), number(summary["energy_end"])
        lines.append(f"energy {start} J at the start, {end} J at the end{error}")
    contact = summary["contact"]
    what = "contact points" if contact is None or not contact["most_faces"] else "contact points and faces"
    if contact is not None and contact["most_contacts"] and "problems" in contact:
        lines.append(
            f"up to {contact['most_contacts']} {what}, {contact['mean_contacts']:.3g} on average; solved by "
            f"{contact['mean_iterations']:.3g} iterations a step, at most {contact['most_iterations']}"
        )
    elif contact is not None and contact["most_contacts"]:
        lines.append(f"up to {contact['most_contacts']} {what} in a row")
    if contact is not None and "sleeping_bodies" in contact:
        lines.append(f"{counted(contact['sleeping_bodies'], 'body sleeps', 'bodies sleep')} at the end")
    if summary["balance"] is not None:
        from mbcli.simulation.run_summary import balance_in_words

        lines.append(balance_in_words(summary["balance"]))
    if summary["tracking"]:
        worst = max(summary["tracking"], key=lambda each: each["largest_error"])
        lines.append(f"largest distance from the trajectory {worst['largest_error']:.3g}, of {worst['position']}")
    lines += efforts_in_words(summary["efforts"])
    if summary["constraint_error"] is not None:
        lines.append(f"largest error of the constraints {summary['constraint_error']:.3g}")
    if summary["status"] == "interrupted":
        by = "a signal" if code else "its page"
        lines.append(f"stopped by {by} at t = {summary['end_time']:.6g} s; --resume goes on from there")
    if summary["log"]:
        lines.append(f"log: {summary['log']} ({counted(summary['rows'], 'row')})")
    return lines


def efforts_in_words(efforts: list[dict[str, Any]]) -> list[str]:
    """Lines on what controllers gave: the largest efforts, and the actuators that were at their limits."""
    if not efforts:
        return []
    largest = sorted(efforts, key=lambda each: -float(f"{abs(each['most']):.3g}"))[:MOST_EFFORTS]
    listed = ", ".join(
        f"{each['actuator']} {number(each['most'])} (at the end {number(each['last'])})" for each in largest
    )
    more = f", ... ({len(efforts)} in all)" if len(efforts) > MOST_EFFORTS else ""
    lines = [f"largest efforts of controllers: {listed}{more}"]
    limited = [each for each in efforts if each["time_at_limit"] > 0.0]
    if limited:
        listed = ", ".join(f"{e['actuator']} {e['time_at_limit']:.3g} s" for e in limited[:MOST_EFFORTS])
        more = f", ... ({len(limited)} in all)" if len(limited) > MOST_EFFORTS else ""
        lines.append(f"at their effort limits: {listed}{more}")
    return lines


def _rate(value: float) -> str:
    return f"{value:.3g}" if value < 1000.0 else f"{value:.0f}"

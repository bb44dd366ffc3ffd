"""`mbcli simulate`: from a model to a log."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.compiling_line import CompilingLine
from mbcli.cli.controller_options import controller_choice, controller_options, follow_choice, trajectory_options
from mbcli.cli.model import given_models, load
from mbcli.cli.options import (
    AT_START,
    MODEL_KEYS,
    ROW_FORMATS,
    STATE_KEYS,
    HoldCommand,
    Number,
    ground_option,
    hold_options,
    optional_model_options,
    row_options,
    state_options,
    take,
    together,
    usage_errors,
)
from mbcli.cli.output import document, number, printable, refuse_given_inputs, require_finite, tell, warn
from mbcli.cli.signals import Terminated, ending_signals
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.cli.options import Options
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.simulation.recorded_run import Progress, RecordedRun

# as MultibodyPlantConfig, recorded_run and sampling have them; importing those would slow --help down
CONTACT_MODELS = ("point", "hydroelastic", "hydroelastic_with_fallback")
DEFAULT_DURATION = 5.0  # [s]
DEFAULT_RATE = 100.0  # [Hz] of samples
DEFAULT_SLEEP_TOLERANCE = 1e-3  # [m/s]
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
                                the parts of contact beside it
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


class FieldsOption(click.Option):
    """--fields, whose help names the fields that there are when it is asked for: a run starts sooner."""

    @property
    def help(self) -> str | None:
        """The help text."""
        from mbcli.log.fields import names_in_words

        return f"Fields to log beside q and v: {names_in_words()}"

    @help.setter
    def help(self, text: str | None) -> None:
        """click sets what it was given, which is none."""


@click.command(cls=SimulateCommand, epilog=SUMMARY_KEYS)
@optional_model_options
@click.option(
    "-t",
    "--duration",
    type=Number(minimum=0.0),
    metavar="S",
    help=f"Simulated time from the start of the run; default {DEFAULT_DURATION:g} s.",
)
@click.option(
    "--dt",
    "--time-step",
    "time_step",
    type=Number(minimum=0.0),
    metavar="S",
    help="Step of a discrete plant; 0 integrates in continuous time. Default 0.001 s.",
)
@click.option(
    "--integrator",
    metavar="NAME",
    help="Makes the plant continuous, with this integrator: runge_kutta3 (default), runge_kutta2, runge_kutta5, "
    "bogacki_shampine3, explicit_euler, semi_explicit_euler, implicit_euler, radau1, radau3.",
)
@click.option("--accuracy", type=Number(above=0.0), metavar="A", help="Accuracy of continuous integration.")
@click.option(
    "--max-step", "max_step", type=Number(above=0.0), metavar="S", help="Longest step of continuous integration."
)
@click.option(
    "--constraint-tolerance",
    type=Number(above=0.0),
    default=1e-10,
    metavar="E",
    help="Continuous integration keeps the norm of the position errors of constraints below E; default 1e-10.",
)
@ground_option
@click.option("--no-contact", is_flag=True, help="Leave out all collision geometries: nothing touches.")
@click.option(
    "--contact-model",
    type=click.Choice(CONTACT_MODELS),
    help="point; hydroelastic: contact surfaces; hydroelastic_with_fallback (default): surfaces, or points between "
    "geometries that have none.",
)
@click.option(
    "--contact-approximation",
    type=click.Choice(CONTACT_LAWS),
    help="How contact enters the step of a discrete plant; default lagged.",
)
@click.option(
    "--sleep",
    "sleep_tolerance",
    type=Number(minimum=0.0),
    metavar="[V]",
    help=f"Discrete plants: bodies in contact that stay slower than V [m/s] ({DEFAULT_SLEEP_TOLERANCE:g} without a "
    "number) for 0.1 s sleep, at almost no cost, until something touches them. Results change by motion slower than V. "
    "Default 0: nothing sleeps.",
)
@hold_options
@click.option("--u", "u_text", metavar="LIST", help="Constant actuation, a list or NAME=VALUE pairs.")
@click.option(
    "--input",
    "input_file",
    metavar="FILE",
    help="Actuation over time ('-': stdin): CSV with columns time and actuator names; a row holds until the next.",
)
@state_options
@click.option(
    "--states",
    metavar="STARTS",
    help="With --each: starts, a CSV, JSONL, NPZ, Parquet or Arrow file or a log ('-': stdin), with constant actuation "
    "if it has u.",
)
@click.option("--states-format", type=click.Choice(ROW_FORMATS), help="Format of --states.")
@together(*row_options)
@click.option("--each", is_flag=True, help="A run from every state of --states, all at once, into one log.")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads for --each (default: all processors) and for deformable bodies (1, the default, or 2).",
)
@click.option(
    "--start-limits",
    type=click.Choice(["warn", "clamp", "error"]),
    help="Positions that start outside of their limits (stops bring them back slowly): warn (default), clamp them "
    "to the limits (default with --hold), or stop with an error.",
)
@click.option(
    "--push",
    "pushes",
    multiple=True,
    metavar="PUSH",
    help="A force [N] on a body, along the world's axes: 'torso=30,0,0 from 1 to 1.2'; at its centre of mass, or at a "
    "point [m] of its frame: 'torso=30,0,0@0,0,0.4'; in direction and at time of --seed: 'torso=30@random for 0.2', "
    "or a table with columns body, fx, fy, fz, from, to.",
)
@together(*controller_options)
@together(*trajectory_options)
@click.option(
    "--effort-limits",
    type=click.Choice(["clamp", "warn", "ignore"]),
    default="clamp",
    help="Clamp inputs to the effort limits of actuators (clamp, the default), or let them act, with a warning "
    "(warn) or without (ignore).",
)
@click.option(
    "--velocity-limits",
    type=click.Choice(["clamp", "warn", "ignore"]),
    default="warn",
    help="Report joints that are faster than their velocity limits (warn, the default), hold them there (clamp), or "
    "neither (ignore).",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Seed of random poses of directives, random pushes, controllers and the noise of sensors; recorded in the "
    "log.",
)
@click.option(
    "-o", "--log", "log_path", metavar="FILE", help="The log to write; default: the name of the model file with .h5."
)
@click.option(
    "--log-rate",
    type=Number(minimum=0.0),
    metavar="HZ",
    help=f"Samples per second, {DEFAULT_RATE:g}; 0 logs every step of a discrete plant.",
)
@click.option("--fields", cls=FieldsOption, metavar="LIST")
@click.option(
    "--sensor-noise",
    type=click.Choice(["on", "off"]),
    default="on",
    help="Whether sensors have the noise of their files, drawn by --seed (on, the default), or none (off).",
)
@click.option("--no-log", is_flag=True, help="Write no log.")
@click.option(
    "--balance",
    is_flag=True,
    help="Add up the work of each cause; the rest of the change of energy is the error of the integration.",
)
@click.option(
    "--resume",
    "resume_path",
    metavar="LOG",
    help="Continue the run of this log (or of the .partial one of a killed run), to the same rows as a run without a "
    "break. Without MODEL, with the command that the log records.",
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
        given = [key for key in STATE_KEYS if values[key] not in (None, ())]
        if given:
            raise click.UsageError(
                "--resume takes its state from the log: no --pose, --q, --v, --at, --state or --random"
            )
        if not values["models"] and values["scenario_file"] is None:
            return _repeat_command(ctx, values)
    return _run_command(ctx, values)


def _repeat_command(ctx: click.Context, values: dict[str, Any]) -> int:
    """Runs the command that a log records, with the options that are given now after its own."""
    from mbcli.cli import recorded_command
    from mbcli.log import open_log
    from mbcli.log.embedded_files import same_on_disk

    path = values["resume_path"]
    given = [name for name in ctx.params if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    with open_log(path) as log:
        words, sources = recorded_command.recorded_words(log), log.read_sources()
    recorded = recorded_command.recorded_parameters(simulate, words, path)
    if "-" in recorded.get("models", ()):
        raise click.UsageError("--resume: the model came from standard input: give MODEL and the options again")
    left_out = {*recorded_command.DROPPED, *STATE_KEYS}
    kept = {name: value for name, value in recorded.items() if name not in left_out}
    kept = {name: value for name, value in kept.items() if name in recorded_command.HARMLESS or name not in given}
    names = [source.path for source in sources]
    recorded_command.refuse_foreign(kept, names, simulate, path, "give it again")
    if not same_on_disk(sources):
        raise ModelError(
            f"{path}: error: its model files are not where they were, or have changed: give MODEL and the options again"
        )
    kept |= {name: value for name, value in recorded.items() if name in STATE_KEYS}  # to run it anew
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
    model, state = take(values, MODEL_KEYS), take(values, STATE_KEYS)
    options = take(values, tuple(values))
    quiet = (ctx.obj or {}).get("verbosity", 0) < 0
    refuse_two_controls(options)
    time_step = chosen_time_step(options)
    each = options.states is not None or options.each or options.states_format or options.fill or options.degrees
    if each:
        from mbcli.cli.simulate_worlds import require_each, run_each

        require_each(options, state)
    output = None if options.no_log else options.log_path or _default_log(given_models(model)[0], options.resume_path)
    if output is not None:
        _check_output(output, options)
    loaded = load(
        model,
        ctx,
        contact=not options.no_contact,
        ground=options.ground,
        dt=time_step,
        contact_model=options.contact_model,
        contact_approximation=options.contact_approximation,
        sleep=options.sleep_tolerance,
        **holding_or_following(options),
    )
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
        options.default_duration, options.at_start = DEFAULT_DURATION, AT_START
        with usage_errors():
            given = read_actuation(plant, options)
        return run_each(ctx, loaded, state, options, given, output, StopSignal(), quiet)
    progress, stop = ProgressLine(shown=not quiet), StopSignal()
    with usage_errors():
        run = _recorded_run(ctx, loaded, state, options, quiet)
    run.prepare((lambda line: None) if quiet else lambda line: tell(f"mbcli: {line}"), resumed=options.resume_path)
    compiling = compiling_line(plant, run.context, quiet)

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
    result = document("simulate", loaded, run.context, **summary.as_dict())
    click.echo(to_json(result) if options.as_json else "\n".join(map(printable, render(summary.as_dict()))))
    require_finite(summary.as_dict())
    return {"complete": 0, "interrupted": stop.exit_code}[summary.status]


def refuse_two_controls(options: Options) -> None:
    """UsageError if two options give the actuation."""
    if options.controller is not None and (options.input_file is not None or options.u_text is not None):
        raise click.UsageError("--controller gives the actuation: no --input and no --u beside it")
    if options.trajectory is not None and (options.posture is not None or options.drives):
        raise click.UsageError("--trajectory moves and holds the joints: no --hold and no --drive beside it")


def chosen_time_step(options: Options) -> float | None:
    """The step [s] that the options ask for, None if none does; UsageError for options that exclude each other."""
    time_step = options.time_step
    if options.integrator is not None or options.accuracy is not None or options.max_step is not None:
        if time_step:
            raise click.UsageError("--integrator, --accuracy and --max-step are for continuous plants, --dt is not 0")
        time_step = 0.0
    if options.input_file is not None and options.u_text is not None:
        raise click.UsageError("--input and --u exclude each other")
    if options.no_log and options.log_path is not None:
        raise click.UsageError("--no-log and -o exclude each other")
    if options.no_contact and (options.ground is not None or options.contact_model or options.contact_approximation):
        raise click.UsageError("--no-contact excludes --ground, --contact-model and --contact-approximation")
    return time_step


def holding_or_following(options: Options) -> dict[str, Any]:
    """As holding_arguments(); joints that follow a motion are held, so that those without an actuator get one."""
    held = holding_arguments(options)
    return held | {"hold": True} if options.trajectory is not None and held["hold"] is None else held


def holding_arguments(options: Options) -> dict[str, Any]:
    """The arguments of load_model() on joints that are held and driven."""
    from mbcli.cli.state import by_name

    velocities = by_name(options.drives, lambda name: name, "--drive") or None
    posture = options.posture
    return {"hold": True if posture == AT_START else posture, "kp": options.kp, "kd": options.kd, "drive": velocities}


def _check_output(path: str, options: Options) -> None:
    """OutputError if no log can be written, before anything is loaded."""
    from mbcli.simulation.log_target import check_log_target

    check_log_target(path, options.resume_path, options.force)
    for target in (path, f"{path}.partial"):
        refuse_given_inputs(target, but=options.resume_path)


def _recorded_run(
    ctx: click.Context, loaded: LoadedModel, state: Options, options: Options, quiet: bool
) -> RecordedRun:
    from mbcli.cli.state import set_state
    from mbcli.simulation.recorded_run import RecordedRun

    return RecordedRun(
        loaded,
        duration=options.duration,
        start=lambda plant, context: set_state(loaded, context, state),
        start_limits=options.start_limits,
        seed=options.seed,
        logged_seed=state.random_seed,
        inputs=read_actuation(loaded.plant, options),
        effort_limits=options.effort_limits,
        velocity_limits=options.velocity_limits,
        pushes=options.pushes,
        controller=controller_choice(options),
        trajectory=follow_choice(options),
        integrator=options.integrator,
        accuracy=options.accuracy,
        max_step=options.max_step,
        constraint_tolerance=options.constraint_tolerance,
        log_rate=options.log_rate,
        fields=options.fields,
        sensor_noise=options.sensor_noise == "on",
        balance=options.balance,
        arguments=["mbcli", *(ctx.obj or {}).get("arguments", [])],
        warn=(lambda line: None) if quiet else warn,
    )


def read_actuation(plant: MultibodyPlant, options: Options) -> Any:
    """What --input or --u give: an Input, u (nu,) or None."""
    from mbcli.cli.analysis import parse_inputs
    from mbcli.simulation.input_series import read_input

    if options.input_file == "-":
        return read_input(plant, "<stdin>", sys.stdin)
    if options.input_file is not None:
        return read_input(plant, options.input_file)
    if options.u_text is not None and "=" in options.u_text:
        return named_inputs(plant, options.u_text)
    return parse_inputs(plant, {"u": options.u_text}).get("u")


def named_inputs(plant: MultibodyPlant, text: str) -> dict[str, float]:
    """{name: number} of NAME=VALUE pairs for actuators and targets. UsageError for what means nothing."""
    from mbcli.cli.state import by_name
    from mbcli.simulation.input_series import RunInputs

    names: dict[Any, str]
    find, names = RunInputs(plant).find, {}

    def place(name: str) -> Any:
        k = find(name)
        names.setdefault(k, name)
        return k

    return {names[k]: value for k, value in by_name(text.replace(",", " ").split(), place, "--u").items()}


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


class ProgressLine:
    """One line on stderr if that is a terminal."""

    def __init__(self, shown: bool) -> None:
        self._active, self._drawn_at = shown and sys.stderr.isatty(), 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if not self._active or now - self._drawn_at < 0.2:
            return
        self._drawn_at = now
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        sys.stderr.write(
            f"\r\x1b[K{progress.part:4.0%}  {progress.time:.4g} of {progress.end:g} s, "
            f"{_rate(progress.realtime_rate)} times real time{left} "
        )
        sys.stderr.flush()

    def close(self) -> None:
        if self._active and self._drawn_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def render(summary: dict[str, Any]) -> list[str]:
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
        lines.append(balance_in_words(summary["balance"]))
    if summary["tracking"]:
        worst = max(summary["tracking"], key=lambda each: each["largest_error"])
        lines.append(f"largest distance from the trajectory {worst['largest_error']:.3g}, of {worst['position']}")
    lines += efforts_in_words(summary["efforts"])
    if summary["constraint_error"] is not None:
        lines.append(f"largest error of the constraints {summary['constraint_error']:.3g}")
    if summary["status"] == "interrupted":
        lines.append(f"stopped by a signal at t = {summary['end_time']:.6g} s; --resume goes on from there")
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


def balance_in_words(balance: dict[str, float]) -> str:
    names = ["actuators", "joint_damping", "joint_friction", "force_elements", "contact", "limits", "constraints"]
    names += ["pushes", "plugins"]
    work = [
        f"{name.replace('_', ' ')} {balance[name]:.4g} J"
        for name in names
        if abs(balance[name]) > 1e-9 * balance["flow"]
    ]
    parts = ("contact_friction", "contact_dissipation", "compliance_change")
    stored = ""
    if any(abs(balance[name]) > 1e-9 * balance["flow"] for name in parts):
        friction, dissipation, change = (f"{balance[name]:.4g} J" for name in parts)
        stored = f"; compliant contact stores {change} more, contact friction {friction}, dissipation {dissipation}"
    return f"work of {', '.join(work) or 'nothing'}{stored}; error of the integration {balance['rest']:.3g} J"


def _rate(value: float) -> str:
    return f"{value:.3g}" if value < 1000.0 else f"{value:.0f}"

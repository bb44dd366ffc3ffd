"""`mbcli simulate`: from a model to a log."""

import math
import os
import signal
import sys
import threading
import time

import click

from mbcli.cli.controllers import hold_default_positions
from mbcli.cli.model import given_models, load, notes_on_contact
from mbcli.cli.options import (
    MODEL_KEYS,
    STATE_KEYS,
    GroundCommand,
    Number,
    ground_option,
    joined,
    optional_model_options,
    state_options,
    take,
)
from mbcli.cli.output import document, is_special, number, refuse_existing, to_json
from mbcli.errors import MbcliError, ModelError, NumericalError, OutputError

# as MultibodyPlantConfig has them; importing it would slow --help down
CONTACT_MODELS = ("point", "hydroelastic", "hydroelastic_with_fallback")
DISCRETE_CONTACT_APPROXIMATIONS = ("tamsi", "sap", "similar", "lagged")
DEFAULT_DURATION = 5.0  # [s]
DEFAULT_RATE = 100.0  # [Hz] of samples
CHECKPOINT_SECONDS = 0.5  # of wall-clock time that a killed run may lose
MOST_ROWS = 1e9
MOST_STEPS = 2.0**53  # beyond, steps cannot be counted in doubles
SEEN_GAIN = 0.01  # of the largest kinetic energy: a change of energy by steps that is reported
SAME_STEP = 1e-9  # relative to a step: times closer than this to a step's end are that end
GIVE_OF_STOPS = 1e-3  # [m or rad]
DEEP = 10.0  # of the penetration allowance: an overlap at the start that is reported

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
  balance                       null without --balance, or with forces from Python; else [J]: work on the
                                plant of actuators, joint_damping, force_elements (without storage),
                                contact, limits, constraints (and projections), unexplained (of no cause:
                                rounding); energy_change; flow: all this work and the range of the kinetic
                                energy; rest: energy_change less all work, the error of the integration
  constraint_error              largest norm of the position errors in the rows; null without constraints
  contact                       null if nothing can touch; else most_contacts, in a row; in discrete
                                plants also, of the contact problems solved (one a step, and that of the
                                last row), problems, mean_contacts, most_contacts, mean_iterations,
                                most_iterations (of Newton's method), largest_residual (relative)
  exceeded_limits               positions that were beyond their limits in some row
  exceeded_efforts              actuators whose input is beyond their effort limit
  log, rows                     the file (null without one) and the rows in it
"""


@click.command(cls=GroundCommand, epilog=SUMMARY_KEYS)
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
    help="Norm of the position errors of constraints that continuous integration keeps below; default 1e-10.",
)
@ground_option
@click.option("--no-contact", is_flag=True, help="Without contact: the geometries that collide are left out.")
@click.option(
    "--contact-model",
    type=click.Choice(CONTACT_MODELS),
    help="point; hydroelastic_with_fallback (default) is the same here, as contact surfaces are not computed.",
)
@click.option(
    "--contact-approximation",
    type=click.Choice(DISCRETE_CONTACT_APPROXIMATIONS),
    help="How contact enters the step of a discrete plant; default lagged.",
)
@click.option("--u", "u_text", metavar="LIST", help="Constant actuation, a list or NAME=VALUE pairs.")
@click.option(
    "--input",
    "input_file",
    metavar="FILE",
    help="Actuation over time ('-': stdin): CSV with columns time and actuator names; a row holds until the next.",
)
@state_options
@click.option(
    "--start-limits",
    type=click.Choice(["warn", "clamp", "error"]),
    default="warn",
    help="Positions that start outside of their limits (stops push them in and add energy): warn (default), clamp them "
    "to the limits, or stop with an error.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Seed of the random poses of directives; recorded in the log.",
)
@click.option("-o", "--log", "log_path", metavar="FILE", help="The log to write; default: the model's name with .h5.")
@click.option(
    "--log-rate",
    type=Number(minimum=0.0),
    metavar="HZ",
    help=f"Samples per second, {DEFAULT_RATE:g}; 0 logs every step of a discrete plant.",
)
@click.option(
    "--fields",
    metavar="LIST",
    help="Fields to log beside q and v: energy, u (actuation), com (centre of mass), momentum (about the world's "
    "origin), constraint_error (norm of all position errors), contact (all contacts of each row), solver (of contact "
    "problems). Default: all but com and momentum.",
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
def simulate(ctx, **values):
    """Run a model over time and write an HDF5 log.

    The plant is discrete with a step of 1 ms unless --dt, --integrator or the configuration say otherwise. Collision
    geometries touch, those of one robot too, unless a joint connects their links or a filter keeps them apart; a
    ground comes with --ground or another model. Limits of efforts, and in continuous plants those of positions, are
    not enforced: the run reports those that were exceeded.

    \b
    mbcli simulate pendulum.urdf --at hinge=1 -t 10
    mbcli simulate quadruped.urdf --ground --at quadruped_trunk_z=0.6 -t 2
    mbcli simulate arm.urdf --weld base --input torques.csv -o run.h5
    mbcli simulate cart.sdf --integrator runge_kutta5 --accuracy 1e-8 --log-rate 1000
    mbcli simulate --resume run.h5 -t 20
    """
    if values["resume_path"] is not None:
        given = [key for key in STATE_KEYS if values[key] not in (None, ())]
        if given:
            raise click.UsageError("--resume takes its state from the log: no --q, --v, --at, --state, --random")
        if not values["models"] and values["scenario_file"] is None:
            return _repeat_command(ctx, values)
    return _run_command(ctx, values)


def _repeat_command(ctx, values):
    """Runs the command that a log records, with the options that are given now after its own."""
    from mbcli.cli.resume import recorded_arguments

    given = ctx.obj["arguments"] if ctx.obj else []
    words = recorded_arguments(values["resume_path"]) + given[given.index("simulate") + 1 :]
    ctx.obj["arguments"] = ["simulate", *words]
    again = simulate.make_context("simulate", list(words), parent=ctx.parent)
    if "-" in again.params["models"]:
        raise click.UsageError("--resume: the model came from standard input: give MODEL and the options again")
    for key in ("log_path", "force", "as_json", "resume_path"):
        again.params[key] = values[key]
    again.params.update({key: values[key] for key in STATE_KEYS})
    with again:
        return _run_command(again, again.params)


def _run_command(ctx, values):
    model, state = take(values, MODEL_KEYS), take(values, STATE_KEYS)
    options = take(values, tuple(values))
    time_step = options.time_step
    if options.integrator is not None or options.accuracy is not None or options.max_step is not None:
        if time_step:
            raise click.UsageError("--integrator, --accuracy and --max-step are for continuous plants, --dt is not 0")
        time_step = 0.0
    if options.input_file is not None and options.u_text is not None:
        raise click.UsageError("--input and --u exclude each other")
    if options.no_log and options.log_path is not None:
        raise click.UsageError("--no-log and -o exclude each other")
    quiet = (ctx.obj or {}).get("verbosity", 0) < 0
    output = None if options.no_log else options.log_path or _default_log(given_models(model)[0], options.resume_path)
    if output is not None:
        check_output(output, options.resume_path, options.force)
    if options.no_contact and (options.ground is not None or options.contact_model or options.contact_approximation):
        raise click.UsageError("--no-contact excludes --ground, --contact-model and --contact-approximation")
    loaded = load(
        model,
        ctx,
        contact=not options.no_contact,
        ground=options.ground,
        time_step=time_step,
        contact_model=options.contact_model,
        discrete_contact_approximation=options.contact_approximation,
    )
    plant = loaded.plant
    _read_geometries(plant)
    if options.contact_approximation is not None and not plant.is_discrete():
        raise click.UsageError("--contact-approximation is for discrete plants, this one is continuous")
    _apply(loaded.config.simulator_config, options)
    job = SimulationJob(loaded, state, options, arguments=["mbcli", *(ctx.obj or {}).get("arguments", [])])
    warn = (lambda line: None) if quiet else _warn
    if abs(job.end_of_steps - job.until) > SAME_STEP * plant.time_step():
        warn(
            f"{job.until:g} s is not at the end of a step of {plant.time_step():g} s: the run goes on to "
            f"{job.end_of_steps:g} s"
        )
    _warn_about_what_is_left_out(loaded, warn)
    if options.resume_path is None:
        for line in job.clamp() + job.assemble():
            if not quiet:
                click.echo(f"mbcli: {line}", err=True)
        job.check_limits(warn)
    if job.controlled:
        warn(f"controllers of the file aim at the default positions: {joined(*job.controlled)}")
    if job.exceeded_efforts:
        warn(f"effort limits are not enforced, and the input exceeds those of {joined(*job.exceeded_efforts)}")
    if not quiet:
        _announce_compiling(plant, job.context)
    summary = job.run(output, options.resume_path, options.force, ProgressLine(job, shown=not quiet), warn)
    if summary["exceeded_limits"] and not plant.is_discrete():
        warn(f"position limits are not enforced, and were exceeded by {joined(*summary['exceeded_limits'])}")
    gain = job.gain_by_constraints(summary["energy_drift"])
    if gain is not None:
        warn(gain)
    result = document("simulate", loaded, job.context, **summary)
    click.echo(to_json(result) if options.as_json else render(summary))
    return {"complete": 0, "interrupted": job.stop.exit_code}[summary["status"]]


def _read_geometries(plant):
    """The solids that collide; an error in them names the option to leave them out."""
    try:
        plant._meets_contact()
    except MbcliError as error:
        raise type(error)(f"{error}; --no-contact leaves out all that collides") from None


def _warn(line):
    click.secho(f"mbcli: warning: {line}", err=True, fg="yellow")


def _apply(config, options):
    from mbcli.simulation.run import SCHEMES

    if options.integrator is not None:
        if options.integrator not in SCHEMES:
            raise click.UsageError(f"--integrator: there is no '{options.integrator}'; there are {', '.join(SCHEMES)}")
        config.integration_scheme = options.integrator
    if options.accuracy is not None:
        config.accuracy = options.accuracy
    if options.max_step is not None:
        config.max_step_size = options.max_step


def _default_log(model, resume_path):
    if resume_path is not None:
        return resume_path.removesuffix(".old").removesuffix(".partial")
    stem = "model" if model == "-" else os.path.splitext(os.path.basename(model))[0]
    return stem.removesuffix(".dmd") + ".h5"


def check_output(path, resume_path, force):
    """OutputError if no log can be written, reported before anything is compiled."""
    partial = f"{path}.partial"
    resumed = None if resume_path is None else os.path.realpath(resume_path)
    if is_special(path):
        raise OutputError(f"{path}: error: is not a regular file; --no-log writes no log")
    refuse_existing(path, force or os.path.realpath(path) == resumed, but=resume_path)
    if os.path.exists(partial) and os.path.realpath(partial) != resumed:
        refuse_existing(partial, True, but=resume_path)
    if os.path.exists(partial) and not force and os.path.realpath(partial) != resumed:
        from mbcli.log.write_lock import WriteLock

        WriteLock(partial).release()  # OutputError if it is being written
        raise OutputError(
            f"{partial}: error: is left from a run that did not finish; --resume goes on with it, --force replaces it"
        )
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise OutputError(f"{path}: error: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: error: cannot be written: no permission for {folder}")


def _check_step(plant, start, duration):
    """UsageError where a discrete plant's step and a run's start and duration [s] do not go together."""
    h = plant.time_step()
    if plant.is_discrete() and (start + duration) / h > MOST_STEPS:
        raise click.UsageError(f"--dt {h:g}: {duration:g} s are too many steps")
    if plant.is_discrete() and 0.0 < duration < h * (1.0 - SAME_STEP):
        raise click.UsageError(f"--dt {h:g}: one step is longer than the run of {duration:g} s")


def _period(rate, plant, duration):
    """Time between samples [s]; None for every step of a discrete plant."""
    h = plant.time_step()
    if rate == 0.0:
        if not plant.is_discrete():
            raise click.UsageError("--log-rate 0 logs every step of a discrete plant; this one is continuous")
        return None
    if rate is None:
        rate = min(DEFAULT_RATE, 1.0 / h) if h else DEFAULT_RATE
    elif plant.is_discrete():
        steps = 1.0 / max(rate * h, 1e-300)
        if steps < 0.5 or abs(steps - round(steps)) > 1e-6 * steps:
            raise click.UsageError(
                f"--log-rate {rate:g}: a discrete plant is logged at whole steps, {h:g} s each; "
                f"choose a divisor of {1.0 / h:g} Hz"
            )
    if duration * rate > MOST_ROWS:
        raise click.UsageError(f"--log-rate {rate:g}: {duration:g} s would give more than {MOST_ROWS:g} rows")
    return min(1.0 / rate, MOST_STEPS * h) if h else 1.0 / rate


def _announce_compiling(plant, context):
    from mbcli.engine.runtime.kernel import compiled_by_default
    from mbcli.engine.runtime.kernel_cache import is_on_disk
    from mbcli.multibody.plant.meeting_contact import foresee_contact

    if not compiled_by_default():
        return
    state = context.state
    foresee_contact(state)
    kernels, meets, discrete = state.kernels, state.contact is not None, plant.is_discrete()
    missing = not is_on_disk(getattr(kernels, "run_discrete" if discrete else "run_continuous"))
    if meets:
        missing |= not is_on_disk(getattr(kernels, state.contact.called[0]), called=True)
    if missing:
        seconds = 35 if plant._constraints else 30 if meets else 15
        click.echo(f"mbcli: compiling the simulation, once on this machine (about {seconds} s)", err=True)


def _warn_about_what_is_left_out(loaded, warn):
    """Reports the properties of the model that the simulation does not use yet, once a run."""
    joints = [joint for spec in loaded.specs for joint in spec.joints]
    frictions = [joint.name for joint in joints if any(a.friction for a in joint.axes)]
    for note in notes_on_contact(loaded):
        warn(note)
    for line in [*loaded.plant._left_out, *loaded.plant._unused_limits()]:
        warn(str(line))
    if frictions:
        warn(f"Coulomb friction of joints is not simulated: {joined(*frictions)}")


class StopSignal:
    """Ctrl-C or SIGTERM: the run ends after the current block of steps; a second signal ends it at once."""

    def __init__(self):
        self.exit_code = 0

    def __enter__(self):
        self._previous = {}
        if threading.current_thread() is threading.main_thread():
            self._previous = {s: signal.signal(s, self._stop) for s in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_):
        for s, handler in self._previous.items():
            signal.signal(s, handler)

    def _stop(self, signum, frame):
        if self.exit_code:
            from mbcli.cli import Terminated

            raise KeyboardInterrupt if signum == signal.SIGINT else Terminated
        self.exit_code = 128 + signum

    def __call__(self):
        return self.exit_code != 0


class ProgressLine:
    """One line on stderr if that is a terminal."""

    def __init__(self, job, shown):
        self._job, self._active, self._drawn_at = job, shown and sys.stderr.isatty(), 0.0

    def __call__(self, t):
        now = time.monotonic()
        if not self._active or now - self._drawn_at < 0.2:
            return
        self._drawn_at = now
        job = self._job
        rate = (t - job.run_from) / max(job.stopwatch.seconds, 1e-9)
        left = f", {(job.until - t) / rate:.0f} s left" if rate > 0.0 else ""
        done = (t - job.start) / max(job.until - job.start, 1e-300)
        sys.stderr.write(f"\r\x1b[K{done:4.0%}  {t:.4g} of {job.until:g} s, {_rate(rate)} times real time{left} ")
        sys.stderr.flush()

    def close(self):
        if self._active and self._drawn_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Stopwatch:
    """Adds up wall-clock time while it runs."""

    def __init__(self):
        self.seconds, self._since = 0.0, None

    def start(self):
        self._since = time.perf_counter()

    def stop(self):
        if self._since is not None:
            self.seconds += time.perf_counter() - self._since
            self._since = None


class SimulationJob:
    """One run with its log."""

    def __init__(self, loaded, state, options, arguments):
        import numpy as np

        from mbcli.cli.recording import parse_fields
        from mbcli.cli.state import set_state

        config = loaded.config
        self.loaded, self.plant, self.arguments = loaded, loaded.plant, arguments
        self.context = self.plant.CreateDefaultContext()
        self.controlled = hold_default_positions(self.plant, self.context)
        self.start = self.run_from = config.simulator_config.start_time
        duration = options.duration
        if duration is None:
            duration = config.simulation_duration if np.isfinite(config.simulation_duration) else DEFAULT_DURATION
        _check_step(self.plant, self.start, duration)
        self.until = self.start + duration
        self.balance = options.balance
        self.tolerance, self.start_limits = options.constraint_tolerance, options.start_limits
        self.period = _period(options.log_rate, self.plant, duration)
        self.fields = parse_fields(options.fields, self.plant)
        seeds = (options.seed, state.random_seed, config.random_seed)
        self.seed = next(seed for seed in seeds if seed is not None)
        self.context.SetTime(self.start)
        if options.seed is not None:  # of random poses; others stay at their default
            self.plant.SetRandomContext(self.context, np.random.default_rng(options.seed))
        set_state(self.plant, self.context, state)
        self.actuation = self._read_actuation(options)
        self.stop, self.stopwatch = StopSignal(), Stopwatch()
        self._energies, self._most_kinetic = [], 0.0
        self._largest_constraint_error = None
        self._contacts, self._most_contacts = None, 0  # ContactArrays of the run, None if nothing can touch
        self._last_time = -np.inf
        self._lower, self._upper = self.plant.GetPositionLowerLimits(), self.plant.GetPositionUpperLimits()
        self._exceeded = self._lower > self._upper  # none
        self._kept_at, self._kept_rows = time.monotonic(), 0

    def _read_actuation(self, options):
        import numpy as np

        from mbcli.cli.analysis import parse_inputs
        from mbcli.cli.input_series import read_input
        from mbcli.simulation.run import constant_input

        if options.input_file is not None:
            return read_input(self.plant, options.input_file)
        given = parse_inputs(self.plant, {"u": options.u_text})
        return constant_input(given.get("u", np.zeros(self.plant.num_actuators())))

    def clamp(self):
        """Moves positions that start outside of their limits to them, if --start-limits asks; returns lines on it."""
        from mbcli.simulation.start_limits import clamp_positions, in_words

        moved = clamp_positions(self.plant, self.context) if self.start_limits == "clamp" else []
        return [f"moved to their limits: {in_words(moved)}"] if moved else []

    def check_limits(self, warn):
        """Reports the positions that start outside of their limits; ModelError with --start-limits error."""
        from mbcli.simulation.start_limits import in_words, positions_outside_limits, what_limits_do

        outside = positions_outside_limits(self.plant, self.context)
        if outside and self.start_limits == "error":
            raise ModelError(f"the start is outside of limits: {in_words(outside)}")
        if outside:
            advice = "" if self.start_limits == "clamp" else "; --start-limits clamp starts at the limits"
            warn(f"the start is outside of limits, {what_limits_do(self.plant)}: {in_words(outside)}{advice}")

    def assemble(self):
        """Moves a start that does not satisfy the constraints to the nearest that does; returns lines that report it.

        NumericalError if none is found.
        """
        if not self.plant._constraints:
            return []
        from mbcli.multibody.constraints.closed_chains import assemble_context

        return assemble_context(self.context, self.tolerance)

    @property
    def end_of_steps(self):
        """[s] at which a run to the end ends: a discrete plant goes to the end of a step."""
        h = self.plant.time_step()
        return math.ceil(self.until / h - SAME_STEP) * h if self.plant.is_discrete() else self.until

    @property
    def exceeded_efforts(self):
        """The actuators whose input goes beyond their effort limit before the end of the run."""
        import numpy as np

        used = self.actuation.values[self.actuation.times <= self.until]
        beyond = (np.abs(used) > self.plant.GetEffortUpperLimits()).any(axis=0)
        return [name for name, exceeds in zip(self.plant.GetActuatorNames(), beyond, strict=True) if exceeds]

    def input_at(self, t):
        """u (nu,) at time t [s]."""
        import numpy as np

        row = np.searchsorted(self.actuation.times, t, side="right") - 1
        return self.actuation.values[row] if row >= 0 else np.zeros(self.actuation.values.shape[1])

    def is_sample(self, t):
        """Whether a run that does not end at time t [s] takes a sample there."""
        h = self.plant.time_step()
        if self.plant.is_discrete():
            every = 1 if self.period is None else max(1, round(self.period / h))
            return round(t / h) % every == 0
        return round(t / self.period) * self.period == t

    def run(self, output, resume_path, force, progress, warn=lambda line: None):
        """Runs to the end or to a signal, writes the log, and returns the summary. NumericalError passes through."""
        import numpy as np

        self._warn = warn
        with np.errstate(all="ignore"):  # interpreted kernels; a number that is not finite ends the run with its name
            if resume_path is None:
                return self._run(output, force, progress)
            return self._resume(output, resume_path, force, progress)

    def _resume(self, output, resume_path, force, progress):
        from mbcli.cli.resume import EarlierRun, move_aside

        path, aside = resume_path, None
        with EarlierRun(path, self.loaded, self.fields, self.start, self.is_sample) as earlier:
            earlier.lock()
            earlier.check_input(self.input_at)
            replaced = output is not None and os.path.realpath(path) == os.path.realpath(f"{output}.partial")
            if replaced:
                aside = move_aside(path)
            same = output is not None and os.path.realpath(path) == os.path.realpath(output)
            return self._run(output, force or replaced or same, progress, earlier, aside)

    def _run(self, output, force, progress, earlier=None, aside=None):
        import numpy as np

        from mbcli.simulation.run import Run

        if earlier is not None:
            self.context.SetTime(earlier.time)
            self.plant.SetPositions(self.context, earlier.q)
            self.plant.SetVelocities(self.context, earlier.v)
            self.until = max(self.until, earlier.end_time)
        run = Run(
            self.plant,
            self.context,
            self.until,
            config=self.loaded.config.simulator_config,
            actuation=self.actuation,
            sample_period=self.period,
            next_step=None if earlier is None else earlier.next_step,
            constraint_tolerance=self.tolerance,
            keep_contacts=True,
            keep_balance=self.balance or None,
        )
        run.compile()
        self._contacts = run.contact if self.plant._meets_contact() else None
        self.run_from = self.context.get_time()
        rows = None
        with self.stop:
            if output is None:
                for samples in self._blocks(run, progress, None):
                    self._observe(samples)
            else:
                rows = self._run_with_log(run, output, force, progress, earlier, aside)
        progress.close()
        names = self.plant.GetPositionNames()
        simulated = self.context.get_time() - self.run_from
        wall = self.stopwatch.seconds
        first, last = self._energies if self._energies else (None, None)
        return {
            "status": "interrupted" if self.stop() else "complete",
            "steps": run.steps,
            "refused_steps": run.refused_steps,
            "start_time": self.run_from,
            "end_time": self.context.get_time(),
            "simulated_time": simulated,
            "wall_time": wall,
            "realtime_rate": simulated / wall if simulated and wall else None,
            "time_step": self.plant.time_step(),
            "integrator": None if self.plant.is_discrete() else run.config.integration_scheme,
            "energy_start": first,
            "energy_end": last,
            "energy_drift": None if first is None else last - first,
            "balance": self._balance_of(run),
            "constraint_error": self._largest_constraint_error,
            "contact": self._contact_summary(),
            "exceeded_limits": [names[k] for k in np.flatnonzero(self._exceeded)],
            "exceeded_efforts": self.exceeded_efforts,
            "log": output,
            "rows": rows,
        }

    def _balance_of(self, run):
        """The energy balance of a run as the summary has it; a large error of the integration is reported."""
        balance = run.energy_balance() if self.balance else None
        if balance is None:
            return None
        if balance.is_considerable():
            controlled = not self.plant.is_discrete() and run.has_error_control()
            option = "--dt" if self.plant.is_discrete() else "--accuracy" if controlled else "--max-step"
            self._warn(
                f"the error of the integration is {balance.rest:.3g} J of {balance.flow:.3g} J that flowed: "
                f"a smaller {option} makes it smaller"
            )
        return balance.as_dict()

    def _contact_summary(self):
        if self._contacts is None:
            return None
        return {"most_contacts": self._most_contacts} | (self._contacts.statistics() or {})

    def _run_with_log(self, run, output, force, progress, earlier, aside):
        """Returns the number of rows of the log."""
        from mbcli.simulation.run import Run

        with self._open_log(output, force) as log:
            try:
                self._begin(log, run, earlier)
                if aside is not None:
                    os.unlink(aside)
                for samples in self._blocks(run, progress, log):
                    self._observe(samples, log, run)
                    self._append(log, samples)
            except NumericalError as error:
                self._append_last_good_row(log, Run)
                log.event(self.context.get_time(), run.steps, "error", error.code, str(error))
                log.finish("failed", error.exit_code, str(error))
                raise type(error)(f"{error}; the rows before it are in {output}") from None
            if self.stop():
                log.checkpoint(run.checkpoint())
                log.finish("interrupted", self.stop.exit_code, "stopped by a signal")
            else:
                if not self.plant.is_discrete():
                    log.checkpoint(run.checkpoint())
                log.finish("complete", 0)
            return log.row_count

    def _append_last_good_row(self, log, Run):
        """The state before the step that failed, which the context has."""
        here = Run(
            self.plant,
            self.context,
            self.context.get_time(),
            actuation=self.actuation,
            constraint_tolerance=self.tolerance,
            keep_contacts=True,
        )
        for samples in here.blocks():
            self._append(log, samples)

    def _begin(self, log, run, earlier):
        """The rows of the earlier log, and the needs of a run that goes on from here."""
        from mbcli.cli.recording import RowMaker

        self._rows_of = RowMaker(self.plant, self.fields)
        if earlier is not None:
            for rows in earlier.blocks():
                self._observe_rows(rows)
                log.append(**rows)
            for event in earlier.events():
                log.event(**event)
            self._last_time = earlier.last_time
        if not self.plant.is_discrete() or earlier is not None:
            log.checkpoint(run.checkpoint())

    def _blocks(self, run, progress, log):
        """The blocks of samples of a run, with the time that its steps take on the stopwatch."""

        def pause(t):
            self.stopwatch.stop()
            if log is not None:
                self._keep(log, run)
            progress(t)
            self.stopwatch.start()

        blocks = run.blocks(self.stop, pause)
        try:
            while True:
                self.stopwatch.start()
                samples = next(blocks, None)
                self.stopwatch.stop()
                if samples is None:
                    return
                yield samples
        finally:
            self.stopwatch.stop()
            progress.close()

    def _keep(self, log, run):
        """The needs of --resume, as often as the log reaches the disk; rows are enough for a discrete run."""
        log.flush_if_due()
        if time.monotonic() - self._kept_at < CHECKPOINT_SECONDS:
            return
        if not self.plant.is_discrete() or log.row_count == self._kept_rows:
            log.checkpoint(run.checkpoint())
        self._kept_at, self._kept_rows = time.monotonic(), log.row_count

    def _observe_rows(self, rows):
        """The rows of an earlier log count in the summary."""
        self._exceeded |= self._beyond(rows["q"]).any(axis=0)
        if "energy" in self.fields:
            self._note_energy(rows["derived/energy_kinetic"] + rows["derived/energy_potential"])

    def _beyond(self, q):
        """Which positions are beyond their limits; the stops of a discrete plant give way a little."""
        allowed = GIVE_OF_STOPS if self.plant.is_discrete() else 0.0
        return (q < self._lower - allowed) | (q > self._upper + allowed)

    def gain_by_constraints(self, change):
        """The energy [J] that steps of first order added to a plant that nothing drives, as a line; None: nothing.

        change: of the energy in the run, None if it is not known.
        """
        from mbcli.multibody.compilation.compile_constraints import Tie

        plant, context = self.plant, self.context
        state = context.state
        if (
            change is None
            or not change > SEEN_GAIN * self._most_kinetic
            or self.controlled
            or self.actuation.values.any()
        ):
            return None
        in_problems = plant.is_discrete() and bool(plant._constraints) and state.contact is not None
        if not in_problems or not any(isinstance(rows, Tie) and rows.rows for rows in state.constraints.rows):
            return None
        return (
            f"the energy rose by {change:.3g} J, though nothing drives the plant: steps that meet contact hold "
            "constraints to first order; a smaller --dt lowers it, --no-contact holds them to second order"
        )

    def _note_energy(self, energy):
        self._energies = [self._energies[0] if self._energies else float(energy[0]), float(energy[-1])]

    def _observe(self, samples, log=None, run=None):
        self._note_energy(samples.energy.sum(axis=1))
        self._most_kinetic = max(self._most_kinetic, float(samples.energy[:, 0].max()))
        if self.plant._constraints:
            largest = float(samples.constraint_error.max())
            self._largest_constraint_error = max(largest, self._largest_constraint_error or 0.0)
        if samples.contacts is not None:
            self._observe_contacts(samples, log)
        beyond = self._beyond(samples.q)
        new = beyond.any(axis=0) & ~self._exceeded
        self._exceeded |= new
        if log is None:
            return
        for row, k in sorted((int(beyond[:, k].argmax()), k) for k in new.nonzero()[0]):
            name, value = self.plant.GetPositionNames()[k], samples.q[row, k]
            limits = f"{self._lower[k]:.6g} to {self._upper[k]:.6g}"
            message = f"{name} is {value:.6g}, its limits are {limits}"
            log.event(samples.time[row], self._step_at(samples.time[row], run), "warning", "POSITION_LIMIT", message)

    def _observe_contacts(self, samples, log):
        """Reports at the start of the run solids that overlap far too much."""
        counts = samples.contacts.offset[1:] - samples.contacts.offset[:-1]
        self._most_contacts = max(self._most_contacts, int(counts.max()))
        t = float(samples.time[0])
        if t != self.run_from:
            return
        record, deepest = samples.contacts.contacts, {}
        for i in range(counts[0]):
            pair = tuple(record.solid[i])
            deepest[pair] = max(deepest.get(pair, 0.0), -float(record.distance[i]))
        allowed = DEEP * self.plant.get_penetration_allowance()
        deep = sorted((pair for pair, depth in deepest.items() if depth > allowed), key=deepest.get, reverse=True)
        if deep:
            names = " and ".join(self._contacts.geometry_name(k) for k in deep[0])
            others = f", and {len(deep) - 1} other pairs more than {allowed:g} m" if len(deep) > 1 else ""
            message = f"at t = {t:g} s {names} overlap by {deepest[deep[0]]:.3g} m{others}"
            self._warn(
                f"{message}: contact pushes them apart hard; move the model, filter the pair, or use --no-contact"
            )
            if log is not None:
                log.event(t, self._step_at(t, None) if self.plant.is_discrete() else 0, "warning", "OVERLAP", message)

    def _step_at(self, t, run):
        return round(t / self.plant.time_step()) if self.plant.is_discrete() else run.steps

    # the log

    def _open_log(self, output, force):
        from mbcli.cli.recording import log_header
        from mbcli.log.writer import LogWriter

        period = self.period or self.plant.time_step()
        header = log_header(
            self.loaded,
            self.fields,
            argv=tuple(self.arguments),
            seed=self.seed,
            checkpoint={"time": 0.0, "q": self.context.state.q, "v": self.context.state.v, "next_step": 0.0},
            expected_rows=int((self.until - self.start) / period) + 2,
        )
        return LogWriter(output, header, force=force)

    def _append(self, log, samples):
        """The rows that a run without a break has; one that goes on also samples its beginning."""
        chosen = samples.time > self._last_time
        if samples.time.size and samples.time[0] == self.run_from and self.run_from not in (self.start, self.until):
            chosen[0] &= self.is_sample(self.run_from)
        if chosen.any():
            rows = self._rows_of.rows(samples, chosen)
            self._last_time = float(rows["time"][-1])
            log.append(**rows)


def render(summary):
    if summary["integrator"] is None:
        how = f"{summary['steps']} steps of {summary['time_step']:g} s"
    else:
        how = f"{summary['steps']} steps of {summary['integrator']}, {summary['refused_steps']} more refused"
    rate = "" if summary["realtime_rate"] is None else f" ({_rate(summary['realtime_rate'])} times real time)"
    lines = [f"simulated {summary['simulated_time']:.6g} s in {summary['wall_time']:.3g} s{rate}: {how}"]
    if summary["energy_start"] is not None:
        lines.append(
            f"energy {number(summary['energy_start'])} J at the start, {number(summary['energy_end'])} J at the end"
        )
    contact = summary["contact"]
    if contact is not None and contact["most_contacts"] and "problems" in contact:
        lines.append(
            f"up to {contact['most_contacts']} contact points, {contact['mean_contacts']:.3g} on average; solved by "
            f"{contact['mean_iterations']:.3g} iterations a step, at most {contact['most_iterations']}"
        )
    elif contact is not None and contact["most_contacts"]:
        lines.append(f"up to {contact['most_contacts']} contact points in a row")
    if summary["balance"] is not None:
        lines.append(balance_in_words(summary["balance"]))
    if summary["constraint_error"] is not None:
        lines.append(f"largest error of the constraints {summary['constraint_error']:.3g}")
    if summary["status"] == "interrupted":
        lines.append(f"stopped by a signal at t = {summary['end_time']:.6g} s; --resume goes on from there")
    if summary["log"]:
        lines.append(f"log: {summary['log']} ({summary['rows']} rows)")
    return "\n".join(lines)


def balance_in_words(balance):
    names = ("actuators", "joint_damping", "force_elements", "contact", "limits", "constraints")
    work = [
        f"{name.replace('_', ' ')} {balance[name]:.4g} J"
        for name in names
        if abs(balance[name]) > 1e-9 * balance["flow"]
    ]
    return f"work of {', '.join(work) or 'nothing'}; error of the integration {balance['rest']:.3g} J"


def _rate(value):
    return f"{value:.3g}" if value < 1000.0 else f"{value:.0f}"

"""`mbcli simulate`: from a model to a log."""

import os
import signal
import sys
import time

import click

from mbcli.cli.model import load
from mbcli.cli.options import MODEL_KEYS, STATE_KEYS, model_options, state_options, take
from mbcli.cli.output import document, number, refuse_existing, to_json
from mbcli.cli.state import set_state

DEFAULT_DURATION = 5.0  # [s]
DEFAULT_RATE = 100.0  # [Hz] of samples
FIELDS = ("energy", "u", "com", "momentum")


@click.command()
@model_options
@click.option(
    "-t", "--duration", type=click.FloatRange(min=0.0), metavar="S", help=f"Simulated time; {DEFAULT_DURATION:g} s."
)
@click.option(
    "--dt",
    "--time-step",
    "time_step",
    type=click.FloatRange(min=0.0),
    metavar="S",
    help="Step of a discrete plant; 0 integrates in continuous time. Default 0.001.",
)
@click.option(
    "--integrator", metavar="NAME", help="Integration scheme; makes the plant continuous. Default runge_kutta3."
)
@click.option("--accuracy", type=float, metavar="A", help="Accuracy of continuous integration.")
@click.option("--max-step", "max_step", type=float, metavar="S", help="Longest step of continuous integration.")
@click.option("--u", "u_text", metavar="LIST", help="Constant actuation, a list or NAME=VALUE pairs.")
@click.option(
    "--input", "input_file", metavar="FILE", help="Actuation over time: CSV with columns time and actuator names."
)
@state_options
@click.option("--seed", type=int, metavar="N", help="Seed recorded in the log.")
@click.option("-o", "--log", "log_path", metavar="FILE", help="The log; default: the model's name with .h5.")
@click.option(
    "--log-rate",
    type=click.FloatRange(min=0.0),
    metavar="HZ",
    help=f"Samples per second, {DEFAULT_RATE:g}; 0 logs every step of a discrete plant.",
)
@click.option(
    "--fields", metavar="LIST", help="What to log beside q and v: energy, u, com, momentum. Default energy,u."
)
@click.option("--no-log", is_flag=True, help="Write no log.")
@click.option("--resume", "resume_path", metavar="LOG", help="Go on where this log ends.")
@click.option("--force", is_flag=True, help="Replace an existing log.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON document.")
@click.pass_context
def simulate(
    ctx,
    duration,
    time_step,
    integrator,
    accuracy,
    max_step,
    u_text,
    input_file,
    seed,
    log_path,
    log_rate,
    fields,
    no_log,
    resume_path,
    force,
    as_json,
    **values,
):
    """Run a model over time and write an HDF5 log.

    The plant is discrete with a step of 1 ms unless --dt, --integrator or the configuration say otherwise.

    \b
    mbcli simulate pendulum.urdf --at hinge=1 -t 10
    mbcli simulate arm.urdf --weld base --input torques.csv -o run.h5
    mbcli simulate cart.sdf --integrator runge_kutta5 --accuracy 1e-8 --log-rate 1000
    """
    model, state = take(values, MODEL_KEYS), take(values, STATE_KEYS)
    if integrator is not None or accuracy is not None or max_step is not None:
        if time_step:
            raise click.UsageError("--integrator, --accuracy and --max-step are for continuous plants, --dt is not 0")
        time_step = 0.0
    if input_file is not None and u_text is not None:
        raise click.UsageError("--input and --u exclude each other")
    loaded = load(model, ctx, time_step=time_step)
    _apply(loaded.config.simulator_config, integrator, accuracy, max_step)
    plant = loaded.plant
    if duration is None:
        configured = loaded.config.simulation_duration
        duration = configured if configured != float("inf") else DEFAULT_DURATION
    output = None if no_log else log_path or _default_log(model.models[0], resume_path)
    if output is not None:
        refuse_existing(output, force or resume_path is not None)
    _announce_compiling(plant)
    job = SimulationJob(
        loaded,
        start=loaded.config.simulator_config.start_time,
        duration=duration,
        period=_period(log_rate, plant),
        fields=_fields(fields, plant),
        seed=loaded.config.random_seed if seed is None else seed,
    )
    set_state(plant, job.context, state)
    if input_file is not None:
        from mbcli.cli.input_series import read_input

        job.actuation = read_input(plant, input_file)
    elif u_text is not None:
        from mbcli.cli.analysis import parse_inputs

        plant.get_actuation_input_port().FixValue(job.context, parse_inputs(plant, {"u": u_text})["u"])
    _warn_about_what_is_left_out(loaded, ctx)
    summary = job.run(output, resume_path, force, progress=ProgressLine(duration))
    if summary["exceeded_limits"] and (ctx.obj or {}).get("verbosity", 0) >= 0:
        names = ", ".join(summary["exceeded_limits"])
        click.secho(
            f"mbcli: warning: position limits are not enforced, and were exceeded by {names}", err=True, fg="yellow"
        )
    result = document("simulate", loaded, job.context, **summary)
    click.echo(to_json(result) if as_json else render(summary, plant))
    return {"complete": 0, "interrupted": job.stop.exit_code}[summary["status"]]


def _apply(config, integrator, accuracy, max_step):
    if integrator is not None:
        config.integration_scheme = integrator
    if accuracy is not None:
        config.accuracy = accuracy
    if max_step is not None:
        config.max_step_size = max_step


def _default_log(model, resume_path):
    if resume_path is not None:
        return resume_path.removesuffix(".partial")
    stem = "model" if model == "-" else os.path.basename(model).rsplit(".", 1)[0]
    return f"{stem}.h5"


def _period(rate, plant):
    """Time between samples [s]; None for every step of a discrete plant."""
    if rate is None:
        return max(1.0 / DEFAULT_RATE, plant.time_step())
    if rate == 0.0:
        if not plant.is_discrete():
            raise click.UsageError("--log-rate 0 logs every step of a discrete plant; this one is continuous")
        return None
    if plant.is_discrete() and abs(1.0 / (rate * plant.time_step()) - round(1.0 / (rate * plant.time_step()))) > 1e-6:
        raise click.UsageError(
            f"--log-rate {rate:g}: a discrete plant is logged at whole steps, {plant.time_step():g} s each; "
            f"choose a divisor of {1.0 / plant.time_step():g} Hz"
        )
    return 1.0 / rate


def _fields(text, plant):
    fields = ["energy", "u"] if text is None else [f for f in text.replace(",", " ").split() if f not in ("q", "v")]
    for field in fields:
        if field not in FIELDS:
            raise click.UsageError(f"--fields: there is no '{field}'; there are {', '.join(FIELDS)}")
    return [f for f in fields if f != "u" or plant.num_actuators()]


def _announce_compiling(plant):
    from mbcli.engine.jit import compiled_by_default, is_cached

    kernel = "run_discrete" if plant.is_discrete() else "run_continuous"
    if compiled_by_default() and not is_cached(kernel):
        click.echo("mbcli: compiling the simulation, once on this machine (about 15 s)", err=True)


def _warn_about_what_is_left_out(loaded, ctx):
    """What the model has and the simulation does not do yet is said, once a run."""
    if (ctx.obj or {}).get("verbosity", 0) < 0:
        return
    collisions = sum(len(link.collisions) for spec in loaded.specs for link in spec.links)
    mimics = [j.name for spec in loaded.specs for j in spec.joints if any(a.mimic for a in j.axes)]
    frictions = [j.name for spec in loaded.specs for j in spec.joints if any(a.friction for a in j.axes)]
    left_out = []
    if collisions:
        left_out.append(f"contact is not simulated yet ({collisions} collision geometries)")
    if mimics:
        left_out.append(f"mimic joints move freely ({', '.join(mimics[:3])}{', ...' if len(mimics) > 3 else ''})")
    if frictions:
        more = ", ..." if len(frictions) > 3 else ""
        left_out.append(f"Coulomb friction of joints is not simulated ({', '.join(frictions[:3])}{more})")
    for line in left_out:
        click.secho(f"mbcli: warning: {line}", err=True, fg="yellow")


class StopSignal:
    """Ctrl-C or SIGTERM: the run ends after the current block; a second Ctrl-C aborts at once."""

    def __init__(self):
        self.exit_code = 0

    def __enter__(self):
        self._previous = {s: signal.signal(s, self._stop) for s in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_):
        for s, handler in self._previous.items():
            signal.signal(s, handler)

    def _stop(self, signum, frame):
        if self.exit_code:
            raise KeyboardInterrupt
        self.exit_code = 128 + signum

    def __call__(self):
        return self.exit_code != 0


class ProgressLine:
    """One line on stderr where that is a terminal."""

    def __init__(self, end):
        self.end, self.started, self.shown = end, time.monotonic(), 0.0
        self.active = sys.stderr.isatty()

    def __call__(self, t):
        now = time.monotonic()
        if self.active and now - self.shown > 0.2:
            self.shown = now
            rate = t / max(now - self.started, 1e-9)
            sys.stderr.write(f"\r\x1b[K{t:.3g} of {self.end:g} s, {rate:.3g} times real time ")
            sys.stderr.flush()

    def close(self):
        if self.active and self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class SimulationJob:
    """One run with its log."""

    def __init__(self, loaded, *, start, duration, period, fields, seed):
        self.loaded, self.plant = loaded, loaded.plant
        self.context = self.plant.CreateDefaultContext()
        self.context.SetTime(start)
        self.until, self.period, self.fields, self.seed = start + duration, period, fields, seed
        self.actuation = None
        self.stop = StopSignal()
        self._energies = []
        self._last_time = -float("inf")
        self._lower, self._upper = self.plant.GetPositionLowerLimits(), self.plant.GetPositionUpperLimits()
        self._exceeded = self._lower > self._upper  # none

    def run(self, output, resume_path, force, progress):
        """Runs to the end or to a signal, writes the log, and returns the summary. NumericalError passes through."""
        import numpy as np

        from mbcli.simulation import Run

        next_step, old = None, None
        if resume_path is not None:
            old, next_step = self._resume(resume_path)
        run = Run(
            self.plant,
            self.context,
            self.until,
            config=self.loaded.config.simulator_config,
            actuation=self.actuation,
            sample_period=self.period,
            next_step=next_step,
        )
        start = self.context.get_time()
        run.compile()
        started = time.perf_counter()
        with self.stop:
            if output is None:
                for samples in run.blocks(self.stop, progress):
                    self._observe(samples)
            else:
                with self._open_log(output, force or old is not None) as log:
                    for rows in old or ():
                        self._last_time = float(rows["time"][-1])
                        log.append(**rows)
                    for samples in run.blocks(self.stop, progress):
                        self._observe(samples)
                        self._append(log, samples)
                        self._checkpoint(log, run)
                    if self.stop():
                        log.finish("interrupted", self.stop.exit_code, "stopped by a signal")
                    else:
                        log.finish("complete", 0)
        progress.close()
        wall = time.perf_counter() - started
        names = self.plant.GetPositionNames()
        simulated = self.context.get_time() - start
        return {
            "status": "interrupted" if self.stop() else "complete",
            "steps": run.steps,
            "refused_steps": run.refused_steps,
            "simulated_time": simulated,
            "end_time": self.context.get_time(),
            "wall_time": wall,
            "realtime_rate": simulated / wall if wall else None,
            "time_step": self.plant.time_step(),
            "integrator": None if self.plant.is_discrete() else run.config.integration_scheme,
            "energy_start": self._energies[0] if self._energies else None,
            "energy_end": self._energies[-1] if self._energies else None,
            "energy_drift": self._energies[-1] - self._energies[0] if self._energies else None,
            "exceeded_limits": [names[k] for k in np.flatnonzero(self._exceeded)],
            "log": output,
        }

    def _observe(self, samples):
        energy = samples.energy.sum(axis=1)
        self._energies = [self._energies[0] if self._energies else float(energy[0]), float(energy[-1])]
        self._exceeded |= ((samples.q < self._lower) | (samples.q > self._upper)).any(axis=0)

    # the log

    def _open_log(self, output, force):
        import yaml

        from mbcli.cli.inspect import describe
        from mbcli.log.format import Field, LogHeader
        from mbcli.log.writer import LogWriter

        plant = self.plant
        position_units, velocity_units, effort_units = coordinate_units(plant)
        declared = []
        for field in self.fields:
            if field == "energy":
                declared += [Field("derived/energy_kinetic", "J"), Field("derived/energy_potential", "J")]
            elif field == "u":
                declared.append(
                    Field("input/u", effort_units, tuple(plant.GetActuatorNames()), (plant.num_actuators(),))
                )
            elif field == "com":
                declared.append(Field("derived/com", "m", ("x", "y", "z"), (3,)))
            else:
                names = ("hx", "hy", "hz", "lx", "ly", "lz")
                units = ("N m s",) * 3 + ("N s",) * 3
                declared.append(Field("derived/momentum", units, names, (6,)))
        header = LogHeader(
            model_name=self.loaded.description()["name"],
            position_names=tuple(plant.GetPositionNames()),
            position_units=position_units,
            velocity_names=tuple(plant.GetVelocityNames()),
            velocity_units=velocity_units,
            actuator_names=tuple(plant.GetActuatorNames()),
            actuator_units=effort_units,
            fields=tuple(declared),
            sources=tuple(self.loaded.sources),
            config=yaml.safe_dump(_plain(self.loaded.config), sort_keys=False),
            model=to_json(describe(self.loaded)),
            argv=tuple(sys.argv),
            seed=self.seed,
            checkpoint=self._state(0.0),
            expected_rows=self._expected_rows(),
        )
        return LogWriter(output, header, force=force)

    def _expected_rows(self):
        period = self.period or self.plant.time_step()
        return int((self.until - self.context.get_time()) / period) + 2

    def _state(self, next_step):
        return {"time": self.context.get_time(), "q": self.context._q, "v": self.context._v, "next_step": next_step}

    def _append(self, log, samples):
        new = samples.time > self._last_time  # a resumed run starts with the row it resumes from
        rows = {"time": samples.time[new], "q": samples.q[new], "v": samples.v[new]}
        if not rows["time"].size:
            return
        self._last_time = float(rows["time"][-1])
        for field in self.fields:
            if field == "energy":
                rows["derived/energy_kinetic"] = samples.energy[new, 0]
                rows["derived/energy_potential"] = samples.energy[new, 1]
            elif field == "u":
                rows["input/u"] = samples.u[new]
            else:
                rows[f"derived/{field}"] = self._derived(field, rows)
        log.append(**rows)

    def _derived(self, field, rows):
        """Centre of mass or momentum about the world's origin at each row."""
        import numpy as np

        plant = self.plant
        other = plant.CreateDefaultContext()
        result = []
        for q, v in zip(rows["q"], rows["v"], strict=True):
            plant.SetPositions(other, q)
            plant.SetVelocities(other, v)
            if field == "com":
                result.append(plant.CalcCenterOfMassPositionInWorld(other))
            else:
                result.append(plant.CalcSpatialMomentumInWorldAboutPoint(other, np.zeros(3)).get_coeffs())
        return np.array(result)

    def _checkpoint(self, log, run):
        """What --resume needs, as often as the log reaches the disk."""
        if not self.plant.is_discrete() and time.monotonic() - self._checkpointed > 0.5:
            log.checkpoint(self._state(run.next_step))
            self._checkpointed = time.monotonic()

    _checkpointed = 0.0

    def _resume(self, path):
        """The rows of an earlier log in blocks, and the next step of its integrator; sets the context to its end."""
        from mbcli.errors import ModelError
        from mbcli.log.reader import Log

        with Log(path) as log:
            ours = {source.sha256 for source in self.loaded.sources}
            if {entry["sha256"] for entry in log.source_digests()} != ours:
                raise ModelError(f"{path}: written from other model files: a run is resumed with the same model")
            if list(log.position_names) != self.plant.GetPositionNames():
                raise ModelError(f"{path}: its coordinates are not those of this model")
            if log.row_count == 0:
                raise ModelError(f"{path}: the log has no rows to resume from")
            wanted = self._field_paths()
            if set(log.fields()) - {"time", "state/q", "state/v"} != set(wanted):
                raise ModelError(f"{path}: its fields are {', '.join(log.fields())}: give the same --fields")
            last = log.row_count - 1
            end, q, v, next_step = float(log.time[last]), log.q[last], log.v[last], None
            checkpoint = log.read_checkpoint()
            if not self.plant.is_discrete() and checkpoint is not None:
                end, q, v = float(checkpoint["time"]), checkpoint["q"], checkpoint["v"]
                next_step = float(checkpoint["next_step"])
            blocks = []
            names = ["time", "state/q", "state/v", *wanted]
            for block in log.chunks(names):
                keep = block["time"] <= end
                rows = {name.removeprefix("state/"): block[name][keep] for name in names}
                if rows["time"].size:
                    blocks.append(rows)
        self.context.SetTime(end)
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, v)
        return blocks, next_step

    def _field_paths(self):
        paths = []
        for field in self.fields:
            if field == "energy":
                paths += ["derived/energy_kinetic", "derived/energy_potential"]
            else:
                paths.append("input/u" if field == "u" else f"derived/{field}")
        return paths


def coordinate_units(plant):
    """Units of q, v and u, one per entry, in the spelling of UDUNITS."""
    units_of = {"q": "rad", "w": "rad s-1", "v": "m s-1", "qw": "1"}
    positions, velocities = [""] * plant.num_positions(), [""] * plant.num_velocities()
    for joint in plant._joints:
        quaternion = joint.type_name() == "quaternion_floating"
        for k in range(joint.num_positions()):
            suffix = joint.position_suffix(k)
            rotation = "1" if quaternion else "rad"
            positions[joint.position_start() + k] = rotation if suffix.startswith("q") else "m"
        for k in range(joint.num_velocities()):
            suffix = joint.velocity_suffix(k)
            velocities[joint.velocity_start() + k] = units_of["w" if suffix.startswith("w") else "v"]
    efforts = ["N" if a.joint().type_name() == "prismatic" else "N m" for a in plant._actuators]
    return tuple(positions), tuple(velocities), tuple(efforts)


def _plain(config):
    """A configuration as YAML can write it."""
    import dataclasses

    return {
        field.name: _plain(value) if dataclasses.is_dataclass(value := getattr(config, field.name)) else value
        for field in dataclasses.fields(config)
    }


def render(summary, plant):
    how = (
        f"{summary['steps']} steps of {summary['time_step']:g} s"
        if plant.is_discrete()
        else f"{summary['steps']} steps of {summary['integrator']}, {summary['refused_steps']} refused"
    )
    lines = [
        f"simulated {summary['simulated_time']:.6g} s in {summary['wall_time']:.3g} s of wall-clock time "
        f"({summary['realtime_rate'] or 0.0:.3g} times real time): {how}"
    ]
    if summary["energy_start"] is not None:
        lines.append(
            f"energy {number(summary['energy_start'])} J at the start, {number(summary['energy_end'])} J at the end"
        )
    if summary["status"] == "interrupted":
        lines.append(f"stopped by a signal at t = {summary['end_time']:.6g} s")
    if summary["log"]:
        lines.append(f"log: {summary['log']}")
    return "\n".join(lines)

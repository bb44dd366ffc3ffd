"""`mbcli simulate --states STARTS --each`: a run from every start, all at once."""

from __future__ import annotations

import itertools
import time
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mbcli.cli.compiling_line import CompilingLine
from mbcli.cli.options import usage_errors
from mbcli.cli.output import document, printable, tell, warn
from mbcli.cli.rows import require_tables
from mbcli.cli.run_settings import controller_choice, follow_choice, run_arguments
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.common.setting import options_of_single_runs
from mbcli.errors import ControlError, ModelError
from mbcli.multibody.tree.joint_kinds import has_quaternion
from mbcli.simulation.run_arguments import DEFAULT_DURATION, RunArguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import SimpleNamespace

    from mbcli.cli.options import Options
    from mbcli.log.worlds_writer import WorldsWriter
    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.simulation.control.plans import Plan
    from mbcli.simulation.velocity_limits import VelocityRecord
    from mbcli.simulation.world_gains import WorldGains
    from mbcli.simulation.world_rows import WorldRows
    from mbcli.simulation.world_sensors import WorldSensors
    from mbcli.simulation.world_ticks import WorldTicks
    from mbcli.simulation.worlds import Worlds

BLOCK_BYTES = 1 << 26  # of samples that are in memory at once
MOST_TOLD = 5  # worlds that stopped
EXIT_CODE_OF_STOPPED = 5


def require_each(options: Options, state: Options) -> bool:
    """UsageError for options that do not go with --states --each, or these without each other."""
    if options.states is None:
        if options.each:
            raise click.UsageError("--each needs --states")
        require_tables(options)
        return False
    if not options.each:
        raise click.UsageError("--states needs --each here: a run from every state")
    alone = {option.parameter: option.flags[-1] for option in options_of_single_runs(RunArguments)}
    for key, flag in {"resume_path": "--resume", **alone}.items():
        if getattr(options, key) not in (None, False, ()):
            raise click.UsageError(f"{flag} is for a single run, not for --each")
    if options.fields:
        from mbcli.simulation.world_rows import FIELDS

        known = (*FIELDS, "sensors")
        for name in options.fields.replace(",", " ").split():
            if name not in (*known, "q", "v", "time"):
                raise click.UsageError(f"--fields {name} is for a single run; --each has {', '.join(known)}")
    if any(value not in (None, ()) for key, value in vars(state).items() if key != "assignments"):
        raise click.UsageError("--states has the starts: no --pose, --q, --v, --state or --random")
    return True


def run_each(
    ctx: click.Context,
    loaded: LoadedModel,
    state: Options,
    options: Options,
    given: Any,
    output: str | None,
    stop: Any,
    quiet: bool,
) -> int:
    """Runs all worlds, writes their log, prints the summary; given: what --input or --u give."""
    from mbcli.multibody.core.velocity_limits import velocity_bounds
    from mbcli.simulation.control.in_a_run import chosen_plan
    from mbcli.simulation.effort_limits import efforts_in_words
    from mbcli.simulation.energy_gain import smaller_step
    from mbcli.simulation.sampling import Sampling
    from mbcli.simulation.velocity_limits import VelocityRecord, fastest, velocities_in_words
    from mbcli.simulation.world_rows import WorldRows
    from mbcli.simulation.worlds import Worlds

    plant, compiling = loaded.plant, CompilingLine("the simulation", 15, shown=not quiet)
    with usage_errors(), closing(compiling):
        starts = read_starts(loaded, options, state, quiet)
        worlds = Worlds(
            loaded,
            len(starts.q),
            threads=options.threads,
            **_settings(options),
            warn=(lambda line: None) if quiet else warn,
            on_compile=compiling.start,
        )
        place(worlds, starts, options, quiet)
        duration = options.duration if options.duration is not None else loaded.config.simulation_duration
        duration = duration if np.isfinite(duration) else DEFAULT_DURATION
        start = float(worlds.time[0])
        sampling = Sampling(plant, start, start + duration, options.log_rate)
        seed = loaded.config.random_seed if options.seed is None else options.seed
        if options.pushes:
            worlds.push(options.pushes, seed=seed, until=start + duration)
        plan = None  # is read again for its columns alone
        if "tracking" in (options.fields or ""):
            plan = chosen_plan(plant, follow_choice(options), None, None)[1]
        fields = _fields(worlds, options.fields, plan)
        noise = seed if options.sensor_noise == "on" else None
        sensors = worlds.sensors(noise) if "sensors" in fields else None
        controller = _under_controller(worlds, starts, options, seed)
    h = plant.time_step()
    steps = round((sampling.end_of_steps - start) / h)
    width = 1 if sampling.period is None else max(1, round(sampling.period / h))
    rows = [*range(0, steps, width), steps] if steps else [0]
    series = actuation_rows(worlds, given, start + h * np.arange(steps + 1), options.effort_limits, quiet)
    own = [name for name in fields if name != "sensors"]
    by_rows = options.controller is not None or worlds.is_called or sensors is not None or own not in ([], ["u"])
    more = WorldRows(worlds, own, plan) if by_rows else None
    writer = _writer(ctx, loaded, output, start + h * np.array(rows), worlds, fields, plan)
    driven = bool(options.pushes) or starts.u is not None or bool(series is not None and series.any())
    driven = driven or options.controller is not None or options.trajectory is not None
    gains = None if driven else _gains(worlds, len(rows))
    limited = len(worlds) if velocity_bounds(plant) else 0
    speeds = [VelocityRecord(plant, options.velocity_limits) for _ in range(limited)]
    kept = _Rows(worlds, series, writer, gains, speeds)
    began = time.perf_counter()
    try:
        with controller as ticks:
            if more is not None:
                status = _advance_by_rows(worlds, rows, kept, stop, more, sensors)
            else:
                status = _advance(worlds, rows, kept, stop)
        wall = time.perf_counter() - began
        failures = worlds.failures()
        if writer is not None:
            writer.finish(status, worlds.time, [failures.get(k, "") for k in range(len(worlds))])
    except ControlError as error:
        if writer is None:
            raise
        messages = [worlds.failures().get(k, str(error)) for k in range(len(worlds))]
        writer.finish("failed", worlds.time, messages)
        raise ControlError(f"{error}; the rows before it are in {output}") from None
    except BaseException:
        if writer is not None:
            writer.abandon()
        raise
    if not quiet:
        asked = [*(ticks.exceeded() if ticks is not None else ()), *worlds.exceeded()]
        of_speeds = velocities_in_words(fastest(speeds), options.velocity_limits)
        for line in (efforts_in_words(asked, options.effort_limits), of_speeds):
            if line:
                warn(line)
    found = None if gains is None or quiet else gains.in_words(smaller_step())
    if found:
        warn(found)
    summary: dict[str, Any] = {
        "status": status,
        "worlds": len(worlds),
        "stopped": [{"world": k, "time": float(worlds.time[k]), "message": text} for k, text in failures.items()],
        "start_time": start,
        "end_time": float(worlds.time.max()),
        "time_step": h,
        "wall_time": wall,
        "steps": int(round((worlds.time - start).sum() / h)),
        "log": output,
    }
    click.echo(to_json(document("simulate-each", loaded, **summary)) if options.as_json else render(summary))
    return stop.exit_code if status == "interrupted" else EXIT_CODE_OF_STOPPED if failures else 0


def _settings(options: Options) -> dict[str, Any]:
    """What Worlds take of the settings of a run."""
    from mbcli.simulation.worlds import OF_WORLDS

    found = {name: value for name, value in run_arguments(options).items() if name in OF_WORLDS}
    if options.controller is not None:
        found["trajectory"] = None  # it is what the controller is given
    return found


def _under_controller(
    worlds: Worlds, starts: SimpleNamespace, options: Options, seed: int
) -> AbstractContextManager[WorldTicks | None]:
    """What --controller asks for, for the time of the run."""
    choice = controller_choice(options)
    if choice is None:
        return nullcontext()
    if starts.u is not None:
        raise click.UsageError("the states have actuation: no --controller")
    return worlds.under_controller(
        choice,
        seed=seed,
        effort_limits=options.effort_limits,
        sensor_noise=options.sensor_noise == "on",
        trajectory=follow_choice(options),
    )


def read_starts(loaded: LoadedModel, options: Options, state: Options, quiet: bool) -> SimpleNamespace:
    """q, v and u (n, ...) of all rows of STARTS; u is None if there is none."""
    from types import SimpleNamespace

    from mbcli.batch.state_reader import open_states
    from mbcli.cli.rows import row_layout
    from mbcli.cli.state import set_state
    from mbcli.models.placement import put_on_ground

    assert options.states is not None
    plant = loaded.plant
    context = plant.CreateDefaultContext()
    if loaded.ground is not None and plant.meets_contact():  # what a row leaves out is as in a run without --states
        put_on_ground(plant, context, loaded.ground, np.zeros(plant.num_positions(), dtype=bool))
    set_state(loaded, context, state)
    layout = row_layout(plant, context, state, options, ("q", "v"), quiet)
    chunks = list(open_states(options.states, layout, input_format=options.states_format))
    if not chunks:
        raise ModelError(f"{options.states}: error: has no states")
    for name in ("vdot", "tau"):
        if getattr(chunks[0], name) is not None:
            raise ModelError(f"{options.states}: error: has {name}: starts have q, v and u")
    with_u = chunks[0].u is not None
    if with_u and (options.input_file is not None or options.u_text is not None):
        raise click.UsageError("the states have actuation: no --input and no --u")
    return SimpleNamespace(
        q=np.vstack([chunk.q for chunk in chunks]),
        v=np.vstack([chunk.v for chunk in chunks]),
        u=np.vstack([chunk.u for chunk in chunks]) if with_u else None,  # type: ignore[misc]  # all chunks have u
    )


def place(worlds: Worlds, starts: SimpleNamespace, options: Options, quiet: bool) -> None:
    """Puts the starts into the worlds; controllers that hold joints hold them there."""
    plant = worlds.plant
    low, high = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    q = starts.q
    outside = ((q < low - 1e-6) | (q > high + 1e-6)).any(axis=1)
    choice = options.start_limits or ("clamp" if options.posture is not None else "warn")
    if outside.any() and choice == "error":
        raise ModelError(f"{int(outside.sum())} of {len(q)} starts are outside of limits, first row {outside.argmax()}")
    if outside.any() and choice == "clamp":
        q = np.clip(q, low, high)
    if outside.any() and choice == "warn" and not quiet:
        warn(f"{int(outside.sum())} of {len(q)} starts are outside of limits, and the stops bring them back slowly")
    for joint in plant.moving_joints():
        if has_quaternion(joint):
            four = slice(joint.position_start(), joint.position_start() + 4)
            zero = np.flatnonzero(~q[:, four].any(axis=1))
            if len(zero):
                raise ModelError(f"row {zero[0]}: the quaternion of joint '{joint.name()}' is zero: no rotation")
    worlds.q, worlds.v = q, starts.v
    moved = worlds.assemble(tolerance=options.constraint_tolerance)
    if moved and not quiet:
        tell(f"mbcli: assembled {len(moved)} of {len(q)} starts, which did not satisfy the constraints")
    if starts.u is not None:
        worlds.u = starts.u
    worlds.hold_here(options.posture == options.at_start)


def actuation_rows(worlds: Worlds, given: Any, times: Vector, choice: str, quiet: bool) -> FloatArray | None:
    """u (steps, nu) of what --input or --u give, at times (steps + 1,) [s]; None without them.

    choice: of --effort-limits.
    """
    from mbcli.simulation.effort_limits import clamped, efforts_in_words, exceeded_efforts
    from mbcli.simulation.input_series import as_input, cuts_in_words

    if given is None:
        return None
    plant = worlds.plant
    series = as_input(plant, given)
    worlds.ask_of_plugins(series)
    for line in (cuts_in_words(series), efforts_in_words(exceeded_efforts(plant, series, times[0], times[-1]), choice)):
        if line and not quiet:
            warn(line)
    if choice == "clamp":
        series = clamped(plant, series)
    row = np.searchsorted(series.times, times[:-1], side="right") - 1
    return np.where((row >= 0)[:, np.newaxis], series.values[np.maximum(row, 0)], 0.0)


def _fields(worlds: Worlds, wanted: str | None, plan: Plan | None) -> list[str]:
    """The fields of the log, beside q and v. ArgumentError for one that these worlds do not have."""
    from mbcli.common.argument_names import argument
    from mbcli.errors import ArgumentError
    from mbcli.simulation.recording import chosen_fields

    plant = worlds.plant
    fields = chosen_fields(f"{wanted or ''} {'u' if plant.num_actuators() else ''}", plant)
    if wanted and "sensors" in wanted and not plant.elements.sensors:
        raise ArgumentError(f"{argument('fields', 'sensors')}: the model has no sensors")
    if "tracking" in fields and plan is None:
        raise ArgumentError(f"{argument('fields', 'tracking')}: the run has no {argument('trajectory')}")
    if "targets" in fields and not worlds.controlled:
        raise ArgumentError(f"{argument('fields', 'targets')}: no PD controllers act in the steps of the run")
    return fields


def _writer(
    ctx: click.Context,
    loaded: LoadedModel,
    output: str | None,
    times: FloatArray,
    worlds: Worlds,
    fields: Sequence[str],
    plan: Plan | None,
) -> WorldsWriter | None:
    if output is None:
        return None
    from mbcli.log.worlds_writer import WorldsWriter
    from mbcli.simulation.recording import log_header

    argv = ("mbcli", *(ctx.obj or {}).get("arguments", []))
    with worlds.holding():
        header = log_header(loaded, fields, {}, plan=plan, argv=argv)
    return WorldsWriter(output, header, times, len(worlds))


def _gains(worlds: Worlds, rows: int) -> WorldGains | None:
    """What looks at the energy of worlds; None where controllers or other forces may drive them."""
    from mbcli.simulation.energy_gain import is_passive
    from mbcli.simulation.plugins.commands import PluginCommands
    from mbcli.simulation.plugins.plugin_energy import PluginEnergy
    from mbcli.simulation.world_gains import WorldGains

    plant = worlds.plant
    context = plant.CreateDefaultContext()
    energy = PluginEnergy(context, PluginCommands(plant).laws)
    passive = not (worlds.controlled or energy.givers or energy) and is_passive(plant, context)
    return WorldGains(worlds, rows) if passive else None


class _Rows:
    """Rows of worlds, to a writer or to nothing; gains looks at those that nothing drives, speeds at all velocities."""

    def __init__(
        self,
        worlds: Worlds,
        series: FloatArray | None,
        writer: WorldsWriter | None,
        gains: WorldGains | None,
        speeds: Sequence[VelocityRecord],
    ) -> None:
        self._worlds, self._writer, self._gains, self._speeds = worlds, writer, gains, speeds
        self.series = series

    def write(self, samples: FloatArray, at: Sequence[int], more: Mapping[str, FloatArray] | None = None) -> None:
        """[q; v] (n, rows, ...) after so many steps; more: {path: values of the same rows}."""
        times = np.array(at) * self._worlds.plant.time_step() + self._worlds.start_time
        if self._gains is not None:
            self._gains.see(samples, times)
        for speeds, rows in zip(self._speeds, samples, strict=False):  # none without limits
            speeds.see(times, rows[:, self._worlds.q.shape[1] :])
        if self._writer is None:
            return
        worlds, nq = self._worlds, self._worlds.q.shape[1]
        u = np.broadcast_to(worlds.u[:, np.newaxis], (len(worlds), len(at), worlds.u.shape[1]))
        if self.series is not None and len(self.series):
            u = np.broadcast_to(self.series[np.minimum(at, len(self.series) - 1)], u.shape)
        extra = {"input/u": u} if worlds.u.shape[1] else {}
        self._writer.append(**{"state/q": samples[:, :, :nq], "state/v": samples[:, :, nq:], **extra, **(more or {})})


def _advance(worlds: Worlds, rows: list[int], kept: _Rows, stop: Any) -> str:
    """Takes all steps, block by block; returns how the run ended."""
    per_row = 8 * len(worlds) * (worlds.q.shape[1] + worlds.v.shape[1] + worlds.u.shape[1])
    most = max(1, BLOCK_BYTES // max(per_row, 1))
    series = kept.series
    kept.write(np.hstack([worlds.q, worlds.v])[:, np.newaxis], [0])
    with stop:
        stop.listen()
        k = 0
        while k < len(rows) - 1:
            if stop():
                return "interrupted"
            width = rows[k + 1] - rows[k]
            last = k + 1
            while last < len(rows) - 1 and last - k < most and rows[last + 1] - rows[last] == width:
                last += 1
            u = None if series is None else series[rows[k] : rows[last]]
            kept.write(worlds.rollout(rows[last] - rows[k], u, every=width), rows[k + 1 : last + 1])
            k = last
    return "complete"


def _advance_by_rows(
    worlds: Worlds,
    rows: list[int],
    kept: _Rows,
    stop: Any,
    more: WorldRows,
    sensors: WorldSensors | None,
) -> str:
    """As _advance(), row by row: with what is called at ticks there, what follows from the rows and what sensors
    measure."""
    series = kept.series

    def write(row: int) -> None:
        if series is not None and len(series):
            worlds.u = series[min(row, len(series) - 1)]
        worlds.call_if_due()
        ended = worlds.status != 0
        measured = more.rows()
        for name, values in sensors.signals().items() if sensors is not None else ():
            measured[f"sensors/{name}"] = np.where(ended[:, np.newaxis], np.nan, values)[:, np.newaxis]
        state = np.hstack([worlds.q, worlds.v])
        state[ended] = np.nan
        kept.write(state[:, np.newaxis], [row], measured)

    with stop:
        stop.listen()
        write(0)
        for first, last in itertools.pairwise(rows):
            if stop():
                return "interrupted"
            worlds.rollout(last - first, None if series is None else series[first:last], every=last - first)
            write(last)
    return "complete"


def render(summary: dict[str, Any]) -> str:
    """The summary for people."""
    count, stopped = summary["worlds"], summary["stopped"]
    simulated = summary["end_time"] - summary["start_time"]
    done = f"simulated {counted(count, 'world')} for {simulated:.6g} s in {summary['wall_time']:.3g} s"
    lines = [f"{done}: {counted(summary['steps'], 'step')} of {summary['time_step']:g} s in all"]
    if stopped:
        lines.append(f"{counted(len(stopped), 'world')} stopped:")
        lines += [f"  {s['world']} at {s['time']:.6g} s: {printable(s['message'])}" for s in stopped[:MOST_TOLD]]
        if len(stopped) > MOST_TOLD:
            lines.append(f"  and {len(stopped) - MOST_TOLD} more")
    if summary["status"] == "interrupted":
        lines.append(f"stopped by a signal at t = {summary['end_time']:.6g} s")
    if summary["log"]:
        lines.append(f"log: {summary['log']}")
    return "\n".join(lines)

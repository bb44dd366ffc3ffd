"""`mbcli simulate --states STARTS --each`: a run from every start, all at once."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mbcli.cli.compiling_line import CompilingLine
from mbcli.cli.options import usage_errors
from mbcli.cli.output import document, printable, warn
from mbcli.cli.rows import require_tables
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.errors import ModelError
from mbcli.multibody.tree.joint_kinds import has_quaternion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import SimpleNamespace

    from mbcli.cli.options import Options
    from mbcli.log.worlds_writer import WorldsWriter
    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.simulation.worlds import Worlds

BLOCK_BYTES = 1 << 26  # of samples that are in memory at once
MOST_TOLD = 5  # worlds that stopped
ALONE = (
    "pushes",
    "controller",
    "trajectory",
    "resume_path",
    "balance",
    "fields",
    "integrator",
    "accuracy",
    "max_step",
    "seed",
)
EXIT_CODE_OF_STOPPED = 5
_NAMES = {"resume_path": "--resume", "pushes": "--push"}


def require_each(options: Options, state: Options) -> bool:
    """UsageError for options that do not go with --states --each, or these without each other."""
    if options.states is None:
        if options.each:
            raise click.UsageError("--each needs --states")
        require_tables(options)
        return False
    if not options.each:
        raise click.UsageError("--states needs --each here: a run from every state")
    for key in ALONE:
        if getattr(options, key) not in (None, False, ()):
            name = _NAMES.get(key) or f"--{key.replace('_', '-')}"
            raise click.UsageError(f"{name} is for a single run, not for --each")
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
    from mbcli.simulation.sampling import Sampling
    from mbcli.simulation.worlds import Worlds

    plant, compiling = loaded.plant, CompilingLine("the simulation", 15, shown=not quiet)
    with usage_errors(), closing(compiling):
        starts = read_starts(loaded, options, state, quiet)
        worlds = Worlds(
            loaded,
            len(starts.q),
            threads=options.threads,
            warn=(lambda line: None) if quiet else warn,
            on_compile=compiling.start,
        )
        place(worlds, starts, options, quiet)
        duration = options.duration if options.duration is not None else loaded.config.simulation_duration
        duration = duration if np.isfinite(duration) else options.default_duration
        start = float(worlds.time[0])
        sampling = Sampling(plant, start, start + duration, options.log_rate)
    h = plant.time_step()
    steps = round((sampling.end_of_steps - start) / h)
    every = 1 if sampling.period is None else max(1, round(sampling.period / h))
    rows = [*range(0, steps, every), steps] if steps else [0]
    series = actuation_rows(plant, given, start + h * np.arange(steps + 1), options.effort_limits, quiet)
    writer = _writer(ctx, loaded, output, start + h * np.array(rows), len(worlds))
    began = time.perf_counter()
    try:
        status = _advance(worlds, rows, every, series, writer, stop)
        wall = time.perf_counter() - began
        failures = worlds.failures()
        if writer is not None:
            writer.finish(status, worlds.time, [failures.get(k, "") for k in range(len(worlds))])
    except BaseException:
        if writer is not None:
            writer.abandon()
        raise
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
    if starts.u is not None:
        worlds.u = starts.u
    worlds.hold_here(options.posture == options.at_start)


def actuation_rows(plant: MultibodyPlant, given: Any, times: Vector, choice: str, quiet: bool) -> FloatArray | None:
    """u (steps, nu) of what --input or --u give, at times (steps + 1,) [s]; None without them.

    choice: of --effort-limits.
    """
    from mbcli.simulation.effort_limits import clamped, efforts_in_words, exceeded_efforts
    from mbcli.simulation.input_series import as_input

    if given is None:
        return None
    series = as_input(plant, given)
    line = efforts_in_words(exceeded_efforts(plant, series, times[0], times[-1]), choice)
    if line and not quiet:
        warn(line)
    if choice == "clamp":
        series = clamped(plant, series)
    row = np.searchsorted(series.times, times[:-1], side="right") - 1
    return np.where((row >= 0)[:, np.newaxis], series.values[np.maximum(row, 0)], 0.0)


def _writer(
    ctx: click.Context, loaded: LoadedModel, output: str | None, times: FloatArray, count: int
) -> WorldsWriter | None:
    if output is None:
        return None
    from mbcli.log.worlds_writer import WorldsWriter
    from mbcli.simulation.recording import log_header

    fields = ["u"] if loaded.plant.num_actuators() else []
    argv = ("mbcli", *(ctx.obj or {}).get("arguments", []))
    return WorldsWriter(output, log_header(loaded, fields, {}, argv=argv), times, count)


def _advance(
    worlds: Worlds,
    rows: list[int],
    every: int,
    series: FloatArray | None,
    writer: WorldsWriter | None,
    stop: Any,
) -> str:
    """Takes all steps, block by block; returns how the run ended."""
    nq = worlds.q.shape[1]
    per_row = 8 * len(worlds) * (nq + worlds.v.shape[1] + worlds.u.shape[1])
    most = max(1, BLOCK_BYTES // max(per_row, 1))

    def write(samples: FloatArray, at: Sequence[int]) -> None:
        assert writer is not None
        u = np.broadcast_to(worlds.u[:, np.newaxis], (len(worlds), len(at), worlds.u.shape[1]))
        if series is not None and len(series):
            u = np.broadcast_to(series[np.minimum(at, len(series) - 1)], u.shape)
        extra = {"input/u": u} if worlds.u.shape[1] else {}
        writer.append(**{"state/q": samples[:, :, :nq], "state/v": samples[:, :, nq:], **extra})

    if writer is not None:
        write(np.hstack([worlds.q, worlds.v])[:, np.newaxis], [0])
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
            samples = worlds.rollout(rows[last] - rows[k], u, every=width)
            if writer is not None:
                write(samples, rows[k + 1 : last + 1])
            k = last
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

"""`mbcli simulate --states STARTS --each`: a run from every start, all at once."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mbcli.cli.options import usage_errors
from mbcli.cli.output import document, printable, tell, warn
from mbcli.cli.progress_lines import CompilingLine
from mbcli.cli.rows import require_tables
from mbcli.cli.run_settings import run_arguments
from mbcli.common.argument_names import argument
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.common.setting import options_of_single_runs
from mbcli.errors import ModelError
from mbcli.simulation.run_arguments import RunArguments

if TYPE_CHECKING:
    from mbcli.cli.options import Options
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.simulation.world_starts import Starts

MOST_LISTED = 5  # worlds that stopped
EXIT_CODE_OF_STOPPED = 5


def require_each(options: Options, state: Options) -> bool:
    """UsageError for options that do not go with --states, which --each is implied by, or need it."""
    if options.states is None and not (options.each and options.resume_path is not None):
        if options.each:
            raise click.UsageError("--each needs --states FILE: a row for each run, as `mbcli simulate --help` says")
        require_tables(options)
        return False
    for option in options_of_single_runs(RunArguments):
        if getattr(options, option.parameter) not in (None, False, ()):
            raise click.UsageError(f"{option.flags[-1]} is for a single run, not for --states")
    if any(value not in (None, ()) for key, value in vars(state).items() if key not in ("assignments", "degrees")):
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
    from mbcli.simulation.earlier_worlds import EarlierWorlds
    from mbcli.simulation.worlds_run import WorldsRun

    compiling = CompilingLine("the simulation", 15, shown=not quiet)
    with contextlib.ExitStack() as open_things:
        earlier = None
        if options.resume_path is not None:
            earlier = open_things.enter_context(EarlierWorlds(options.resume_path))
        with usage_errors(), contextlib.closing(compiling):
            run = WorldsRun(
                loaded,
                None if earlier is not None else read_starts(loaded, options, state, quiet),
                earlier=earlier,
                inputs=given,
                **run_arguments(options),
                threads=options.threads,
                command=["mbcli", *(ctx.obj or {}).get("arguments", [])],
                warn=(lambda line: None) if quiet else warn,
                note=(lambda line: None) if quiet else lambda line: tell(f"mbcli: {line}"),
                on_compile=compiling.start,
            )
        with stop:
            done = run.run(output, should_stop=stop, on_start=stop.listen)
    summary = done.as_dict()
    click.echo(to_json(document("simulate-each", loaded, **summary)) if options.as_json else render(summary))
    if done.status == "interrupted":
        return int(stop.exit_code)
    return EXIT_CODE_OF_STOPPED if done.failures else 0


def read_starts(loaded: LoadedModel, options: Options, state: Options, quiet: bool) -> Starts:
    """Those of all rows of STARTS."""
    from mbcli.batch.state_reader import open_states
    from mbcli.cli.rows import row_layout
    from mbcli.cli.state import set_state
    from mbcli.models.placement import put_on_ground
    from mbcli.simulation.world_starts import Starts

    assert options.states is not None
    plant = loaded.plant
    context = plant.CreateDefaultContext()
    if loaded.ground is not None and plant.meets_contact():  # what a row leaves out is as in a run without --states
        put_on_ground(plant, context, loaded.ground, np.zeros(plant.num_positions(), dtype=bool))
    set_state(loaded, context, state, of_rows=True)
    layout = row_layout(plant, context, state, options, ("q", "v"), quiet, or_none=("v",))
    chunks = list(open_states(options.states, layout, input_format=options.states_format))
    if not chunks:
        raise ModelError(f"{options.states}: error: has no states")
    if not quiet and options.fill is None and not any("v" in chunk.given for chunk in chunks):
        at_rest = "every run starts at rest"
        start = f"every run starts with those of the model and {argument('at')}" if layout.default_v.any() else at_rest
        tell(f"mbcli: {options.states}: has no velocities: {start}")
    for name in ("vdot", "tau"):
        if getattr(chunks[0], name) is not None:
            raise ModelError(f"{options.states}: error: has {name}: starts have q, v and u")
    with_u = chunks[0].u is not None
    if with_u and (options.input_file is not None or options.u_text is not None):
        raise click.UsageError("the states have actuation: no --input and no --u")
    return Starts(
        q=np.vstack([chunk.q for chunk in chunks]),
        v=np.vstack([chunk.v for chunk in chunks]),
        u=np.vstack([chunk.u for chunk in chunks]) if with_u else None,  # type: ignore[misc]  # all chunks have u
    )


def render(summary: dict[str, Any]) -> str:
    """The summary for people."""
    count, stopped = summary["worlds"], summary["stopped"]
    simulated = summary["end_time"] - summary["start_time"]
    done = f"simulated {counted(count, 'world')} for {simulated:.6g} s in {summary['wall_time']:.3g} s"
    lines = [f"{done}: {counted(summary['steps'], 'step')} of {summary['time_step']:g} s in all"]
    if stopped:
        lines.append(f"{counted(len(stopped), 'world')} stopped:")
        lines += [f"  {s['world']} at {s['time']:.6g} s: {printable(s['message'])}" for s in stopped[:MOST_LISTED]]
        if len(stopped) > MOST_LISTED:
            lines.append(f"  and {len(stopped) - MOST_LISTED} more")
    if summary["balance"] is not None:
        from mbcli.simulation.run_summary import balance_in_words

        together = {name: sum(values) for name, values in summary["balance"].items()}
        lines.append(f"of all worlds together {balance_in_words(together)}")
    if summary["status"] == "interrupted":
        lines.append(f"stopped by a signal at t = {summary['end_time']:.6g} s")
    if summary["log"]:
        lines.append(f"log: {summary['log']}")
    return "\n".join(lines)

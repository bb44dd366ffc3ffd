"""The common parts of all analyses: one state to text or JSON, or a batch of states to rows."""

from __future__ import annotations

import math
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mbcli.batch import FORMATS as ROW_FORMATS, is_bag
from mbcli.cli.model import load
from mbcli.cli.options import (
    BATCH_KEYS,
    MODEL_KEYS,
    STATE_KEYS,
    batch_options,
    model_options,
    output_options,
    state_options,
    take,
    take_output,
    together,
)
from mbcli.cli.output import document, emit, refuse_existing, require_finite, warn
from mbcli.cli.progress_lines import CompilingLine
from mbcli.cli.state import set_state
from mbcli.common.json_text import to_json
from mbcli.common.output_files import is_special
from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from mbcli.batch.result_writer import ResultWriter
    from mbcli.batch.state_reader import StateChunk
    from mbcli.cli.options import Options, OutputOptions
    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.math.array_types import Array, FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

    Evaluate: TypeAlias = Callable[[MultibodyPlant, Context, dict[str, Any]], dict[str, Any]]
    EvaluateRows: TypeAlias = Callable[[Context, StateBatch, SimpleNamespace], dict[str, Any]]
    Render: TypeAlias = Callable[[MultibodyPlant, dict[str, Any]], str]

TURN = 2.0 * math.pi  # [rad]
FEW_ROWS = 100  # that are not worth a compilation

# the decorators of a command that calculates something at a state or at rows of states, around its own options
analysis_command = together(click.command, model_options, state_options, batch_options)
analysis_output = together(output_options, click.pass_context)


class Completion(NamedTuple):
    """What adds to rows what they do not give.

    Attributes:
        chunks: (plant, context, chunks, source) -> chunks: adds it, or refuses them.
        or_none: of which of q and v rows may give nothing at all.
    """

    chunks: Callable[[MultibodyPlant, Context, Iterator[StateChunk], str], Iterator[StateChunk]]
    or_none: Sequence[str] = ()


class Analysis:
    """A calculation at a state.

    Args:
        command: its name on the command line.
        evaluate: (plant, context, inputs) -> dict of results, inputs holding vdot, tau or u if given.
        render: (plant, results) -> text.
        takes: which of vdot, tau, u a row of a batch may carry.
        needs: which of q and v it has to give, unless --at or --fill does.
        complete: the Completion of rows that do not give all.
        columns: (plant, results) -> dict of arrays for a row; default: the results themselves.
        component_names: plant -> names of the components of each column, for CSV headers.
        evaluate_rows: (context, batch, states) -> dict of columns for all rows of a chunk, with batch a StateBatch and
            states having q, v and the inputs of the command, each (n, ...) or None; without it rows go one by one.
        loading: arguments of load_model() beside those of its options.
        by_cube: whether its work grows with the cube of the velocities, so that large plants are compiled.

    A batch is compiled even if it is short and interpreting it would end sooner: how long a pipe is shows only at
    its end, and the digits of a row shall not depend on how many rows follow. MBCLI_JIT=0 interprets all.
    """

    def __init__(
        self,
        command: str,
        evaluate: Evaluate,
        render: Render,
        *,
        takes: Sequence[str] = (),
        needs: Sequence[str] = ("q", "v"),
        columns: Callable[[MultibodyPlant, dict[str, Any]], dict[str, Any]] | None = None,
        component_names: Callable[[MultibodyPlant], dict[str, list[str]]] | None = None,
        evaluate_rows: EvaluateRows | None = None,
        complete: Completion | None = None,
        loading: Mapping[str, Any] | None = None,
        by_cube: bool = False,
        notes: Callable[[LoadedModel], list[str]] = lambda loaded: [],
    ) -> None:
        self.command, self.evaluate, self.render, self.takes = command, evaluate, render, takes
        self.needs, self.complete = needs, complete
        self.evaluate_rows = evaluate_rows
        self.columns = columns or (lambda plant, results: results)
        self.component_names = component_names or (lambda plant: {})
        self.loading, self.by_cube, self.notes = loading or {}, by_cube, notes

    def run(self, ctx: click.Context, values: dict[str, Any], inputs: dict[str, str | None]) -> None:
        """Runs the command: values are click's keyword arguments, inputs maps vdot, tau or u to the option's text."""
        if (ctx.obj or {}).get("answer") is not None:  # of `serve`, whose model is there
            ctx.obj["answer"](self, take(values, STATE_KEYS), inputs)
            return
        model, state = take(values, MODEL_KEYS), take(values, STATE_KEYS)
        batch, output = take(values, BATCH_KEYS), take_output(values)
        output.output_format = output.result_format()
        if output.output not in (None, "-") and not is_special(output.output):
            refuse_existing(output.output, output.force)
        if batch.states is None and any((batch.states_format, batch.fill)):
            from mbcli.cli.rows import require_tables

            require_tables(batch)
        if batch.states is not None:
            _check_batch(batch, output)
        loaded = load(model, ctx, **self.loading)
        from mbcli.engine.runtime.kernel import worth_compiling

        for line in self.notes(loaded) if (ctx.obj or {}).get("verbosity", 0) >= 0 else ():
            warn(line)
        at_once = batch.states is not None and self._is_compiled(loaded.plant.model)
        if batch.states is None or at_once:
            # the context evaluates one state, or only holds the start of a batch, for which nothing is imported
            compiles = self.by_cube and worth_compiling(loaded.plant.num_velocities())
            one = batch.states is None and not compiles
            loaded.plant.prefers_interpreted = one or (at_once and not _has_precompiled_kernels())
        if batch.states is None:
            self._print(loaded, *self.evaluate_state(loaded, state, inputs), output)
            return
        import numpy as np

        context, given = _start(loaded, state, inputs, of_rows=True)
        with np.errstate(all="ignore"):
            evaluate = (self._rows_at_once if at_once else self._rows_one_by_one)(loaded.plant, context, given)
            quiet = (ctx.obj or {}).get("verbosity", 0) < 0
            self._run_batch(loaded, context, evaluate, state, batch, output, quiet)

    def evaluate_state(
        self, loaded: LoadedModel, state: Options, inputs: dict[str, str | None]
    ) -> tuple[Context, dict[str, Any]]:
        """(context, results) of the state that the values of state_options describe."""
        import numpy as np

        context, given = _start(loaded, state, inputs)
        with np.errstate(all="ignore"):  # numbers that are not finite are reported by name
            return context, self.evaluate(loaded.plant, context, given)

    def _print(self, loaded: LoadedModel, context: Context, results: dict[str, Any], output: OutputOptions) -> None:
        format_ = output.output_format
        if format_ in ROW_FORMATS:
            with self._writer(loaded, output, format_) as writer:
                columns = self.columns(loaded.plant, results)
                writer.write({name: _stack([value]) for name, value in columns.items()})
        elif format_ == "json":
            emit(to_json(document(self.command, loaded, context, **results)), output)
        else:
            emit(self.render(loaded.plant, results), output)
        require_finite(results)

    def _run_batch(
        self,
        loaded: LoadedModel,
        context: Context,
        evaluate: Callable[[StateChunk], dict[str, Any]],
        state: Options,
        batch: Options,
        output: OutputOptions,
        quiet: bool,
    ) -> None:
        """Writes the columns that evaluate(chunk) gives for each chunk of states."""
        from mbcli.batch.state_reader import open_states
        from mbcli.cli.rows import LimitsOfRows, row_layout

        assert batch.states is not None
        plant = loaded.plant
        or_none = self.complete.or_none if self.complete else ()
        forces = {"tau", "u"} <= set(self.takes)  # else u are controls, which servos follow
        layout = row_layout(plant, context, state, batch, self.needs, quiet, or_none, forces=forces)
        source = batch.states if batch.states != "-" else "<stdin>"
        limits = LimitsOfRows(plant, source, quiet)
        chunks = open_states(batch.states, layout, input_format=batch.states_format)
        with closing(chunks), self._writer(loaded, output, output.output_format) as writer:
            for chunk in chunks if self.complete is None else self.complete.chunks(plant, context, chunks, source):
                limits.look(chunk)
                columns = evaluate(chunk)
                if chunk.time is not None:
                    columns = {"time": chunk.time, **columns}
                writer.write(columns)

    def _is_compiled(self, model: Any) -> bool:
        """Whether a batch of states of a model can be evaluated in compiled calls of many rows."""
        from mbcli.engine.queries.state_batch import covers
        from mbcli.engine.runtime.kernel import may_compile

        return self.evaluate_rows is not None and covers(model) and may_compile()

    def _rows_at_once(
        self, plant: MultibodyPlant, context: Context, given: dict[str, FloatArray]
    ) -> Callable[[StateChunk], dict[str, Any]]:
        """chunk -> columns, all rows in one compiled call."""
        from mbcli.engine.queries.state_batch import StateBatch

        batch = StateBatch(context.state.model, announce=announce_compiling, patience=FEW_ROWS)

        def evaluate(chunk: StateChunk) -> dict[str, Any]:
            assert self.evaluate_rows is not None
            states = SimpleNamespace(q=chunk.q, v=chunk.v)
            for name in self.takes:
                rows = getattr(chunk, name)
                if rows is None and name in given:
                    rows = _repeat(given[name], len(chunk))
                setattr(states, name, rows)
            return self.evaluate_rows(context, batch, states)

        return evaluate

    def _rows_one_by_one(
        self, plant: MultibodyPlant, context: Context, given: dict[str, FloatArray]
    ) -> Callable[[StateChunk], dict[str, Any]]:
        """chunk -> columns, each row evaluated as a single state is."""

        def evaluate(chunk: StateChunk) -> dict[str, Any]:
            rows = []
            for k in range(len(chunk)):
                plant.SetPositions(context, chunk.q[k])
                plant.SetVelocities(context, chunk.v[k])
                inputs = dict(given)
                for name in self.takes:
                    column = getattr(chunk, name)
                    if column is not None:
                        inputs[name] = column[k]
                rows.append(self.columns(plant, self.evaluate(plant, context, inputs)))
            return {name: _stack([row[name] for row in rows]) for name in (rows[0] if rows else ())}

        return evaluate

    def _writer(self, loaded: LoadedModel, output: OutputOptions, format_: str | None) -> ResultWriter:
        from mbcli.batch.result_writer import open_results
        from mbcli.models.units import result_units

        plant = loaded.plant
        metadata = {
            "schema": f"mbcli/{self.command}",
            "schema_version": 1,
            "model": loaded.description(),
            "position_names": plant.GetPositionNames(),
            "velocity_names": plant.GetVelocityNames(),
        }
        return open_results(
            output.output,
            format_,
            force=output.force,
            metadata=metadata,
            component_names=self.component_names(plant),
            component_units=result_units(plant),
        )


def _has_precompiled_kernels() -> bool:
    from mbcli.engine.runtime.precompiled import precompiled_library

    return precompiled_library() is not None


def _start(
    loaded: LoadedModel, state: Options, inputs: dict[str, str | None], of_rows: bool = False
) -> tuple[Context, dict[str, FloatArray]]:
    """(a context in the state that the options describe, the values of vdot, tau or u)."""
    context = loaded.plant.CreateDefaultContext()
    stated = set_state(loaded, context, state, of_rows)
    if not of_rows and (abs(loaded.plant.GetPositions(context)[stated]) > TURN).any():
        _ask_about_degrees(loaded.plant, context)
    return context, parse_inputs(loaded.plant, inputs)


def _ask_about_degrees(plant: MultibodyPlant, context: Context) -> None:
    """Warns of angles beyond their limits that would be within them in degrees."""
    from mbcli.simulation.start_limits import in_words, positions_outside_limits

    odd = [position for position in positions_outside_limits(plant, context) if position.may_be_degrees]
    if odd:
        warn(f"{in_words(odd)}; --degrees reads plain angles as degrees, and 30deg is one")


def _check_batch(batch: Options, output: OutputOptions) -> None:
    """Finds out before a model is loaded whether there are states, and results that can have rows."""
    if output.output_format in ("text", "json"):
        raise click.UsageError("--states gives rows: --format is one of " + ", ".join(ROW_FORMATS))
    assert batch.states is not None
    if batch.states != "-" and not is_bag(batch.states):
        try:
            with open(batch.states, "rb"):
                pass
        except OSError as error:
            raise ResourceError(f"{batch.states}: error: cannot read the states: {error.strerror}") from None


def announce_compiling() -> CompilingLine:
    return CompilingLine("the calculation for batches", 10)


def _stack(values: Sequence[Any]) -> Array:
    import numpy as np

    return np.array(values)


def _repeat(row: FloatArray, count: int) -> FloatArray:
    import numpy as np

    return np.tile(row, (count, 1))


def parse_inputs(plant: MultibodyPlant, inputs: Mapping[str, str | None]) -> dict[str, FloatArray]:
    """The values of vdot, tau and u from option text: a list in order, or NAME=VALUE pairs."""
    from mbcli.cli.state import by_name, numbers
    from mbcli.common.coordinate_names import NamedCoordinates
    from mbcli.models.actuator_names import ActuatorNames, no_actuators

    names_of = {
        "vdot": plant.GetVelocityNames,
        "tau": plant.GetVelocityNames,
        "u": plant.GetActuatorNames,
    }
    result = {}
    for name, text in inputs.items():
        if text is None:
            continue
        names = names_of[name]()
        if "=" in text:
            import numpy as np

            result[name] = np.zeros(len(names))
            find = (ActuatorNames(plant) if name == "u" else NamedCoordinates(names, "velocity")).find
            for k, value in by_name(text.replace(",", " ").split(), find, f"--{name}").items():
                result[name][k] = value
        else:
            result[name] = numbers(text, names, f"--{name}", no_actuators() if name == "u" else "")
    return result

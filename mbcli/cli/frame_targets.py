"""`mbcli ik --targets FILE`: a table of places of frames to one of positions, a row each."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.model import find_frame, load
from mbcli.cli.options import MODEL_KEYS, STATE_KEYS, take, take_output
from mbcli.cli.output import refuse_existing, warn
from mbcli.cli.state import set_state
from mbcli.common.output_files import is_special
from mbcli.errors import ArgumentError, ModelError, NumericalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.batch.state_reader import StateChunk
    from mbcli.math.array_types import Array
    from mbcli.models.frame_places import PlaceSearch
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

COLUMNS = ("x", "y", "z", "qw", "qx", "qy", "qz")  # of a frame; the last four together, or none of them
FOUND, OUT_OF_REACH, COLLIDES = 0, 1, 2  # status of a row
MOST_NAMED = 5  # rows in a message


def solve_targets(
    ctx: click.Context,
    values: dict[str, Any],
    targets: str,
    input_format: str | None,
    names: Sequence[str],
    base: str,
    options: dict[str, Any],
) -> None:
    """Writes the positions for each row of a table of places. NumericalError at the end if some were not reached.

    Args:
        values: of the options of models, states and outputs.
        targets, input_format: the table, as of --states.
        names: of the frames. base: in which places are given.
        options: attempts, seed and collisions of inverse_kinematics(), where they are given.
    """
    import numpy as np

    from mbcli.batch.result_writer import open_results
    from mbcli.batch.state_layout import StateLayout
    from mbcli.batch.state_reader import open_states

    model, state, output = take(values, MODEL_KEYS), take(values, STATE_KEYS), take_output(values)
    result_format = output.result_format()
    if result_format in ("text", "json"):
        raise click.UsageError("--targets gives rows: --format is one of jsonl, csv, npz, hdf5, parquet, arrow")
    if output.output not in (None, "-") and not is_special(output.output):
        refuse_existing(output.output, output.force)
    loaded = load(model, ctx, contact="collisions" in options)
    plant = loaded.plant
    for name in names:
        find_frame(plant, name, "--frame")
    context = plant.CreateDefaultContext()
    set_state(loaded, context, state)
    columns = [f"{name.replace('::', '_')}_{column}" for name in names for column in COLUMNS]
    missing = np.full(len(columns), np.nan)
    layout = StateLayout(columns, (), (), missing, np.zeros(0), _demands(columns, ctx))
    metadata = {"schema": "mbcli/kinematics", "schema_version": 1, "model": loaded.description()}
    metadata |= {"position_names": plant.GetPositionNames(), "velocity_names": plant.GetVelocityNames()}
    solver = _Rows(plant, context, names, base, options)
    failed: list[int] = []
    count = 0
    with (
        closing(open_states(targets, layout, input_format=input_format)) as chunks,
        open_results(
            output.output,
            result_format,
            force=output.force,
            metadata=metadata,
            component_names={"q": plant.GetPositionNames()},
        ) as writer,
    ):
        for chunk in chunks:
            solved = solver.solve(chunk, targets)
            failed += [chunk.first_row + k + 1 for k, status in enumerate(solved["status"]) if status != FOUND]
            count += len(chunk)
            writer.write(solved if chunk.time is None else {"time": chunk.time, **solved})
    if failed:
        rows = ", ".join(map(str, failed[:MOST_NAMED])) + (", ..." if len(failed) > MOST_NAMED else "")
        raise NumericalError(f"{len(failed)} of {count} rows were not reached, as their status says: {rows}")


def _demands(columns: Sequence[str], ctx: click.Context) -> Any:
    from mbcli.batch.row_demands import RowDemands

    quiet = (ctx.obj or {}).get("verbosity", 0) < 0
    units = ["m" if column.rpartition("_")[2] in "xyz" else "1" for column in columns]
    return RowDemands(units={"q": units}, tell=(lambda line: None) if quiet else warn)


class _Rows:
    """Solves rows one after the other, each from the positions of the last one that was found."""

    def __init__(
        self, plant: MultibodyPlant, context: Context, names: Sequence[str], base: str, options: dict[str, Any]
    ) -> None:
        self._plant, self._context, self._names, self._base = plant, context, names, base
        self._collisions = "collisions" in options
        self._search_options = {name: value for name, value in options.items() if name != "collisions"}
        self._searches: dict[tuple[int, ...], PlaceSearch] = {}  # by how many numbers each frame has

    def solve(self, chunk: StateChunk, source: str) -> dict[str, Array]:
        """The columns of the results of rows."""
        import numpy as np

        from mbcli.models.frame_places import ATTEMPTS, UnreachedError

        count = len(chunk)
        q = np.full((count, self._plant.num_positions()), np.nan)
        errors, tries, status = np.full((count, 2), np.nan), np.zeros(count, dtype=int), np.zeros(count, dtype=int)
        for k, row in enumerate(chunk.q.reshape(count, len(self._names), len(COLUMNS))):
            where = f"{source}: error: row {chunk.first_row + k + 1}"
            places = {name: _numbers(name, values, where) for name, values in zip(self._names, row, strict=True)}
            try:
                found = self._search_of(places).solve(places, **self._search_options)
            except ArgumentError as error:
                raise ModelError(f"{where}: {error}") from None
            except UnreachedError as error:
                status[k] = COLLIDES if error.collides else OUT_OF_REACH
                tries[k] = self._search_options.get("attempts", ATTEMPTS)
                continue
            q[k], errors[k], tries[k] = found.q, (found.position_error, found.angle_error), found.attempts
        return {
            "status": status,
            "q": q,
            "position_error": errors[:, 0],
            "angle_error": errors[:, 1],
            "attempts": tries,
        }

    def _search_of(self, places: dict[str, Array]) -> PlaceSearch:
        from mbcli.models.frame_places import PlaceSearch

        sizes = tuple(map(len, places.values()))
        if sizes not in self._searches:
            search = PlaceSearch(self._plant, self._context, places, self._base, collisions=self._collisions)
            self._searches[sizes] = search
        return self._searches[sizes]


def _numbers(name: str, values: Array, where: str) -> Array:
    """x, y, z, and the quaternion if the row gives one. ModelError if it gives a part of either."""
    import numpy as np

    missing = np.isnan(values)
    lacking = [column for column, lacks in zip(COLUMNS, missing, strict=True) if lacks]
    if missing[:3].any() or (missing[3:].any() and not missing[3:].all()):
        raise ModelError(f"{where} gives no {', '.join(f'{name}_{column}' for column in lacking)}")
    return values[:3] if missing[3:].any() else values

"""`mbcli spatial`: calculators of spatial vectors, of options or of the rows of tables."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import output_options, take_output, usage_errors
from mbcli.cli.output import emit, number, warn
from mbcli.common.json_text import to_json
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.math.framed_vectors import Framed, Frames

PARTS = ("rx", "ry", "rz", "tx", "ty", "tz")
INERTIA = ("mass", "cx", "cy", "cz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
COLUMNS = {  # of the numbers of each operand in a table
    "vector": PARTS,
    "offset": ("px", "py", "pz"),
    "rotation": ("qw", "qx", "qy", "qz"),
    "angular-velocity": ("wx", "wy", "wz"),
    "other": tuple(f"other_{part}" for part in PARTS),
    "relative-velocity": tuple(f"relative_{part}" for part in PARTS),
}
OPERANDS = {
    "shift": ("vector", "offset"),
    "rotate": ("vector", "rotation"),
    "compose": ("vector", "offset", "other"),
    "dot": ("vector", "other"),
}
OF_ACCELERATIONS = {"shift": ("angular-velocity",), "compose": ("angular-velocity", "relative-velocity")}


@click.command("spatial")
@click.argument("operation", type=click.Choice(list(OPERANDS)))
@click.option(
    "--kind",
    type=click.Choice(("velocity", "acceleration", "force", "momentum", "inertia")),
    default="velocity",
    show_default=True,
    help="What --vector is. An inertia has 10 numbers: mass, centre of mass from the point, Ixx, Iyy, Izz, Ixy, Ixz, "
    "Iyz about the point.",
)
@click.option("--vector", metavar="LIST", help="Six numbers, the rotational part first.")
@click.option("--offset", metavar="X,Y,Z", help="From the vector's point to the new one [m] (shift, compose).")
@click.option("--rotation", metavar="QW,QX,QY,QZ", help="R_FE: from frame E, in which it is expressed, to F (rotate).")
@click.option("--angular-velocity", metavar="X,Y,Z", help="w_MB [rad/s], that accelerations need (shift, compose).")
@click.option("--other", metavar="LIST", help="V_BC or A_BC (compose), the force or momentum (dot).")
@click.option("--other-kind", type=click.Choice(("force", "momentum")), default="force", help="What --other is (dot).")
@click.option("--relative-velocity", metavar="LIST", help="V_BC, that accelerations need (compose).")
@click.option(
    "--frames",
    multiple=True,
    metavar="OPERAND=A,B,E",
    help="Names of its frames: measured in A (or the body), of B (or the point), expressed in E; offset: from A to B; "
    "rotation=F,E. Operands whose names do not fit are an error.",
)
@click.option("--states", metavar="FILE", help="A table (CSV, JSONL, NPZ, HDF5, ..., - for stdin), a result a row.")
@click.option("--states-format", metavar="FORMAT", help="The format of the table, where its name does not say it.")
@output_options
def spatial(operation: str, kind: str, other_kind: str, frames: tuple[str, ...], **values: Any) -> None:
    """Shift, rotate and compose spatial vectors, and multiply velocities with forces or momenta.

    Columns of tables are rx, ry, rz, tx, ty, tz of the vector (mass, cx, cy, cz, Ixx, Iyy, Izz, Ixy, Ixz, Iyz of an
    inertia), px, py, pz of the offset, qw, qx, qy, qz of the rotation, wx, wy, wz of the angular velocity, and those of
    the vector after other_ and relative_. What options give, rows do not give.

    \b
    mbcli spatial shift --vector 0,0,1,2,0,0 --offset 0,0.5,0
    mbcli spatial dot --vector 0,0,1,2,0,0 --other 0,0,3,4,0,0 --frames vector=W,A,W --frames other=A,Ao,W
    """
    output = take_output(values)
    columns = COLUMNS if kind != "inertia" else {**COLUMNS, "vector": INERTIA}
    wanted = OPERANDS[operation] + (OF_ACCELERATIONS.get(operation, ()) if kind == "acceleration" else ())
    given = {name: values[name.replace("-", "_")] for name in COLUMNS}
    for name, text in given.items():
        if text is not None and name not in wanted:
            raise click.UsageError(f"{operation} --kind {kind} takes no --{name}")
    kinds = {"vector": kind, "other": other_kind if operation == "dot" else kind, "relative-velocity": "velocity"}
    work = _Work(operation, wanted, kinds, _frames(frames, wanted))
    fixed = {name: _numbers(given[name], columns[name], name) for name in wanted if given[name] is not None}
    if values["states"] is not None:
        work.write_rows(values["states"], values["states_format"], columns, fixed, output)
        return
    missing = [name for name in wanted if name not in fixed]
    if missing:
        raise click.UsageError(f"{operation} --kind {kind} needs --{missing[0]}, or --states with its columns")
    if output.result_format() not in (None, "text", "json"):
        raise click.UsageError("--format is text or json without --states")
    value, found = work.result(fixed)
    content = {"operation": operation, "kind": kind, "value": value.tolist(), "frames": found}
    if output.result_format() == "json":
        emit(to_json({"schema": "mbcli/spatial", "schema_version": 1, **content}), output)
    else:
        names = "" if not found else f"  {kind} ({', '.join(name or '-' for name in found)})"
        emit(" ".join(map(number, value.reshape(-1))) + names, output)


class _Work:
    """An operation with its operands."""

    def __init__(
        self, operation: str, wanted: tuple[str, ...], kinds: dict[str, str], frames: dict[str, Frames]
    ) -> None:
        self._operation, self._wanted, self._kinds, self._frames = operation, wanted, kinds, frames

    def result(self, numbers: dict[str, FloatArray]) -> tuple[FloatArray, list[str | None] | None]:
        """(values (...), names of frames) of the operands' numbers (..., count). UsageError if frames do not fit."""
        import numpy as np

        from mbcli.multibody.math import framed_vectors

        operands = [self._framed(name, numbers[name]) for name in self._wanted]
        with usage_errors():
            found = getattr(framed_vectors, self._operation)(*operands)
        if self._operation == "dot":
            return np.asarray(found), None
        return found.values, list(found.frames) if any(found.frames) else None

    def _framed(self, name: str, numbers: FloatArray) -> Framed:
        from mbcli.multibody.math.framed_vectors import Framed, Frames

        if name == "rotation":
            import numpy as np

            from mbcli.math.rotation_array import matrix_from_quaternion

            if not numbers.any(axis=-1).all():
                raise click.UsageError("--rotation: a quaternion of length 0 is no rotation")
            matrices = [matrix_from_quaternion(wxyz) for wxyz in numbers.reshape(-1, 4)]
            numbers = np.reshape(matrices, (*numbers.shape[:-1], 3, 3))
        kind = self._kinds.get(name, name.replace("-", " "))
        return Framed(kind, numbers, self._frames.get(name, Frames()))

    def write_rows(
        self, source: str, input_format: str | None, columns: Any, fixed: dict[str, FloatArray], output: Any
    ) -> None:
        """A result for each row of a table."""
        import numpy as np

        from mbcli.batch.result_writer import open_results
        from mbcli.batch.row_demands import RowDemands
        from mbcli.batch.state_layout import StateLayout
        from mbcli.batch.state_reader import open_states

        result_format = output.result_format()
        if result_format in ("text", "json"):
            raise click.UsageError("--states gives rows: --format is one of jsonl, csv, npz, hdf5, parquet, arrow")
        names = [column for name in self._wanted if name not in fixed for column in columns[name]]
        layout = StateLayout(names, (), (), np.full(len(names), np.nan), np.zeros(0), RowDemands(tell=warn))
        metadata = {"schema": "mbcli/spatial", "schema_version": 1}
        parts = () if self._operation == "dot" else columns["vector"]
        with (
            closing(open_states(source, layout, input_format=input_format)) as chunks,
            open_results(
                output.output, result_format, force=output.force, metadata=metadata, component_names={"value": parts}
            ) as writer,
        ):
            for numbers, time in _operands(_whole(chunks, names, source), self._wanted, columns, fixed):
                value, _ = self.result(numbers)
                writer.write({"value": value} if time is None else {"time": time, "value": value})


def _whole(chunks: Any, names: list[str], source: str) -> Iterator[Any]:
    """Chunks of rows that give all numbers, and quaternions of rotations. ModelError for another one."""
    import numpy as np

    turns = [names.index(name) for name in COLUMNS["rotation"] if name in names]
    for chunk in chunks:
        lacking = np.argwhere(np.isnan(chunk.q))
        if lacking.size:
            row, column = lacking[0]
            raise ModelError(f"{source}: error: row {chunk.first_row + row + 1} gives no {names[column]}")
        still = np.flatnonzero(~chunk.q[:, turns].any(axis=1))
        if turns and still.size:
            raise ModelError(f"{source}: error: row {chunk.first_row + still[0] + 1} has a quaternion of length 0")
        yield chunk


def _operands(chunks: Any, wanted: tuple[str, ...], columns: Any, fixed: dict[str, FloatArray]) -> Iterator[Any]:
    """({operand: numbers (rows, count)}, times or None) of each chunk of rows."""
    import numpy as np

    for chunk in chunks:
        numbers, place = {}, 0
        for name in wanted:
            if name in fixed:
                numbers[name] = np.broadcast_to(fixed[name], (len(chunk), fixed[name].size))
            else:
                numbers[name] = chunk.q[:, place : place + len(columns[name])]
                place += len(columns[name])
        yield numbers, chunk.time


def _numbers(text: str, columns: tuple[str, ...], name: str) -> FloatArray:
    import numpy as np

    from mbcli.cli.state import numbers

    return np.asarray(numbers(text, columns, f"--{name}"), dtype=float)


def _frames(texts: tuple[str, ...], wanted: tuple[str, ...]) -> dict[str, Frames]:
    """Of OPERAND=A,B,E; a name may be left empty."""
    from mbcli.multibody.math.framed_vectors import Frames

    found = {}
    for text in texts:
        name, _, rest = text.partition("=")
        names = [part.strip() or None for part in rest.split(",")]
        if name not in wanted or len(names) != (2 if name == "rotation" else 3):
            raise click.UsageError(
                f"--frames {text}: OPERAND=A,B,E, or rotation=F,E, of one of {', '.join(wanted)} is expected"
            )
        found[name] = Frames(*names)
    return found

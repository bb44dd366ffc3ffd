"""Actuation over time: constant, by names, or from a table in a file.

The file has a header `time` and names of actuators, targets (servo_controls.py) or commands of plugins, then one row
per change.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.text_tables import read_text_table, scale_to, shown
from mbcli.errors import ArgumentError, ModelError
from mbcli.multibody.stepping.inputs import ALWAYS, Input, constant_input
from mbcli.parsers.diagnostics import printable
from mbcli.simulation.limit_choice import listed
from mbcli.simulation.plugins.commands import PluginCommands
from mbcli.simulation.servo_controls import ServoControls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from mbcli.common.text_tables import TableHeader, TextTable
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class RunInputs:
    """What a user gives in a run, by name: efforts and targets, then what may be asked of plugins.

    As ServoControls, whose inputs come first. aims: as there. plugins: whether they act.
    """

    def __init__(self, plant: MultibodyPlant, aims: bool = True, plugins: bool = True) -> None:
        self._servos = ServoControls(plant, aims)
        self._plugins = PluginCommands(plant if plugins else None)
        self.size = self._servos.size + len(self._plugins)

    def find(self, name: str) -> int:
        """Index of a name. LookupError if it means none, or several."""
        k = self._plugins.find(name)
        return self._servos.find(name) if k is None else self._servos.size + k

    def unit(self, index: int) -> str | None:
        """The unit of an input; None: it has none."""
        if index < self._servos.size:
            return self._servos.unit(index)
        return self._plugins.inputs[index - self._servos.size].unit

    def inputs(self, times: FloatArray, values: FloatArray) -> Input:
        """Of values (k, size) from times (k,) on, NaN where none is given: plugins keep what they had."""
        asked = values[:, self._servos.size :]
        kept = self._plugins.start()
        rows = []
        for row in asked:
            kept = np.where(np.isfinite(row), row, kept)
            rows.append(kept)
        asked = np.array(rows).reshape(len(values), -1)
        return of_servos(self._servos, times, values[:, : self._servos.size], asked)


def of_servos(servos: ServoControls, times: FloatArray, values: FloatArray, asked: FloatArray | None = None) -> Input:
    """The Input of values (k, nu or 2 nu) as ServoControls takes them."""
    return Input(times, servos.forces(values), asked, servos.aimed(values), servos.cut(values))


def cuts_in_words(series: Input) -> str | None:
    """What of an input is beyond ranges of controls; None if nothing is."""
    if not series.cut:
        return None
    each = [f"{name} (given {most:.6g}, the range ends at {end:.6g})" for name, most, end in series.cut]
    return f"inputs beyond the control range of their actuators are cut there: {listed(each)}"


def as_input(plant: MultibodyPlant, inputs: Any, aims: bool = True) -> Input:
    """The Input that `inputs` mean: zeros for None, an Input, a CSV file, an array (nu,), or {actuator: number}.

    Numbers are forces, of servos of MJCF controls, under a name NAME.target positions; those of an Input are forces.
    aims: as ServoControls has it.
    """
    if inputs is None:
        return constant_input(np.zeros(plant.num_actuators()))
    if isinstance(inputs, Input):
        return inputs
    if isinstance(inputs, (str, os.PathLike)):
        return read_input(plant, os.fspath(inputs), aims=aims)
    if isinstance(inputs, Mapping):
        controls = RunInputs(plant, aims)
        u = np.full(controls.size, np.nan)
        for name, value in inputs.items():
            try:
                u[controls.find(name)] = value
            except LookupError as error:
                raise ArgumentError(f"{argument('inputs')}: {error.args[0]}") from None
        return controls.inputs(ALWAYS, u[None])
    u = np.asarray(inputs, dtype=float)
    if u.shape != (plant.num_actuators(),):
        raise ArgumentError(
            f"{argument('inputs')}: the plant has {plant.num_actuators()} actuators, the shape is {u.shape}"
        )
    return of_servos(ServoControls(plant, aims), ALWAYS, u[None])


def read_input(
    plant: MultibodyPlant, path: str | os.PathLike[str], file: Iterable[str] | None = None, aims: bool = True
) -> Input:
    """The Input of a table (text_tables.py); each row holds until the time of the next one.

    Actuators without a column get zero, and so do all of them before the first time.

    file: lines that are read in place of the file; path is their name in messages then.
    """
    return _read_rows(RunInputs(plant, aims), read_text_table(path, file), os.fspath(path))


def _read_rows(controls: RunInputs, table: TextTable, name: str) -> Input:
    header = table.header
    columns, scales = _columns(header, controls)
    times: list[float] = []
    values: list[FloatArray] = []
    for place, cells in table.rows:
        time, u = _row(header, cells, columns, scales, controls.size, place)
        if times and not time > times[-1]:
            raise ModelError(f"{place}: error: time {time:g} does not increase")
        times.append(time)
        values.append(u)
    if not times:
        raise ModelError(f"{name}: error: an input file has a header and at least one row")
    return controls.inputs(np.array(times), np.array(values))


def _columns(header: TableHeader, controls: RunInputs) -> tuple[list[int | None], list[float]]:
    """Index of each column among the inputs, None for the time, and what its numbers are multiplied by."""
    if header.names.count("time") != 1:
        raise ModelError(f"{header.where}: error: the header needs one column 'time' and actuator names")
    columns = []
    for cell in header.names:
        try:
            columns.append(None if cell == "time" else controls.find(cell.removeprefix("u:")))
        except LookupError as error:
            raise ModelError(f"{header.where}: error: {printable(error.args[0])}") from None
    if len(set(columns)) != len(columns):
        raise ModelError(f"{header.where}: error: two columns for one actuator")
    bases = ["s" if column is None else controls.unit(column) for column in columns]
    places = (f"{header.where}: error: column {shown(name)}" for name in header.names)
    return columns, [scale_to(*each) for each in zip(bases, header.units, places, strict=True)]


def _row(
    header: TableHeader,
    cells: Sequence[str],
    columns: Sequence[int | None],
    scales: Sequence[float],
    size: int,
    place: str,
) -> tuple[float, FloatArray]:
    """The time and the inputs (size,) of a row, NaN where there is none."""
    time: Any  # the header has one column of it
    time, u = None, np.full(size, np.nan)
    for column, cell, scale in zip(columns, cells, scales, strict=True):
        value = header.number(cell)
        if value is None:
            raise ModelError(f"{place}: error: '{printable(cell)}' is not a finite number")
        if column is None:
            time = scale * value
        else:
            u[column] = scale * value
    return time, u

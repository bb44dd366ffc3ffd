"""Actuation over time: constant, by names, or from a CSV file.

The file has a header `time` and names of actuators or targets (servo_controls.py), then one row per change.
"""

import csv
import os
from collections.abc import Mapping

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.number_text import parse_number
from mbcli.errors import ArgumentError, ModelError, ResourceError
from mbcli.multibody.stepping.run import Input, constant_input
from mbcli.parsers.diagnostics import printable
from mbcli.simulation.servo_controls import ServoControls


def as_input(plant, inputs, aims=True):
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
        controls = ServoControls(plant, aims)
        u = np.full(controls.size, np.nan)
        for name, value in inputs.items():
            try:
                u[controls.find(name)] = value
            except LookupError as error:
                raise ArgumentError(f"{argument('inputs')}: {error.args[0]}") from None
        return constant_input(controls.forces(u))
    u = np.asarray(inputs, dtype=float)
    if u.shape != (plant.num_actuators(),):
        raise ArgumentError(
            f"{argument('inputs')}: the plant has {plant.num_actuators()} actuators, the shape is {u.shape}"
        )
    return constant_input(ServoControls(plant, aims).forces(u))


def read_input(plant, path, file=None, aims=True):
    """The Input of a CSV file; each row holds until the time of the next one.

    Actuators without a column get zero, and so do all of them before the first time.

    file: lines that are read in place of the file; path is their name in messages then.
    """
    if file is not None:
        return Input(*_read_rows(ServoControls(plant, aims), file, path))
    if not os.path.isfile(path):
        raise ResourceError(f"{path}: error: no such file")
    with open(path, newline="", encoding="utf-8-sig") as file:
        return Input(*_read_rows(ServoControls(plant, aims), file, path))


def _read_rows(controls, file, name):
    """Times (k,) and values (k, nu)."""
    times, values, columns = [], [], None
    reader = csv.reader(file)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            place = f"{name}:{reader.line_num}"
            if columns is None:
                columns = _columns(cells, controls, place)
                continue
            time, u = _row(cells, columns, controls.size, place)
            if times and not time > times[-1]:
                raise ModelError(f"{place}: error: time {time:g} does not increase")
            times.append(time)
            values.append(u)
    except UnicodeDecodeError as error:
        raise ModelError(f"{name}: error: not UTF-8 text: {error.reason}") from None
    except csv.Error as error:
        raise ModelError(f"{name}:{reader.line_num}: error: not CSV: {error}") from None
    if not times:
        raise ModelError(f"{name}: error: an input file has a header and at least one row")
    return np.array(times), controls.forces(np.array(values))


def _columns(header, controls, place):
    """Index of each column among the inputs, None for the time."""
    if header.count("time") != 1:
        raise ModelError(f"{place}: error: the header needs one column 'time' and actuator names")
    columns = []
    for cell in header:
        try:
            columns.append(None if cell == "time" else controls.find(cell.removeprefix("u:")))
        except LookupError as error:
            raise ModelError(f"{place}: error: {printable(error.args[0])}") from None
    if len(set(columns)) != len(columns):
        raise ModelError(f"{place}: error: two columns for one actuator")
    return columns


def _row(cells, columns, size, place):
    """The time and the inputs (size,) of a row, NaN where there is none."""
    if len(cells) != len(columns):
        raise ModelError(f"{place}: error: {len(cells)} values under {len(columns)} columns")
    time, u = None, np.full(size, np.nan)
    for column, cell in zip(columns, cells, strict=True):
        value = parse_number(cell)
        if value is None:
            raise ModelError(f"{place}: error: '{printable(cell)}' is not a finite number")
        if column is None:
            time = value
        else:
            u[column] = value
    return time, u

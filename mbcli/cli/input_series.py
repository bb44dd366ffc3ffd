"""Actuation over time from a CSV file: a header `time` and actuator names, then one row per change."""

import csv
import os
import sys

import numpy as np

from mbcli.cli.options import parse_number
from mbcli.cli.output import printable
from mbcli.common.coordinate_names import NamedCoordinates
from mbcli.errors import ModelError, ResourceError


def read_input(plant, path):
    """The Input of a file ('-': stdin); each row holds until the time of the next one.

    Actuators without a column get zero, and so do all of them before the first time.
    """
    from mbcli.simulation.run import Input

    if path == "-":
        return Input(*_read_rows(plant, sys.stdin, "<stdin>"))
    if not os.path.isfile(path):
        raise ResourceError(f"{path}: error: no such file")
    with open(path, newline="", encoding="utf-8-sig") as file:
        return Input(*_read_rows(plant, file, path))


def _read_rows(plant, file, name):
    """Times (k,) and values (k, nu)."""
    names = plant.GetActuatorNames()
    times, values, columns = [], [], None
    reader = csv.reader(file)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            place = f"{name}:{reader.line_num}"
            if columns is None:
                columns = _columns(cells, names, place)
                continue
            time, u = _row(cells, columns, len(names), place)
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
    return np.array(times), np.array(values)


def _columns(header, names, place):
    """Actuator index of each column, None for the time."""
    if header.count("time") != 1:
        raise ModelError(f"{place}: error: the header needs one column 'time' and actuator names")
    columns, actuators = [], NamedCoordinates(names, "actuator")
    for cell in header:
        try:
            columns.append(None if cell == "time" else actuators.find(cell.removeprefix("u:")))
        except LookupError as error:
            raise ModelError(f"{place}: error: {printable(error.args[0])}") from None
    if len(set(columns)) != len(columns):
        raise ModelError(f"{place}: error: two columns for one actuator")
    return columns


def _row(cells, columns, nu, place):
    """The time and u (nu,) of a row."""
    if len(cells) != len(columns):
        raise ModelError(f"{place}: error: {len(cells)} values under {len(columns)} columns")
    time, u = None, np.zeros(nu)
    for column, cell in zip(columns, cells, strict=True):
        value = parse_number(cell)
        if value is None:
            raise ModelError(f"{place}: error: '{printable(cell)}' is not a finite number")
        if column is None:
            time = value
        else:
            u[column] = value
    return time, u

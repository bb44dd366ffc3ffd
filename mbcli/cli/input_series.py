"""Actuation over time from a CSV file: a header `time` and actuator names, then one row per change."""

import csv
import os

from mbcli.cli.state import find_name, number
from mbcli.errors import ModelError, ResourceError


def read_input(plant, path):
    """The Input of a file; each row holds until the time of the next. Actuators without a column get zero."""
    import click
    import numpy as np

    from mbcli.simulation import Input

    if not os.path.isfile(path):
        raise ResourceError(f"{path}: no such file")
    names = plant.GetActuatorNames()
    times, values = [], []
    columns = None
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            for row in reader:
                if not any(cell.strip() for cell in row):
                    continue
                place = f"{path}:{reader.line_num}"
                if columns is None:
                    columns = _columns([cell.strip() for cell in row], names, place)
                    continue
                if len(row) != len(columns):
                    raise ModelError(f"{place}: error: {len(row)} values under {len(columns)} columns")
                try:
                    numbers = [number(cell.strip(), "value") for cell in row]
                except click.UsageError as error:
                    raise ModelError(f"{place}: error: {error.message}") from None
                if times and not numbers[columns.index(None)] > times[-1]:
                    raise ModelError(f"{place}: error: time {numbers[columns.index(None)]:g} does not increase")
                u = np.zeros(len(names))
                for column, value in zip(columns, numbers, strict=True):
                    if column is None:
                        times.append(value)
                    else:
                        u[column] = value
                values.append(u)
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: error: not UTF-8 text: {error.reason}") from None
    if not times:
        raise ModelError(f"{path}: error: an input file has a header and at least one row")
    return Input(np.array(times), np.array(values))


def _columns(header, names, place):
    """Actuator index of each column, None for the time."""
    if header.count("time") != 1:
        raise ModelError(f"{place}: error: the header needs one column 'time' and actuator names")
    columns = []
    for cell in header:
        if cell == "time":
            columns.append(None)
            continue
        try:
            columns.append(find_name(cell.removeprefix("u:"), names, "actuator"))
        except ModelError as error:
            raise ModelError(f"{place}: error: {error}") from None
    if len(set(columns)) != len(columns):
        raise ModelError(f"{place}: error: two columns for one actuator")
    return columns

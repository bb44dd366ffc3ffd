"""Results of a sweep against what was varied, as a picture (matplotlib, extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.common.extra_packages import import_extra, require_extra
from mbcli.errors import ArgumentError
from mbcli.pictures.plots import SUFFIXES, plain_text, write_figure
from mbcli.sweeps.point_run import OK
from mbcli.sweeps.result_table import ResultTable

if TYPE_CHECKING:
    from typing import Any

MOST_CELLS = 36  # of results times parameters
SIZE = 3.4, 2.6  # [inch] of a cell
OF_FAILURE = "tab:red"


def check_plot(path: str) -> None:
    """ArgumentError if the name of the file has no suffix of a picture; ResourceError if matplotlib is missing."""
    if os.path.splitext(path)[1].lower() not in SUFFIXES:
        raise ArgumentError(f"{argument('plot')} {path}: the name of a picture ends in {', '.join(SUFFIXES)}")
    require_extra("matplotlib", "plot", argument("plot"))


def plot_table(table: ResultTable, results: Sequence[str], path: str) -> None:
    """Draws each result against each varied number: one row of pictures a result, failures as crosses at the foot.

    With one varied number the points are joined; with two, those of an equal second number have one colour.
    ArgumentError if nothing that varies is a number, or there would be too many pictures; OutputError if it cannot be
    written.
    """
    Figure = import_extra("matplotlib.figure", "plot").Figure

    varied = [name for name in table.varied if table.column(name).dtype.kind == "f"]
    if not varied or not results:
        raise ArgumentError(
            f"{argument('plot')}: nothing that varies is a number, or there is no {argument('measure')}"
        )
    if len(varied) * len(results) > MOST_CELLS:
        raise ArgumentError(f"{argument('plot')}: {len(varied)} x {len(results)} pictures are too many")
    unknown = [name for name in results if name not in table.columns]
    if unknown:
        raise ArgumentError(f"{argument('plot')}: no run has given {listed(unknown)}")
    good = table.column("status") == OK
    figure = Figure(figsize=(SIZE[0] * len(varied) + 0.6, SIZE[1] * len(results) + 0.4), layout="constrained")
    axes = figure.subplots(len(results), len(varied), squeeze=False, sharex="col", sharey="row")
    for row, result in zip(axes, results, strict=True):
        for ax, name in zip(row, varied, strict=True):
            others = [other for other in varied if other != name]
            _draw(figure, ax, table, good, name, result, others)
        row[0].set_ylabel(plain_text(result))
    for ax, name in zip(axes[-1], varied, strict=True):
        ax.set_xlabel(plain_text(name))
    write_figure(figure, path)


def _draw(figure: Any, ax: Any, table: ResultTable, good: Any, name: str, result: str, others: Sequence[str]) -> None:
    x, y = table.column(name), table.column(result)
    if not others:
        order = np.argsort(x[good], kind="stable")
        ax.plot(x[good][order], y[good][order], ".-", linewidth=1.0)
    elif len(others) == 1:
        dots = ax.scatter(x[good], y[good], c=table.column(others[0])[good], s=10, cmap="viridis")
        figure.colorbar(dots, ax=ax, label=plain_text(others[0]))
    else:
        ax.plot(x[good], y[good], ".", markersize=4)
    if not good.all():
        foot = ax.get_xaxis_transform()
        ax.plot(x[~good], np.full((~good).sum(), 0.03), "x", color=OF_FAILURE, markersize=5, transform=foot)
    ax.grid(alpha=0.3)

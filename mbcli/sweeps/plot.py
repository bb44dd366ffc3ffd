"""Results of a sweep against what was varied, as a picture (matplotlib, extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.extra_packages import import_extra, require_extra
from mbcli.errors import ArgumentError
from mbcli.pictures.plots import SUFFIXES, plain_text, with_unit, write_figure
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


def plot_table(table: ResultTable, results: Sequence[str], path: str, units: Mapping[str, str]) -> None:
    """Draws each result against each varied number: one row of pictures a result, failures as crosses at the foot.

    With one varied number the points are joined; with two, those of an equal second number have one colour. A picture
    without a point says why. units: {column: its unit}, of those that have one.
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
    labels = {name: _label(name, units.get(name, "")) for name in (*varied, *results)}
    good = table.column("status") == OK
    figure = Figure(figsize=(SIZE[0] * len(varied) + 0.6, SIZE[1] * len(results) + 0.4), layout="constrained")
    axes = figure.subplots(len(results), len(varied), squeeze=False, sharex="col", sharey="row")
    for row, result in zip(axes, results, strict=True):
        for ax, name in zip(row, varied, strict=True):
            others = {other: labels[other] for other in varied if other != name}
            _draw(figure, ax, table, good, name, result, others)
        row[0].set_ylabel(labels[result])
    for ax, name in zip(axes[-1], varied, strict=True):
        ax.set_xlabel(labels[name])
    write_figure(figure, path)


def _label(column: str, unit: str) -> str:
    words = column.replace(" (*)", ", factor").replace(" (+)", ", added")
    return plain_text(with_unit(words, unit))


def _draw(
    figure: Any, ax: Any, table: ResultTable, good: Any, name: str, result: str, others: Mapping[str, str]
) -> None:
    """others: {what varies beside: its label}."""
    x = table.column(name)
    y = table.column(result) if result in table.columns else np.full(len(x), np.nan)
    if not np.isfinite(y[good]).any():
        why = "no run ended well" if not good.any() else "no run gave a number"
        ax.text(0.5, 0.5, f"no values:\n{why}", transform=ax.transAxes, ha="center", va="center", color="0.4")
        ax.set_yticks([])
        ax.plot(x, np.zeros(len(x)), linestyle="none")  # for the span of the axis
    elif not others:
        order = np.argsort(x[good], kind="stable")
        ax.plot(x[good][order], y[good][order], ".-", linewidth=1.0)
    elif len(others) == 1:
        (other, label), *_ = others.items()
        dots = ax.scatter(x[good], y[good], c=table.column(other)[good], s=10, cmap="viridis")
        figure.colorbar(dots, ax=ax, label=label)
    else:
        ax.plot(x[good], y[good], ".", markersize=4)
    if not good.all():
        foot = ax.get_xaxis_transform()
        ax.plot(x[~good], np.full((~good).sum(), 0.03), "x", color=OF_FAILURE, markersize=5, transform=foot)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(alpha=0.3)

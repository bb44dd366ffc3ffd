"""The columns of logs over time: what is drawn together, and figures of it by matplotlib."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.common.output_files import replacing
from mbcli.errors import ArgumentError, ModelError, OutputError
from mbcli.log import Log
from mbcli.log.chosen_columns import meant_by
from mbcli.log.export import CONTACT, FACES, require_rows, select
from mbcli.log.fields.energy import KINETIC, POTENTIAL
from mbcli.log.fields.u import INPUT
from mbcli.log.running import PARTIAL
from mbcli.models.units import plain_unit
from mbcli.parsers.diagnostics import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import FloatArray

SUFFIXES = (".png", ".svg", ".pdf")
DEFAULT_FIELDS = ("state/q", "state/v", INPUT, KINETIC, POTENTIAL)
MOST_POINTS = 4000  # of a line: of more rows the least and the largest of each stretch are drawn
MOST_NAMES = 40  # in a legend
LARGEST = 1e150  # matplotlib cannot scale an axis to larger numbers: a run that diverged has a gap there
STYLES: Any = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Curve:
    """One column of one log: times (n,) [s] and values (n,)."""

    log: str
    name: str
    times: FloatArray
    values: FloatArray


@dataclass
class Subplot:
    """Columns of one kind and unit, of all logs: those of one name follow each other."""

    title: str
    unit: str
    curves: list[Curve] = field(default_factory=list)

    def names(self) -> list[str]:
        """The names of its columns, once each."""
        return list(dict.fromkeys(curve.name for curve in self.curves))

    def axis_label(self) -> str:
        """The kind and unit, as `q [rad]`."""
        return with_unit(self.title, plain_unit(self.unit))


def subplots_of(
    paths: Sequence[str | os.PathLike[str]],
    fields: Sequence[str] | None = None,
    *,
    from_time: float | None = None,
    to_time: float | None = None,
) -> list[Subplot]:
    """The columns of logs in subplots: one for each kind of quantity and unit.

    Args:
        fields: q, v, u, paths, groups or single columns as `log export` takes them, of which any unambiguous end will
            do; default: q, v, u and energies.
        from_time, to_time: [s] the span, both ends included.

    Raises:
        ArgumentError: a log does not have a field.
        ModelError, ResourceError: a log cannot be read, or there is nothing to draw.
    """
    found: dict[tuple[str, str], Subplot] = {}
    labels = _labels([os.fspath(path) for path in paths])
    for path, label in zip(paths, labels, strict=True):
        with Log(path) as log:
            wanted = _wanted(log, fields)
            _, selection = select(log, fields=["q"], from_time=from_time, to_time=to_time)
            rows = slice(selection.start, selection.stop)
            times = log.times[rows]
            if not len(times):
                raise ModelError(f"{log.path}: error: the log has no rows in this span of time")
            for place, columns in wanted.items():
                values = log.field(place)[rows].reshape(len(times), -1)
                for k in range(values.shape[1]) if columns is None else columns:
                    kind, unit = _kind(place), log.units[place][k]
                    subplot = found.setdefault((kind, unit), Subplot(kind, unit))
                    subplot.curves.append(Curve(label, log.names[place][k], times, values[:, k].astype(float)))
    subplots = [subplot for subplot in found.values() if subplot.curves]
    for subplot in subplots:
        order = {name: k for k, name in enumerate(subplot.names())}
        subplot.curves.sort(key=lambda curve: order[curve.name])
    if not subplots:
        raise ArgumentError("there is nothing to draw: the log has none of these fields")
    return subplots


def _wanted(log: Log, fields: Sequence[str] | None) -> dict[str, list[int] | None]:
    """{path: columns, None for all} of a log."""
    if fields is None:
        return {path: None for path in DEFAULT_FIELDS if path in log.fields()}
    also = [what for what, is_there in ((CONTACT, log.has_contacts), (FACES, log.has_faces)) if is_there]
    try:
        meant = meant_by(log, fields, also)
    except LookupError as error:
        raise ArgumentError(f"{log.path}: {error.args[0]}") from None
    require_rows([path for path, _ in meant])
    wanted: dict[str, list[int] | None] = {}
    for path, k in meant:
        columns = wanted.setdefault(path, [] if k is not None else None)
        if k is None or columns is None:
            wanted[path] = None
        else:
            columns.append(k)
    return wanted


def _kind(path: str) -> str:
    """What shares a subplot: kinetic and potential energy, else one field."""
    name = path.rpartition("/")[2]
    return "energy" if name.startswith("energy_") else name


def _labels(paths: Sequence[str]) -> Sequence[str]:
    """The names of logs in a legend: of files, with their folders if two are the same."""
    paths = [path.removesuffix(PARTIAL) for path in paths]
    names = [os.path.basename(path) for path in paths]
    return names if len(set(names)) == len(names) else paths


def thinned(times: FloatArray, values: FloatArray, most: int = MOST_POINTS) -> tuple[FloatArray, FloatArray]:
    """At most so many points of a line that show the same: of each stretch its least and its largest value."""
    if len(times) <= most:
        return times, values
    stretches = np.array_split(np.arange(len(times)), most // 2)
    kept = []
    for rows in stretches:
        part = values[rows]
        if np.isnan(part).all():
            kept.append(rows[0])
        else:
            kept += sorted({int(rows[np.nanargmin(part)]), int(rows[np.nanargmax(part)])})
    return times[kept], values[kept]


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them begin with."""
    if len(names) < 2:
        return list(names)
    common = os.path.commonprefix(list(names))
    cut = max(common.rfind(separator) + 1 for separator in ("_", ":"))
    return [name[cut:] or name for name in names]


def figure_of(subplots: Sequence[Subplot], title: str, new_figure: Callable[..., Any] | None = None) -> Any:
    """A matplotlib Figure of subplots below each other, with one time axis.

    new_figure: makes it, with matplotlib's arguments; by default one without a window. Columns have colours, logs have
    styles of lines. ResourceError if there is no matplotlib.
    """
    Figure = import_extra("matplotlib.figure", "plot", "a plot that is no --text").Figure
    Line2D = import_extra("matplotlib.lines", "plot").Line2D
    logs = list(dict.fromkeys(curve.log for subplot in subplots for curve in subplot.curves))
    height = sum(_height(subplot) for subplot in subplots) + 0.9
    figure: Any = (new_figure or Figure)(figsize=(10.0, height), layout="constrained")
    figure.suptitle(plain_text(title), fontsize=11)
    ratios = [_height(subplot) for subplot in subplots]
    grid = figure.subplots(len(subplots), 1, sharex=True, squeeze=False, height_ratios=ratios)[:, 0]
    for axes, subplot in zip(grid, subplots, strict=True):
        names = subplot.names()
        colors = dict(zip(names, _colors(len(names)), strict=True))
        for curve in subplot.curves:
            style, width = STYLES[logs.index(curve.log) % len(STYLES)], 1.2
            if len(logs) > len(STYLES):
                style, width = "-", 0.6
            times, values = thinned(curve.times, np.where(np.abs(curve.values) < LARGEST, curve.values, np.nan))
            axes.plot(times, values, style, color=colors[curve.name], linewidth=width)
        axes.set_ylabel(plain_text(subplot.axis_label()))
        axes.grid(True, color="0.9")
        axes.margins(x=0.01)
        handles = [Line2D([], [], color=colors[name]) for name in names[:MOST_NAMES]]
        words = short_names(names)[:MOST_NAMES]
        if len(names) > MOST_NAMES:
            handles.append(Line2D([], [], color="none"))
            words.append(f"... {len(names) - MOST_NAMES} more")
        columns = 1 if len(words) <= 10 else 2
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02), "borderaxespad": 0.3, "frameon": False}
        axes.legend(
            handles, [plain_text(word) for word in words], fontsize=7.5, ncols=columns, handlelength=1.4, **place
        )
    grid[-1].set_xlabel("time [s]")
    figure.align_ylabels()
    if 1 < len(logs) <= len(STYLES):
        lines = [Line2D([], [], color="0.3", linestyle=STYLES[k % len(STYLES)]) for k in range(len(logs))]
        words = [plain_text(name) for name in logs]
        figure.legend(lines, words, loc="outside lower center", ncols=min(len(logs), 3), fontsize=8)
    return figure


def _height(subplot: Subplot) -> float:
    """[inch], enough for the names in its legend."""
    rows = min(len(subplot.names()), MOST_NAMES + 1)
    return max(2.1, 0.17 * (rows if rows <= 10 else (rows + 1) // 2) + 0.4)


def _colors(count: int) -> list[Any]:
    from matplotlib import colormaps

    if count <= 10:
        return [colormaps["tab10"](k) for k in range(count)]
    return [colormaps["turbo"](0.05 + 0.9 * k / (count - 1)) for k in range(count)]


def with_unit(text: str, unit: str) -> str:
    """A label of an axis."""
    return f"{text} [{unit}]" if unit else text


def plain_text(text: str) -> str:
    """Text in which matplotlib sees no formula, and does not leave out a name that begins with _."""
    text = printable(text).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def write_figure(figure: Any, path: str) -> None:
    """Writes a figure as PNG, SVG or PDF by the suffix; equal figures become equal files. OutputError if it cannot."""
    suffix = os.path.splitext(path)[1].lower()
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[suffix]
    try:
        from matplotlib import rc_context

        with rc_context({"svg.hashsalt": "mbcli"}), replacing(path, suffix) as name:
            figure.savefig(name, dpi=130, metadata=metadata)
    except OSError as error:
        raise OutputError(f"{path}: error: cannot be written: {error.strerror}") from None

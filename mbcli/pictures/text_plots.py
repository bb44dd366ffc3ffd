"""The columns of logs over time as text, for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.parsers.diagnostics import printable
from mbcli.pictures.plots import short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.pictures.plots import Curve, Subplot

FEW_CURVES = 6  # have a chart each, more have a line each
CHART_ROWS = 8
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a Braille sign, by row and column
ROUNDING = 1e-10  # of its size: a curve that changes no more is flat
BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = "_.-=+*#@"


def text_plot(subplots: Sequence[Subplot], width: int, *, unicode: bool = True) -> str:
    """Charts of a few curves, or a line for each of many.

    Args:
        width: of the terminal [characters].
        unicode: whether signs beyond ASCII can be shown.
    """
    curves = [curve for subplot in subplots for curve in subplot.curves]
    several = len({curve.log for curve in curves}) > 1
    blocks = []
    for subplot in subplots:
        names = dict(zip(subplot.names(), map(printable, short_names(subplot.names())), strict=True))
        longest = max(map(len, names.values())) if several else 0
        labels = [f"{names[c.name]:<{longest}}{f'  {printable(c.log)}' if several else ''}" for c in subplot.curves]
        if len(curves) <= FEW_CURVES and unicode:
            lines = [line for c, label in zip(subplot.curves, labels, strict=True) for line in _chart(c, label, width)]
        else:
            lines = _lines(subplot.curves, labels, width, BARS if unicode else ASCII_BARS)
        blocks.append([printable(subplot.axis_label()), *lines])
    start, end = min(c.times[0] for c in curves), max(c.times[-1] for c in curves)
    return "\n\n".join("\n".join(lines) for lines in blocks) + f"\n\ntime from {start:g} to {end:g} s"


def _lines(curves: Sequence[Curve], labels: Sequence[str], width: int, bars: str) -> list[str]:
    """`name  least ▁▂▃ largest`, each between its own least and largest."""
    ends = [_ends(curve.values) for curve in curves]
    low, high = ([f"{end[k]:.4g}" for end in ends] for k in (0, 1))
    label_width = max(map(len, labels))
    low_width, high_width = max(map(len, low)), max(map(len, high))
    room = max(width - label_width - low_width - high_width - 7, 10)
    lines = []
    for curve, label, least, largest in zip(curves, labels, low, high, strict=True):
        drawn = "".join(_bar(x, bars) for x in _resampled(curve, room))
        lines.append(f"  {label:<{label_width}}  {least:>{low_width}} {drawn} {largest:>{high_width}}".rstrip())
    return lines


def _bar(part: float, bars: str) -> str:
    return " " if np.isnan(part) else bars[min(int(part * len(bars)), len(bars) - 1)]


def _chart(curve: Curve, label: str, width: int) -> list[str]:
    """A chart of Braille signs, each of 2 x 4 dots, with the least and the largest value beside it."""
    least, largest = _ends(curve.values)
    ends = f"{largest:.4g}", f"{least:.4g}"
    margin = max(map(len, ends)) + 2
    columns = max(width - margin - 3, 10)
    places = _resampled(curve, 2 * columns)
    signs = np.zeros((CHART_ROWS, columns), dtype=int)
    height = 4 * CHART_ROWS
    before = None
    for x, part in enumerate(places):
        if np.isnan(part):
            before = None
            continue
        y = min(int((1.0 - part) * height), height - 1)
        for dot in range(*((min(y, before), max(y, before) + 1) if before is not None else (y, y + 1))):
            signs[dot // 4, x // 2] |= DOTS[dot % 4][x % 2]
        before = y
    lines = [f"  {label}"]
    for k, row in enumerate(signs):
        mark = ends[0] if k == 0 else ends[1] if k == CHART_ROWS - 1 else ""
        lines.append(f"{mark:>{margin}} ┤{''.join(chr(0x2800 + sign) for sign in row)}")
    return lines


def _ends(values: FloatArray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (np.nan, np.nan)


def _resampled(curve: Curve, count: int) -> FloatArray:
    """Values (count,) at even times, as parts of the range from the least to the largest; NaN where there are none."""
    least, largest = _ends(curve.values)
    finite = np.isfinite(curve.values)
    if not finite.any():
        return np.full(count, np.nan)
    values, low, high = 0.5 * curve.values[finite], 0.5 * least, 0.5 * largest  # the largest numbers have a range too
    changes = high - low > ROUNDING * max(abs(low), abs(high), 1e-6)
    parts = (values - low) / (high - low) if changes else np.full(len(values), 0.5)
    return np.interp(np.linspace(curve.times[0], curve.times[-1], count), curve.times[finite], parts)

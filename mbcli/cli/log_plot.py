"""`mbcli log plot`: the columns of logs over time."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import Number, usage_errors
from mbcli.cli.output import refuse_existing, written
from mbcli.cli.signals import ending_signals
from mbcli.cli.world_option import single_logs, world_option
from mbcli.common.extra_packages import import_extra
from mbcli.common.json_text import to_json
from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.pictures.plots import Subplot

MOST_WORLDS = 200  # of a log of many, in one figure
MOST_NAMED = 4  # logs in its title
EVENT_SECONDS = 0.2  # at most, that a signal waits for a window
WITHOUT_WINDOWS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  # what matplotlib draws with


@click.command("plot")
@click.argument("paths", nargs=-1, required=True, metavar="LOG...")
@click.option("-o", "--output", metavar="FILE", help="Write a figure: .png, .svg or .pdf.")
@click.option(
    "--fields",
    metavar="LIST",
    help="Comma-separated: q, v, u, PATH as in `log info`, a group, or names of single positions and velocities; "
    "any unambiguous ending will do. Default: q, v, u and energies.",
)
@click.option("--from", "from_time", type=Number(), metavar="T", help="First time [s].")
@click.option("--to-time", type=Number(), metavar="T", help="Last time [s], included.")
@click.option("--text", is_flag=True, help="Plot in the terminal, even if there is a display.")
@click.option("-f", "--follow", is_flag=True, help="Draw again while simulations add rows, until they end.")
@click.option("--interval", type=Number(above=0), metavar="S", help="Seconds between two drawings of --follow; 1.")
@world_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on the figure that was written.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def log_plot(
    paths: tuple[str, ...],
    output: str | None,
    fields: str | None,
    from_time: float | None,
    to_time: float | None,
    text: bool,
    follow: bool,
    interval: float | None,
    world: int | None,
    as_json: bool,
    force: bool,
) -> None:
    """Plot the columns of logs over time, one subplot for each kind of quantity and unit.

    Columns have colours, logs have styles of lines; of a log of many worlds each is a thin line. Without -o the plot
    appears in a window or, where there is no display or no matplotlib (mbcli[plot]), as text in the terminal.

    LOG may be running: RUN.h5 then stands for RUN.h5.partial. With --follow the terminal, the window or the file of -o
    is drawn again as rows arrive, until the run ends.

    \b
    mbcli log plot run.h5 -o run.png
    mbcli log plot run.h5 --fields elbow_q,elbow_w
    mbcli log plot new.h5 old.h5 --fields q,energy_kinetic --from 0.5 -o both.pdf
    mbcli log plot run.h5 --follow --fields q
    """
    from mbcli.pictures import plots

    suffix = os.path.splitext(output or "")[1].lower()
    if output is not None:
        if text:
            raise click.UsageError("--text and -o exclude each other")
        if suffix not in plots.SUFFIXES:
            raise click.UsageError(f"-o takes a name that ends in {', '.join(plots.SUFFIXES)}, not '{output}'")
        refuse_existing(output, force)
    if as_json and output is None:
        raise click.UsageError("--json says what was written: it needs a file, -o FILE")
    if interval is not None and not follow:
        raise click.UsageError("--interval is for --follow")
    names = None if fields is None else [name.strip() for name in fields.split(",") if name.strip()]
    wanted = {"fields": names, "from_time": from_time, "to_time": to_time}
    if output is not None:
        drawing: Any = _File(output)
    elif text or (window := _Window.opened()) is None:
        drawing = _Text()
    else:
        drawing = window
    if follow:
        if world is not None:
            raise click.UsageError("--follow is for logs of single runs")
        _follow(paths, wanted, drawing, 1.0 if interval is None else interval)
    else:
        from mbcli.log.running import read_rows

        def draw(paths: Sequence[str]) -> None:
            with single_logs(paths, world, most=MOST_WORLDS) as own:
                drawing.last(_subplots(own, wanted))

        read_rows(paths, draw)
    if as_json:
        click.echo(
            to_json({"schema": "mbcli/log-plot", "schema_version": 1, "logs": list(paths), **drawing.document()})
        )


def _subplots(paths: Sequence[str], wanted: dict[str, Any]) -> list[Subplot]:
    from mbcli.pictures import plots

    with usage_errors():
        return plots.subplots_of(paths, **wanted)


def _follow(paths: Sequence[str], wanted: dict[str, Any], drawing: Any, interval: float) -> None:
    """Draws what logs have every `interval` seconds, and once more when no run writes them any more."""
    from mbcli.log.running import is_written, path_of_rows, read_rows

    while True:
        # whoever writes is asked before the rows are read: what ends meanwhile is read to its end by the next drawing
        goes_on = any(is_written(path_of_rows(path)) for path in paths)
        try:
            subplots = read_rows(paths, lambda there: _subplots(there, wanted))
        except (ResourceError, ModelError):
            if not goes_on:
                raise
            subplots = None  # there are no rows yet, or its file is being closed
        if not goes_on:
            drawing.last(subplots)
            return
        if not drawing.draw(subplots, interval):
            return


def _title(subplots: Sequence[Subplot]) -> str:
    logs = list(dict.fromkeys(curve.log for subplot in subplots for curve in subplot.curves))
    more = f" and {len(logs) - MOST_NAMED} more" if len(logs) > MOST_NAMED else ""
    return ", ".join(logs[:MOST_NAMED]) + more


class _File:
    """A figure in a file, which is replaced."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._subplots: list[Subplot] = []

    def draw(self, subplots: list[Subplot] | None, interval: float) -> bool:
        """Draws subplots, None for nothing yet, and waits; whether there is somebody to draw for."""
        if subplots is not None:
            self.last(subplots)
        time.sleep(interval)
        return True

    def last(self, subplots: list[Subplot]) -> None:
        from mbcli.pictures.plots import figure_of, write_figure

        write_figure(figure_of(subplots, _title(subplots)), self._path)
        self._subplots = subplots

    def document(self) -> dict[str, Any]:
        """What JSON says of the figure."""
        return {
            **written(self._path),
            "subplots": [
                {
                    "title": subplot.title,
                    "unit": subplot.unit,
                    "columns": subplot.names(),
                    "rows": max(len(curve.times) for curve in subplot.curves),
                }
                for subplot in self._subplots
            ],
        }


class _Window:
    """A figure in a window."""

    def __init__(self, pyplot: Any) -> None:
        self._figure: Any
        self._pyplot, self._figure, self._shown = pyplot, None, False

    @classmethod
    def opened(cls) -> _Window | None:
        """A window; None if there is no display, or no matplotlib that could open one."""
        if not _is_terminal() or not (sys.platform in ("darwin", "win32") or _has_display()):
            return None
        try:
            pyplot: Any = import_extra("matplotlib.pyplot", "plot")
        except ResourceError:
            return None
        return None if pyplot.get_backend().lower() in WITHOUT_WINDOWS else cls(pyplot)

    def draw(self, subplots: list[Subplot] | None, interval: float) -> bool:
        if subplots is not None:
            self._put(subplots)
        if self._figure is None:
            time.sleep(interval)
            return True
        return self._wait(interval)

    def last(self, subplots: list[Subplot]) -> None:
        self._put(subplots)
        while self._wait(EVENT_SECONDS):
            pass

    def _wait(self, seconds: float) -> bool:
        """Answers what is done to the window; whether it is still there afterwards.

        In short turns: signals are heard between them. A window that nobody touches would keep them waiting, and
        toolkits swallow what is raised while they call back.
        """
        figure, end = self._figure, time.monotonic() + seconds
        if not self._shown:
            self._pyplot.show(block=False)  # once: it brings the window to the front
            self._shown = True
        figure.canvas.draw_idle()
        heard: list[int] = []
        signals = (signal.SIGINT, *ending_signals())
        before = [signal.signal(number, lambda number, frame: heard.append(number)) for number in signals]
        try:
            while self._is_open() and not heard and (left := end - time.monotonic()) > 0.0:
                figure.canvas.start_event_loop(min(left, EVENT_SECONDS))
        finally:
            for number, handler in zip(signals, before, strict=True):
                signal.signal(number, handler)
        for number in heard[:1]:
            signal.raise_signal(number)
        return self._is_open()

    def _is_open(self) -> bool:
        return self._pyplot.fignum_exists(self._figure.number)

    def _put(self, subplots: list[Subplot]) -> None:
        from mbcli.pictures.plots import figure_of

        if self._figure is not None:
            self._figure.clear()
        self._figure = figure_of(subplots, _title(subplots), self._new_figure)

    def _new_figure(self, **settings: Any) -> Any:
        return self._pyplot.figure(**settings) if self._figure is None else self._figure


class _Text:
    """A plot in the terminal, drawn over the last one; where there is no terminal, only the last one."""

    def __init__(self) -> None:
        self._height = 0

    def draw(self, subplots: list[Subplot] | None, interval: float) -> bool:
        if subplots is not None and _is_terminal():
            self.last(subplots)
        time.sleep(interval)
        return True

    def last(self, subplots: list[Subplot]) -> None:
        from mbcli.pictures.text_plots import text_plot

        encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
        terminal = shutil.get_terminal_size()
        lines = text_plot(subplots, max(min(terminal.columns, 160), 40), unicode=encoding.startswith("utf")).split("\n")
        if self._height:
            fits = self._height < terminal.lines
            click.echo(f"\x1b[{self._height}F\x1b[J" if fits else "\x1b[2J\x1b[H", nl=False, color=True)
        click.echo("\n".join(lines))
        sys.stdout.flush()
        self._height = len(lines)


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _has_display() -> bool:
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))

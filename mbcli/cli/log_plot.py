"""`mbcli log plot`: the columns of logs over time."""

import os
import shutil
import sys

import click

from mbcli.cli.options import Number, usage_errors
from mbcli.cli.output import printable, refuse_existing
from mbcli.errors import OutputError

WITHOUT_WINDOWS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  # what matplotlib draws with


@click.command("plot")
@click.argument("paths", nargs=-1, required=True, metavar="LOG...")
@click.option("-o", "--output", metavar="FILE", help="Write a figure: .png, .svg or .pdf.")
@click.option(
    "--fields",
    metavar="LIST",
    help="Comma-separated: q, v, u, PATH as in `log info`, a group, or names of single positions and velocities, of "
    "which the end is enough. Default: q, v, u and energies.",
)
@click.option("--from", "from_time", type=Number(), metavar="T", help="First time [s].")
@click.option("--to-time", type=Number(), metavar="T", help="Last time [s], included.")
@click.option("--text", is_flag=True, help="Plot in the terminal, also where there is a display.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def log_plot(paths, output, fields, from_time, to_time, text, force):
    """Plot the columns of logs over time, one subplot for each kind of quantity and unit.

    Columns have colours, logs have styles of lines. Without -o the plot appears in a window or, where there is no
    display or no matplotlib (mbcli[plot]), as text in the terminal.

    \b
    mbcli log plot run.h5 -o run.png
    mbcli log plot run.h5 --fields elbow_q,elbow_w
    mbcli log plot new.h5 old.h5 --fields q,energy_kinetic --from 0.5 -o both.pdf
    """
    from mbcli.pictures import plots

    suffix = os.path.splitext(output or "")[1].lower()
    if output is not None:
        if text:
            raise click.UsageError("--text and -o exclude each other")
        if suffix not in plots.SUFFIXES:
            raise click.UsageError(f"-o takes a name that ends in {', '.join(plots.SUFFIXES)}, not '{output}'")
        refuse_existing(output, force)
        folder = os.path.dirname(os.path.abspath(output))
        if not os.path.isdir(folder):
            raise OutputError(f"{output}: error: there is no folder {folder}")
    names = None if fields is None else [name.strip() for name in fields.split(",") if name.strip()]
    with usage_errors():
        subplots = plots.subplots_of(paths, names, from_time=from_time, to_time=to_time)
    title = ", ".join(dict.fromkeys(curve.log for subplot in subplots for curve in subplot.curves))
    if output is not None:
        plots.write_figure(plots.figure_of(subplots, title), output)
    elif text or not _show(subplots, title):
        _print(subplots)


def _show(subplots, title):
    """Shows a window; False if there is no display, or no matplotlib that could open one."""
    if not sys.stdout.isatty() or not (sys.platform in ("darwin", "win32") or _has_display()):
        return False
    from mbcli.pictures.plots import figure_of

    try:
        from matplotlib import pyplot

        if pyplot.get_backend().lower() in WITHOUT_WINDOWS:
            return False
        figure_of(subplots, title, pyplot.figure)
        pyplot.show()
    except ImportError:
        return False
    return True


def _has_display():
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _print(subplots):
    from mbcli.pictures.text_plots import text_plot

    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    width = max(min(shutil.get_terminal_size().columns, 160), 40)
    plotted = text_plot(subplots, width, unicode=encoding.startswith("utf"))
    click.echo("\n".join(map(printable, plotted.split("\n"))))

"""`mbcli log`: the group of commands on simulation logs."""

from __future__ import annotations

import click

from mbcli.cli.lazy_group import LazyGroup

# command -> (module of this package, its line in --help); the function in the module has the module's name
LOG_COMMANDS = {
    "info": ("log_info", "Describe a log: run, model, fields, events, versions."),
    "show": ("log_show", "Show the quantities of a log: first, last, least, largest; or at chosen times."),
    "tail": ("log_tail", "Print the last rows of a log, and those that a run adds."),
    "diff": ("log_diff", "Compare two logs: first divergence, largest difference."),
    "verify": ("log_verify", "Run a log again from its own record and compare."),
    "recover": ("log_recover", "Write every sample of a killed or damaged log to a new one."),
    "export": ("log_export", "Write the rows of a log as CSV, JSON lines, NPZ, Parquet, MATLAB, MCAP or rrd."),
    "plot": ("log_plot", "Plot the columns of logs over time, as a figure or in the terminal."),
}


@click.group(cls=LazyGroup, table=LOG_COMMANDS)
def log() -> None:
    """Look into the HDF5 logs that simulate writes."""

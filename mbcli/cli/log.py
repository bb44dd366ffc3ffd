"""`mbcli log`: the group of commands on simulation logs."""

import click

from mbcli.cli.lazy_group import LazyGroup

# command -> (module of this package, its line in --help); the function in the module has the module's name
LOG_COMMANDS = {
    "info": ("log_info", "Describe a log: run, model, fields, events, versions."),
    "export": ("log_export", "Write the rows of a log as CSV, JSON lines or NPZ."),
}


@click.group(cls=LazyGroup, table=LOG_COMMANDS)
def log():
    """Look into the HDF5 logs that simulate writes."""

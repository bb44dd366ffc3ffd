"""Options of `mbcli simulate` for controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mbcli.cli.options import Number
from mbcli.simulation.control.choices import DEFAULT_LIMIT, INTERPOLATIONS, WAYS, ControllerChoice, Follow

if TYPE_CHECKING:
    from mbcli.cli.options import Options

controller_options = (
    click.option(
        "--controller",
        metavar="FILE.py[:NAME]|COMMAND",
        help="Gives the actuation: a function or class of a file of Python, or a program that answers lines of JSON "
        "(docs/how-to/control.md).",
    ),
    click.option(
        "--controller-rate",
        type=Number(above=0.0),
        metavar="HZ",
        help="Calls of it a second; default: its attribute rate, else every step.",
    ),
    click.option(
        "--controller-limit",
        type=Number(above=0.0),
        metavar="S",
        help=f"Wall-clock time that a call may take; default {DEFAULT_LIMIT:g} s.",
    ),
    click.option(
        "--controller-pickle",
        is_flag=True,
        help="Keep its state for --resume as Python pickles it; else it has save() and load(). Reading a pickle runs "
        "what is in it: ask for that with logs of your own.",
    ),
)


def controller_choice(options: Options) -> ControllerChoice | None:
    """The ControllerChoice that options mean, None without one; UsageError for options without a controller."""
    if options.controller is None:
        for key in ("controller_rate", "controller_limit", "controller_pickle"):
            if getattr(options, key):
                raise click.UsageError(f"--{key.replace('_', '-')} needs --controller")
        return None
    limit = DEFAULT_LIMIT if options.controller_limit is None else options.controller_limit
    return ControllerChoice(options.controller, options.controller_rate, limit, options.controller_pickle)


trajectory_options = (
    click.option(
        "--trajectory",
        metavar="CSV",
        help="A motion that joints follow: columns time and names of positions, and of velocities if they are given. "
        "With --controller: the targets that it is given.",
    ),
    click.option(
        "--follow",
        type=click.Choice(WAYS),
        help="How: computed-torque (default), pd controllers with gravity compensation, or prescribed: exactly, with "
        "the efforts that it takes.",
    ),
    click.option(
        "--interpolation", type=click.Choice(INTERPOLATIONS), help="Of --trajectory between its rows; default cubic."
    ),
)


def follow_choice(options: Options) -> Follow | None:
    """The Follow that options mean, None without one; UsageError for options without a trajectory."""
    if options.trajectory is None:
        for key in ("follow", "interpolation"):
            if getattr(options, key) is not None:
                raise click.UsageError(f"--{key} needs --trajectory")
        return None
    if options.controller is not None and options.follow is not None:
        raise click.UsageError("--controller follows the trajectory itself: no --follow beside it")
    return Follow(options.trajectory, options.follow or WAYS[0], options.interpolation or "cubic")

"""The page of `mbcli simulate --view`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from mbcli.cli.output import tell

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from mbcli.cli.options import Options
    from mbcli.pictures.live_run import LiveRun

WATCHED = 1e6  # [s] of a run that its page ends


def live_run(options: Options, quiet: bool) -> AbstractContextManager[LiveRun | None]:
    """The LiveRun that options ask for, None without --view; a run without -t lasts until it is ended.

    UsageError for options of a page without it.
    """
    if not options.view:
        for key in ("view_speed", "view_port", "no_browser"):
            if getattr(options, key) not in (None, False):
                raise click.UsageError(f"--{key.replace('_', '-')} needs --view")
        return nullcontext()
    from mbcli.pictures.live_run import LiveRun

    if options.duration is None:
        options.duration = WATCHED
    speed = 1.0 if options.view_speed is None else options.view_speed or None
    live = LiveRun(speed, options.view_port or 0, browser=not options.no_browser, starts_again=True)
    if quiet:  # else the run's notes have the address
        tell(live.url)
    return live

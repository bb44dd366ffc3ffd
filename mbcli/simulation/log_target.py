"""Whether a log can be written where it is wanted: found out before anything is compiled."""

from __future__ import annotations

import os

from mbcli.common.argument_names import argument
from mbcli.common.output_files import is_special, refuse_existing, refuse_missing_folder
from mbcli.errors import OutputError


def check_log_target(path: str, resumed: str | None = None, force: bool = False) -> None:
    """OutputError if no log can be written.

    Args:
        path: the log.
        resumed: the log that the run goes on with, which it may replace.
        force: whether an existing log, or what an earlier run left of one, is replaced.
    """
    partial = f"{path}.partial"
    resumed = None if resumed is None else os.path.realpath(resumed)
    if is_special(path):
        raise OutputError(f"{path}: error: is not a regular file; {argument('log', None)} writes no log")
    refuse_existing(path, force or os.path.realpath(path) == resumed)
    if os.path.lexists(partial) and os.path.realpath(partial) != resumed:
        refuse_existing(partial, True)
        if not force:
            from mbcli.log.write_lock import refuse_written

            if not os.path.islink(partial):  # what a link leads to is not even opened
                refuse_written(partial)
            raise OutputError(
                f"{partial}: error: is left from a run that did not finish; {argument('resume')} goes on with it, "
                f"{argument('force', True)} replaces it"
            )
    refuse_missing_folder(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: error: cannot be written: no permission for {folder}")


def move_aside(path: str) -> str:
    """Renames an unfinished log that is about to be written anew; returns its new name."""
    aside = f"{path}.old"
    if os.path.lexists(aside):
        raise OutputError(
            f"{aside}: error: is left from a {argument('resume')} that was cut short: resume that log, or remove it"
        )
    os.replace(path, aside)
    return aside


def put_back(aside: str, path: str) -> bool:
    """Gives an unfinished log that move_aside() renamed its name again, if it still has rows that the new one lacks."""
    try:
        os.replace(aside, path)
    except OSError:
        return False
    return True

"""`--world N`: one of the worlds of a log of many, for commands that take logs of single runs."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mbcli.common.left_behind import folder_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


world_option = click.option(
    "--world", type=click.IntRange(min=0), metavar="N", help="Which world of a log of many; from 0."
)


@contextmanager
def whole_log(path: str, world: int | None, joins: bool, **rows: Any) -> Iterator[Any]:
    """The Log of a run while this lasts; of many, if `joins` and none is named, the rows of all (JoinedWorlds).

    rows: of JoinedWorlds. UsageError as of single_logs().
    """
    from mbcli.log.joined_worlds import JoinedWorlds
    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog, is_worlds_log

    if joins and world is None and is_worlds_log(path):
        with WorldsLog(path) as worlds:
            yield JoinedWorlds(worlds, **rows)
        return
    with single_logs([path], world) as (own,), Log(own) as log:
        yield log


@contextmanager
def single_logs(paths: Sequence[str], world: int | None, *, most: int = 0) -> Iterator[list[str]]:
    """The paths of logs of single runs while this lasts: of those of many worlds, a log of the one of that number.

    most: so many worlds at most become a log each, called `LOG, world N`, where no number is given.

    UsageError for a log of many where none is named and there are more, and for a number where no log is one of many.
    """
    from mbcli.log.worlds import WorldsLog, is_worlds_log
    from mbcli.log.writer import LogWriter

    many = [is_worlds_log(path) for path in paths]
    if world is None and any(many) and not most:
        raise click.UsageError(f"{paths[many.index(True)]} is a log of many worlds: --world N names one")
    if world is not None and not any(many):
        raise click.UsageError(f"--world: {paths[0]} is the log of a single run")
    if not any(many):
        yield list(paths)
        return
    with tempfile.TemporaryDirectory(prefix=folder_prefix("world")) as folder:
        found = []
        for number, (path, is_many) in enumerate(zip(paths, many, strict=True)):
            if not is_many:
                found.append(path)
                continue
            os.mkdir(os.path.join(folder, str(number)))
            with WorldsLog(path) as worlds:
                if world is None and worlds.count > most:
                    raise click.UsageError(f"{path} has {worlds.count} worlds, more than {most}: --world N names one")
                for k in range(worlds.count) if world is None else [world]:
                    name = f"{os.path.basename(path)}, world {k}" if world is None else os.path.basename(path)
                    found.append(os.path.join(folder, str(number), name))
                    with LogWriter(found[-1], worlds.header) as log:
                        worlds.write_world(k, log)
        yield found

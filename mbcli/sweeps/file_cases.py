"""Cases that are files: a command over many of them, on processes of this machine or on a cluster that sees no file.

A worker has the file alone at first. Where that leads to others it answers with questions: which file does a URI name?
The client answers them as it would itself (carried_files.py), and sends the case again with those files, each under its
path on the client and the sum over its content. What cannot go, runs on this machine.
"""

from __future__ import annotations

import json
import os
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mbcli.errors import ResourceError
from mbcli.parsers.formats import FORMATS, format_of_name
from mbcli.sweeps.bundle import read_source, with_named
from mbcli.sweeps.carried_files import OF_PATHS, CarriedFiles
from mbcli.sweeps.cases import RETRIES, Cases
from mbcli.sweeps.clusters import run_on_cluster
from mbcli.sweeps.engines import engine_of
from mbcli.sweeps.local_workers import run_locally
from mbcli.sweeps.points import Point
from mbcli.sweeps.tasks import files_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mbcli.parsers.package_map import PackageMap
    from mbcli.sweeps.messages import Work

ASKS = "asks"  # the key of a row that is questions
MOST_ASKED = 20  # times that a case is sent
LARGEST = 1 << 28  # [bytes] of the files of a case
OF_CASE = ("file", "other")  # keys of a case that name its files: of a pair both


class Where(NamedTuple):
    """Where cases run: on so many processes of this machine, or a cluster; how often they are tried again there."""

    jobs: int | None = None
    dask: str | None = None
    ray: str | None = None
    retries: int = RETRIES


class FileCargo:
    """What goes to a cluster for cases over files.

    Args:
        work: of all.
        packages: makes the map of a case, which is asked where URIs lead.
        also: paths of files that go with each.
    """

    content = b""
    most = 4  # each comes with its meshes

    def __init__(self, work: Work, packages: Callable[[], PackageMap], also: Sequence[str] = ()) -> None:
        self._work, self._packages, self._also = work, packages, list(also)
        self._asked: dict[int, tuple[CarriedFiles, int]] = {}  # the answers to a case, and how often it asked
        self._last: tuple[list[str], CarriedFiles | None] = [], None  # files of a case, and the answers that it needed
        self.left: set[int] = set()  # cases that cannot go

    def task(self, points: Sequence[Point]) -> tuple[str, dict[str, bytes]]:
        """As clusters.Cargo has it."""
        sent, files, contents = [], {}, {}
        for point in points:
            same, known = self._last[0] == _files(point), self._last[1]  # as of parts of one identification
            new = known if same and known is not None else CarriedFiles(self._packages())
            carried, _ = self._asked.setdefault(point.index, (new, 0))
            for path in self._paths(point, carried):
                with suppress(ResourceError):  # it went away: the worker says that it is missing
                    source = read_source(path)
                    files[path] = source.sha256
                    contents[source.sha256] = source.content
            sent.append(Point(point.index, 0, point.values | {"carried": json.dumps(carried.document())}))
        return files_text(self._work, os.getcwd(), sent, files), contents

    def is_answered(self, point: Point, row: Mapping[str, Any]) -> bool:
        """As clusters.Cargo has it."""
        if ASKS not in row:
            if point.index in self._asked:
                self._last = _files(point), self._asked.pop(point.index)[0]
            return False
        carried, times = self._asked.pop(point.index)
        asks = [*row[ASKS], *_asked_next(row[ASKS], point.values.get("output"))]
        may_ask = times < MOST_ASKED and self._may_ask(row[ASKS], point, carried)
        if may_ask and carried.answer(asks) and self.goes(point, carried):
            self._asked[point.index] = carried, times + 1
            return True
        self.left.add(point.index)
        return False

    def _may_ask(self, asks: Sequence[str], point: Point, carried: CarriedFiles) -> bool:
        """Whether questions start from folders of files that the case has, as those of a model file do.

        A worker that asks from elsewhere would read other files of this machine.
        """
        written = [os.path.abspath(point.values["output"])] if "output" in point.values else []
        known = set(map(os.path.dirname, [*self._paths(point, carried), *written]))
        starts = (base for word, _, *bases in map(json.loads, asks) if word in OF_PATHS for base in bases)
        return all(any(Path(os.path.abspath(start)).is_relative_to(folder) for folder in known) for start in starts)

    def goes(self, point: Point, carried: CarriedFiles | None = None) -> bool:
        """Whether a case can go to another machine: what it reads is files, whose names mean the same there."""
        paths = self._paths(point, carried)
        for file in _files(point):
            if os.path.normpath(file) != file.removeprefix(os.curdir + os.sep) and "://" not in file:
                return False
        if any(map(_may_have_layers, paths)):  # which a program of their own finds
            return False
        try:
            return all(os.access(path, os.R_OK) for path in paths) and sum(map(os.path.getsize, paths)) <= LARGEST
        except OSError:
            return False

    def _paths(self, point: Point, carried: CarriedFiles | None) -> list[str]:
        named = [os.path.abspath(file) for file in (*_files(point), *self._also) if "://" not in file]
        return with_named([*named, *(() if carried is None else carried.paths())])


def _files(point: Point) -> list[str]:
    return [point.values[key] for key in OF_CASE if key in point.values]


def _may_have_layers(path: str) -> bool:
    """Whether a file of a model may be in parts, of the same format: so folders are not searched for such files."""
    name = format_of_name(path)
    return name is not None and not (FORMATS[name].IN_FOLDERS or FORMATS[name].IS_SCENE)


def _asked_next(asks: Sequence[str], output: str | None) -> list[str]:
    """Questions to come: a text for another folder, `output` in it, is read back in this one before it is written."""
    if output is None:
        return []
    folder, here = os.path.dirname(output) or os.curdir, os.getcwd()
    asked = map(json.loads, asks)
    return [json.dumps([word, uri, here]) for word, uri, *base in asked if word == "resolve" and base == [folder]]


def run_over_files(
    work: Work,
    files: Sequence[Mapping[str, str]],
    where: Where,
    packages: Callable[[], PackageMap],
    *,
    also: Sequence[str] = (),
    can_go: bool = True,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number of the case, its row) as cases end; arguments as of FileCargo.

    files: of each case {"file": its path or URI, "other": that of a second one, and texts for its work}.
    can_go: whether any may leave this machine.

    Raises:
        ResourceError: there is no such cluster, it is gone, or no worker of it can run a case.
    """
    points = [Point(k, 0, dict(values)) for k, values in enumerate(files)]
    here = points
    if where.dask is not None or where.ray is not None:
        cargo = FileCargo(work, packages, also)
        going = [point for point in points if can_go and cargo.goes(point)]
        cases = Cases(going, len(going), where.retries)
        with closing(run_on_cluster(cargo, cases, engine_of(where.dask, where.ray))) as running:
            for index, row in (entry for ended in running for entry in ended):
                if index not in cargo.left:
                    yield index, row
        went = {point.index for point in going} - cargo.left
        here = [point for point in points if point.index not in went]
    if here:
        with closing(run_locally(work, Cases(here, len(here), where.retries), where.jobs or 1)) as running:
            yield from (entry for ended in running for entry in ended)

"""sweep(): points, workers, journal and table of many runs of one model."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import mbcli
from mbcli.common.argument_names import argument
from mbcli.common.processors import num_processors
from mbcli.common.setting import complete, documented, refuse_unknown, settings_of
from mbcli.errors import ArgumentError, MbcliError, ModelError
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.loading import ModelText, load_model
from mbcli.parsers.load_arguments import HoldArguments, LoadArguments
from mbcli.sweeps.cases import Cases
from mbcli.sweeps.journal import Journal, point_id
from mbcli.sweeps.kept_rows import RowsInMemory
from mbcli.sweeps.measures import Measure
from mbcli.sweeps.messages import work_of
from mbcli.sweeps.point_run import FINAL, Job, PointRunner
from mbcli.sweeps.points import Point, make_points, read_points
from mbcli.sweeps.result_table import ResultTable, make_table
from mbcli.sweeps.run_files import as_texts, digests_of, opened_beside
from mbcli.sweeps.shards import Shard, parse_shard
from mbcli.sweeps.stores import as_place
from mbcli.sweeps.sweep_arguments import EngineArguments, PointArguments, SweepArguments
from mbcli.sweeps.variations import Variation, parse_variations, require_kinds

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Unpack

    from mbcli.models.loading import Models, ModelSource
    from mbcli.sweeps.bundle import Bundle
    from mbcli.sweeps.data_set import DataSet
    from mbcli.sweeps.kept_rows import KeptRows

OF_FILES = ("packages",)  # of the arguments of loading: where the files are, of which the checksums are known
CHECKED = 5  # points that are tried before a sweep counts as one whose points all are wrong


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is: points done of all, how many of them an earlier sweep has left, seconds since the start."""

    done: int
    count: int
    taken_over: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        """None as long as it cannot be known."""
        new = self.done - self.taken_over
        return self.seconds * (self.count - self.done) / new if new else None


class Carried(NamedTuple):
    """Of a sweep that came in a bundle: that, the folder of its files, the working folder there, and its identity."""

    bundle: Bundle
    top: str
    folder: str
    identity: Mapping[str, Any]


@dataclass(frozen=True)
class Sweep:
    """What a sweep runs: a job, and its points."""

    job: Job
    variations: list[Variation]
    points: Sequence[Point]
    seed: int
    finals: tuple[str, ...]  # columns of the final state
    made_of: Mapping[str, Any]  # the points, by made_points()
    carried: Carried | None = None

    @property
    def measures(self) -> list[str]:
        """The names of the measures, in their order."""
        return [Measure(text).name for text in self.job.measures]

    def identity(self) -> dict:
        """What a journal says of it; other points do not make it another sweep."""
        if self.carried is not None:
            return dict(self.carried.identity)
        described = {
            "sources": list(self.job.sources),
            "loading": _described({name: v for name, v in self.job.loading.items() if name not in OF_FILES}),
            "run": _described(self.job.run),
            **({"files": sorted(self.job.files.values())} if self.job.files else {}),
            "start": _described(self.job.start),
            "u": _described(self.job.u),
            "measures": list(self.job.measures),
            "columns": self.columns,
            "timeout": self.job.timeout,
            "table": {"finals": list(self.finals), "texts": [v.column for v in self.variations if v.has_texts]},
        }
        return {"mbcli_version": mbcli.__version__, "seed": self.seed, **described}

    def described(self) -> Sequence[dict[str, Any]]:
        """Of each point what a journal says of it."""
        return _Described(self)

    @property
    def columns(self) -> list[str]:
        """Of what varies, in the table."""
        return [variation.column for variation in self.variations]


class _Described(Sequence[dict[str, Any]]):
    def __init__(self, prepared: Sweep) -> None:
        self._sweep = prepared

    def __len__(self) -> int:
        return len(self._sweep.points)

    def __getitem__(self, k: Any) -> Any:
        point = self._sweep.points[k]
        cells = [variation.cell(point.values[variation.path]) for variation in self._sweep.variations]
        return {"id": point_id({"seed": point.seed, "values": point.values}), "seed": point.seed, "cells": cells}


def _described(value: Any) -> Any:
    """A value as JSON has it; what is no number or text by its contents."""
    if isinstance(value, Mapping):
        return {str(name): _described(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_described(item) for item in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _described(vars(value)) if hasattr(value, "__dict__") else str(value)


def sweep(
    model: Any,
    vary: Iterable[str] | Mapping[str, Any] | None = None,
    *,
    duration: float | None = None,
    start: Mapping[str, float] | None = None,
    pose: str | None = None,
    on_progress: Callable[[SweepProgress], object] = lambda progress: None,
    run: Mapping[str, Any] | None = None,
    **settings: Unpack[SweepArguments],
) -> ResultTable:
    """Runs a model at many points, on processes of this machine or a Dask cluster; returns one table.

    Args:
        model: files, as load_model() takes them.
        vary: {path: values} or PATH=VALUES texts; `mbcli.sweeps.variations` says which there are.
        duration: [s] of each run; default: that of the settings, else 5 s.
        start: {position or velocity: number} of every run.
        pose: name of a posture.
        on_progress: is given the SweepProgress after points, of short runs after several.
        run: more arguments of the runs: integrator, accuracy, max_step, log_rate, start_limits, effort_limits;
            controller (a file or a command), trajectory and pushes (texts and tables), of the seed of each point.
        {settings}

    Raises:
        ArgumentError, ModelError, ResourceError: before the first run. What goes wrong in a run is in its row.

    Returns:
        A row for each point: what varied, how the run ended, the measures.

    Example:
        >>> masses = {"body.lower.mass": [0.5, 0.6]}
        >>> start = {"elbow": 0.5}
        >>> table = mbcli.sweep("sample_models/double_pendulum.urdf", masses, duration=0.02, start=start, jobs=1)
        >>> [row["status"] for row in table.rows]
        ['ok', 'ok']
    """
    known = settings_of(SweepArguments)
    refuse_unknown(known, settings, "sweep")
    given: dict[str, Any] = dict(settings)
    of_points, of_engine = (
        {name: given.pop(name) for name in settings_of(kind) if name in given}
        for kind in (PointArguments, EngineArguments)
    )
    arguments: dict[str, Any] = {"pose": pose, "duration": duration, **(run or {})}
    given.setdefault("contact", True)
    loaded = load_model(_models(model), **given)
    described = None
    if start is not None:
        from mbcli.models.states import set_state_by_names

        context = loaded.plant.CreateDefaultContext()
        mask = set_state_by_names(loaded.plant, context, start)
        described = (loaded.plant.GetPositions(context), loaded.plant.GetVelocities(context), mask)
    prepared = prepare_sweep(loaded, _models(model), given, arguments, vary, start=described, **of_points)
    table = run_sweep(prepared, on_progress=on_progress, **of_engine)
    return dataclasses.replace(table, rows=list(table.rows))


documented(sweep, PointArguments, EngineArguments, HoldArguments, LoadArguments)


def _models(model: Models) -> tuple[ModelSource, ...]:
    given = [model] if isinstance(model, (str, os.PathLike, ModelText)) else list(model)
    return tuple(m if isinstance(m, ModelText) else _absolute(os.fspath(m)) for m in given)


def _absolute(path: str) -> str:
    """A path that means the same in another process; a URI as it is."""
    return path if "://" in path else os.path.abspath(path)


def prepare_sweep(
    loaded: LoadedModel,
    models: Sequence[Any],
    loading: Mapping[str, Any],
    run: Mapping[str, Any],
    vary: Iterable[str] | Mapping[str, Any] | None,
    *,
    start: tuple | None = None,
    **settings: Unpack[PointArguments],
) -> Sweep:
    """The Sweep of a model that load_model(models, **loading) gave; arguments and errors as of sweep().

    run: arguments of RecordedRun. start: (q, v, mask of stated positions), None for the defaults.
    """
    given = complete(PointArguments, settings, "prepare_sweep")
    points, sampling, samples, seed = (given[name] for name in ("points", "sampling", "samples", "seed"))
    timeout = given["timeout"]
    variations, made = made_points(vary, points, sampling, samples, seed)
    if timeout is not None and not timeout > 0.0:
        raise ArgumentError(f"{argument('timeout')} must be greater than 0 s, it is {timeout:g}")
    texts = tuple(given["measures"])
    measures = [Measure(text).name for text in texts]
    if len(set(measures)) < len(measures):
        raise ArgumentError(f"{argument('measures')}: two measures are named '{max(measures, key=measures.count)}'")
    sources = tuple(sorted(source.sha256 for source in loaded.sources))
    of_run, files = as_texts(run)
    job = Job(tuple(models), dict(loading), of_run, start, given["u"], texts, timeout, sources, files)
    with opened_beside(of_run.get("controller")) as opened:
        _check(PointRunner(job, loaded), made)
    job = dataclasses.replace(job, files=files | digests_of(opened))
    names = [*loaded.plant.GetPositionNames(), *loaded.plant.GetVelocityNames()]
    described = {v.path: v.description or list(v.values or ()) for v in variations} if points is None else None
    made_of = {"vary": described, "points": points, "sampling": sampling, "samples": samples, "seed": seed}
    return Sweep(job, variations, made, seed, tuple(f"{FINAL}{name}" for name in names), made_of)


def made_points(
    vary: Iterable[str] | Mapping[str, Any] | None,
    points: str | os.PathLike | None,
    sampling: str | None,
    samples: int | None,
    seed: int,
) -> tuple[list[Variation], Sequence[Point]]:
    """What varies, and the points, of arguments of sweep(). ArgumentError if they do not fit."""
    if (vary is None) == (points is None):
        raise ArgumentError(f"give {argument('vary')} or {argument('points')}: what varies")
    if points is not None:
        if sampling is not None or samples is not None:
            raise ArgumentError(
                f"{argument('points')} lists the points: no {argument('sampling')}, {argument('samples')}"
            )
        return read_points(points, seed)
    variations = parse_variations(vary or ())
    require_kinds(variations)
    return variations, make_points(variations, sampling, samples, seed)


def _check(runner: PointRunner, points: Sequence[Point]) -> None:
    """Raises what is wrong with the first points, unless one of them is right."""
    fault: MbcliError | None = None
    for point in points[:CHECKED]:
        try:
            runner.check(point)
            return
        except (ArgumentError, ModelError) as error:
            fault = fault or error
    if fault is not None:
        raise fault


def run_sweep(
    prepared: Sweep,
    *,
    on_progress: Callable[[SweepProgress], object] = lambda progress: None,
    **settings: Unpack[EngineArguments],
) -> ResultTable:
    """Runs the points of a Sweep that a journal does not have yet; arguments as of sweep()."""
    given = complete(EngineArguments, settings, "run_sweep")
    jobs, journal = given["jobs"], given["journal"]
    shard = parse_shard(given["shard"]) if given["shard"] is not None else Shard(1, 1)
    if jobs is not None and jobs < 1:
        raise ArgumentError(f"{argument('jobs')} must be at least 1, it is {jobs}")
    if given["dask"] is not None and given["ray"] is not None:
        raise ArgumentError(f"{argument('dask')} or {argument('ray')}: a sweep runs on one cluster")
    if given["retries"] < 0:
        raise ArgumentError(f"{argument('retries')} must be at least 0, it is {given['retries']}")
    if given["data_set"] is not None and (journal is None or given["shard"] is not None):
        raise ArgumentError(
            f"{argument('data_set')} needs {argument('journal')}, and all points: no {argument('shard')}"
        )
    kept, in_memory = None, RowsInMemory(prepared.described())
    identity = prepared.identity() | ({"shard": list(shard)} if given["shard"] is not None else {})
    if journal is not None:
        kept = Journal(as_place(os.fspath(journal)), identity, prepared.described(), resume=given["resume"])
    keep, rows = (in_memory.add, in_memory) if kept is None else (kept.add, kept.rows)
    began, taken_over, count = time.monotonic(), len(rows), shard.size(len(prepared.points))
    left = (prepared.points[index] for index in shard.indexes(len(prepared.points)) if index not in rows)
    try:
        parts = None if given["data_set"] is None else _data_set(given["data_set"], identity, rows, count)
        on_progress(SweepProgress(taken_over, count, taken_over, 0.0))
        if taken_over < count:
            cases = Cases(left, count - taken_over, given["retries"])
            with closing(_running(prepared, cases, given)) as running:
                for ended in running:
                    keep(ended)
                    if parts is not None:
                        parts.note(index for index, _ in ended)
                    on_progress(SweepProgress(len(rows), count, taken_over, time.monotonic() - began))
    finally:
        if kept is not None:
            kept.close()
    return make_table(prepared.columns, rows, prepared.measures)


def _data_set(folder: str | os.PathLike, identity: Mapping[str, Any], rows: KeptRows, count: int) -> DataSet:
    from mbcli.sweeps.data_set import DataSet

    return DataSet(as_place(os.fspath(folder)).rstrip("/") + "/", identity, rows, count)


def _running(
    prepared: Sweep, cases: Cases, given: Mapping[str, Any]
) -> Generator[list[tuple[int, dict[str, Any]]], None, None]:
    job, carried = prepared.job, prepared.carried
    if given["dask"] is None and given["ray"] is None:
        from mbcli.sweeps.local_workers import run_locally

        jobs = given["jobs"] or num_processors()
        return run_locally(work_of(job), cases, jobs, *(() if carried is None else carried[1:3]))
    from mbcli.sweeps.bundle import pack
    from mbcli.sweeps.clusters import run_on_cluster
    from mbcli.sweeps.engines import engine_of
    from mbcli.sweeps.tasks import SweepCargo

    bundle = pack(job, cases.first()) if carried is None else carried.bundle
    return run_on_cluster(SweepCargo(bundle), cases, engine_of(given["dask"], given["ray"]))

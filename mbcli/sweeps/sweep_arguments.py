"""The settings of sweep(): each with its type, its default and its sentence."""

import os
from collections.abc import Iterable
from typing import Annotated, Any, TypedDict

from mbcli.common.setting import Setting
from mbcli.parsers.load_arguments import AllLoadArguments
from mbcli.sweeps.cases import RETRIES


class PointArguments(TypedDict, total=False):
    """Of what is run and measured."""

    points: Annotated[
        str | os.PathLike | None,
        Setting("in place of `vary`: a CSV file with a header of paths and a row for each point."),
    ]
    sampling: Annotated[
        str | None,
        Setting('"grid", "latin-hypercube" or "monte-carlo"; default: a grid, or Monte Carlo with `samples`.'),
    ]
    samples: Annotated[int | None, Setting("the number of points that are drawn.")]
    seed: Annotated[int, Setting("of the sample, and of the seeds of points.", default=0)]
    measures: Annotated[
        Iterable[str],
        Setting('figures of a run, as "max(abs(elbow))" or "NAME=EXPRESSION": `mbcli.sweeps.measures`.', default=()),
    ]
    u: Annotated[Any, Setting("constant actuation (nu,) [N m or N] of every run.")]
    timeout: Annotated[float | None, Setting('[s] of wall-clock time after which a run ends as "timeout".')]


class EngineArguments(TypedDict, total=False):
    """Of where the points run, and what is kept of them."""

    jobs: Annotated[int | None, Setting("the number of processes; default: one a core.")]
    dask: Annotated[str | None, Setting("the address of a Dask scheduler, whose workers run the points.")]
    ray: Annotated[str | None, Setting("the address of a Ray cluster in place of it.")]
    retries: Annotated[
        int,
        Setting(
            "how often a point is tried again for what a machine did: a lost worker, no memory, a file, a version.",
            default=RETRIES,
        ),
    ]
    shard: Annotated[str | None, Setting('"K/N": only part K of N of the points, K from 1.')]
    journal: Annotated[
        str | os.PathLike | None, Setting("the file, or the address in a store, that finished points go to.")
    ]
    data_set: Annotated[
        str | os.PathLike | None,
        Setting("a folder or an address that the rows go to as Parquet files while points end; needs `journal`."),
    ]
    resume: Annotated[bool, Setting("whether those whose results the journal has are not run again.", default=False)]


class SweepArguments(PointArguments, EngineArguments, AllLoadArguments, total=False):
    """All of them."""

"""Workers of a Dask cluster that is running already: Slurm, Kubernetes, clouds, or `dask scheduler` on some machines.

The files of the model must be there under the same paths. A process runs one point at a time, and keeps the model.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.common.extra_packages import import_extra
from mbcli.errors import ResourceError
from mbcli.sweeps.messages import job_text, read_job
from mbcli.sweeps.point_run import LOST, Job, PointRunner
from mbcli.sweeps.points import Point

if TYPE_CHECKING:
    from collections.abc import Generator

    from mbcli.sweeps.cases import Cases

CONNECT_SECONDS = 20
AHEAD = 4  # points for each thread of the cluster that are handed over before they can run

_lock = threading.Lock()
_runners: dict[str, PointRunner] = {}


def run_on_dask(job: Job, cases: Cases, scheduler: str) -> Generator[tuple[int, dict[str, Any]], None, None]:
    """(number of the point, its row) as points end.

    Raises:
        ResourceError: the extra is not installed, or no scheduler answers at that address.
    """
    distributed = import_extra("distributed", "dask", argument("dask"))
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # a TimeoutError is an OSError
        raise ResourceError(f"{argument('dask')}: no Dask scheduler at {scheduler}: {error}") from None
    content = job_text(job)
    try:
        threads = sum(client.nthreads().values()) or 1
        [there] = client.scatter([content], broadcast=True)
        point_of: dict[str, Point] = {}

        def submit() -> Any:
            point = next(iter(cases.take()), None)
            if point is None:
                return None
            future = client.submit(run_point, there, point, pure=False)
            point_of[future.key] = point
            return future

        futures = [future for _ in range(AHEAD * threads) if (future := submit()) is not None]
        ended = distributed.as_completed(futures, loop=client.loop)
        for future in ended:
            point = point_of.pop(future.key)
            failure = future.exception()
            if failure is None:
                row = future.result()
            else:
                message = f"{type(failure).__name__}: {failure}".replace("\n", "; ")
                row = {"status": LOST, "message": message, "wall_time": 0.0}
            if cases.settle(point, row):
                yield point.index, row
            future.release()
            following = submit()
            if following is not None:
                ended.add(following)
    finally:
        client.close()


def run_point(content: str, point: Point) -> dict[str, Any]:
    """The row of a point, on a worker; content: the job_text() of its job."""
    with _lock:
        if content not in _runners:
            _runners.clear()
            _runners[content] = PointRunner(read_job(content))
        return _runners[content].row(point)

"""Workers of a Dask cluster that is running already: SLURM, Kubernetes, clouds, or `dask scheduler` on some machines.

They need mbcli, and nothing else: what the runs need goes to each worker once (bundle.py).
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.common.extra_packages import import_extra
from mbcli.errors import ResourceError
from mbcli.sweeps.clusters import RecentFiles, Reply
from mbcli.sweeps.tasks import SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

CONNECT_SECONDS = 20
REPLY = "(__import__('distributed').get_worker().address, call(text, *contents))"
CALL = f"[exec(source, globals()), {REPLY}][1]"  # a worker that cannot import a function ends, but it has eval()
WAITED = 2.0  # [s] for a task, before the cluster is looked at again


class DaskEngine:
    """The workers of a Dask scheduler. ResourceError: the extra is not installed, or no scheduler answers there."""

    def __init__(self, address: str) -> None:
        self._distributed = import_extra("distributed", "dask", argument("dask"))
        self._address = address
        try:
            self._client = self._distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:  # a TimeoutError is an OSError
            raise ResourceError(f"{argument('dask')}: no Dask scheduler at {address}: {error}") from None
        self._ended: queue.Queue[Any] = queue.Queue()
        self._files = RecentFiles(self._client.scatter, _is_there)

    def give(self, content: bytes) -> None:
        self._content = content
        [self._bundle] = self._client.scatter([content], broadcast=True)

    def slots(self, without: Collection[str]) -> int:
        return sum(count for worker, count in self._client.nthreads().items() if worker not in without)

    def submit(self, text: str, files: Mapping[str, bytes], without: Collection[str]) -> Any:
        others = [worker for worker in self._client.nthreads() if worker not in without] if without else None
        if not _is_there(self._bundle):
            self.give(self._content)
        names = {"source": SOURCE, "contents": [self._bundle, *self._files.of(files)], "text": text}
        future = self._client.submit(eval, CALL, names, workers=others or None, pure=False)
        future.add_done_callback(self._ended.put)
        return future

    def ended(self) -> Iterator[tuple[Any, Reply]]:
        try:
            future = self._ended.get(timeout=WAITED)
        except queue.Empty:
            if self._client.status != "running":
                raise ResourceError(f"{argument('dask')}: the scheduler at {self._address} is gone") from None
            return
        yield future, self._reply(future)

    def _reply(self, future: Any) -> Reply:
        try:
            address, text = future.result()
            return Reply(text, "", address)
        except Exception as error:  # whatever a worker or Dask raises
            message = f"{type(error).__name__}: {error}".replace("\n", "; ")
            return Reply(None, message, "")

    def objects(self, kind: Callable[[], Any], count: int) -> list[tuple[str, Callable[..., Callable[[], Any]]]]:
        addresses = list(self._client.nthreads())
        found = []
        for k in range(count):
            where = addresses[k % len(addresses)]
            future = self._client.submit(kind, actor=True, workers=[where], pure=False)
            with self._client.as_current():  # an actor looks for it
                actor = future.result()
            found.append((where, lambda *words, actor=actor: actor.do(*words).result))
        return found

    def close(self) -> None:
        self._client.close()


def _is_there(future: Any) -> bool:
    """Whether the workers that had it are not gone."""
    return future.status in ("pending", "finished")

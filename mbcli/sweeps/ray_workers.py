"""Workers of a Ray cluster that is running already (`ray start`, KubeRay).

They need mbcli, and nothing else: what the runs need goes to each node once (bundle.py). A task takes one processor.
"""

from __future__ import annotations

import logging
import socket
from functools import partial
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.common.extra_packages import import_extra
from mbcli.errors import ResourceError
from mbcli.sweeps.clusters import RecentFiles, Reply
from mbcli.sweeps.tasks import SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

CONNECT_SECONDS = 20
WAITED = 2.0  # [s] for a task, before the cluster is looked at again
RUN = """
def run(text, *contents):
    import ray
    return ray.get_runtime_context().get_node_id(), call(text, *contents)
"""


class RayEngine:
    """The nodes of a Ray cluster.

    address: HOST:PORT of its head, "auto" on one of its nodes, ray://HOST:10001 from elsewhere.

    Raises:
        ResourceError: the extra is not installed, or no cluster answers there.
    """

    def __init__(self, address: str) -> None:
        self._ray = import_extra("ray", "ray", argument("ray"))
        self._address = address
        host, _, port = address.rpartition(":")
        try:
            if "://" not in address and port.isdigit():  # Ray itself would try for ten minutes
                socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
            self._ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError, OverflowError) as error:  # a ConnectionError is an OSError
            raise ResourceError(f"{argument('ray')}: no Ray cluster at {address}: {error}") from None
        names: dict[str, Any] = {"__name__": "__main__"}  # what Ray sends whole: nothing of it need be there
        exec(SOURCE + RUN, names)
        self._run = self._ray.remote(num_cpus=1, max_retries=0)(names["run"])
        self._running: list[Any] = []
        self._files = RecentFiles(lambda contents: list(map(self._ray.put, contents)))

    def give(self, content: bytes) -> None:
        self._bundle = self._ray.put(content)

    def _nodes(self, without: Collection[str]) -> dict[str, int]:
        """{node: its processors}."""
        try:
            nodes = [node for node in self._ray.nodes() if node["Alive"] and node["NodeID"] not in without]
        except Exception as error:  # whatever Ray raises
            raise ResourceError(f"{argument('ray')}: the cluster at {self._address} is gone: {error}") from None
        return {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in nodes}

    def slots(self, without: Collection[str]) -> int:
        return sum(self._nodes(without).values())

    def submit(self, text: str, files: Mapping[str, bytes], without: Collection[str]) -> Any:
        options = {}
        others = [node for node, count in self._nodes(without).items() if count] if without else []
        if others:
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            node = others[len(self._running) % len(others)]
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node_id=node, soft=True)
        task = self._run.options(**options).remote(text, self._bundle, *self._files.of(files))
        self._running.append(task)
        return task

    def ended(self) -> Iterator[tuple[Any, Reply]]:
        try:
            ready, self._running = self._ray.wait(self._running, timeout=WAITED)
        except Exception as error:  # whatever Ray raises
            raise ResourceError(f"{argument('ray')}: the cluster at {self._address} is gone: {error}") from None
        for task in ready:
            yield task, self._reply(task)

    def _reply(self, task: Any) -> Reply:
        try:
            address, text = self._ray.get(task)
            return Reply(text, "", address)
        except Exception as error:  # whatever a worker or Ray raises
            message = str(error).strip().partition("\n")[0]
            return Reply(None, f"{type(error).__name__}: {message}", "")

    def objects(self, kind: Callable[[], Any], count: int) -> list[tuple[str, Callable[..., Callable[[], Any]]]]:
        actors = [self._ray.remote(num_cpus=1)(kind).remote() for _ in range(count)]
        return [
            (f"{k} of {count}", lambda *words, actor=actor: partial(self._ray.get, actor.do.remote(*words)))
            for k, actor in enumerate(actors, start=1)
        ]

    def close(self) -> None:
        self._ray.shutdown()

"""How many threads a call may use, under the name of pydrake.common; mbcli's own calls use one."""

from __future__ import annotations

import os


class Parallelism:
    """A number of threads: Parallelism() is one, Parallelism(True) as many as the machine has, Parallelism(n) n."""

    def __init__(self, num_threads: int | bool = 1, *, parallelize: bool | None = None) -> None:
        wanted = num_threads if parallelize is None else parallelize
        if type(wanted) is bool:
            wanted = self.Max().num_threads() if wanted else 1
        if type(wanted) is not int:
            raise TypeError(f"Parallelism takes numbers of the types int and bool, not {wanted!r}")
        if wanted < 1:
            raise RuntimeError(f"Parallelism: there must be a thread, not {wanted}")
        self._num_threads = wanted

    @staticmethod
    def Max() -> Parallelism:
        """As many as the environment variable DRAKE_NUM_THREADS says, or as the machine has."""
        return Parallelism(int(os.environ.get("DRAKE_NUM_THREADS") or os.cpu_count() or 1))

    def num_threads(self) -> int:
        """The number."""
        return self._num_threads

    def __repr__(self) -> str:
        return f"Parallelism(num_threads={self._num_threads})"

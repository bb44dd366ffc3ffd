"""Work on large models without the garbage collector, which would walk all that was made again and again."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FEW = 200_000  # objects that may wait to be walked, however few are alive


class _Unwalked:
    """How many objects pauses have made old without a walk, and how many were alive after the last walk of all.

    Python's own rule for a full collection does not count objects that became old in this way: models that nobody has
    any more would stay for good in a program that loads one after another.
    """

    count = 0
    alive = 0

    @classmethod
    def collect_if_many(cls) -> None:
        """A full collection once a quarter of the objects has not been walked, as Python has it."""
        if cls.count > max(FEW, cls.alive // 4):
            gc.collect()
            cls.count, cls.alive = 0, _alive()


def _alive() -> int:
    """How many objects the collector knows."""
    if gc.get_freeze_count():  # some are to stay frozen
        return len(gc.get_objects())
    gc.freeze()  # they are counted without a list of them
    count = gc.get_freeze_count()
    gc.unfreeze()
    return count


@contextmanager
def paused_collection(*, collect: bool = True) -> Iterator[None]:
    """Keeps the cyclic garbage collector from running inside, while many objects are made and few are dropped.

    collect: whether a full collection that is due comes first; if not, it comes before another pause.
    """
    was_enabled = gc.isenabled()
    if was_enabled and collect:
        _Unwalked.collect_if_many()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # the new objects are old now: the next collection need not walk it
                _Unwalked.count += gc.get_count()[0]
                gc.freeze()
                gc.unfreeze()
            gc.enable()

"""A thread that reads the next rows while the ones before are computed."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Generator
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeVar

    Item = TypeVar("Item")

READER = "mbcli-reader"
MOST_WAITING = 2  # items, so that memory stays the same however many there are


class _End:
    """After the last item: what has stopped the generator, None if it has ended."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def read_ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """The items of a generator, which runs in a thread of its own; its error comes after them.

    Whoever closes the iterator waits until the generator is closed.
    """
    read: SimpleQueue[Any] = SimpleQueue()
    room, is_closed = threading.Semaphore(MOST_WAITING), threading.Event()

    def run() -> None:
        try:
            room.acquire()
            for item in items:
                read.put(item)
                del item  # it lives as long as whoever takes it
                room.acquire()
                if is_closed.is_set():
                    items.close()
                    return
            read.put(_End())
        except BaseException as error:
            read.put(_End(error))

    # in the context of whoever reads, to which numpy's errstate belongs
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name=READER, daemon=True)
    thread.start()
    try:
        while not isinstance(item := read.get(), _End):
            room.release()
            yield item
        if item.error is not None:
            raise item.error
    finally:
        is_closed.set()
        room.release()
        thread.join()

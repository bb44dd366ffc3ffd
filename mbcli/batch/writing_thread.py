"""A thread that writes rows while the next ones are read and computed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

WRITER = "mbcli-writer"
MOST_WAITING = 2  # calls, so that memory stays the same however many rows there are


class WritingThread:
    """Makes calls in their order, the first of which that fails is the last. Calls do not wait for anyone."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._room = threading.Semaphore(MOST_WAITING)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=WRITER, daemon=True)
        self._thread.start()

    def call(self, function: Callable[[], None]) -> None:
        """Has the function called soon. Raises what has stopped an earlier call."""
        self._room.acquire()
        if self._error is not None:
            self.end()
        self._jobs.put(function)

    def end(self) -> None:
        """Waits for all calls. Raises what has stopped one."""
        self._jobs.put(None)
        self._thread.join()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _run(self) -> None:
        while (function := self._jobs.get()) is not None:
            if self._error is None:
                try:
                    function()
                except BaseException as error:
                    self._error = error
            self._room.release()

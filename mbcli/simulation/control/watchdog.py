"""The time limit of calls of Python: a call that takes longer is interrupted.

A thread looks at the number of the call a few times within the limit. In the main thread the call is interrupted by a
signal, which also ends a wait for the system; in another thread by an exception before its next line.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from typing import Any

LOOKS = 4  # within the limit: it is kept to a quarter of it


class CallTooLongError(BaseException):
    """Interrupts a call; no `except Exception` of its code stops it."""


class Watchdog:
    """Interrupts what takes longer than a limit, as a context manager for a run.

    `calls` is raised by who calls: by one before a call, by one after it, so that it is odd within.

    Args:
        limit: [s] of wall-clock time.
    """

    def __init__(self, limit: float) -> None:
        self.limit, self.calls = limit, 0
        self._ended = threading.Event()
        self._caller = threading.get_ident()
        self._in_main = threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGALRM")
        self._thread: threading.Thread | None = None
        self._before: Any = None

    def start(self) -> None:
        """Begins to look."""
        if self._in_main:
            self._before = signal.signal(signal.SIGALRM, self._interrupt)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends it."""
        if self._thread is None:
            return
        self._ended.set()
        self._thread.join()
        self._thread = None
        if self._in_main:
            signal.signal(signal.SIGALRM, self._before)

    def _look(self) -> None:
        seen, looks = -1, 0
        while not self._ended.wait(self.limit / LOOKS):
            now = self.calls
            looks = looks + 1 if now == seen and now % 2 else 0
            seen = now
            if looks >= LOOKS:
                looks = 0
                self._end_call(now)

    def _end_call(self, number: int) -> None:
        if self._in_main:
            signal.pthread_kill(self._caller, signal.SIGALRM)
        elif self.calls == number:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._caller), ctypes.py_object(CallTooLongError))

    def _interrupt(self, signum: int, frame: object) -> None:
        if self.calls % 2:  # else the call has ended meanwhile
            raise CallTooLongError

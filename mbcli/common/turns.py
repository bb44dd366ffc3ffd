"""Whose turn it is: things that one thread at a time may use, and threads that a forked process has to start anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock
from weakref import WeakSet

_forks = 0  # of this process and those before it


def number_of_forks() -> int:
    """Another number in a forked process than in its parent: what has threads makes new ones where it has changed."""
    return _forks


class Turn:
    """Refuses a second thread where it would read and write the same arrays as a first: `with turn:`.

    The thread that has the turn may take it again. In a forked process the thread that forked keeps its turns, and
    nobody has those of others, which have gone.

    Attributes:
        take, give_back: of `with`, for what is short: take(False) is False if another thread has it.

    Args:
        what: is used, for the error, as "a context".
    """

    __slots__ = ("take", "give_back", "_what", "__weakref__")

    def __init__(self, what: str) -> None:
        self._what = what
        self._make_lock()
        _turns.add(self)

    def _make_lock(self) -> None:
        lock = RLock()
        self.take, self.give_back = lock.acquire, lock.release

    def __enter__(self) -> None:
        """RuntimeError if another thread is at it."""
        if not self.take(False):
            raise self.refusal()

    def __exit__(self, *_: object) -> None:
        self.give_back()

    def require(self) -> None:
        """RuntimeError if another thread is at it."""
        with self:
            pass

    def refusal(self) -> RuntimeError:
        """The error for a second thread."""
        return RuntimeError(f"{self._what} is in use by another thread: each thread needs one of its own")

    def start_anew(self) -> None:
        """In a forked process: a thread that is not here has no turn."""
        if self.take(False):
            self.give_back()
        else:
            self._make_lock()


_turns: WeakSet[Turn] = WeakSet()


def _start_anew() -> None:
    global _forks
    _forks += 1
    for turn in _turns:
        turn.start_anew()


def call_in_forked(function: Callable[[], None]) -> None:
    """Has each process that is forked from this one call a function first; nothing where no process can be forked."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


call_in_forked(_start_anew)

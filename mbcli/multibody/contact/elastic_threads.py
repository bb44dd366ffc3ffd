"""One or two threads that compute the two halves of what elastic bodies need.

The halves are the same whether one thread computes both or each has its own, so results do not depend on the number.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

import numpy as np

from mbcli.common.processors import num_processors
from mbcli.common.turns import call_in_forked
from mbcli.engine.fields.front_fields import BARRIER_NUMBERS, BARRIER_PARTS


class _Helper:
    """The other thread of this process, which calls the functions that it is given, one after the other."""

    def __init__(self):
        self._functions: SimpleQueue[Any] = SimpleQueue()
        self._results: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=self._serve, daemon=True, name="mbcli-elastic").start()
        self.lock = threading.Lock()  # of who gives functions

    def _serve(self):
        while True:
            function = self._functions.get()
            try:
                self._results.put((function(), None))
            except BaseException as error:
                self._results.put((None, error))

    def begin(self, function):
        self._functions.put(function)

    def result(self):
        """That of the function that was given, which has ended then, whatever interrupts the wait."""
        interrupt = None
        while True:
            try:
                value, error = self._results.get()
                break
            except BaseException as raised:  # a signal: the function goes on with the caller's arrays
                interrupt = raised
        if interrupt is not None:
            raise interrupt
        if error is not None:
            raise error
        return value


_helper: _Helper | None = None


def _forget_helper():
    global _helper
    _helper = None


call_in_forked(_forget_helper)  # a child has only the thread that forked


def has_two_cores() -> bool:
    """Whether this process may run on two cores. On one, two threads would wait for each other."""
    return num_processors() > 1


class Threads:
    """How many threads there are.

    Attributes:
        are_two: whether there is another one.
    """

    def __init__(self, are_two=False):
        self.are_two = are_two

    def both(self, first, second):
        """The results of two functions without arguments. The second runs meanwhile in the other thread, if any."""
        global _helper
        if not self.are_two:
            return first(), second()
        if _helper is None:
            _helper = _Helper()
        with _helper.lock:
            _helper.begin(second)
            try:
                result = first()
            finally:
                given = _helper.result()
        return result, given

    def barrier(self):
        """What kernels that are called together() take by this name (engine/deformable/barrier.py)."""
        barrier = np.zeros(BARRIER_NUMBERS, dtype=np.int64)
        barrier[BARRIER_PARTS] = 2 if self.are_two else 1
        return barrier

    def together(self, function):
        """The results of function(part) of the parts 0 and 1 at the same time, or of part 0 if there is one thread."""
        if not self.are_two:
            return (function(0),)
        return self.both(lambda: function(0), lambda: function(1))

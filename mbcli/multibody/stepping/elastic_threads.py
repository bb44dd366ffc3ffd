"""One or two threads that compute the two halves of what elastic bodies need.

The halves are the same whether one thread computes both or each has its own, so results do not depend on the number.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

_helper: ThreadPoolExecutor | None = None  # the other thread of this process


def _forget_helper():
    global _helper
    _helper = None


os.register_at_fork(after_in_child=_forget_helper)  # a child has only the thread that forked


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
            _helper = ThreadPoolExecutor(1, "mbcli-elastic")
        other = _helper.submit(second)
        try:
            result = first()
        finally:
            given = other.result()
        return result, given

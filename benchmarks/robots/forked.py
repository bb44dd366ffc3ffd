"""Runs of many tasks in processes that are forked from this one, which has loaded and compiled what they share.

A run that crashes or takes too long ends its process alone: the next one goes on with the run after it.
"""

import json
import os
import select
import signal
import sys
import time
import traceback
from collections import deque

POLL = 0.5  # [s]
TOO_LONG = "longer than"  # how the text of a run begins that took too long


def run_forked(tasks, do, *, limit, processes, on_result):
    """Does every run of every task.

    Args:
        tasks: pairs of a task and the list of its runs.
        do: (task, run, kept) -> what JSON can have; `kept` is a dict of the process, in which what several runs of a
            task need can be left. An exception of it becomes {"raised": text, "traceback": text}.
        limit: [s] for one run; one that takes longer becomes {"died": text}, as one that crashes.
        processes: how many work at once.
        on_result: is given task, run, result, in the order of a task's runs.
    """
    waiting = deque((task, list(runs)) for task, runs in tasks if runs)
    working = []
    try:
        while waiting or working:
            while waiting and len(working) < processes:
                working.append(_Child(*waiting.popleft(), do, limit))
            ready, _, _ = select.select([child.pipe for child in working], [], [], POLL)
            for child in list(working):
                if child.pipe in ready:
                    child.receive(on_result)
                left = child.end_if_over(on_result)
                if left is not None:
                    working.remove(child)
                    if left:
                        waiting.appendleft((child.task, left))
    finally:
        for child in working:
            child.kill()


class _Child:
    """A process with the runs of one task that are left."""

    def __init__(self, task, runs, do, limit):
        self.task, self._runs, self._limit = task, deque(runs), limit
        self.pipe, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self.pipe)
            _work(task, runs, do, writing)
        os.close(writing)
        self._received, self._ended, self._since = b"", False, time.monotonic()

    def receive(self, on_result):
        part = os.read(self.pipe, 1 << 16)
        self._ended = not part
        self._received += part
        *lines, self._received = self._received.split(b"\n")
        for line in lines:
            self._since = time.monotonic()
            on_result(self.task, self._runs.popleft(), json.loads(line))

    def end_if_over(self, on_result):
        """The runs that are left once the process has ended or must be; None while it works."""
        late = time.monotonic() - self._since > self._limit
        if not self._ended and not late:
            return None
        if late and not self._ended:
            self.kill()
            reason = f"{TOO_LONG} {self._limit:g} s"
        else:
            reason = _how_it_ended(os.waitpid(self._pid, 0)[1])
            os.close(self.pipe)
        if self._runs:
            on_result(self.task, self._runs.popleft(), {"died": reason})
        return list(self._runs)

    def kill(self):
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self.pipe)


def _how_it_ended(status):
    if os.WIFSIGNALED(status):
        return f"died of {signal.Signals(os.WTERMSIG(status)).name}"
    return f"died with exit code {os.WEXITSTATUS(status)}"


def _work(task, runs, do, writing):
    """The whole life of a forked process; nothing of its parent's is left to end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    kept = {}
    for run in runs:
        try:
            result = do(task, run, kept)
        except BaseException as error:  # an exit too: nothing may end a run in silence
            result = {"raised": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        line = json.dumps(result).encode() + b"\n"
        while line:
            line = line[os.write(writing, line) :]
    os._exit(0)

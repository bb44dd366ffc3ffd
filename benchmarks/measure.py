"""Timing: the contestants take turns, so that a machine that slows down slows down all of them.

What is measured is the processor time of this process, so that others on the machine do not count.
"""

import gc
import statistics
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds in which each contestant has one turn of about turn_seconds."""

    rounds: int
    turn_seconds: float


THOROUGH = Effort(rounds=15, turn_seconds=0.02)
BRIEF = Effort(rounds=15, turn_seconds=0.004)  # for calls of microseconds
QUICK = Effort(rounds=3, turn_seconds=0.002)


def seconds_per_call(calls, effort):
    """Seconds per call in each round, by contestant.

    Args:
        calls: functions without arguments, by the name of the contestant.
        effort: Effort.
    """
    counts = {name: _calls_per_turn(call, effort.turn_seconds) for name, call in calls.items()}
    seconds = {name: [] for name in calls}
    collects = gc.isenabled()
    gc.disable()
    try:
        for _ in range(effort.rounds):
            for name, call in calls.items():
                seconds[name].append(_turn(call, counts[name]) / counts[name])
    finally:
        if collects:
            gc.enable()
    return seconds


def median_ratio(seconds, base, other):
    """The median over rounds of the time of `other` divided by that of `base` in the same round."""
    return statistics.median(b / a for a, b in zip(seconds[base], seconds[other], strict=True))


def _turn(call, count):
    clock = time.process_time
    started = clock()
    for _ in range(count):
        call()
    return clock() - started


def _calls_per_turn(call, turn_seconds):
    """How often a call fits into a turn; also warms up, so that nothing compiles while it is measured."""
    call()
    count = 1
    while True:
        seconds = _turn(call, count)
        if seconds >= 0.2 * turn_seconds:
            return max(1, round(count * turn_seconds / seconds))
        count *= 4

"""Meetings of two threads that compute one thing together: neither goes on before both have come.

Both call one kernel at the same time, as parts 0 and 1, with the same `meetings`, which Threads.meetings() gives. Each
part has numbers on a cache line of its own: how often it has come, and the failure that it has met. What a thread wrote
before a meeting the other one sees after it. One thread alone, part 0 of 1, never waits.
"""

from mbcli.engine.fields.front_fields import MEETING_FAILURE, MEETING_SLOT
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.thread_memory import publish, wait_until


@kernel
def barrier_wait(meetings, part, parts):
    """Returns when both parts have come."""
    if parts == 2:
        own, other = MEETING_SLOT * (1 + part), MEETING_SLOT * (2 - part)
        count = meetings[own] + 1
        publish(meetings, own, count)
        wait_until(meetings, other, count)


@kernel
def report_failure(meetings, part, place):
    """Tells the other part, at the next meeting, that something failed at a place >= 0."""
    meetings[MEETING_SLOT * (1 + part) + MEETING_FAILURE] = place + 1


@kernel
def reported_failure(meetings):
    """A place that a part reported, -1 for none."""
    first = meetings[MEETING_SLOT + MEETING_FAILURE]
    return (first if first > 0 else meetings[2 * MEETING_SLOT + MEETING_FAILURE]) - 1

"""A barrier for two threads that compute one thing together: neither passes it before both have reached it.

Both call one kernel at the same time, as parts 0 and 1, with the same array, which Threads.barrier() makes. Each part
has a cache line of its own with two numbers: how often it has reached the barrier, and the place of a failure. What a
thread wrote before the barrier the other one sees after it. One thread alone, part 0 of 1, never waits.
"""

from mbcli.engine.fields.front_fields import BARRIER_FAILURE, BARRIER_SLOT
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.thread_memory import publish, wait_until


@kernel
def barrier_wait(barrier, part, parts):
    """Returns when both parts have reached the barrier."""
    if parts == 2:
        own, other = BARRIER_SLOT * (1 + part), BARRIER_SLOT * (2 - part)
        count = barrier[own] + 1
        publish(barrier, own, count)
        wait_until(barrier, other, count)


@kernel
def report_failure(barrier, part, place):
    """Tells the other part, at the next barrier, that something failed at a place >= 0."""
    barrier[BARRIER_SLOT * (1 + part) + BARRIER_FAILURE] = place + 1


@kernel
def reported_failure(barrier):
    """A place that a part reported, -1 for none."""
    first = barrier[BARRIER_SLOT + BARRIER_FAILURE]
    return (first if first > 0 else barrier[2 * BARRIER_SLOT + BARRIER_FAILURE]) - 1

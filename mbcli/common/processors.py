"""How many processors there are for this process."""

import os


def num_processors() -> int:
    """Those that this process may run on, where the system tells; else those of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""How long the loops of a run are on their own, between looks at signals, controllers and progress."""

import math

SECONDS_PER_CALL = 0.05  # of wall-clock time
TIME_TOLERANCE = 1e-9  # relative to a step: times closer than this to a step's end are that end


def adapted(budget: int, seconds: float) -> int:
    """A number of steps that takes about SECONDS_PER_CALL, where `budget` steps took so many seconds."""
    factor = min(8.0, max(0.25, SECONDS_PER_CALL / max(seconds, 1e-6)))
    return max(1, min(10_000_000, int(budget * factor)))


def whole_steps(t: float, h: float) -> int:
    """The number of steps of length h [s] up to time t [s]."""
    return max(0, math.ceil(t / h - TIME_TOLERANCE))

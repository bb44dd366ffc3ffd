"""Robots in the manner of those that others made, with joints that start at limits, and such starts."""

import numpy as np
from repository import SUPPORT

LIMIT_CASES = sorted((SUPPORT / "limit_cases").glob("*.urdf"))


def at_limits(plant, number, seed=0):
    """Positions (number, nq): all limited coordinates at the lower limit, at the upper one, then at random ones."""
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    limited = np.isfinite(lower) & np.isfinite(upper)
    rng = np.random.default_rng(seed)
    starts = np.tile(np.array(plant.GetPositions(plant.CreateDefaultContext())), (number, 1))
    for k in range(number):
        take_upper = np.full(len(lower), k == 1) if k < 2 else rng.integers(0, 2, len(lower)) == 1
        starts[k, limited] = np.where(take_upper, upper, lower)[limited]
    return starts

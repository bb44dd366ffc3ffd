"""Where a run starts: what simulate() takes as `start`, put into a context."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from mbcli.models.states import check_quaternions, set_state_by_names, set_state_from_log

if TYPE_CHECKING:
    from typing import Any

    from mbcli.math.array_types import BoolArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


def is_context(start: Any) -> bool:
    """Whether it is a Context."""
    return hasattr(start, "get_time")


def set_start(plant: MultibodyPlant, context: Context, start: Any) -> BoolArray:
    """Puts a start into a context; returns the mask (nq,) of the positions that it states."""
    stated = np.zeros(plant.num_positions(), dtype=bool)
    if start is None:
        return stated
    if is_context(start):
        return ~stated
    if callable(start):
        mask = start(plant, context)
        return ~stated if mask is None else mask
    if isinstance(start, dict):
        stated = set_state_by_names(plant, context, start)
    else:
        stated[:] = True
        if isinstance(start, (str, os.PathLike)):
            set_state_from_log(plant, context, os.fspath(start))
        else:
            plant.SetPositions(context, start[0])
            plant.SetVelocities(context, start[1])
    check_quaternions(plant, context)
    return stated

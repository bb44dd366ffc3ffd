"""Where a run starts: what simulate() takes as `pose` and `start`, in a context, moved to where a run can begin."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ModelError
from mbcli.models.placement import put_on_ground
from mbcli.models.postures import find_postures, set_postures
from mbcli.models.states import check_quaternions, set_state_by_names, set_state_from_log
from mbcli.multibody.assembly.closed_chains import assemble_context
from mbcli.simulation.actors.following import Following
from mbcli.simulation.start_limits import clamp_positions, in_words, positions_outside_limits, what_limits_do

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mbcli.math.array_types import BoolArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.simulation.acted_run import ActedRun


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


def place_start(run: ActedRun) -> BoolArray:
    """Puts the start of a run into its context: the posture, what is stated, a plan; the mask (nq,) of the positions
    that are stated."""
    plant, hold, given = run.plant, run.loaded.config.hold, run.given
    stated = _set_pose(run, given["pose"], "pose") | set_start(plant, run.context, given["start"])
    if hold.is_on and hold.posture is not None and not stated.any():
        _set_pose(run, hold.posture, "hold")
        set_start(plant, run.context, given["start"])  # its velocities
    run.actor(Following).place(stated)
    return stated


def _set_pose(run: ActedRun, name: str | None, wanted_by: str) -> BoolArray:
    if name is None:
        return np.zeros(run.plant.num_positions(), dtype=bool)
    return set_postures(run.plant, run.context, find_postures(run.plant, run.loaded.postures, name, wanted_by))


def move_start(run: ActedRun, stated: BoolArray, note: Callable[[str], object]) -> None:
    """Moves the start of a run to its limits, onto constraints and onto the ground; says what it did.

    ModelError if it is outside of limits that are to be kept, NumericalError if no state satisfies the constraints.
    """
    plant, choice = run.plant, run.given["start_limits"] or ("clamp" if run.loaded.config.hold.is_on else "warn")
    moved = clamp_positions(plant, run.context) if choice == "clamp" else []
    if moved:
        note(f"moved to their limits: {in_words(moved)}")
    if plant.elements.constraints:
        for line in assemble_context(run.context, run.given["constraint_tolerance"]):
            note(line)
    if run.loaded.ground is not None and plant.meets_contact():
        for line in put_on_ground(plant, run.context, run.loaded.ground, stated):
            note(line)
    outside = positions_outside_limits(plant, run.context)
    if outside and choice == "error":
        raise ModelError(f"the start is outside of limits: {in_words(outside)}")
    if outside:
        advice = "" if choice == "clamp" else f"; {argument('start_limits', 'clamp')} starts at the limits"
        run.warn(f"the start is outside of limits, {what_limits_do(plant)}: {in_words(outside)}{advice}")

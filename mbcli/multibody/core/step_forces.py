"""StepForces: where the steps of a discrete plant took their forces, and what acted there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine.stepping.run_arrays import Actuation, Recording
from mbcli.multibody.core.dynamics import refresh_accelerations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import BoolArray, FloatArray
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context


@dataclass(frozen=True)
class StepForces:
    """n steps of a discrete plant.

    vdot (n, nv): mean accelerations. q (n, nq): positions at which forces were taken; v (n, nv): velocities of the
    velocity terms. The forces in joints follow from these three. loads (n, num_bodies, 6): on links at their origins in
    W, moment [N m] first, without weights, contact and constraints. wrenches (n, rows, 6): of each row of constraints
    on the successor at So in W.
    """

    vdot: FloatArray
    q: FloatArray
    v: FloatArray
    loads: FloatArray
    wrenches: FloatArray

    def chosen(self, rows: BoolArray) -> StepForces:
        """Those of a mask (n,)."""
        return StepForces(*(part[rows] for part in (self.vdot, self.q, self.v, self.loads, self.wrenches)))

    @staticmethod
    def joined(parts: Sequence[StepForces]) -> StepForces:
        """One after another."""
        names = ("vdot", "q", "v", "loads", "wrenches")
        return StepForces(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def step_forces(plant: PlantData, context: Context) -> StepForces:
    """Those of the step from the state of a context, under its inputs; one."""
    state = context.state
    found: Any = state.input_cache.get("step_forces")
    if found is None:
        with state.turn:
            vdot, given = refresh_accelerations(plant, context)
            found = _loads_of(plant, context, vdot, given)
        state.input_cache["step_forces"] = found
    forces: StepForces = found
    return forces


def _loads_of(plant: PlantData, context: Context, vdot: FloatArray, given: FloatArray) -> StepForces:
    """After the accelerations of the step; given: (num_bodies, 6) of inputs and users' elements."""
    state, active = context.state, context.state.constraints
    rows = 0 if active is None else len(active.row_owners)
    made = state.parameter_cache.get(("step loads", rows))
    if made is None:  # controllers ask at each of their ticks
        sizes = {name: plant.model.sizes[name] for name in ("nq", "nv", "nu", "nlink")}
        sizes |= {"npd": 0, "nactivation": 0, "nrow": rows}
        made = Recording(1, sizes, keep_loads=True), Actuation(np.zeros(1), np.zeros((1, sizes["nu"])))
        state.parameter_cache["step loads", rows] = made
    recording: Any = made[0]  # whose arrays are named by fields
    recording.recorded_wrench[:] = 0.0
    recording.load_step[0], recording.recorded_loads[0] = plant.time_step(), given
    vdot = vdot - state.data.v_off / plant.time_step()
    compiled = state.compiled
    state.calls.calc_loads(recording.handle(compiled), made[1].handle(compiled), state.time)
    state.positions_current = state.velocities_current = False
    state.position_cache.clear()
    state.velocity_cache.clear()
    return StepForces(vdot[None], *recording.loads(1))

"""What commands want of the rows of --states, and what they say of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from mbcli.cli.output import tell, warn
from mbcli.cli.state import Coordinates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.batch.state_layout import StateLayout
    from mbcli.batch.state_reader import StateChunk
    from mbcli.cli.options import Options
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

BEYOND = 1e-6  # [rad or m] outside of a limit


def row_layout(
    plant: MultibodyPlant,
    context: Context,
    state: Options,
    batch: Options,
    needs: Sequence[str],
    quiet: bool,
    or_none: Sequence[str] = (),
    forces: bool = False,
) -> StateLayout:
    """The StateLayout of rows that are read into a context whose state the state options have set.

    Args:
        state: the values of state_options.
        batch: those of batch_options.
        needs: the fields among q and v that every row has to give.
        or_none: those of these of which it may give nothing at all.
        forces: whether u are the forces of actuators on joints: of a log, then, those that acted.
    """
    from mbcli.batch.row_demands import RowDemands
    from mbcli.batch.state_layout import StateLayout
    from mbcli.models.units import plain_units

    sizes = {"q": plant.num_positions(), "v": plant.num_velocities()}
    by_name = {field: np.zeros(size, dtype=bool) for field, size in sizes.items()}
    for field, k in Coordinates(plant, state.degrees).assigned(state.assignments or ()):
        by_name[field][k] = True
    whole = {
        "q": any(x is not None for x in (state.q_list, state.random_seed, state.state_file, state.pose)),
        "v": any(x is not None for x in (state.v_list, state.random_seed, state.state_file)),
    }
    needed = {f: ~by_name[f] for f in needs if not whole[f] and batch.fill is None}
    demands = RowDemands(
        needed=needed,
        or_none=or_none,
        fixed={field: by_name[field] for field in ("q", "v")},
        units=plain_units(plant),
        degrees=state.degrees,
        tell=(lambda line: None) if quiet else lambda line: tell(f"mbcli: {line}"),
    )
    return StateLayout(
        plant.GetPositionNames(),
        plant.GetVelocityNames(),
        plant.GetActuatorNames(),
        plant.GetPositions(context),
        plant.GetVelocities(context),
        demands,
        efforts_of=[plant.GetActuatorNames()[a.input_start()] for a in plant.elements.actuators] if forces else (),
    )


def require_tables(batch: Options) -> None:
    """UsageError for options of --states without it."""
    for given, name in ((batch.states_format, "--states-format"), (batch.fill, "--fill")):
        if batch.states is None and given:
            raise click.UsageError(f"{name} needs --states")


class LimitsOfRows:
    """Warns of the first row that is outside of limits."""

    def __init__(self, plant: MultibodyPlant, source: str, quiet: bool) -> None:
        self._lower, self._upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
        self._names, self._source = plant.GetPositionNames(), source
        self._is_done = quiet or not (np.isfinite(self._lower).any() or np.isfinite(self._upper).any())

    def look(self, chunk: StateChunk) -> None:
        if self._is_done:
            return
        outside = (chunk.q < self._lower - BEYOND) | (chunk.q > self._upper + BEYOND)
        if not outside.any():
            return
        self._is_done = True
        row, k = (int(x) for x in np.argwhere(outside)[0])
        warn(
            f"{self._source}: row {chunk.first_row + row + 1}: {self._names[k]} is {chunk.q[row, k]:.6g}, outside of "
            f"its limits {self._lower[k]:.6g} and {self._upper[k]:.6g}; later rows are not looked at"
        )

"""Aims: what PD controllers aim at, from the arrays of steps to the ports of a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.inputs import controlled_actuators, has_controllers
from mbcli.multibody.core.selectors import u_indices
from mbcli.multibody.tree.index import ModelInstanceIndex

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


class Aims:
    """The ports of desired states of a finalized plant.

    Args:
        plant: with the PD controllers of a run.
    """

    def __init__(self, plant: MultibodyPlant) -> None:
        row = {int(k): i for i, k in enumerate(plant.model.pd_actuator)} if has_controllers(plant) else {}
        self._ports: list[tuple[Any, list[int | None]]] = []  # and the rows of what is desired
        for instance in sorted({int(a.model_instance()) for a in controlled_actuators(plant)} if row else ()):
            index = ModelInstanceIndex(instance)
            rows = [row.get(k) for k in u_indices(plant, instance)]
            self._ports.append((plant.get_desired_state_input_port(index), rows))

    def put(self, desired: FloatArray, context: Context) -> None:
        """Positions and velocities (k, 2), in the order of `model.pd_actuator`, to the ports."""
        for port, rows in self._ports:
            aims = np.array([(0.0, 0.0) if row is None else desired[row] for row in rows])
            port.FixValue(context, aims.T.ravel())

"""MultibodyPlant: a model of bodies, joints, actuators and forces, and its queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.plant.derivatives import Derivatives
from mbcli.multibody.plant.energies import Energies
from mbcli.multibody.plant.finalize import Finalization
from mbcli.multibody.plant.jacobians import Jacobians
from mbcli.multibody.plant.output_ports import OutputPorts
from mbcli.multibody.plant.random_state import RandomState
from mbcli.multibody.plant.removal import Removal
from mbcli.multibody.plant.settings import Settings
from mbcli.multibody.plant.topology_queries import TopologyQueries

if TYPE_CHECKING:
    from mbcli.multibody.plant.context import Context
    from mbcli.multibody.stepping.cut_joints import LeftOut


class MultibodyPlant(
    Removal, TopologyQueries, Finalization, Jacobians, Energies, Derivatives, RandomState, OutputPorts, Settings
):
    """A system of interconnected rigid bodies, under the names of pydrake.multibody.plant.

    Add elements, call Finalize(), make a context, compute. Its subjects are in the files of this package.

    Args:
        time_step: [s]; positive for a discrete plant that steps by it, 0 for a continuous one.
    """

    def __init__(self, time_step: float) -> None:
        if not time_step >= 0.0:
            raise RuntimeError(f"time_step must not be negative, it is {time_step}")
        self._time_step = float(time_step)
        self.model = None
        self.left_out: list[LeftOut] = []  # of joints that close loops, after Finalize()
        self.prefers_interpreted = False  # for a few states, interpreting costs less than importing numba
        self._default_free_poses = {}
        self._name = ""
        self._inputs = self._outputs = None
        self._start_settings()
        self._start_geometry()
        self._start_elements()

    def ExecuteForcedEvents(self, context: Context, publish: bool = True) -> None:
        """One update of a discrete plant by its time step, while the time of the context stays."""
        from mbcli.multibody.stepping.run import force_update

        self.check_context(context)
        if self.is_discrete():
            force_update(self, context)

    def __repr__(self):
        state = "finalized" if self.is_finalized() else "not finalized"
        return (
            f"<MultibodyPlant time_step={self._time_step:g} bodies={self.num_bodies()} joints={self.num_joints()} "
            f"{state}>"
        )

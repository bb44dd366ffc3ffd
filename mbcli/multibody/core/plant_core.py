"""PlantCore: a model of bodies, joints, actuators and forces, and its queries, one part a subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.core.derivatives import Derivatives
from mbcli.multibody.core.energies import Energies
from mbcli.multibody.core.finalize import Finalization
from mbcli.multibody.core.jacobians import Jacobians
from mbcli.multibody.core.output_ports import OutputPorts
from mbcli.multibody.core.random_state import RandomState
from mbcli.multibody.core.removal import Removal
from mbcli.multibody.core.settings import Settings
from mbcli.multibody.core.topology_queries import TopologyQueries

if TYPE_CHECKING:
    from mbcli.multibody.compilation.cut_joints import LeftOut


class PlantCore(
    Removal, TopologyQueries, Finalization, Jacobians, Energies, Derivatives, RandomState, OutputPorts, Settings
):
    """All of a MultibodyPlant but what needs runs over time. Its subjects are in the files of this package."""

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

"""MultibodyPlant: a model of bodies, joints, actuators and forces, and its queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.core.plant_core import PlantCore
from mbcli.multibody.plant.shown_names import ShowsNamesForUsers, shown

if TYPE_CHECKING:
    from mbcli.multibody.state.context import Context


class MultibodyPlant(PlantCore, metaclass=ShowsNamesForUsers):
    """A system of interconnected rigid bodies, under the names of pydrake.multibody.plant.

    Add elements, call Finalize(), make a context, compute. What it computes is in the files of mbcli/multibody/core.

    Args:
      time_step: [s]; positive for a discrete plant that steps by it, 0 for a continuous one.

    Raises:
      RuntimeError: the time step is negative or not finite.

    Example:
      >>> MultibodyPlant(time_step=0.001)
      <MultibodyPlant time_step=0.001 bodies=1 joints=0 not finalized>
    """

    def ExecuteForcedEvents(self, context: Context, publish: bool = True) -> None:
        """One update of a discrete plant by its time step, while the time of the context stays."""
        from mbcli.multibody.stepping.run import force_update

        self.check_context(context)
        if self.is_discrete():
            force_update(self, context)

    def __dir__(self) -> list[str]:
        return shown(super().__dir__())

    def __repr__(self):
        state = "finalized" if self.is_finalized() else "not finalized"
        return (
            f"<MultibodyPlant time_step={self.time_step():g} bodies={self.num_bodies()} joints={self.num_joints()} "
            f"{state}>"
        )

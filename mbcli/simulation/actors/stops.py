"""Stops at the position limits of joints, in continuous plants that have none of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.simulation.actors.actor import Actor, Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class PositionStops(Actor):
    """Compliant stops for the time of a run."""

    SETTINGS = ()
    STAGE = Stage.LIMITS
    IN_WORLDS = "worlds are discrete, and stops act in their steps"

    def of_plant(self) -> dict[str, Any]:
        """As of Actor."""
        from mbcli.multibody.core.position_stops import position_stops

        plant = self.run.plant
        stops = [] if plant.is_discrete() or plant.position_stops else position_stops(plant)
        return {"stops": stops} if stops else {}

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """They act in the arrays of the model."""

"""Stops at the position limits of joints, in continuous plants that have none of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.core.position_stops import replace_stops, start_stops
from mbcli.simulation.actors.actor import Actor

if TYPE_CHECKING:
    from collections.abc import Callable


class PositionStops(Actor):
    """Compliant stops for the time of a run."""

    SETTINGS = ()
    IN_WORLDS = "worlds are discrete, and stops act in their steps"
    _acts = False

    def change_model(self) -> bool:
        """As of Actor."""
        self._acts = start_stops(self.run.plant)
        return self._acts

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """They act in the arrays of the model."""

    def release(self) -> None:
        """As of Actor."""
        if self._acts:
            replace_stops(self.run.plant, ())
        self._acts = False

"""What a run does at the velocity limits of joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.core.velocity_limits import stated_velocity_limits
from mbcli.simulation.actors.actor import Actor
from mbcli.simulation.velocity_limits import velocities_in_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mbcli.simulation.summary import Summary


class VelocityLimits(Actor):
    """Holds joints at their velocity limits, with "clamp", or tells which are faster."""

    SETTINGS = ("velocity_limits",)
    IN_WORLDS = ""

    def of_plant(self) -> dict[str, Any]:
        """As of Actor."""
        plant = self.run.plant
        if self.run.given["velocity_limits"] != "clamp" or plant.velocity_limits:
            return {}
        limits = stated_velocity_limits(plant)
        return {"speeds": limits} if limits else {}

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """They act in the arrays of the model."""

    def finish(self, summary: Summary) -> None:
        """As of Actor."""
        line = velocities_in_words(summary.velocities_beyond, self.run.given["velocity_limits"])
        if line:
            self.run.warn(line)

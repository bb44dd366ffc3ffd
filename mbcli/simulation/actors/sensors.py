"""What the sensors of the model measure at the ticks of a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.simulation.actors.actor import Actor
from mbcli.simulation.actors.user_controller import UserController

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.simulation.control.tick_sensors import TickSensors


class Sensors(Actor):
    """Lets a controller of the user see what sensors measure; those of rows are a field of the log."""

    SETTINGS = ("sensor_noise", "seed")
    IN_WORLDS = ""

    @property
    def seed(self) -> int | None:
        """Of the noise; None without."""
        return self.run.seed if self.run.given["sensor_noise"] else None

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor; after all that exerts forces."""
        made = self.run.actor(UserController).made
        if made is not None:
            made.sense(self._made)

    def _made(self) -> TickSensors:
        from mbcli.simulation.control.tick_sensors import TickSensors

        return TickSensors(self.run.plant, self.run.context, self.run.forces, self.seed)

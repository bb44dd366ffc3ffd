"""What the sensors of the model measure at the ticks of a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from mbcli.common.setting import Option, Setting, always
from mbcli.simulation.actors.actor import Actor, Stage
from mbcli.simulation.actors.user_controller import UserController
from mbcli.simulation.setting_groups import LOG

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.simulation.control.tick_sensors import TickSensors


class Settings(TypedDict, total=False):
    """Of simulate(), beside those of the run."""

    sensor_noise: Annotated[
        bool,
        Setting(
            "whether sensors have the noise of their files, which `seed` draws.",
            Option(
                "--sensor-noise",
                "Whether sensors have the noise of their files, drawn by --seed (on, the default), or none (off).",
                choices=("on", "off"),
                default="on",
            ),
            default=True,
            log_may_ask=always,
            of=LOG,
        ),
    ]


class Sensors(Actor):
    """Lets a controller of the user see what sensors measure; those of rows are a field of the log."""

    SETTINGS = ("sensor_noise", "seed")
    STAGE = Stage.SENSORS
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

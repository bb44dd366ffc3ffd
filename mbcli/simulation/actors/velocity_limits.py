"""What a run does at the velocity limits of joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from mbcli.common.setting import Option, Setting, always
from mbcli.simulation.actors.actor import Actor, Stage
from mbcli.simulation.limit_choice import CHOICES
from mbcli.simulation.setting_groups import ACTING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mbcli.simulation.summary import Summary


class Settings(TypedDict, total=False):
    """Of simulate(), beside those of the run."""

    velocity_limits: Annotated[
        str,
        Setting(
            'velocities beyond the limits of joints are held there, "clamp", or reported, "warn", or neither, '
            '"ignore".',
            Option(
                "--velocity-limits",
                "Report joints that are faster than their velocity limits (warn, the default), hold them there "
                "(clamp), or neither (ignore).",
                choices=CHOICES,
                default="warn",
            ),
            default="warn",
            choices=CHOICES,
            log_may_ask=always,
            of=ACTING,
        ),
    ]


class VelocityLimits(Actor):
    """Holds joints at their velocity limits, with "clamp", or tells which are faster."""

    SETTINGS = ("velocity_limits",)
    STAGE = Stage.LIMITS
    IN_WORLDS = ""

    def of_plant(self) -> dict[str, Any]:
        """As of Actor."""
        from mbcli.multibody.core.velocity_limits import stated_velocity_limits

        plant = self.run.plant
        if self.run.given["velocity_limits"] != "clamp" or plant.velocity_limits:
            return {}
        limits = stated_velocity_limits(plant)
        return {"speeds": limits} if limits else {}

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """They act in the arrays of the model."""

    def finish(self, summary: Summary) -> None:
        """As of Actor."""
        from mbcli.simulation.velocity_limits import velocities_in_words

        line = velocities_in_words(summary.velocities_beyond, self.run.given["velocity_limits"])
        if line:
            self.run.warn(line)

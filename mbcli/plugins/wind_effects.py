"""WindEffects: the wind of a world carries the links that stand in it.

Force k m (w - v) at the centre of mass, where v is the velocity of the link's origin. The wind w comes from rest: its
horizontal and its vertical part follow <wind> with a time constant each; sines change the size of the horizontal part
and its direction (gz-sim, WindEffects).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray, Vector3

TITLE = "carries links with the wind"
CLASSES = ("WindEffects",)
REACH = "wind"
GIVES = ""
SETTINGS = {
    "horizontal/magnitude/time_for_rise": Number("rise", 1.0),
    "horizontal/magnitude/sin/amplitude_percent": Number("gust", 0.0),
    "horizontal/magnitude/sin/period": Number("gust_period", 1.0),
    "horizontal/direction/sin/amplitude": Number("veer", 0.0),
    "horizontal/direction/sin/period": Number("veer_period", 1.0),
    "vertical/time_for_rise": Number("vertical_rise", 1.0),
    "force_approximation_scaling_factor": Number("factor", 1.0, 0.0),
}
ELSEWHERE = ("horizontal/direction/time_for_rise",)  # <wind> keeps its direction


def problem(settings: dict[str, Any]) -> str:
    """Times are positive."""
    wrong = any(settings[name] <= 0.0 for name in ("rise", "vertical_rise", "gust_period", "veer_period"))
    return "each <time_for_rise> and <period> must be positive" if wrong else ""


class Law:
    """memory: the horizontal speed and the vertical velocity [m/s] that the wind has come to, without sines."""

    def __init__(self, plugin: Any) -> None:
        self._settings = plugin.settings
        self.inputs: tuple[Any, ...] = ()
        self.driven: tuple[Any, ...] = ()
        self.pushed = plugin.links["link"]
        self.memory = np.zeros(2)

    def gives(self, now: Any) -> str:
        """Still air damps what has its centre of mass at its origin."""
        if now.wind.any():
            return "the air moves"
        apart = any(now.centre_of_mass(link).any() for link in self.pushed)
        return "it acts by the velocity of another point than that where it acts" if apart else ""

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """The wind goes on, then pushes."""
        s = self._settings
        for k, (aim, constant) in enumerate(
            ((math.hypot(*now.wind[:2]), s["rise"]), (now.wind[2], s["vertical_rise"]))
        ):
            memory[k] += -math.expm1(-now.period / constant) * (aim - memory[k])
        wind = self._wind(now, memory)
        for link in self.pushed:
            mass, _ = now.inertia(link)
            per_speed = s["factor"] * mass
            force = per_speed * (wind - now.velocity_of(link))
            now.force(link, force, now.centre_of_mass(link), per_speed * np.eye(3))

    def _wind(self, now: Any, memory: FloatArray) -> Vector3:
        s = self._settings
        turn = 2.0 * math.pi * now.time
        speed = memory[0] * (1.0 + s["gust"] * math.sin(turn / s["gust_period"]))
        direction = math.atan2(now.wind[1], now.wind[0])
        direction += math.radians(s["veer"]) * math.sin(turn / s["veer_period"])
        return np.array([speed * math.cos(direction), speed * math.sin(direction), memory[1]])

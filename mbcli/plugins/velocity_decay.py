"""<velocity_decay> of a link, which is no <plugin>: each step takes a part of its velocity away.

The force at the centre of mass is m v `linear` / h against the velocity, the moment I w `angular` / h: alone they leave
1 - `linear` of the velocity of a free body after a step of h, as ODE's damping does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import no_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "takes a part of the velocity of a link in each step"
CLASSES: tuple[str, ...] = ()
FILES: tuple[str, ...] = ()
REACH = ""
JOINTS: dict[str, tuple[str, str]] = {}
LINKS: dict[str, tuple[str, str]] = {}
SETTINGS: dict[str, Any] = {}
ELSEWHERE: tuple[str, ...] = ()

problem = no_problem


class Law:
    """It remembers nothing."""

    def __init__(self, plugin: Any) -> None:
        self._linear, self._angular = plugin.settings["linear"], plugin.settings["angular"]
        (self._link,) = plugin.links["link"]
        self.inputs: tuple[Any, ...] = ()
        self.driven: tuple[Any, ...] = ()
        self.pushed = (self._link,)
        self.memory = np.zeros(0)

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """At the centre of mass."""
        mass, I_W = now.inertia(self._link)
        centre = now.centre_of_mass(self._link)
        now.force(self._link, -self._linear / now.period * mass * now.velocity_of(self._link, centre), centre)
        now.torque(self._link, -self._angular / now.period * (I_W @ now.angular_velocity(self._link)))

"""<velocity_decay> of a link, which is no <plugin>, and the damping of rigid bodies of PhysX: velocities decay.

The force at the centre of mass is m v `linear` / h against the velocity, the moment I w `angular` / h: alone they leave
1 - `linear` of the velocity of a free body after a step of h, as ODE's damping does. `per_second` they are m v `linear`
and I w `angular`, which leave exp(-`linear` t) after a time t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "takes a part of the velocity of a link in each step or second"
GIVES = ""


class Law:
    """It remembers nothing."""

    def __init__(self, plugin: Any) -> None:
        self._linear, self._angular = plugin.settings["linear"], plugin.settings["angular"]
        self._per_second = plugin.settings["per_second"]
        (self._link,) = plugin.links["link"]
        self.inputs: tuple[Any, ...] = ()
        self.driven: tuple[Any, ...] = ()
        self.pushed = (self._link,)
        self.memory = np.zeros(0)

    def gives(self, now: Any) -> str:
        """It damps."""
        return ""

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """At the centre of mass."""
        mass, I_W = now.inertia(self._link)
        centre = now.centre_of_mass(self._link)
        each = 1.0 if self._per_second else 1.0 / now.period
        drag, turning = self._linear * each * mass * np.eye(3), self._angular * each * I_W
        force, torque = -drag @ now.velocity_of(self._link, centre), -turning @ now.angular_velocity(self._link)
        # the part that a step takes is stated; what a second takes falls within the step
        now.force(self._link, force, centre, drag if self._per_second else None)
        now.torque(self._link, torque, turning if self._per_second else None)

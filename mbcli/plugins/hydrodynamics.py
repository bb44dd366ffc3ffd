"""Hydrodynamics: linear and quadratic damping of a link in a fluid, along and about its axes.

F_x = (xU + xUabsU |u|) u, and likewise v along y, w along z, p, q, r about them: coefficients are negative where they
damp (T. I. Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control, 2011, 6.4). Added mass and the coupling
of axes are not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number, Triple
from mbcli.plugins.settings import Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "damping of a link in a fluid"
CLASSES = ("Hydrodynamics",)
GIVES = ""
LINKS = {"link_name": ("link", "one")}
_AXES = ("xU", "yV", "zW", "kP", "mQ", "nR")
LINEAR = tuple(_AXES)
QUADRATIC = tuple(f"{name}abs{name[1]}" for name in _AXES)
SETTINGS = {
    **{name: Number(name, 0.0) for name in (*LINEAR, *QUADRATIC)},
    "default_current": Triple("current", (0.0, 0.0, 0.0)),
    "disable_coriolis": Flag("without_coriolis", False),
    "disable_added_mass": Flag("without_added_mass", False),
    "water_density": Number("density", 998.0),
}
ELSEWHERE = ("namespace",)


class Law:
    """It remembers nothing."""

    def __init__(self, plugin: Any) -> None:
        (self._link,) = plugin.links["link"]
        self._linear, self._quadratic = (
            np.array([plugin.settings[name] for name in names]) for names in (LINEAR, QUADRATIC)
        )
        self._current = np.array(plugin.settings["current"])
        self.inputs: tuple[Any, ...] = ()
        self.driven: tuple[Any, ...] = ()
        self.pushed = (self._link,)
        self.memory = np.zeros(0)

    def gives(self, now: Any) -> str:
        """All damp, where the water rests."""
        if self._current.any():
            return "the water flows"
        positive = (self._linear > 0.0) | (self._quadratic > 0.0)
        return "coefficients above 0 drive" if positive.any() else ""

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """At the centre of mass."""
        R, centre = now.rotation(self._link), now.centre_of_mass(self._link)
        through = R.T @ (now.velocity_of(self._link, centre) - self._current)
        motion = np.concatenate([through, R.T @ now.angular_velocity(self._link)])
        wrench = (self._linear + self._quadratic * np.abs(motion)) * motion
        slopes = np.maximum(-self._linear - 2.0 * self._quadratic * np.abs(motion), 0.0)
        now.force(self._link, R @ wrench[:3], centre, R * slopes[:3] @ R.T)
        now.torque(self._link, R @ wrench[3:], R * slopes[3:] @ R.T)

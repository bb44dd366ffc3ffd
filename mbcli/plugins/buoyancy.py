"""Buoyancy: the fluids that fill a world carry what displaces them (Archimedes), in layers of one density each.

The force on a link is -g times the mass that its collision shapes displace, at the centre of that mass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number
from mbcli.plugins.settings import Rows, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray, Vector3
    from mbcli.plugins.solid import Solid

TITLE = "carries links in a fluid"
CLASSES = ("Buoyancy",)
REACH = "solids"
GIVES = ""
SETTINGS = {
    "uniform_fluid_density": Number("uniform", None, 0.0),
    "graded_buoyancy/default_density": Number("lowest", 1000.0, 0.0),
    "graded_buoyancy/density_change": Rows("changes", ("above_depth", "density")),
    "enable": Words("only"),
}
UP = np.array([0.0, 0.0, 1.0])


def problem(settings: dict[str, Any]) -> str:
    """One fluid or several, which weigh something."""
    if settings["uniform"] is not None and settings["changes"]:
        return "it has <uniform_fluid_density> and <graded_buoyancy>"
    return "a <density> must be at least 0" if any(density < 0.0 for _, density in settings["changes"]) else ""


class Law:
    """It remembers nothing."""

    def __init__(self, plugin: Any) -> None:
        s = plugin.settings
        lowest = s["lowest"] if s["uniform"] is None else s["uniform"]
        heights = dict(s["changes"])  # of one height the last one counts
        levels, densities = [*sorted(heights), math.inf], [lowest, *(heights[z] for z in sorted(heights)), 0.0]
        steps = [-float(step) for step in np.diff(densities)]
        # what is below a level has the density there beyond that above it; all of a link is below the last one
        self._levels = [(z, step) for z, step in zip(levels[:-1], steps[:-1], strict=True) if step]
        self._solids = s["solids"]
        self._whole = [_displaced(solids, [(math.inf, steps[-1])], UP) for solids in self._solids]
        self.inputs: tuple[Any, ...] = ()
        self.driven: tuple[Any, ...] = ()
        self.pushed = plugin.links["link"]
        self.memory = np.zeros(0)

    def gives(self, now: Any) -> str:
        """It stores energy, where gravity is across the layers."""
        return "its layers are not across gravity" if self._levels and np.any(now.gravity[:2]) else ""

    def stored(self, now: Any) -> float:
        """[J] that it took to bring the links of a Moment from the top of each fluid to where they are."""
        energy = 0.0
        for link, solids, (whole, of_whole) in zip(self.pushed, self._solids, self._whole, strict=True):
            R, origin = now.rotation(link), now.origin(link)
            energy += float(now.gravity @ (whole * origin + R @ of_whole))
            for level, density in self._levels:
                mass, moment = _displaced(solids, [(level - origin[2], density)], R[2])
                energy += float(now.gravity[2] * (mass * (origin[2] - level) + R[2] @ moment))
        return energy

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """At the centre of what each link displaces."""
        for link, solids, (whole, of_whole) in zip(self.pushed, self._solids, self._whole, strict=True):
            origin = now.origin(link)[2]
            levels = [(level - origin, density) for level, density in self._levels]
            mass, moment = _displaced(solids, levels, now.rotation(link)[2])
            mass, moment = mass + whole, moment + of_whole
            if mass:
                now.force(link, -mass * now.gravity, moment / mass)


def _displaced(solids: Sequence[Solid], levels: Sequence[tuple[float, float]], up: Vector3) -> tuple[float, Vector3]:
    """(mass [kg], first moment (3,) [kg m]) of fluids, each of a density below a level of its own."""
    mass, moment = 0.0, np.zeros(3)
    for level, density in levels:
        for solid in solids:
            volume, first = solid.below(up, level)
            mass += density * volume
            moment = moment + density * first
    return mass, moment

"""Which plugins may give a plant energy, and what the others store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.plugins import PLUGINS, names_of
from mbcli.simulation.plugins.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Array, FloatArray
    from mbcli.multibody.state.context import Context


class PluginEnergy:
    """Of the laws of all plugins of a plant, with the parameters of a context.

    Attributes:
        givers: [(plugin, how)] that may give energy to a plant of which nothing is asked, in words; how is "" for those
            that drive by their kind.
    """

    def __init__(self, context: Context, laws: Sequence[Any]) -> None:
        plant: Any = context.state.plant
        now = self._now = Moment(context, 0.0, 0.0, {}, {}, ())
        self._zero = np.zeros(plant.num_velocities())
        now.begin(context.get_time(), plant.GetPositions(context), self._zero)
        self.givers: list[tuple[str, str]] = []
        for plugin, law in zip(plant.elements.plugins, laws, strict=True):
            kind = PLUGINS[plugin.kind]
            how = "" if kind.GIVES else law.gives(now)
            if kind.GIVES or how:
                self.givers.append((names_of(kind)[0] if names_of(kind) else plugin.kind, how))
        self._storing = [law for law in laws if hasattr(law, "stored")]

    def __bool__(self) -> bool:
        """Whether some store energy."""
        return bool(self._storing)

    def stored(self, q: Array) -> FloatArray:
        """(n,) [J] that plugins store at positions (n, nq)."""
        found = np.zeros(len(q))
        for k, row in enumerate(q if self._storing else ()):
            self._now.begin(self._now.time, row, self._zero)
            found[k] = sum(law.stored(self._now) for law in self._storing)
        return found

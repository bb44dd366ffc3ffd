"""The plugins of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine.stepping.pushes import SAME_TIME
from mbcli.simulation.actors.actor import Actor
from mbcli.simulation.plugins.commands import PluginCommands

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.stepping.run import LinkForce
    from mbcli.simulation.recorded_run import RecordedRun


class Plugins(Actor):
    """Lets the plugins of the model act, around the controller that the run has without them."""

    SETTINGS = ("plugins", "effort_limits")
    IN_WORLDS = ""

    def __init__(self, run: RecordedRun) -> None:
        super().__init__(run)
        self._plugins = PluginCommands(run.plant if run.given["plugins"] else None)
        self._forces: list[LinkForce] = []

    def __bool__(self) -> bool:
        return bool(self._plugins)

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        if not self._plugins:
            return
        from mbcli.simulation.plugins.run_plugins import PluginController, plugin_drives, plugins_in_words

        run, plant = self.run, self.run.plant
        held = plugin_drives(plant, self._plugins, plant.GetPositions(run.context), bool(run.controlled))
        if held:
            run.take_controllers(held)
        elif any(law.driven for law in self._plugins.laws):
            run.warn("controllers hold joints: plugins of the file do not drive them")
        for line in plugins_in_words(plant, self._plugins):
            note(line)
        commands, wind = self._plugins.start(), np.array(plant.wind)

        def given(time: float) -> tuple[FloatArray, FloatArray]:
            u = run.input_at(time)
            return plant.actuation(run.context) if u is None else u, self._asked_at(time, commands)

        effort_limits = run.given["effort_limits"]
        made = PluginController(plant, self._plugins, wind, run.controller, given, effort_limits, bool(held))
        run.controller, self._forces = made, made.forces

    def forces(self) -> list[LinkForce]:
        """As of Actor."""
        return self._forces

    def _asked_at(self, time: float, start: FloatArray) -> FloatArray:
        """(n,) what the input asks of plugins at a time [s]."""
        series = self.run.actuation
        if series is None or series.asked is None:
            return start
        row = np.searchsorted(series.times, time + SAME_TIME, side="right") - 1
        return series.asked[row] if row >= 0 else start

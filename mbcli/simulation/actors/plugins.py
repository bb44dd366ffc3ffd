"""The plugins of the model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, TypedDict

from mbcli.common.setting import Setting, always
from mbcli.simulation.actors.actor import Actor, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.inputs import LinkForce
    from mbcli.multibody.stepping.ticks import Controller
    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.plugins.plugin_energy import PluginEnergy
    from mbcli.simulation.plugins.run_plugins import PluginController
    from mbcli.simulation.world_ticks import World


class Settings(TypedDict, total=False):
    """Of simulate(), beside those of the run."""

    plugins: Annotated[bool, Setting("whether those of the model act.", default=True, log_may_ask=always)]


class Plugins(Actor):
    """Lets the plugins of the model act, around the controller that the run has without them."""

    SETTINGS = ("plugins", "effort_limits")
    STAGE = Stage.PLUGINS
    IN_WORLDS = ""
    OVER_INPUTS = True

    def __init__(self, run: ActedRun) -> None:
        from mbcli.simulation.plugins.commands import PluginCommands

        super().__init__(run)
        self._plugins = PluginCommands(run.plant if run.given["plugins"] else None)
        self._forces: list[LinkForce] = []
        self._drives = False  # whether they drive joints, by PD controllers
        self._alone = True  # without a controller of the run
        self.energy: PluginEnergy | None = None

    def __bool__(self) -> bool:
        return bool(self._plugins)

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        if not self._plugins:
            return
        from mbcli.simulation.earlier_run import start_in_log
        from mbcli.simulation.plugins.plugin_energy import PluginEnergy
        from mbcli.simulation.plugins.run_plugins import plugin_drives, plugins_in_words

        run, plant = self.run, self.run.plant
        q = plant.GetPositions(run.context) if resumed is None else start_in_log(resumed, plant)
        held = plugin_drives(plant, self._plugins, q, bool(run.controlled))
        self._drives = bool(held)
        self._alone = run.controller is None
        self.energy = PluginEnergy(run.context, self._plugins.laws)
        if held:
            run.take_controllers(held)
        elif any(law.driven for law in self._plugins.laws):
            run.warn("controllers hold joints: plugins of the file do not drive them")
        for line in plugins_in_words(plant, self._plugins):
            note(line)
        if how := [f"{kind} ({why})" for kind, why in self.energy.givers if why]:
            note(f"what may give energy, so that it is not watched: {', '.join(dict.fromkeys(how))}")

        made = self._made(run.context, run.controller, run.efforts_at)
        self.ticks = plant.time_step()
        run.controller, self._forces = made, made.forces

    def may_drive(self) -> bool:
        """Whether plugins, or a controller beside them, may give the plant energy."""
        return self.energy is not None and (bool(self.energy.givers) or not self._alone)

    def in_world(self, world: World) -> Controller:
        """As of Actor."""
        return self._made(world.context, None, world.input_at)

    def _made(
        self, context: Context, inner: Controller | None, input_at: Callable[[float], FloatArray]
    ) -> PluginController:
        """In a run or a world with the parameters of a context; inner: the controller that it has without plugins."""
        from mbcli.simulation.plugins.run_plugins import PluginController

        asked_at = partial(self._asked_at, start=self._plugins.start())
        effort_limits = self.run.given["effort_limits"]
        return PluginController(context, self._plugins, inner, input_at, effort_limits, asked_at, self._drives)

    def forces(self) -> list[LinkForce]:
        """As of Actor."""
        return self._forces

    def _asked_at(self, time: float, start: FloatArray) -> FloatArray:
        """(n,) what the input asks of plugins at a time [s]."""
        from mbcli.engine.stepping.pushes import SAME_TIME

        series = self.run.actuation
        if series is None or series.asked is None:
            return start
        row = series.times.searchsorted(time + SAME_TIME, side="right") - 1
        return series.asked[row] if row >= 0 else start

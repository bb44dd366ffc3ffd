"""Controllers of many worlds: called at ticks that all worlds have together, with arrays of all worlds."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mbcli.common.setting import require_choice, settings_of
from mbcli.simulation.control.choices import ControllerChoice
from mbcli.simulation.control.in_a_run import chosen_plan
from mbcli.simulation.run_arguments import RunArguments
from mbcli.simulation.world_ticks import WorldTicks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mbcli.math.array_types import FloatArray
    from mbcli.simulation.control.plans import Motion, Plan
    from mbcli.simulation.world_sensors import WorldSensors


class _SensorsOfController:
    """WorldSensors as a controller asks for them."""

    def __init__(self, sensors: WorldSensors) -> None:
        self._sensors = sensors

    def describe(self) -> dict[str, Any]:
        """As of TickSensors."""
        columns = self._sensors.columns()
        return {name: {"columns": list(own), "units": list(units)} for name, (own, units) in columns.items()}

    def at(self, *state: Any) -> dict[str, FloatArray]:
        """{name: (n, columns)} where the worlds are, which the arrays of the state are of too."""
        return self._sensors.signals()

    def exact(self, *state: Any) -> dict[str, FloatArray]:
        """As of TickSensors."""
        return self._sensors.exact()

    def save(self) -> dict[str, Any]:
        """As of TickSensors."""
        return self._sensors.save()

    def load(self, saved: dict[str, Any]) -> None:
        """As of TickSensors."""
        self._sensors.load(saved)

    def contact_wrenches(self, *state: Any) -> FloatArray:
        """As of TickSensors."""
        return self._sensors.contact_wrenches()


@contextmanager
def world_ticks(
    worlds: Any,
    controller: Any,
    rate: float | None,
    seed: int,
    effort_limits: str,
    sensor_noise: bool,
    trajectory: Any,
) -> Iterator[WorldTicks]:
    """Starts the controller of worlds, and ends it; arguments and errors as of Worlds.under_controller()."""
    from mbcli.simulation.control.make_controller import make_controller

    choice = controller if isinstance(controller, ControllerChoice) else ControllerChoice(controller)
    plan = chosen_plan(worlds.plant, trajectory, controller, None)[1]
    made: Any = make_controller(
        choice if rate is None else ControllerChoice(choice.given, rate, *choice[2:]),
        worlds.loaded,
        seed=seed,
        effort_limits=require_choice("effort_limits", effort_limits, settings_of(RunArguments)["effort_limits"]),
        targets=None if plan is None else _targets(plan),
        count=len(worlds),
    )
    made.sense(lambda: _SensorsOfController(worlds.sensors(seed if sensor_noise else None)))
    try:
        made.start()
        yield WorldTicks(worlds, made, worlds.u)
    finally:
        made.stop()


def _targets(plan: Plan) -> Callable[[Any], Motion]:
    """Times (n,) -> the Motion with rows of all worlds."""
    from mbcli.simulation.control.plans import Motion

    return lambda times: Motion(*plan.motions_at(times))

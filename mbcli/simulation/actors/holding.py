"""Joints that controllers hold and drive, and where the controllers of a file aim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.simulation.actors.actor import Actor, Stage
from mbcli.simulation.actors.following import Following

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np

    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.held_joint import Held
    from mbcli.simulation.summary import Summary


class Holding(Actor):
    """Holds and drives joints, as the settings of the model say; a run that follows a plan does so itself.

    Attributes:
        held: {actuator: Held}, after start().
    """

    SETTINGS = ("hold", "kp", "kd", "drive")
    STAGE = Stage.HOLD
    IN_WORLDS = ""

    def __init__(self, run: ActedRun) -> None:
        from mbcli.simulation.controllers import hold_default_positions

        super().__init__(run)
        self._hold, self._drive = run.loaded.config.hold, run.loaded.config.drive
        self.acts = run.actor(Following).follow is None and (self._hold.is_on or bool(self._drive))
        self.held: dict[Any, Held] = {}
        self._carried: dict[Any, float] = {}  # what its controllers feed forward at the start
        self._upright: dict[Any, Any] = {}  # verticals of bases that are to stand
        if run.own is None and not self.acts:
            run.controlled = hold_default_positions(run.plant, run.context)

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor; resumed: as they did in that log."""
        from mbcli.multibody.core.inputs import controlled_actuators, steps_with_controllers
        from mbcli.simulation.fallen_bases import verticals
        from mbcli.simulation.holding import held_in_log, holding_in_words
        from mbcli.simulation.static_efforts import static_efforts

        run = self.run
        if not self.acts:
            if run.controlled and run.controller is None and run.given["controller"] is None:
                self._tell_of_aims(run.controlled)
            return
        if self._hold.is_on and resumed is None:
            self._upright = verticals(run.plant, run.context)
        plant, q = run.plant, run.plant.GetPositions(run.context)
        self.held = held_in_log(plant, resumed) if resumed is not None else self._chosen(q)
        self._carried = static_efforts(plant, q, self.held)
        if steps_with_controllers(plant):
            run.take_controllers(self.held)
            run.controlled = [actuator.name() for actuator in controlled_actuators(run.plant)]
        else:
            from mbcli.simulation.servo_ticks import ServoTicks

            given: Any  # (time [s]) -> u (nu,)
            given = run.input_at if run.actuation is not None else lambda t: plant.actuation(run.context)
            run.controller = ServoTicks(plant, q, self.held, self._carried, given)
            self._carried = {}  # it begins with them itself
            run.controlled = [actuator.name() for actuator in self.held]
        for line in holding_in_words(plant, self._hold, self.held):
            note(line)

    def _chosen(self, q: np.ndarray) -> dict[Any, Held]:
        from mbcli.models.postures import find_postures, posture_positions
        from mbcli.simulation.holding import choose_holding

        run, hold = self.run, self._hold
        postures = []
        if hold.posture is not None:
            postures = find_postures(run.plant, run.loaded.postures, hold.posture, "hold")
        target = posture_positions(run.plant, postures, q) if postures else q
        return choose_holding(run.plant, q, target, hold, self._drive)

    def _tell_of_aims(self, names: Sequence[str]) -> None:
        from mbcli.common.coordinate_names import listed

        run = self.run
        aimed = run.actuation.aimed if run.actuation is not None else frozenset()
        at_default = [name for name in names if name not in aimed]
        if at_default:
            who = "controllers of the file" if run.loaded.actuators is None else "servos"
            where = "rest" if run.loaded.actuators == "velocity" else "the default positions"
            run.warn(f"{who} aim at {where}: {listed(at_default)}")

    def carried_at_start(self) -> dict[str, np.ndarray] | None:
        """What controllers feed forward when the run begins, as a checkpoint has it."""
        import numpy as np

        if not self._carried:
            return None
        carried = {a.input_start(): effort for a, effort in self._carried.items()}
        return {"carried": np.array([carried.get(int(k), 0.0) for k in self.run.context.state.model.pd_actuator])}

    def finish(self, summary: Summary) -> None:
        """As of Actor."""
        from mbcli.simulation.fallen_bases import fallen_bases

        fell = fallen_bases(self.run.plant, self.run.context, self._upright)
        if fell is not None:
            self.run.warn(fell)
        if not self.acts and self.run.given["controller"] is not None:
            controller: Any = self.run.controller  # of the user, who may aim some controllers of the file
            mask = controller.commands.asked
            asked = {actuator.name(): mask[actuator.input_start()] for actuator in self.run.plant.elements.actuators}
            self._tell_of_aims([name for name in self.run.controlled if not asked[name]])

"""Joints that follow a plan, which no controller of the user does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from mbcli.common.argument_names import argument
from mbcli.common.setting import Option, Setting
from mbcli.simulation.actors.actor import Actor, Stage
from mbcli.simulation.actors.inputs import of_exceeded, warn_of_efforts
from mbcli.simulation.control.choices import INTERPOLATIONS, WAYS
from mbcli.simulation.control.in_a_run import chosen_plan, start_on_plan
from mbcli.simulation.setting_groups import ACTING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import BoolArray
    from mbcli.multibody.stepping.ticks import Controller
    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.control.follow import Follower
    from mbcli.simulation.summary import Summary
    from mbcli.simulation.world_ticks import World


class Settings(TypedDict, total=False):
    """Of simulate(), beside those of the run."""

    trajectory: Annotated[
        Any,
        Setting(
            "the motion that joints follow, or, with a controller, what this is given as targets: a table "
            "(docs/how-to/control.md), or a Follow with the way.",
            Option(
                "--trajectory",
                "A motion that joints follow: columns time and names of positions, and of velocities if they are "
                "given. With --controller: the targets that it is given.",
                metavar="CSV",
            ),
            Option(
                "--follow",
                "How: computed-torque (default), pd controllers with gravity compensation, or prescribed: exactly, "
                "with the efforts that it takes.",
                choices=WAYS,
            ),
            Option("--interpolation", "Of --trajectory between its rows; default cubic.", choices=INTERPOLATIONS),
            of=ACTING,
        ),
    ]


class Following(Actor):
    """Lets joints follow a plan.

    Attributes:
        plan: Plan, None without one; follow: the way.
    """

    SETTINGS = ("trajectory", "controller", "effort_limits")
    STAGE = Stage.PLAN
    IN_WORLDS = ""

    def __init__(self, run: ActedRun) -> None:
        super().__init__(run)
        given = run.given
        self.follow, self.plan = chosen_plan(run.plant, given["trajectory"], given["controller"], given["inputs"])
        self._made: Follower | None = None

    def place(self, stated: BoolArray) -> None:
        """Joints of the plan whose positions are not stated (mask (nq,)) begin where it does."""
        if self.plan is not None:
            start_on_plan(self.run.plant, self.run.context, self.plan, stated)

    def lacks(self, field: str) -> str | None:
        """As of Actor."""
        return f"the run has no {argument('trajectory')}" if field == "tracking" and self.plan is None else None

    def lends(self) -> dict[str, Any]:
        """As of Actor."""
        return {"plan": self.plan}

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        run = self.run
        beyond = [] if self.plan is None or resumed is not None else self.plan.beyond_limits(run.plant)
        if beyond:
            run.warn(f"the trajectory is beyond limits of joints: {'; '.join(beyond)}")
        if self.follow is None or run.given["controller"] is not None:
            return
        from mbcli.multibody.core.inputs import controlled_actuators
        from mbcli.simulation.control.follow import Follower, following_controllers, require_followable

        assert self.plan is not None
        plant, way = run.plant, self.follow.way
        require_followable(self.plan, way, plant)
        q = plant.GetPositions(run.context)
        held = following_controllers(self.plan, way, plant, q)
        if held:
            run.take_controllers(held, limited=way != "prescribed")
            plant = run.plant
            run.controlled = [actuator.name() for actuator in controlled_actuators(plant)]
        else:
            run.controlled = [actuator.name() for actuator in plant.elements.actuators]
        self._made = run.controller = Follower(self.plan, way, plant, q, run.given["effort_limits"])
        self.ticks = self._made.period

    def in_world(self, world: World) -> Controller:
        """As of Actor."""
        from mbcli.simulation.control.follow import Follower

        assert self.follow is not None and self.plan is not None
        run = self.run
        return Follower(self.plan, self.follow.way, run.plant, world.q, run.given["effort_limits"])

    def summary(self) -> dict[str, Any]:
        """As of Actor."""
        return {} if self._made is None else of_exceeded(self._made.commands.exceeded())

    def finish(self, summary: Summary) -> None:
        """As of Actor."""
        warn_of_efforts(self.run, self._made, summary)

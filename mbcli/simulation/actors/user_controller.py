"""The controller that a user gives a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.simulation.actors.actor import Actor
from mbcli.simulation.actors.following import Following
from mbcli.simulation.actors.inputs import of_exceeded, warn_of_efforts
from mbcli.simulation.control.in_a_run import chosen_controller

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.control.run_controller import RunController
    from mbcli.simulation.summary import Summary


class UserController(Actor):
    """Lets the controller of a user give the actuation.

    Attributes:
        choice: ControllerChoice, None without one.
        made: the RunController, after start().
    """

    SETTINGS = ("controller", "effort_limits", "seed")
    IN_WORLDS = ""

    def __init__(self, run: ActedRun) -> None:
        super().__init__(run)
        self.choice = chosen_controller(run.given["controller"], run.given["inputs"])
        self.made: RunController | None = None

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        run = self.run
        if self.choice is None:
            return
        if run.controller is not None:
            raise ArgumentError(
                f"{argument('controller')}: {argument('hold')} and {argument('drive')} are a controller themselves in "
                f"a plant whose steps have none; give {argument('dt')} a step"
            )
        from mbcli.simulation.control.make_controller import make_controller

        plan = run.actor(Following).plan
        self.made = run.controller = make_controller(
            self.choice,
            run.plant,
            seed=run.seed,
            effort_limits=run.given["effort_limits"],
            targets=None if plan is None else plan.at,
        )

    def in_words(self) -> dict[str, Any] | None:
        """What a log says of it; None without one."""
        if self.choice is None:
            return None
        from mbcli.simulation.control.make_controller import controller_in_words

        return controller_in_words(self.choice.given)

    def summary(self) -> dict[str, Any]:
        """As of Actor."""
        return {} if self.made is None else of_exceeded(self.made.commands.exceeded())

    def finish(self, summary: Summary) -> None:
        """As of Actor."""
        warn_of_efforts(self.run, self.made, summary)

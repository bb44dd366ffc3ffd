"""The controller that a user gives a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from mbcli.common.argument_names import argument
from mbcli.common.setting import Option, Setting, always
from mbcli.errors import ArgumentError
from mbcli.simulation.actors.actor import Actor, Stage
from mbcli.simulation.actors.following import Following
from mbcli.simulation.actors.inputs import of_exceeded, warn_of_efforts
from mbcli.simulation.control.choices import DEFAULT_LIMIT
from mbcli.simulation.control.in_a_run import chosen_controller
from mbcli.simulation.setting_groups import ACTING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.control.run_controller import RunController
    from mbcli.simulation.summary import Summary


class Settings(TypedDict, total=False):
    """Of simulate(), beside those of the run."""

    controller: Annotated[
        Any,
        Setting(
            "gives the actuation in place of inputs: a function of what its parameters name, of time, q, v, sensors, "
            "targets, plant and random, a class, `FILE.py:NAME`, a command, or a ControllerChoice "
            "(docs/how-to/control.md).",
            Option(
                "--controller",
                "Gives the actuation: a function or class of a file of Python, or a program that answers lines of "
                "JSON (docs/how-to/control.md); with --task a policy, an ONNX or TorchScript file; the log of a plan, "
                "whose gains act; or a control file, by which plans are made in the loop.",
                metavar="FILE.py[:NAME]|COMMAND|POLICY.onnx|PLAN.h5|CONTROL.yaml",
            ),
            Option(
                "--task",
                "The task file of a policy that is the --controller: what it sees and does and, unless options say "
                "otherwise, the model, how it is loaded, and the start, drawn by --seed (docs/how-to/learning.md).",
                metavar="FILE",
                sweeps=False,
            ),
            Option(
                "--controller-rate",
                "Calls of it a second; default: its attribute rate, else every step.",
                metavar="HZ",
                text=False,
                above=0.0,
                log_may_ask=always,
            ),
            Option(
                "--controller-limit",
                f"Wall-clock time that a call may take; default {DEFAULT_LIMIT:g} s.",
                metavar="S",
                text=False,
                above=0.0,
                log_may_ask=always,
            ),
            Option(
                "--controller-delay",
                "Time after which its commands act, a whole number of calls; default 0 s.",
                metavar="S",
                text=False,
                minimum=0.0,
                log_may_ask=always,
            ),
            Option(
                "--controller-quantum",
                "Effort [N m or N] of whose multiples the efforts are that act; default: as the controller gives them.",
                metavar="E",
                text=False,
                above=0.0,
                log_may_ask=always,
            ),
            Option(
                "--controller-pickle",
                "Keep its state for --resume as Python pickles it; else it has save() and load(). Reading a pickle "
                "runs what is in it: ask for that with logs of your own.",
                flag=True,
                sweeps=False,
            ),
            of=ACTING,
        ),
    ]


class UserController(Actor):
    """Lets the controller of a user give the actuation.

    Attributes:
        choice: ControllerChoice, None without one.
        made: the RunController, after start().
    """

    SETTINGS = ("controller", "effort_limits", "seed")
    STAGE = Stage.CONTROLLER
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
            run.loaded,
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

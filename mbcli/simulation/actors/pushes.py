"""Pushes on bodies, from one time to another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from mbcli.common.setting import Option, Setting, equations
from mbcli.simulation.actors.actor import Actor, Stage
from mbcli.simulation.setting_groups import ACTING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.multibody.stepping.inputs import LinkForce
    from mbcli.simulation.acted_run import ActedRun


class Settings(TypedDict, total=False):
    """Of simulate(), beside those of the run."""

    pushes: Annotated[
        Iterable[Any],
        Setting(
            "forces on bodies: each a mbcli.simulation.pushes.Push, a text as `mbcli simulate --push` takes it, or "
            "the name of a table.",
            Option(
                "--push",
                "A force [N] on a body, along the world's axes: 'torso=30,0,0 from 1 to 1.2'; at its centre of mass, "
                "or at a point [m] of its frame: 'torso=30,0,0@0,0,0.4'; in direction and at time of --seed: "
                "'torso=30@random for 0.2', or a table with columns body, fx, fy, fz, from, to.",
                name="pushes",
                metavar="PUSH",
                multiple=True,
            ),
            default=(),
            log_may_ask=equations,
            of=ACTING,
        ),
    ]


class Pushes(Actor):
    """Pushes bodies."""

    SETTINGS = ("pushes", "seed")
    STAGE = Stage.FORCES
    IN_WORLDS = ""

    def __init__(self, run: ActedRun) -> None:
        from mbcli.simulation.pushes import read_pushes

        super().__init__(run)
        self._pushes = read_pushes(run.given["pushes"])
        self._forces: list[LinkForce] = []

    def __bool__(self) -> bool:
        return bool(self._pushes)

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        from mbcli.simulation.push_forces import link_force
        from mbcli.simulation.pushes import drawn_pushes, idle_pushes_in_words, pushed_body

        run = self.run
        pushes = drawn_pushes(self._pushes, run.seed, run.until)
        self._forces = [link_force(push, pushed_body(run.plant, push.body), run.context) for push in pushes]
        idle = idle_pushes_in_words(pushes, run.start, run.until)
        if idle and resumed is None:
            run.warn(idle)
        for each, push in zip(self._pushes, pushes, strict=True):
            if each is not push:
                force = ", ".join(f"{part:.6g}" for part in push.force)
                note(f"pushes {push.body} by {force} N from {push.start:.6g} to {push.end:.6g} s")

    def forces(self) -> list[LinkForce]:
        """As of Actor."""
        return self._forces

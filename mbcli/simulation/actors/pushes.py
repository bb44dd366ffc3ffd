"""Pushes on bodies, from one time to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.simulation.actors.actor import Actor
from mbcli.simulation.push_forces import link_force
from mbcli.simulation.pushes import drawn_pushes, pushed_body, read_pushes

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.multibody.stepping.inputs import LinkForce
    from mbcli.simulation.acted_run import ActedRun


class Pushes(Actor):
    """Pushes bodies."""

    SETTINGS = ("pushes", "seed")
    IN_WORLDS = ""

    def __init__(self, run: ActedRun) -> None:
        super().__init__(run)
        self._pushes = read_pushes(run.given["pushes"])
        self._forces: list[LinkForce] = []

    def __bool__(self) -> bool:
        return bool(self._pushes)

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        run = self.run
        pushes = drawn_pushes(self._pushes, run.seed, run.until)
        self._forces = [link_force(push, pushed_body(run.plant, push.body), run.context) for push in pushes]
        for each, push in zip(self._pushes, pushes, strict=True):
            if each is not push:
                force = ", ".join(f"{part:.6g}" for part in push.force)
                note(f"pushes {push.body} by {force} N from {push.start:.6g} to {push.end:.6g} s")

    def forces(self) -> list[LinkForce]:
        """As of Actor."""
        return self._forces

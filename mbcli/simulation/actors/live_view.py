"""A page that shows a run while it goes, on which bodies are pulled and inputs given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from mbcli.common.setting import Option, Setting
from mbcli.simulation.actors.actor import Actor, Stage
from mbcli.simulation.setting_groups import VIEW

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.multibody.stepping.inputs import LinkForce
    from mbcli.multibody.stepping.samples import Samples
    from mbcli.pictures.live_run import LiveRun
    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.live_pull import LivePull
    from mbcli.simulation.summary import Summary

ACTED_ON_PAGE = "acted_on_page"  # code of an event: the command of the log does not repeat its run
SENTENCE = "somebody pulled bodies or moved sliders on the page of the run: its log cannot repeat it"


class Settings(TypedDict, total=False):
    """Of simulate(), beside those of the run."""

    view: Annotated[
        Any,
        Setting(
            "shows the run on a page while it goes: True, or a mbcli.pictures.live_run.LiveRun, whose page stays.",
            Option(
                "--view",
                "Open a page that shows the run while it goes, in real time: pause, step, reset, drag bodies, move "
                "targets and inputs. Without -t until the page ends it, or Ctrl-C.",
                flag=True,
            ),
            Option(
                "--view-speed",
                "Simulated seconds a second; 0 for as fast as it goes; default 1.",
                metavar="X",
                text=False,
                minimum=0.0,
            ),
            Option(
                "--view-port",
                "Port of the page; default: any that is free.",
                metavar="N",
                text=False,
                whole=True,
                minimum=0,
            ),
            Option("--no-browser", "Only print the address of the page.", flag=True),
            of=VIEW,
            worlds=False,
            sweeps=False,
        ),
    ]


class LiveView(Actor):
    """Shows the run, goes by the clock of the wall, and lets those who look pull and steer."""

    SETTINGS = ("view", "effort_limits")
    STAGE = Stage.FORCES
    IN_WORLDS = "a page shows one run"

    def __init__(self, run: ActedRun) -> None:
        super().__init__(run)
        self._live: LiveRun | None = None
        self._own: LiveRun | None = None  # one that ends with the run
        self._pull: LivePull | None = None

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        given: Any = self.run.given["view"]
        if not given:
            return
        from mbcli.simulation.live_pull import LivePull

        if given is True:
            from mbcli.pictures.live_run import LiveRun

            self._own = LiveRun()
            given = self._own.__enter__()
        self._live = given
        self._pull = LivePull(self.run, given)
        self.run.controller = self._pull.controller
        note(f"the run is shown at {given.url}")

    def is_alone(self) -> bool:
        """Whether the page is all that is called in the run."""
        return self._pull is not None and self._pull.is_alone

    def forces(self) -> list[LinkForce]:
        """As of Actor."""
        return [] if self._pull is None else self._pull.controller.forces

    def see(self, samples: Samples) -> None:
        """As of Actor."""
        if self._pull is not None:
            self._pull.see(samples)

    def stops(self) -> bool:
        """As of Actor."""
        return self._live is not None and (self._live.again or self._live.ended)

    def events(self) -> list[tuple[str, str, str]]:
        """As of Actor."""
        acted = self._pull is not None and self._pull.acted
        return [("warning", ACTED_ON_PAGE, SENTENCE)] if acted else []

    def end(self) -> None:
        """As of Actor."""
        if self._own is not None:
            self._own.__exit__(None, None, None)
            self._own = None

    def finish(self, summary: Summary) -> None:
        """As of Actor."""
        for _, _, sentence in self.events():
            self.run.warn(sentence)

"""The actuation that a run is given, and its end at effort limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.simulation.actors.actor import Actor
from mbcli.simulation.effort_limits import Exceeded, clamped, efforts_in_words, exceeded_efforts
from mbcli.simulation.input_series import as_input, cuts_in_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.summary import Summary


class Inputs(Actor):
    """Gives the run its actuation: `run.actuation`."""

    SETTINGS = ("inputs", "effort_limits")
    IN_WORLDS = ""

    def __init__(self, run: ActedRun) -> None:
        super().__init__(run)
        self._exceeded: list[Exceeded] = []

    def read(self) -> None:
        """Once the start is known. ArgumentError, ModelError of an input that means nothing."""
        run, inputs = self.run, self.run.given["inputs"]
        of_ports = run.own is not None and inputs is None
        run.actuation = None if of_ports else as_input(run.plant, inputs, aims=run.own is None)

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        run = self.run
        if run.actuation is None:
            return
        cuts = cuts_in_words(run.actuation)
        if cuts is not None:
            run.warn(cuts)
        begin = run.actuation.times[0]
        if run.until > run.context.get_time() and begin >= run.until:
            run.warn(f"the input begins at {begin:g} s, the run ends at {run.until:g} s: it does not act")
        self._exceeded = exceeded_efforts(run.plant, run.actuation, run.context.get_time(), run.until)
        line = efforts_in_words(self._exceeded, run.given["effort_limits"])
        if line:
            run.warn(line)
        if run.given["effort_limits"] == "clamp":
            run.actuation = clamped(run.plant, run.actuation)

    def summary(self) -> dict[str, Any]:
        """As of Actor."""
        return of_exceeded(self._exceeded) if self._exceeded else {}


def of_exceeded(exceeded: list[Exceeded]) -> dict[str, Any]:
    """What a Summary has of efforts beyond limits."""
    return {"exceeded_efforts": [each.actuator for each in exceeded], "efforts_beyond": exceeded}


def warn_of_efforts(run: ActedRun, made: object, summary: Summary) -> None:
    """Warns of what a controller asked for beyond effort limits, if one was made."""
    line = "" if made is None else efforts_in_words(summary.efforts_beyond, run.given["effort_limits"])
    if line:
        run.warn(line)

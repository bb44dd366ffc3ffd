"""The actuation that a run is given, and its end at effort limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from mbcli.common.setting import Option, Setting, always, never, no_text
from mbcli.simulation.actors.actor import Actor, Stage
from mbcli.simulation.limit_choice import CHOICES
from mbcli.simulation.setting_groups import ACTING, INPUT

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.effort_limits import Exceeded
    from mbcli.simulation.summary import Summary


class Settings(TypedDict, total=False):
    """Of simulate(), beside those of the run."""

    inputs: Annotated[
        Any,
        Setting(
            "actuation [N m or N]: an array (nu,), {actuator: number}, an Input with times, or a CSV file; None for "
            "zero, or, with a Context as start, for what its ports have.",
            Option(
                "--u",
                "Constant actuation, a list or NAME=VALUE pairs.",
                name="u_text",
                metavar="LIST",
                log_may_ask=always,
            ),
            Option(
                "--input",
                "Actuation over time ('-': stdin): CSV with columns time and actuator names; a row holds until the "
                "next.",
                name="input_file",
                metavar="FILE",
                log_may_ask=never,
                sweeps=False,
            ),
            log_may_ask=no_text,
            of=INPUT,
        ),
    ]
    effort_limits: Annotated[
        str,
        Setting(
            'inputs beyond the effort limits of actuators end there, "clamp", or act, with a warning, "warn", or '
            'without one, "ignore". Of ports of a Context nothing is asked.',
            Option(
                "--effort-limits",
                "Clamp inputs to the effort limits of actuators (clamp, the default), or let them act, with a "
                "warning (warn) or without (ignore).",
                choices=CHOICES,
                default="clamp",
            ),
            default="clamp",
            choices=CHOICES,
            log_may_ask=always,
            of=ACTING,
        ),
    ]


class Inputs(Actor):
    """Gives the run its actuation: `run.actuation`."""

    SETTINGS = ("inputs", "effort_limits")
    STAGE = Stage.INPUT
    IN_WORLDS = ""

    def __init__(self, run: ActedRun) -> None:
        super().__init__(run)
        self._exceeded: list[Exceeded] = []

    def read(self) -> None:
        """Once the start is known. ArgumentError, ModelError of an input that means nothing."""
        from mbcli.simulation.input_series import as_input

        run, inputs = self.run, self.run.given["inputs"]
        of_ports = run.own is not None and inputs is None
        run.actuation = None if of_ports else as_input(run.plant, inputs, aims=run.own is None)

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """As of Actor."""
        from mbcli.simulation.effort_limits import clamped, efforts_in_words, exceeded_efforts
        from mbcli.simulation.input_series import cuts_in_words

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
    from mbcli.simulation.effort_limits import efforts_in_words

    line = "" if made is None else efforts_in_words(summary.efforts_beyond, run.given["effort_limits"])
    if line:
        run.warn(line)

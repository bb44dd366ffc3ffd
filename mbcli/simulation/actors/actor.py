"""What the parts of a run have in common: each kind of what acts in it is a file of this room."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mbcli.multibody.stepping.inputs import LinkForce
    from mbcli.multibody.stepping.samples import Samples
    from mbcli.multibody.stepping.ticks import Controller
    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.summary import Summary
    from mbcli.simulation.world_ticks import World


class Stage(IntEnum):
    """When an actor starts: after those of all stages before."""

    LIMITS = 0
    PLAN = 1
    HOLD = 2
    INPUT = 3
    CONTROLLER = 4
    PLUGINS = 5
    FORCES = 6
    SENSORS = 7


class Actor:
    """A part of a run, made from its settings before the start is known.

    A subclass states SETTINGS, the names of the settings that it reads, STAGE, when it starts, and IN_WORLDS, "" if
    many worlds have it too, else why they do not; it has start(). ImportError for one that lacks them.

    Attributes:
        run: the ActedRun. An actor reads its plant, settings, start and end, and changes its context, controller,
            actuation and fields.
    """

    SETTINGS: ClassVar[tuple[str, ...]]
    STAGE: ClassVar[Stage]
    IN_WORLDS: ClassVar[str]
    OVER_INPUTS: ClassVar[bool] = False  # whether its efforts come on top of what worlds are given
    ticks: float | None = None  # [s] between its calls in worlds, after start(); None if it is not called

    def __init_subclass__(cls) -> None:
        missing = [name for name in ("SETTINGS", "STAGE", "IN_WORLDS", "start") if name not in vars(cls)]
        if missing:
            raise ImportError(f"the actor {cls.__name__} lacks {', '.join(missing)}")

    def __init__(self, run: ActedRun) -> None:
        self.run = run

    def of_plant(self) -> dict[str, Any]:
        """What the plant of the run has of it, as arguments of plant_of_run(), before the start is moved."""
        return {}

    def start(self, note: Callable[[str], object], resumed: str | None) -> None:
        """Lets it act from the start of the run, which the context has.

        note: (line) -> None, is told what it does. resumed: the log that the run goes on with, or None.
        """
        raise NotImplementedError

    def forces(self) -> list[LinkForce]:
        """Forces on bodies that it gives from the start on, or changes in ticks."""
        return []

    def in_world(self, world: World) -> Controller:
        """What is called at the ticks of one of many worlds, in place of what start() lets act; of `ticks` alone."""
        raise NotImplementedError

    def lacks(self, field: str) -> str | None:
        """Why the log cannot have a field of this actor, as far as it is one of its own; None if it can."""
        return None

    def see(self, samples: Samples) -> None:
        """Is shown each block of samples of a single run."""

    def stops(self) -> bool:
        """Whether it wants the run to end."""
        return False

    def events(self) -> list[tuple[str, str, str]]:
        """(severity, code, sentence) of each event that the log has at the end of the run."""
        return []

    def end(self) -> None:
        """The run is released, however it ended."""

    def lends(self) -> dict[str, Any]:
        """{name: what fields of the log ask it for}, after start(); LoggedPlant.lent has it."""
        return {}

    def summary(self) -> dict[str, Any]:
        """What it says in the Summary."""
        return {}

    def finish(self, summary: Summary) -> None:
        """Warns of what has become of the run."""

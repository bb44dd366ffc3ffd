"""What controllers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mbcli.errors import ControlError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.simulation.control.commands import Commands
    from mbcli.simulation.control.tick_sensors import TickSensors


class RunController:
    """A controller of a run (mbcli.multibody.stepping.ticks.Controller) that is called from Python and has no state.

    Args:
        name: for messages.
        commands: Commands of the run.
    """

    def __init__(self, name: str, commands: Commands) -> None:
        self.name, self.commands, self.period = name, commands, commands.period

    def start(self) -> None:
        """Before the run."""

    def stop(self) -> None:
        """After it."""

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """Writes what it asks for into the efforts u (nu,) and the aims (k, 2) of the run, at a state of it."""
        raise NotImplementedError

    def compiled_calls(self, state: Any, u: FloatArray) -> FloatArray | None:
        """None: its call() is called."""
        return None

    def sense(self, make: Callable[[], TickSensors]) -> None:
        """make: makes what the sensors of the model give at ticks, for a controller that asks for them."""

    def save(self) -> dict[str, FloatArray]:
        """It remembers nothing."""
        return {}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save()."""

    def _place(self) -> str:
        """Where it is from, for messages."""
        return self.name

    def _fault(self, what: object) -> ControlError:
        """The error that says what the controller did."""
        return ControlError(f"{self._place()}: error: the controller {what}")


class ControllerSource(ABC):
    """What makes a RunController of its own for each run, in place of a function that is called, as a policy does."""

    @abstractmethod
    def controller(self, loaded: LoadedModel, *, seed: int, effort_limits: str, count: int | None) -> RunController:
        """The controller of a run; loaded: the model with the plant of the run; the others as of make_controller()."""

    @abstractmethod
    def in_words(self) -> dict[str, Any]:
        """What a log has of it."""

"""What a run and its actors share: the plant, the settings, and what acts in the steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mbcli.multibody.core.inputs import has_controllers
from mbcli.multibody.core.run_plant import plant_of_run
from mbcli.multibody.stepping.run import Run
from mbcli.simulation.holding import controllers_of, start_holding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.inputs import Input, LinkForce
    from mbcli.multibody.stepping.ticks import Controller
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.simulation.held_joint import Held
    from mbcli.simulation.progress import Stopwatch
    from mbcli.simulation.sampling import Sampling

A = TypeVar("A")


class ActedRun:
    """A run as its actors, its start, its log and its summary see it.

    Attributes:
        given: the values of all settings.
        loaded, plant: those of the model, or with what actors let act in the steps, see change_plant().
        own: the caller's context that the run starts from and advances, None without one.
        context: of the run; controller: called at ticks, None for none; forces: on bodies, that steps take without
            Python; actuation: the Input, None if ports or a controller give it; controlled: names of the actuators with
            controllers. Actors change these.
        held_in_steps: {actuator: Held} of PD controllers that actors let act in the steps.
        start, began, until: [s] of the whole run, of this part of it, and its end.
        fields: names of mbcli.log.fields.
        keeps_accelerations: whether the log needs them.
        should_stop: of the caller of the run: 0, or the exit code with which it is to end.
    """

    loaded: LoadedModel
    plant: MultibodyPlant
    given: dict[str, Any]
    warn: Callable[[str], object]
    command: tuple[str, ...]
    own: Context | None
    context: Context
    start: float
    began: float
    until: float
    seed: int
    fields: list[str]
    keeps_accelerations: bool
    sampling: Sampling
    stopwatch: Stopwatch

    def __init__(self) -> None:
        self.controlled: list[str] = []
        self.controller: Controller | None = None
        self.actuation: Input | None = None
        self.forces: list[LinkForce] = []
        self.held_in_steps: dict[JointActuator, Held] = {}
        self.actors: list[Any] = []
        self.should_stop: Callable[[], int] = lambda: 0

    def actor(self, kind: type[A]) -> A:
        """The actor of a kind."""
        for actor in self.actors:  # a generator takes twice the time
            if isinstance(actor, kind):
                return actor
        raise LookupError(f"the run has no {kind.__name__}")

    def is_to_end(self) -> bool:
        """Whether the caller or an actor wants the end of the run."""
        return bool(self.should_stop()) or any(actor.stops() for actor in self.actors)

    def lent(self) -> dict[str, Any]:
        """What actors lend to fields of the log, by name."""
        return {name: value for actor in self.actors for name, value in actor.lends().items()}

    def change_plant(self, **acting: Any) -> None:
        """The run is one of a plant with more that acts in its steps, as arguments of plant_of_run() say."""
        self.plant = plant_of_run(self.plant, **acting)
        self.loaded = replace(self.loaded, plant=self.plant)

    def take_controllers(self, held: Mapping[JointActuator, Held], *, limited: bool = True) -> None:
        """PD controllers act in the steps of the run, in a new plant and context; limited: by effort limits."""
        self.held_in_steps |= held
        self.change_plant(controllers=controllers_of(held, limited))
        self.context = start_holding(self.plant, self.context, held)

    def input_at(self, t: float) -> np.ndarray | None:
        """u (nu,) at time t [s]; None if it is what ports have then."""
        if self.actuation is None:
            return None
        row = np.searchsorted(self.actuation.times, t, side="right") - 1
        return self.actuation.values[row] if row >= 0 else np.zeros(self.actuation.values.shape[1])

    def efforts_at(self, t: float) -> np.ndarray:
        """(nu,) [N m or N] at time t [s], of the input or of ports."""
        u = self.input_at(t)
        return self.plant.actuation(self.context) if u is None else u

    def steps(self, until: float, actuation: Input | None, **more: Any) -> Run:
        """The steps from where the context is to a time [s], with what the log is to have; more: arguments of Run."""
        with_efforts = has_controllers(self.plant) or bool(self.plant.elements.transmission_actuators)
        wanted = {"accelerations": self.keeps_accelerations, "efforts": with_efforts, "balance": self.given["balance"]}
        return Run(
            self.plant,
            self.context,
            until,
            actuation=actuation,
            constraint_tolerance=self.given["constraint_tolerance"],
            keep=["contacts", *(name for name, is_wanted in wanted.items() if is_wanted)],
            **more,
        )

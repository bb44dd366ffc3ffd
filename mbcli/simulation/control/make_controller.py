"""Which controller an option or an argument means, and how often it is called."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.simulation.control.choices import is_control_file, is_plan, is_policy
from mbcli.simulation.control.commands import Commands
from mbcli.simulation.control.compiled_function import CompiledController, CompiledFunction
from mbcli.simulation.control.late import WHOLE, LateController
from mbcli.simulation.control.pipe import PipeController
from mbcli.simulation.control.python import PythonController, file_of
from mbcli.simulation.control.python_file import load_controller, python_file
from mbcli.simulation.control.run_controller import ControllerSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.simulation.control.choices import ControllerChoice
    from mbcli.simulation.control.run_controller import RunController

CONTINUOUS_RATE = 1000.0  # [Hz] of controllers of continuous plants that say nothing


def make_controller(
    choice: ControllerChoice,
    loaded: LoadedModel,
    *,
    seed: int,
    effort_limits: str,
    targets: Callable[[Any], Any] | None = None,
    count: int | None = None,
) -> RunController:
    """The controller of a run, late and rounded if that is asked for.

    Args:
        choice: what is asked for.
        loaded: the model, whose plant has the PD controllers of the run.
        seed: of its random numbers.
        effort_limits: "clamp", "warn" or "ignore".
        targets: time -> what a plan wants, or None.
        count: number of worlds that it controls at once; None: a single run.

    ControlError, ResourceError and ArgumentError for what is none.
    """
    if isinstance(choice.given, ControllerSource):
        if choice.rate is not None or choice.pickles:
            raise ArgumentError(f"{argument('controller')}: a policy has the rate of its task, and keeps its own state")
        made = choice.given.controller(loaded, seed=seed, effort_limits=effort_limits, count=count)
    else:
        made = _asked_controller(choice, loaded.plant, seed, effort_limits, targets, count)
    return LateController(made, choice.delay, choice.quantum) if choice.delay or choice.quantum else made


def _asked_controller(
    choice: ControllerChoice,
    plant: MultibodyPlant,
    seed: int,
    effort_limits: str,
    targets: Callable[[Any], Any] | None,
    count: int | None,
) -> RunController:
    given, file = choice.given, None
    if is_policy(given):
        raise ArgumentError(
            f"{argument('controller')}: {given} is a policy, which takes the observation of a task: --task FILE; in "
            "Python mbcli.environments.Policy"
        )
    if is_plan(given) or is_control_file(given):
        raise ArgumentError(
            f"{argument('controller')}: {given} is a plan or a control file: of `mbcli simulate`; in Python "
            "mbcli.optimal_control.PlanFeedback and PredictiveControl"
        )
    if isinstance(given, str):
        file = python_file(given)
        if file is None:
            commands = Commands(plant, effort_limits, period_of(choice.rate, plant), count)
            return PipeController(given, plant, commands, seed=seed, limit=choice.limit, targets=targets)
        given = load_controller(*file)
    rate = choice.rate if choice.rate is not None else getattr(given, "rate", None)
    commands = Commands(plant, effort_limits, period_of(rate, plant), count)
    name = str(getattr(given, "__name__", type(given).__name__)) if file is None else file[0]
    if isinstance(given, CompiledFunction):
        controlled = len(plant.model.pd_actuator)
        sizes = plant.num_positions(), plant.num_velocities(), plant.num_actuators(), controlled
        return CompiledController(given, commands, sizes, name)
    own: dict[str, Any] = {"limit": choice.limit, "pickles": choice.pickles, "name": name}
    return PythonController(given, plant, commands, seed=seed, targets=targets, **own)


def period_of(rate: float | None, plant: MultibodyPlant) -> float:
    """[s] between two calls at a rate [Hz]. ArgumentError if a discrete plant has no whole steps in it."""
    h = plant.time_step()
    if rate is None:
        return h or 1.0 / CONTINUOUS_RATE
    try:
        rate = float(rate)
    except (TypeError, ValueError):
        raise ArgumentError(f"{argument('controller_rate')}: {rate!r} is no number of Hz") from None
    if not 0.0 < rate < 1e9:
        raise ArgumentError(f"{argument('controller_rate', rate)}: a rate is greater than 0")
    if not h:
        return 1.0 / rate
    steps = 1.0 / (rate * h)
    if steps < 0.5 or abs(steps - round(steps)) > WHOLE * steps:
        raise ArgumentError(
            f"{argument('controller_rate', rate)}: a controller is called at whole steps of {h:g} s; choose a divisor "
            f"of {1.0 / h:g} Hz"
        )
    return round(steps) * h


def controller_in_words(given: Any) -> dict[str, Any]:
    """What a log has of a controller: where it is from, with the SHA-256 of its file."""
    if isinstance(given, ControllerSource):
        return given.in_words()
    if not isinstance(given, str):
        return {"name": getattr(given, "__name__", type(given).__name__), "file": file_of(given)}
    file_and_name = python_file(given)
    if file_and_name is None:
        return {"command": given}
    path, name = file_and_name
    return {"name": name, "file": path, "sha256": sha256_of(path)}


def sha256_of(path: str) -> str:
    """Of a file, as hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()

"""A controller's part of a run: what goes with it, and what is around the calls of the loop."""

from __future__ import annotations

import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.simulation.control.choices import ControllerChoice, Follow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.math.array_types import BoolArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.simulation.control.plans import Plan


def chosen_controller(controller: Any, inputs: Any) -> ControllerChoice | None:
    """The choice that an argument means, None for none. ArgumentError with inputs beside it."""
    if controller is None:
        return None
    if inputs is not None:
        raise ArgumentError(f"{argument('controller')} gives the actuation: no {argument('inputs')} beside it")
    return controller if isinstance(controller, ControllerChoice) else ControllerChoice(controller)


def chosen_plan(
    plant: MultibodyPlant, trajectory: Any, controller: Any, inputs: Any
) -> tuple[Follow | None, Plan | None]:
    """How a run follows a plan, and the plan; None and None without one. ArgumentError with inputs beside it."""
    if trajectory is None:
        return None, None
    if inputs is not None:
        raise ArgumentError(f"{argument('trajectory')} gives the actuation: no {argument('inputs')} beside it")
    from mbcli.simulation.control.plans import read_plan

    follow = trajectory if isinstance(trajectory, Follow) else Follow(trajectory)
    return follow, read_plan(plant, follow.path, follow.interpolation)


def start_on_plan(plant: MultibodyPlant, context: Any, plan: Plan, stated: BoolArray) -> None:
    """Joints of a plan whose positions the start does not state begin where the plan is then, and as fast."""
    motion, q, v = plan.at(context.get_time()), plant.GetPositions(context), plant.GetVelocities(context)
    begins = ~stated[plan.places]
    q[plan.places[begins]], v[plan.dofs[begins]] = motion.q[begins], motion.v[begins]
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)


@contextmanager
def controlling(controller: Any) -> Iterator[None]:
    """Starts what a controller needs, and ends it. What it prints goes to the standard error stream."""
    if controller is None:
        yield
        return
    try:
        controller.start()
        with redirect_stdout(sys.stderr):
            yield
    finally:
        controller.stop()

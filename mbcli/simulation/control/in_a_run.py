"""A controller's part of a run: what goes with it, and what is around the calls of the loop."""

from __future__ import annotations

import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.simulation.control.chosen import ControllerChoice

if TYPE_CHECKING:
    from collections.abc import Iterator


def chosen_controller(controller: Any, inputs: Any) -> ControllerChoice | None:
    """The choice that an argument means, None for none. ArgumentError with inputs beside it."""
    if controller is None:
        return None
    if inputs is not None:
        raise ArgumentError(f"{argument('controller')} gives the actuation: no {argument('inputs')} beside it")
    return controller if isinstance(controller, ControllerChoice) else ControllerChoice(controller)


@contextmanager
def controlling(choice: ControllerChoice | None, controller: Any) -> Iterator[None]:
    """Starts what a controller needs, and ends it. What it prints goes to the standard error stream."""
    if choice is None:
        yield
        return
    try:
        controller.start()
        with redirect_stdout(sys.stderr):
            yield
    finally:
        controller.stop()

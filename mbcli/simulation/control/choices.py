"""What a user may ask for: a controller, a plan to follow. Imports nothing that a run without them does without."""

from __future__ import annotations

from typing import Any

from mbcli.common.quick_dataclass import dataclass

WAYS = ("computed-torque", "pd", "prescribed")


@dataclass(frozen=True)
class ControllerChoice:
    """A controller of a run, as a user asks for it.

    Attributes:
        given: FILE.py, FILE.py:NAME, a command, a function, a class, an object that is called, a CompiledFunction.
        rate: [Hz] of its calls; None: its attribute `rate`, else every step, CONTINUOUS_RATE in continuous plants.
        limit: [s] of wall-clock time for a call.
        pickles: whether its state goes into the log as Python pickles it.
    """

    given: Any
    rate: float | None = None
    limit: float = 60.0
    pickles: bool = False


@dataclass(frozen=True)
class Follow:
    """A plan that a run follows.

    Attributes:
        path: of the table.
        way: one of WAYS.
        interpolation: between the rows, of plans.INTERPOLATIONS.
    """

    path: str
    way: str = "computed-torque"
    interpolation: str = "cubic"

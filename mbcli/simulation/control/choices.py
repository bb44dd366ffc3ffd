"""What a user may ask for: a controller, a plan. Imports next to nothing: `mbcli simulate --help` needs it."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

WAYS = ("computed-torque", "pd", "prescribed")
INTERPOLATIONS = ("linear", "cubic", "quintic")
DEFAULT_LIMIT = 60.0  # [s] of a call
ONNX, TORCHSCRIPT = (".onnx",), (".pt", ".ts")  # suffixes of policies
LOGS, YAML = (".h5", ".hdf5"), (".yaml", ".yml")  # of plans and control files


def is_policy(given: Any) -> bool:
    """Whether a text is the name of a file with a neural network."""
    return isinstance(given, str) and given.lower().endswith(ONNX + TORCHSCRIPT)


def is_plan(given: Any) -> bool:
    """Whether a text is the name of the log of a plan."""
    return _is_file(given, LOGS)


def is_control_file(given: Any) -> bool:
    """Whether a text is the name of a control file (mbcli.optimal_control), by which plans are made in the loop."""
    return _is_file(given, YAML)


def _is_file(given: Any, suffixes: tuple[str, ...]) -> bool:
    """Whether a text is the name of a file, and no command whose last word is one."""
    if not isinstance(given, str) or not given.lower().endswith(suffixes):
        return False
    return len(given.split()) == 1 or os.path.isfile(given)


class ControllerChoice(NamedTuple):
    """A controller of a run, as a user asks for it.

    Attributes:
        given: FILE.py, FILE.py:NAME, a command, a function, a class, an object that is called, a CompiledFunction.
        rate: [Hz] of its calls; None: its attribute `rate`, else every step, CONTINUOUS_RATE in continuous plants.
        limit: [s] of wall-clock time for a call.
        pickles: whether its state goes into the log as Python pickles it.
        delay: [s] after which its commands act, a whole number of calls.
        quantum: [N m or N] of which its efforts are multiples; 0: they are as they are.
    """

    given: Any
    rate: float | None = None
    limit: float = DEFAULT_LIMIT
    pickles: bool = False
    delay: float = 0.0
    quantum: float = 0.0


class Follow(NamedTuple):
    """A plan that a run follows.

    Attributes:
        path: of the table.
        way: one of WAYS.
        interpolation: between the rows, one of INTERPOLATIONS.
    """

    path: str
    way: str = "computed-torque"
    interpolation: str = "cubic"

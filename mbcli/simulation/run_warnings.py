"""How runs from Python warn."""

from __future__ import annotations

import inspect
import warnings


class SimulationWarning(UserWarning):
    """What a run does not do as one might expect: the message says what would."""


def warn_caller(message: str) -> None:
    """Warns at the line outside of this package that has asked for the run."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("mbcli."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, SimulationWarning, stacklevel=level)

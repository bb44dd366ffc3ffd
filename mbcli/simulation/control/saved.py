"""The state of a controller in the checkpoints of a log: JSON, as bytes in an array whose size does not change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ControlError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.simulation.control.tick_sensors import TickSensors

NAME = "controller"
ROOM = 1 << 16  # bytes: of the text with its length before it
HEAD = 8  # digits of the length


def pack(text: str, place: str, *, whole: bool = False) -> dict[str, np.ndarray]:
    """{NAME: (ROOM,) bytes}; whole: as many as there are. ControlError if the text is too long."""
    content = text.encode()
    if whole:
        return {NAME: np.frombuffer(f"{len(content):{HEAD}d}".encode() + content, dtype=np.uint8)}
    if len(content) > ROOM - HEAD:
        raise ControlError(
            f"{place}: error: the state of the controller has {len(content)} bytes as JSON, a log keeps {ROOM - HEAD}"
        )
    array = np.zeros(ROOM, dtype=np.uint8)
    array[:HEAD] = np.frombuffer(f"{len(content):{HEAD}d}".encode(), dtype=np.uint8)
    array[HEAD : HEAD + len(content)] = np.frombuffer(content, dtype=np.uint8)
    return {NAME: array}


def unpack(saved: Mapping[str, np.ndarray], place: str) -> Any:
    """The contrary of pack(), a dict. ModelError if it is not that."""
    try:
        content = np.asarray(saved[NAME], dtype=np.uint8).tobytes()
        document = json.loads(content[HEAD : HEAD + int(content[:HEAD])])
    except (KeyError, ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ModelError(f"{place}: error: the log has no state of this controller to go on from")
    return document


def load_sensors(sensors: TickSensors | None, document: dict[str, Any], place: str) -> None:
    """Lets the sensors of a controller go on from the text "sensors" of its document. ModelError if there is none."""
    if sensors is None:
        return
    try:
        sensors.load(json.loads(document["sensors"]))
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ModelError(
            f"{place}: error: the log has no state of the sensors of this controller to go on from"
        ) from None

"""ApplyJointForce: the effort of a joint is what is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.plugins.settings import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "gives a joint an effort"
CLASSES = ("ApplyJointForce",)
GIVES = "it drives a joint"
JOINTS = {"joint_name": ("joint", "one")}
ELSEWHERE = ("topic",)


class Law:
    """It remembers nothing."""

    def __init__(self, plugin: Any) -> None:
        (self._joint,) = plugin.joints["joint"]
        unit = "N m" if self._joint.is_angular() else "N"
        self.inputs = (Command(f"{self._joint.name()}.force", unit),)
        self.driven: tuple[Any, ...] = ()
        self.pushed: tuple[Any, ...] = ()
        self.memory = np.zeros(0)

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """As it is."""
        now.effort(self._joint, commands[0])

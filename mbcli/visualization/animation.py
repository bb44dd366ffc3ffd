"""MeshcatAnimation: transforms of objects over time."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math import RigidTransform
    from mbcli.math.array_types import FloatArray


class MeshcatAnimation:
    """Transforms of the paths of a Meshcat at numbered frames; the page interpolates between them.

    Attributes:
        transforms: {path: {frame: X_ParentPath}}.
    """

    class LoopMode(enum.Enum):
        """How often it plays."""

        kLoopOnce = 2200
        kLoopRepeat = 2201
        kLoopPingPong = 2202

    def __init__(self, frames_per_second: float = 64.0) -> None:
        if not frames_per_second > 0.0:
            raise RuntimeError(f"frames_per_second must be positive, it is {frames_per_second}")
        self._fps, self._start = float(frames_per_second), 0.0
        self._autoplay, self._loop = True, MeshcatAnimation.LoopMode.kLoopRepeat
        self.transforms: dict[str, dict[int, RigidTransform]] = {}

    def frames_per_second(self) -> float:
        """[Hz]"""
        return self._fps

    def frame(self, time: float) -> int:
        """The number of the frame of a time [s]."""
        return int((time - self._start) * self._fps)

    def start_time(self) -> float:
        """[s] of frame 0."""
        return self._start

    def set_start_time(self, time: float) -> None:
        """Replaces the time [s] of frame 0."""
        self._start = float(time)

    def autoplay(self) -> bool:
        """Whether it plays when it is opened."""
        return self._autoplay

    def set_autoplay(self, play: bool) -> None:
        """Whether it plays when it is opened."""
        self._autoplay = bool(play)

    def loop_mode(self) -> MeshcatAnimation.LoopMode:
        """How often it is to play; the page always repeats it."""
        return self._loop

    def set_loop_mode(self, mode: MeshcatAnimation.LoopMode) -> None:
        """Takes note of it; the page always repeats it."""
        self._loop = mode

    def SetTransform(self, frame: int, path: str, X_ParentPath: RigidTransform) -> None:
        """Where a path is at a frame."""
        self.transforms.setdefault(path, {})[int(frame)] = X_ParentPath

    def frames(self) -> list[int]:
        """The numbers of all frames that say something."""
        return sorted({frame for those in self.transforms.values() for frame in those})

    def times(self) -> FloatArray:
        """[s] of frames()."""
        return self._start + np.array(self.frames(), dtype=float) / self._fps

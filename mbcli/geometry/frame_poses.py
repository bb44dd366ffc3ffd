"""Poses by FrameId, under the name of pydrake.geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.math import RigidTransform

if TYPE_CHECKING:
    from mbcli.geometry.identifiers import FrameId


class FramePoseVector:
    """X_WF of frames."""

    def __init__(self) -> None:
        self._poses: dict[FrameId, RigidTransform] = {}

    def clear(self) -> None:
        """Forgets all poses."""
        self._poses.clear()

    def set_value(self, id: FrameId, value: RigidTransform) -> None:
        """The pose of a frame becomes a RigidTransform."""
        self._poses[id] = RigidTransform(value)

    def size(self) -> int:
        """The number of poses."""
        return len(self._poses)

    def value(self, id: FrameId) -> RigidTransform:
        """X_WF. RuntimeError if the frame has none."""
        if id not in self._poses:
            raise RuntimeError(f"there is no pose of frame {id!r}")
        return self._poses[id]

    def has_id(self, id: FrameId) -> bool:
        """Whether a frame has a pose."""
        return id in self._poses

    def ids(self) -> list[FrameId]:
        """The frames that have poses, in the order in which they got them."""
        return list(self._poses)

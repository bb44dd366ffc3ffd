"""GeometryFrame: a frame that a system other than a plant moves, before and after it is registered."""

from __future__ import annotations

from mbcli.geometry.identifiers import FrameId


class GeometryFrame:
    """A frame with a name; who registers it gives its pose.

    Args:
        frame_name: not empty.
        frame_group_id: a number that frames share, not negative.
    """

    def __init__(self, frame_name: str, frame_group_id: int = 0) -> None:
        if frame_group_id < 0:
            raise RuntimeError(f"the group of frame '{frame_name}' is {frame_group_id}, it must not be negative")
        self._id, self._name, self._group = FrameId.get_new_id(), str(frame_name), int(frame_group_id)

    def id(self) -> FrameId:
        """The identifier, which it has from the beginning."""
        return self._id

    def name(self) -> str:
        """The name."""
        return self._name

    def frame_group(self) -> int:
        """The number of its group."""
        return self._group

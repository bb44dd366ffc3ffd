"""Poses by FrameId, under the name of pydrake.geometry."""

from mbcli.math import RigidTransform


class FramePoseVector:
    """X_WF of frames."""

    def __init__(self):
        self._poses = {}

    def clear(self):
        self._poses.clear()

    def set_value(self, id, value):
        """The pose of a frame becomes a RigidTransform."""
        self._poses[id] = RigidTransform(value)

    def size(self):
        return len(self._poses)

    def value(self, id):
        """X_WF. RuntimeError where the frame has none."""
        if id not in self._poses:
            raise RuntimeError(f"there is no pose of frame {id!r}")
        return self._poses[id]

    def has_id(self, id):
        return id in self._poses

    def ids(self):
        return list(self._poses)

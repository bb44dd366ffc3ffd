"""Poses by FrameId and vertices by GeometryId, as output ports of a plant give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.math import RigidTransform

if TYPE_CHECKING:
    from mbcli.geometry.identifiers import FrameId, GeometryId
    from mbcli.math.array_types import Vector


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


class GeometryConfigurationVector:
    """Positions of the vertices (3 n,) [m] in W of deformable geometries."""

    def __init__(self) -> None:
        self._positions: dict[GeometryId, Vector] = {}

    def clear(self) -> None:
        """Forgets all positions."""
        self._positions.clear()

    def set_value(self, id: GeometryId, value: Vector) -> None:
        """The positions of a geometry's vertices, x, y, z of one after the other."""
        self._positions[id] = value

    def size(self) -> int:
        """The number of geometries."""
        return len(self._positions)

    def value(self, id: GeometryId) -> Vector:
        """(3 n,) [m]. RuntimeError if the geometry has none."""
        if id not in self._positions:
            raise RuntimeError(f"there are no positions of geometry {id!r}")
        return self._positions[id]

    def has_id(self, id: GeometryId) -> bool:
        """Whether a geometry has positions."""
        return id in self._positions

    def ids(self) -> list[GeometryId]:
        """The geometries that have positions, in the order in which they got them."""
        return list(self._positions)

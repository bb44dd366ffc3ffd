"""Sets of geometries, and declarations of pairs that are left out of the search for contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.geometry.identifiers import FrameId, GeometryId
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from collections.abc import Iterable


class GeometrySet:
    """Geometries, one by one or all those of frames: the keys of `geometries` and of `frames`."""

    def __init__(
        self,
        *ids: GeometryId | FrameId | Iterable[GeometryId | FrameId],
        geometry_id: GeometryId | Iterable[GeometryId | FrameId] | None = None,
        frame_id: FrameId | None = None,
        geometry_ids: Iterable[GeometryId] = (),
        frame_ids: Iterable[FrameId] = (),
    ) -> None:
        self.geometries: dict[GeometryId, None] = {}  # as sets that keep the order
        self.frames: dict[FrameId, None] = {}
        for given in (*ids, geometry_id, frame_id, geometry_ids, frame_ids):
            self.Add(given)

    @also_named(geometry_id="ids", frame_id="ids", geometry_ids="ids")
    def Add(
        self, ids: GeometryId | FrameId | Iterable[GeometryId | FrameId] | None = (), frame_ids: Iterable[FrameId] = ()
    ) -> None:
        """A GeometryId, a FrameId or a sequence of them."""
        if ids is None:
            return
        for given in (*([ids] if isinstance(ids, (GeometryId, FrameId)) else ids), *frame_ids):
            if not isinstance(given, (GeometryId, FrameId)):
                raise TypeError(f"a GeometrySet has GeometryId and FrameId, not {given!r}")
            if isinstance(given, GeometryId):
                self.geometries[given] = None
            else:
                self.frames[given] = None


class CollisionFilterDeclaration:
    """Pairs to be left out or taken in, to be applied by a CollisionFilterManager. Each method returns the object."""

    def __init__(self) -> None:
        # (whether pairs are left out, set A, set B or None for pairs within A)
        self.statements: list[tuple[bool, GeometrySet, GeometrySet | None]] = []

    def AllowBetween(self, set_A: GeometrySet, set_B: GeometrySet) -> CollisionFilterDeclaration:
        """Takes in the pairs of a geometry of A and one of B."""
        return self._state(False, set_A, set_B)

    def AllowWithin(self, geometry_set: GeometrySet) -> CollisionFilterDeclaration:
        """Takes in the pairs within a set."""
        return self._state(False, geometry_set, None)

    def ExcludeBetween(self, set_A: GeometrySet, set_B: GeometrySet) -> CollisionFilterDeclaration:
        """Leaves out the pairs of a geometry of A and one of B."""
        return self._state(True, set_A, set_B)

    def ExcludeWithin(self, geometry_set: GeometrySet) -> CollisionFilterDeclaration:
        """Leaves out the pairs within a set."""
        return self._state(True, geometry_set, None)

    def _state(self, *statement: Any) -> CollisionFilterDeclaration:
        self.statements.append(statement)
        return self

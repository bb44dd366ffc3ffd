"""Which pairs of geometries are left out of the search for contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.geometry.identifiers import FilterId, FrameId, GeometryId

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.geometry.registry import FilterStatement, Registry


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


class CollisionFilterManager:
    """The filters of one SceneGraph: the last declaration holds."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def Apply(self, declaration: CollisionFilterDeclaration) -> None:
        """For good. RuntimeError for an identifier that is not there, and while transient ones are active."""
        if self.has_transient_history():
            raise RuntimeError("Apply: there are transient filters, remove them first")
        self._registry.lasting_filters += self._resolved(declaration)
        self._registry.revision += 1

    def ApplyTransient(self, declaration: CollisionFilterDeclaration) -> FilterId:
        """Until RemoveDeclaration() of the FilterId returned."""
        statements = self._resolved(declaration)
        filter_id = FilterId.get_new_id()
        self._registry.transient_filters[filter_id] = statements
        self._registry.revision += 1
        return filter_id

    def has_transient_history(self) -> bool:
        """Whether any transient declaration is in force."""
        return bool(self._registry.transient_filters)

    def IsActive(self, filter_id: FilterId) -> bool:
        """Whether a transient declaration is in force."""
        return filter_id in self._registry.transient_filters

    def RemoveDeclaration(self, filter_id: FilterId) -> bool:
        """Whether it was active."""
        self._registry.revision += 1
        return self._registry.transient_filters.pop(filter_id, None) is not None

    def _resolved(self, declaration: CollisionFilterDeclaration) -> list[FilterStatement]:
        """The statements, with the identifiers of geometries that they are about now."""
        return [
            (excludes, self._ids(A), None if B is None else self._ids(B)) for excludes, A, B in declaration.statements
        ]

    def _ids(self, geometry_set: GeometrySet) -> frozenset[GeometryId]:
        ids = self._registry.geometries_in(geometry_set)
        return frozenset(g for g in ids if self._registry.geometries[g].proximity is not None)

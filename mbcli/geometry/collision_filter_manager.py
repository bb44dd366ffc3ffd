"""Which pairs of geometries of a SceneGraph are left out of the search for contact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.geometry.identifiers import FilterId, GeometryId

if TYPE_CHECKING:
    from mbcli.geometry.collision_filters import CollisionFilterDeclaration, GeometrySet
    from mbcli.geometry.registry import FilterStatement, Registry


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

"""The port by which a plant has its geometries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.systems.ports import InputPort

if TYPE_CHECKING:
    from mbcli.geometry.query_object import QueryObject
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.owning_plant import OwningPlant


class QueryPort(InputPort):
    """Gives a QueryObject for the context of a plant, which knows its scene graph: nothing needs to be connected."""

    def __init__(self, plant: OwningPlant) -> None:
        super().__init__(plant, "geometry_query")

    def HasValue(self, context: Context) -> bool:
        """Whether the plant has a scene graph."""
        return self._system.scene_graph is not None

    def connect(self, context: Context, source: Any) -> None:
        """Does nothing: the value is that of the plant's scene graph."""

    def Eval(self, context: Context) -> QueryObject:
        """RuntimeError for a context of another plant, and without a scene graph."""
        from mbcli.geometry.query_object import QueryObject  # late: many plants have no geometries

        plant = self._system
        return QueryObject(
            plant.require_scene_graph("geometry_query").registry, plant, plant.GetMyContextFromRoot(context)
        )

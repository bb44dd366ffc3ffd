"""Pairs of links that are not to collide, as SRDF files state them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.geometry.collision_filters import CollisionFilterDeclaration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.index import ModelInstanceIndex


def filter_links(plant: MultibodyPlant, instance: ModelInstanceIndex, pairs: Iterable[tuple[str, str]]) -> None:
    """Keeps the geometries of pairs of links of a model instance apart, if the plant has a scene graph."""
    if plant.scene_graph is None:
        return
    others: dict[str, list[str]] = {}
    for first, second in pairs:
        others.setdefault(first, []).append(second)
    declaration = CollisionFilterDeclaration()

    def geometries(names):
        return plant.CollectRegisteredGeometries([plant.GetBodyByName(name, instance) for name in names])

    for link, beside in others.items():
        declaration.ExcludeBetween(geometries([link]), geometries(beside))
    plant.scene_graph.collision_filter_manager().Apply(declaration)

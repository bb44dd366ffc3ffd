"""Groups of bodies of which collisions are left out, as model files and directives state them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.geometry.collision_filters import CollisionFilterDeclaration
from mbcli.multibody.tree.scoped_name import DELIMITER
from mbcli.parsers.frame_names import WORLD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.parsers.spec import ModelSpec

GAZEBOS_GROUPS = ("self_collide", "selfCollide")  # of SDFormat and URDF, as their readers call them


class CollisionFilterGroups:
    """Groups of bodies by name, and the pairs of groups that do not collide. All names are scoped."""

    def __init__(self) -> None:
        self._groups: dict[str, set[str]] = {}
        self._pairs: set[tuple[str, str]] = set()
        self._applied: set[tuple[str, str]] = set()

    def AddGroup(self, name: str, members: Iterable[str]) -> None:
        """A new group with the names of its bodies. RuntimeError if the name is taken."""
        if name in self._groups:
            raise RuntimeError(f"there is a collision filter group '{name}' already")
        self._groups[name] = set(members)

    def AddExclusionPair(self, pair: tuple[str, str]) -> None:
        """Two groups that do not collide with each other; the same one twice: its bodies do not."""
        first, second = pair
        self._pairs.add((min(first, second), max(first, second)))

    def empty(self) -> bool:
        """Whether there is neither a group nor a pair."""
        return not self._groups and not self._pairs

    def groups(self) -> dict[str, set[str]]:
        """{name: names of bodies}"""
        return {name: set(members) for name, members in self._groups.items()}

    def exclusion_pairs(self) -> set[tuple[str, str]]:
        """The pairs of names of groups that do not collide."""
        return set(self._pairs)

    def add_from_model(self, instance: str, spec: ModelSpec, *, gazebos: bool = True) -> None:
        """The groups of a ModelSpec that became the model instance of a name; gazebos: also of <self_collide>."""
        for group in spec.filter_groups:
            if group.name in GAZEBOS_GROUPS and not gazebos:
                continue
            name = f"{instance}::{group.name}"
            self.AddGroup(name, {f"{instance}::{member}" for member in group.members})
            for ignored in group.ignores:
                self.AddExclusionPair((name, f"{instance}::{ignored}"))

    def apply(self, plant: MultibodyPlant) -> None:
        """Lets the geometries that the bodies of a plant have now not collide, for pairs that were not applied yet."""
        if plant.scene_graph is None:
            return
        manager = plant.scene_graph.collision_filter_manager()
        for first, second in sorted(self._pairs - self._applied):
            sets = [
                plant.CollectRegisteredGeometries([_body(plant, name) for name in sorted(self._groups[group])])
                for group in (first, second)
            ]
            declaration = CollisionFilterDeclaration()
            if first == second:
                declaration.ExcludeWithin(sets[0])
            else:
                declaration.ExcludeBetween(*sets)
            manager.Apply(declaration)
        self._applied |= self._pairs


def _body(plant, name):
    """The body of a scoped name; World has its own name in every model."""
    instance, _, body = name.rpartition(DELIMITER)
    if body == WORLD:
        return plant.world_body()
    return plant.GetBodyByName(body, plant.GetModelInstanceByName(instance))

"""What is asked for beside the conversion of a model: a floor, a floating base, actuators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spanning_tree import spanning_tree
from mbcli.parsers.spec import IDENTITY, CollisionFilterGroupSpec, GeometrySpec, HalfSpace, LinkSpec
from mbcli.parsers.writing.convex_collisions import with_convex_collisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mbcli.parsers.spec import ActuatorSpec, ModelSpec

FLOOR = "floor"
FLOOR_COLOR = (0.55, 0.6, 0.65, 1.0)


@dataclass(frozen=True)
class Additions:
    """Changes of a flat ModelSpec before it is converted."""

    floor: bool = False  # a plane z = 0 of the world, with the friction 1
    float_base: bool = False  # whether what fixed joints hold at the world floats
    actuators: tuple[ActuatorSpec, ...] | None = None  # in place of the model's; None: these
    apart: tuple[tuple[str, str], ...] = ()  # pairs of links that must not touch
    convex_parts: bool = False  # in place of collision meshes that are not convex

    def __bool__(self) -> bool:
        changes = self.floor, self.float_base, self.actuators is not None, self.apart, self.convex_parts
        return any(map(bool, changes))

    def applied(self, model: Any) -> Any:
        """The changed model."""
        if self.float_base:
            model = _with_floating_bases(model)
        if self.convex_parts:
            model = with_convex_collisions(model)
        if self.floor:
            model = _with_floor(model)
        if self.actuators is not None:
            model = replace(model, actuators=self.actuators)
        if self.apart:
            model = replace(model, filter_groups=(*model.filter_groups, *_groups(self.apart, model)))
        return model


def _groups(pairs: Iterable[tuple[str, str]], model: ModelSpec) -> Iterator[CollisionFilterGroupSpec]:
    """Two filter groups for each pair, of which one ignores the other."""
    taken = {group.name for group in model.filter_groups}
    for number, pair in enumerate(pairs, start=1):
        first, second = (generated_name(f"apart_{number}_{end}", taken) for end in "ab")
        yield CollisionFilterGroupSpec(first, pair[:1], (second,), model.place)
        yield CollisionFilterGroupSpec(second, pair[1:], (), model.place)


def _with_floor(model: ModelSpec) -> ModelSpec:
    taken = {geometry.name for link in model.links for geometry in (*link.visuals, *link.collisions)}
    shape = GeometrySpec(generated_name(FLOOR, taken), HalfSpace(), IDENTITY, model.place, FLOOR_COLOR)
    world = next((link for link in model.links if link.name == WORLD), None)
    if world is None:
        world, links = LinkSpec(WORLD, model.place), model.links
    else:
        links = tuple(link for link in model.links if link is not world)
    solid = replace(shape, color=None)
    world = replace(world, visuals=(*world.visuals, shape), collisions=(*world.collisions, solid))
    return replace(model, links=(world, *links))


def _with_floating_bases(model: ModelSpec) -> ModelSpec:
    """Without the fixed joints at the world; the links that these held stay where they are."""
    branches, _ = spanning_tree(model)
    poses: dict[str, Any] = {}
    held = set()
    for branch in branches:
        joint = branch.joint
        if joint is None or not joint.kind.is_fixed or WORLD not in (joint.parent, joint.child):
            continue
        link = joint.child if joint.parent == WORLD else joint.parent
        X = (joint.X_PF, joint.X_CM) if joint.parent == WORLD else (joint.X_CM, joint.X_PF)
        poses[link] = compose(X[0], inverse(X[1]))
        held.add(joint.name)
    X_ModelW = inverse(model.X_WModel)
    links = tuple(
        replace(link, X_ModelL=compose(X_ModelW, poses[link.name])) if link.name in poses else link
        for link in model.links
    )
    return replace(model, links=links, joints=tuple(joint for joint in model.joints if joint.name not in held))

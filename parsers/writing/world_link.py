"""The link that stands for the world where a format, or Drake's elements in it, names links of the model alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.spec import (
    IDENTITY,
    BallConstraintSpec,
    DistanceConstraintSpec,
    JointSpec,
    LinkSpec,
    SpringDamperSpec,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from mbcli.parsers.spec import ModelSpec
    from mbcli.parsers.writing.losses import Losses

LINK_OF_WORLD = "world_geometry"
_BETWEEN_LINKS = (SpringDamperSpec, BallConstraintSpec, DistanceConstraintSpec)


def name_of_link(taken: Collection[str]) -> str:
    """A name for the link, beside those of the model, with which that of its weld is free too."""
    name = LINK_OF_WORLD
    while name in taken or f"{name}_weld" in taken:
        name += "_"
    return name


def elements_on_world(model: ModelSpec) -> list[Any]:
    """The springs and constraints between points of links that name the world."""
    elements = (*model.force_elements, *model.constraints)
    return [e for e in elements if isinstance(e, _BETWEEN_LINKS) and WORLD in (e.link_A, e.link_B)]


def with_elements_on(model: ModelSpec, name: str, losses: Losses) -> ModelSpec:
    """The model with those elements on a link that stands at the origin of the world."""
    moved = {}
    for element in elements_on_world(model):
        kind = "spring" if isinstance(element, SpringDamperSpec) else "constraint"
        message = f"a {kind} on the world is on link '{name}', which '{name}_weld' welds to it"
        losses.add("changed", "WORLD", message, element.place)
        ends = {end: name for end in ("link_A", "link_B") if getattr(element, end) == WORLD}
        moved[id(element)] = replace(element, **ends)
    return replace(
        model,
        force_elements=tuple(moved.get(id(e), e) for e in model.force_elements),
        constraints=tuple(moved.get(id(e), e) for e in model.constraints),
    )


def with_link_for_elements(model: ModelSpec, losses: Losses) -> tuple[ModelSpec, tuple[str, ...]]:
    """(model, names): a flat ModelSpec with that link where springs or constraints need it, and its name."""
    on_world = elements_on_world(model)
    if not on_world:
        return model, ()
    named = (model.frames, model.links, model.deformables, model.joints, model.filter_groups)
    name = name_of_link({item.name for items in named for item in items})
    place = on_world[0].place
    weld = JointSpec(f"{name}_weld", "fixed", WORLD, name, IDENTITY, IDENTITY, place)
    model = replace(model, links=(*model.links, LinkSpec(name, place)), joints=(*model.joints, weld))
    return with_elements_on(model, name, losses), (name,)

"""Which links move as one: those joined by fixed joints, and those that are fixed to the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.checks.flat_model import WORLD

if TYPE_CHECKING:
    from mbcli.parsers.checks.flat_model import FlatModel


def welded_groups(model: FlatModel) -> dict[str, str]:
    """{link: name of the first of the links that move with it}; WORLD for those that never move."""
    neighbours: dict[str, list[str]] = {}
    for joint in model.joints.values():
        if joint.kind.is_fixed:
            neighbours.setdefault(joint.parent, []).append(joint.child)
            neighbours.setdefault(joint.child, []).append(joint.parent)
    group = {}
    for first in (WORLD, *model.links):
        pending = [first]
        if first == WORLD:
            pending += model.static_links
        while pending:
            link = pending.pop()
            if link not in group:
                group[link] = first
                pending += neighbours.get(link, ())
    return group

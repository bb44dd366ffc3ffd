"""Which bodies of an MJCF file must not touch, so that the same ones touch as in the model that is written."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.writing.arrange_mjcf import welded_groups
from mbcli.parsers.writing.mjcf_chains import carried_through

if TYPE_CHECKING:
    from mbcli.parsers.spec import ModelSpec


def excluded_pairs(model: ModelSpec) -> tuple[list[tuple[str, str]], bool]:
    """(pairs of links for <exclude>, whether MuJoCo's own filter of parents can stay on) of a flat ModelSpec.

    MuJoCo keeps bodies apart that are welded together, and those whose joints stand on each other, if neither is
    welded to the world. Here filter groups say which are, those of the two links of each joint among them.
    """
    groups = welded_groups(model)
    holder = {joint.child: joint for joint in model.joints}
    number = {link.name: n for n, link in enumerate(model.links) if link.collisions}
    apart = filtered_pairs(model)
    through, below = carried_through(model), {}
    for group in groups.values():
        parent = holder[group].parent if group in holder else WORLD
        while parent in through:
            parent = holder[parent].parent
        below[group] = groups[parent]
    solid = defaultdict(list)  # {group: its links with collisions}
    for link in number:
        solid[groups[link]].append(link)
    by_parent = {
        frozenset((a, b))
        for group, parent in below.items()
        if WORLD not in (group, parent) and group != parent
        for a in solid[group]
        for b in solid[parent]
    }
    known: list[tuple[str, str]] = []
    for pair in apart:
        if len(pair) == 2 and pair <= number.keys():
            a, b = sorted(pair, key=number.__getitem__)
            if groups[a] != groups[b]:
                known.append((a, b))
    known.sort(key=lambda pair: (number[pair[0]], number[pair[1]]))
    pairs = [pair for pair in known if frozenset(pair) not in by_parent]
    if by_parent <= apart:
        return pairs, True
    return [*pairs, *(pair for pair in known if frozenset(pair) in by_parent)], False


def filtered_pairs(model: ModelSpec) -> set[frozenset[str]]:
    """Pairs (frozensets) of links that filter groups keep apart."""
    members = {group.name: group.members for group in model.filter_groups}
    return {
        frozenset((a, b))
        for group in model.filter_groups
        for ignored in group.ignores
        for a in group.members
        for b in members.get(ignored, ())
    }

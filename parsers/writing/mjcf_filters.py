"""Which bodies of an MJCF file must not touch, so that the same ones touch as in the model that is written."""

from itertools import combinations

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.writing.arrange_mjcf import welded_groups
from mbcli.parsers.writing.mjcf_chains import carried_through


def excluded_pairs(model):
    """(pairs of links for <exclude>, whether MuJoCo's own filter of parents can stay on) of a flat ModelSpec.

    MuJoCo keeps bodies apart that are welded together, and those whose joints stand on each other, if neither is
    welded to the world. Here filter groups say which are, those of the two links of each joint among them.
    """
    groups = welded_groups(model)
    holder = {joint.child: joint for joint in model.joints}
    solid = [link.name for link in model.links if link.collisions]
    apart = filtered_pairs(model)
    through, below = carried_through(model), {}
    for group in groups.values():
        parent = holder[group].parent if group in holder else WORLD
        while parent in through:
            parent = holder[parent].parent
        below[group] = groups[parent]
    pairs: list[tuple[str, str]] = []
    kept_apart: list[tuple[str, str]] = []
    lost = False
    for pair in combinations(solid, 2):
        first, second = (groups[link] for link in pair)
        if first == second:
            continue
        is_apart = frozenset(pair) in apart
        by_parent = WORLD not in (first, second) and (below[first] == second or below[second] == first)
        lost = lost or (by_parent and not is_apart)
        if is_apart:
            (kept_apart if by_parent else pairs).append(pair)
    return ([*pairs, *kept_apart], False) if lost else (pairs, True)


def filtered_pairs(model):
    """Pairs (frozensets) of links that filter groups keep apart."""
    members = {group.name: group.members for group in model.filter_groups}
    return {
        frozenset((a, b))
        for group in model.filter_groups
        for ignored in group.ignores
        for a in group.members
        for b in members.get(ignored, ())
    }

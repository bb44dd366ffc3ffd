"""From links and joints to a forest: which link hangs on which by which joint, and the order of coordinates.

Rules, chosen so that coordinates come in pydrake's order:

1. Each joint to World starts a tree at its other link, in the order of the joints; a tree grows breadth first, each
   link taking its joints in their order.
2. The other links get floating bases. Links that no joint has as its child come first, those that are the parent of
   most joints before others, then by index; each new base grows its tree before the next is chosen.
3. Coordinates are numbered depth first, children in the order of their joints.

A joint whose child is on World's side keeps its coordinates as the file defines them and is marked reversed.

If joints form a loop, one of them closes it and stays out of the forest: the one that loses least, CUT_LAST to
CUT_FIRST, of equal ones the last in the order of the file.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# the loss of a joint without its coordinates; those with the largest number stay out of the forest first
CUT_LAST = 0  # it is actuated, follows or leads another joint, or is of a type that holds nothing or cannot close loops
CUT_LATE = 1  # it has limits
CUT_EARLY = 2  # it has damping or a spring, which act all the same, in discrete steps as they are at the start
CUT_FIRST = 3  # nothing


class Edge(NamedTuple):
    """A joint as the forest sees it: indices of the links it connects, its loss without its coordinates."""

    joint: int
    parent: int
    child: int
    cut: int = CUT_FIRST


class Mobod(NamedTuple):
    """A link as mobilized by its inboard joint; joint is None for a floating base."""

    link: int
    inboard: int
    joint: int | None
    reversed: bool


def spanning_forest(num_links: int, edges: Sequence[Edge]) -> tuple[list[Mobod], list[int]]:
    """The mobilized bodies in depth-first order, World (link 0) left out, and the joints that close loops, in order.

    Args:
        num_links: number of links, World included.
        edges: the joints in their order.
    """
    mobods, loops = _spanning_forest(num_links, tuple(edges))
    return [*mobods], [*loops]


def forest_by_loss(
    num_links: int, ends: Iterable[tuple[int, int]], losses: Callable[[], Iterable[int]]
) -> tuple[list[Mobod], list[int]]:
    """The spanning_forest() of joints by the (parent, child) of each.

    losses: () -> what each joint would lose; called if there are loops, for only then it matters which joints are cut.
    """
    edges = [Edge(k, parent, child) for k, (parent, child) in enumerate(ends)]
    mobods, loops = spanning_forest(num_links, edges)
    if loops:
        edges = [Edge(*edge[:3], cut) for edge, cut in zip(edges, losses(), strict=True)]
        mobods, loops = spanning_forest(num_links, edges)
    return mobods, loops


@lru_cache(maxsize=1)  # a model is asked for its forest when it is read, when it is checked and by its plant
def _spanning_forest(num_links: int, edges: tuple[Edge, ...]) -> tuple[list[Mobod], list[int]]:
    loops = closing_joints(num_links, edges)
    closing = set(loops)
    joints_of: list[list[Edge]] = [[] for _ in range(num_links)]
    for edge in edges:
        if edge.joint in closing:
            continue
        joints_of[edge.parent].append(edge)
        joints_of[edge.child].append(edge)
    children: list[list[Mobod]] = [[] for _ in range(num_links)]  # outboard mobods of each link
    placed = [False] * num_links
    placed[0] = True

    def grow(front: deque[int]) -> None:
        while front:
            link = front.popleft()
            for edge in joints_of[link]:
                outboard = edge.child if edge.parent == link else edge.parent
                if placed[outboard]:  # the joint that the link itself hangs on
                    continue
                placed[outboard] = True
                children[link].append(Mobod(outboard, link, edge.joint, edge.parent == outboard))
                front.append(outboard)

    grow(deque([0]))
    as_child = [0] * num_links
    as_parent = [0] * num_links
    for edge in edges:
        as_child[edge.child] += 1
        as_parent[edge.parent] += 1
    for link in sorted(range(1, num_links), key=lambda n: (as_child[n] > 0, -as_parent[n], n)):
        if not placed[link]:
            placed[link] = True
            children[0].append(Mobod(link, 0, None, False))
            grow(deque([link]))
    return _depth_first(children), loops


def closing_joints(num_links: int, edges: Sequence[Edge]) -> list[int]:
    """The joints that close loops, in their order: those between links which joints that are cut later connect.

    A spanning forest of least sum, by Kruskal's algorithm.
    """
    group = list(range(num_links))  # the way from a link to the representative of those that it is connected with

    def representative(link: int) -> int:
        while group[link] != link:
            group[link] = group[group[link]]
            link = group[link]
        return link

    closing = []
    for edge in sorted(edges, key=attrgetter("cut")):
        parent, child = representative(edge.parent), representative(edge.child)
        if parent == child:
            closing.append(edge.joint)
        group[child] = parent
    return sorted(closing)


def _depth_first(children: list[list[Mobod]]) -> list[Mobod]:
    order = []
    stack = list(reversed(children[0]))
    while stack:
        mobod = stack.pop()
        order.append(mobod)
        stack.extend(reversed(children[mobod.link]))
    return order

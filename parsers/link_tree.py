"""How the links of a model hang together by its joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.cycles import find_cycles
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.xml_document import MAX_RELATED

from mbcli.common.topology import Edge, spanning_forest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.spec import JointSpec, LinkSpec
    from mbcli.parsers.xml_node import Node

    from mbcli.common.topology import Mobod


def check_tree(
    links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec], nodes: Mapping[str, Node], root: Node
) -> None:
    """Faults of a tree of links: cycles without a root, links that hang on two joints, several trees.

    A joint between links that are connected already is none of these: it closes a loop, which the plant cuts.
    links, joints: {name: LinkSpec}, {name: JointSpec}; nodes: {joint name: XML node} and root for the findings.
    """
    if not _check_cycles(links, joints, nodes):
        return
    names = [WORLD, *(name for name in links if name != WORLD)]
    index = {name: k for k, name in enumerate(names)}
    edges = [Edge(k, index[joint.parent], index[joint.child]) for k, joint in enumerate(joints.values())]
    mobods, loops = spanning_forest(len(names), edges)
    if not loops:
        _check_parents(joints, nodes)
    if not root.diagnostics.is_damaged(root.place):  # a joint that is not there may be one that could not be read
        trees = [mobod for mobod in mobods if mobod.inboard == 0]
        _check_bases([names[mobod.link] for mobod in trees if mobod.joint is None], trees, links, root)


def _check_cycles(links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec], nodes: Mapping[str, Node]) -> bool:
    """Every link can be reached along joints from the world or from a link that is not the child of a joint."""
    children: dict[str, list[str]] = {}  # link -> links of the joints whose parent it is
    above: dict[str, JointSpec] = {}  # link -> the first joint whose child it is
    for joint in joints.values():
        children.setdefault(joint.parent, []).append(joint.child)
        above.setdefault(joint.child, joint)
    reached = set()
    pending = [name for name in (WORLD, *links) if name == WORLD or name not in above]
    while pending:
        link = pending.pop()
        if link not in reached:
            reached.add(link)
            pending += children.get(link, ())
    cycles = find_cycles({link: joint.parent for link, joint in above.items() if link not in reached})
    for cycle in cycles:
        node = nodes[above[cycle[0]].name]
        chain = " -> ".join([*cycle, cycle[0]])
        node.diagnostics.error("JOINT_CYCLE", f"links are their own parents (child -> parent): {chain}", node)
    return not cycles


def _check_parents(joints: Mapping[str, JointSpec], nodes: Mapping[str, Node]) -> None:
    """A link that is the child of two joints is hardly meant if nothing closes a loop."""
    above: dict[str, JointSpec] = {}
    for joint in joints.values():
        first = above.setdefault(joint.child, joint)
        if first is not joint:
            node = nodes[joint.name]
            node.diagnostics.warning(
                "JOINT_CHILD_LINK_INVALID",
                f'link "{joint.child}" is the child of two joints, "{first.name}" and "{joint.name}", '
                "which close no loop: one of them leads from its child to its parent",
                node,
                related=(first.place,),
            )


def _check_bases(bases: Sequence[str], trees: Sequence[Mobod], links: Mapping[str, LinkSpec], root: Node) -> None:
    """Links that nothing connects with the world are bases of their own, each floating freely: one is the rule."""
    count = len(bases) + (len(trees) > len(bases))
    if count > 1:
        names = ", ".join(f'"{name}"' for name in bases[:5]) + (", ..." if len(bases) > 5 else "")
        root.diagnostics.warning(
            "MODEL_SEVERAL_TREES",
            f"the robot is {count} separate trees; no joint holds {names}",
            root.diagnostics.node_at(links[bases[-1]].place),
            related=[links[name].place for name in bases[:-1][:MAX_RELATED]],
        )

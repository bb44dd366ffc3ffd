"""<replicate> of MJCF files: its contents stand in its place several times, each time further on, in a <frame> of their
own; names of the copies end in their number, and elements that refer to what is copied are copied with it.

Copy k is turned by k times each of the angles of euler, and `offset` leads from each copy to the next in its axes.

Format: https://mujoco.readthedocs.io/en/stable/XMLreference.html#replicate
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mjcf.mjcf_values import from_euler

from mbcli.math.rotation_array import quaternion_from_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence, Set
    from typing import TypeAlias

    from mbcli.parsers.mjcf.mjcf_values import Settings
    from mbcli.parsers.xml_node import Node

    Key: TypeAlias = tuple[str, str | None]  # (kind, name)
    Rename: TypeAlias = Callable[[Node, str, str], str]  # (node, attribute, text) -> the text in a copy

MAX_COPIES = 50_000  # elements that are made in all
SECTIONS = ("tendon", "equality", "contact", "actuator")  # a tendon may be referred to by those after it
WITH_OTHERS = ("tendon", "contact")  # sections whose elements may refer to more than what is copied
_KINDS = {"freejoint": "joint", "fixed": "tendon", "spatial": "tendon"}  # of names, by tag; others are their own
REFERENCES = {
    attribute: kind
    for kind, attributes in {
        "body": "body body1 body2",
        "joint": "joint joint1 joint2 jointinparent",
        "geom": "geom geom1 geom2",
        "site": "site site1 site2 sidesite refsite slidersite cranksite",
        "tendon": "tendon tendon1 tendon2",
    }.items()
    for attribute in attributes.split()
}


def expand_replicas(root: Node, settings: Settings) -> None:
    """Puts copies in the place of every <replicate> of a file, the inner ones first. Faults are errors."""
    made = 0
    for node in reversed(root.find_all("replicate")):
        copies = _copies(node)
        if copies is None:
            continue
        made += copies * sum(1 for _ in node.walk())
        if made > MAX_COPIES:
            problem = f"the file has more than {MAX_COPIES} elements with all its replicas"
            node.diagnostics.error("XML_ERROR", problem, node)
            for left in root.find_all("replicate"):
                left.ignore("settled")
            return
        _expand(root, node, copies, settings)


def _copies(node: Node) -> int | None:
    """The number of copies, or None after an error."""
    count = node.integer("count", required=True)
    joints = [child for child in node.child_nodes if child.tag in ("joint", "freejoint")]
    for joint in joints:
        joint.diagnostics.error("ELEMENT_INVALID", "a joint must not stand in a <replicate>, but in a body", joint)
    if count is not None and count < 1:
        problem = f'attribute "count" of <replicate> must be positive, found {count}'
        node.refuse("count", problem)
    if count is None or count < 1 or joints:
        node.ignore("settled")
        return None
    return count


def _expand(root: Node, node: Node, count: int, settings: Settings) -> None:
    separator, offset = node.attribute("sep", ""), node.vector("offset", 3, (0.0, 0.0, 0.0))
    euler = np.array(node.vector("euler", 3, (0.0, 0.0, 0.0)))
    names = {key_of(inner, inner.raw("name")) for inner in node.walk() if inner.raw("name")}
    digits = len(str(count))
    suffixes = [f"{separator}{number:0{digits}}" for number in range(count)]
    frames, position = [], np.zeros(3)
    for number, suffix in enumerate(suffixes):
        R = from_euler(number * euler, settings)  # each angle grows by itself
        frame = node.substitute("frame", {"pos": _text(position), "quat": _text(quaternion_from_matrix(R))})
        frame.adopt(child.copied(renaming(names, suffix)) for child in node.child_nodes)
        frames.append(frame)
        position = position + R @ offset
    assert node.parent is not None
    node.parent.exchange(node, frames)
    copy_references(root, names, [renaming(names, suffix) for suffix in suffixes], in_place=True)


def _text(numbers: Iterable[float]) -> str:
    return " ".join(map(repr, map(float, numbers)))


def key_of(node: Node, name: str | None) -> Key:
    return _KINDS.get(node.tag, node.tag), name


def copy_references(root: Node, names: set[Key], renamings: Sequence[Rename], *, in_place: bool) -> None:
    """Copies elements outside of the tree that refer to what is copied, by each of the renamings; `names` gets theirs.

    Tendons and contacts may refer to other things too, equalities and actuators must not: these MuJoCo does not copy.
    in_place: the copies stand for the element itself.
    """
    known: set[Key] | None = None  # everything that has a name
    for section in SECTIONS:
        holders = [holder for holder in root.child_nodes if holder.tag == section]
        found = []
        for node in [node for holder in holders for node in holder.child_nodes]:
            references = _references(node)
            if references.isdisjoint(names):
                continue
            if section in WITH_OTHERS or references <= names:
                found.append(node)
                if node.raw("name"):
                    names.add(key_of(node, node.raw("name")))
            elif in_place:
                known = known or {key_of(other, other.raw("name")) for other in root.walk() if other.raw("name")}
                if references <= known | names:  # else it is an error of its own
                    _leave_out(node)
        if in_place:
            for node in found:
                node.parent.exchange(node, [])
        if found:
            holders[-1].adopt([node.copied(renaming) for renaming in renamings for node in found])


def _leave_out(node: Node) -> None:
    node.diagnostics.warning(
        "ELEMENT_UNSUPPORTED",
        f"<{node.tag}> refers to what is replicated and to something else: it is left out, as in MuJoCo",
        node,
    )
    assert node.parent is not None
    node.parent.exchange(node, [])


def is_world(attribute: str, text: str | None) -> bool:
    """Whether an attribute refers to the body of that name; a site may be called so."""
    return text == WORLD and REFERENCES.get(attribute) == "body"


def refers_only_to(names: Set[Key], node: Node) -> bool:
    references = _references(node)
    return bool(references) and references <= names


def _references(node: Node) -> set[Key]:
    """{(kind, name)} of what an element and those in it refer to, beside the world."""
    return {
        (kind, inner.raw(attribute))
        for inner in node.walk()
        for attribute, kind in REFERENCES.items()
        if inner.raw(attribute) is not None and not is_world(attribute, inner.raw(attribute))
    }


def renaming(names: Container[Key], suffix: str = "", prefix: str = "") -> Rename:
    """(node, attribute, text) -> the text of the attribute in a copy."""

    def rename(node: Node, attribute: str, text: str) -> str:
        key = key_of(node, text) if attribute == "name" else (REFERENCES.get(attribute), text)
        return prefix + text + suffix if key in names else text

    return rename

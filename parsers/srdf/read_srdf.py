"""SRDF files to `SemanticSpec`: pairs of links that are not to collide, and named postures, of a model that was read.

Faults are warnings, and what they are in is left out: an SRDF file says nothing about links, joints or masses, and
describes variants of a robot that differ in links. Groups, end effectors and the like are for planners.

Format: https://wiki.ros.org/srdf
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.spec import PostureSpec, SemanticSpec, pose
from mbcli.parsers.xml_document import MAX_RELATED
from mbcli.parsers.xml_node import quoted
from mbcli.parsers.xml_source import ANY, read_xml, report_unread

from mbcli.common.number_text import parse_number
from mbcli.common.suggestions import did_you_mean, name_or_list
from mbcli.math.rotation_array import matrix_from_quaternion

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping, Sequence

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import JointSpec, LinkSpec, ModelSpec
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix3, Matrix4

KNOWN = {
    tag: frozenset(names.split())
    for tag, names in {
        "robot": "@name @version group group_state end_effector virtual_joint passive_joint disable_collisions "
        "enable_collisions disable_default_collisions link_sphere_approximation joint_property",
        "group_state": "@name @group joint",
        "joint": "@name @value",
        "virtual_joint": "@name @type @parent_frame @child_link",
        "disable_collisions": "@link1 @link2 @reason",
        "enable_collisions": "@link1 @link2 @reason",
        "disable_default_collisions": "@link",
    }.items()
}
FOREIGN = {"robot": ANY}  # each planner has elements of its own
FREE = 7  # values of a joint in World: x, y, z [m], then the quaternion x, y, z, w


def read_srdf(
    source: str | os.PathLike[str] | bytes,
    models: Sequence[ModelSpec],
    diagnostics: Diagnostics,
    *,
    name: str | None = None,
) -> SemanticSpec | None:
    """The `SemanticSpec` in an SRDF file for one of some ModelSpecs, or None if there is none (see `diagnostics`).

    It is of the model of its name, or of the only one. source: a path, or the bytes of a document. name: that of the
    file in places; default: the path as given.
    """
    root = read_xml(source, diagnostics, name=name)
    if root is None:
        return None
    if root.tag != "robot":
        diagnostics.error("ELEMENT_INVALID", f"an SRDF file starts with <robot>, not <{root.tag}>", root)
        return None
    model = _model(root, models)
    if model is None:
        return None
    strays = _Strays(root)
    semantics = SemanticSpec(
        model=model.name,
        place=root.place,
        filtered_pairs=_read_pairs(root, model, strays),
        postures=_read_postures(root, model, strays),
        sources=(root.document,),
    )
    strays.report()
    for node in root.children("group", "end_effector", "passive_joint", "link_sphere_approximation", "joint_property"):
        node.ignore("settled")
    report_unread(root, diagnostics, KNOWN, FOREIGN)
    return semantics


def _model(root: Node, models: Sequence[ModelSpec]) -> ModelSpec | None:
    """The ModelSpec that the file is of; None after a warning if it is of none."""
    robot = root.attribute("name", "")
    named = [model for model in models if model.name == robot]
    if named or len(models) == 1:
        if not named:
            message = f"the file is of robot {quoted(robot)}, and is used for {quoted(models[0].name)}"
            root.diagnostics.note("NAME_UNKNOWN", message, root, attribute="name", value=robot)
        return (named or models)[0]
    names = [model.name for model in models]
    message = f"the file is of robot {quoted(robot)}, which is not among the models: it is left out"
    root.diagnostics.warning(
        "NAME_UNKNOWN", message, root, attribute="name", value=robot, hint=name_or_list(robot, names) if names else None
    )
    return None


class _Strays:
    """Names of links and joints that the model does not have, each reported once with how often it occurs."""

    def __init__(self, root: Node) -> None:
        self._diagnostics = root.diagnostics
        self._found: dict[tuple[str, str], tuple[Collection[str], list[tuple[Node, str]]]] = {}

    def remember(self, node: Node, attribute: str, kind: str, name: str, names: Collection[str]) -> None:
        self._found.setdefault((kind, name), (names, []))[1].append((node, attribute))

    def report(self) -> None:
        for (kind, name), (names, uses) in self._found.items():
            node, attribute = uses[0]
            times = f" ({len(uses)} times)" if len(uses) > 1 else ""
            self._diagnostics.warning(
                "NAME_UNKNOWN",
                f"the model has no {kind} {quoted(name)}: what names it is left out{times}",
                node,
                attribute=attribute,
                value=name,
                hint=did_you_mean(name, names),
                related=[other.place for other, _ in uses[1 : 1 + MAX_RELATED]],
            )


# ------------------------------------------------------------------------------------------- filters


def _read_pairs(root: Node, model: ModelSpec, strays: _Strays) -> tuple[tuple[str, str], ...]:
    """Pairs of links that are not to collide, in the order of the file; those of one link are after its own statement.

    A link of <disable_default_collisions> meets none but those of <enable_collisions>.
    """
    links = {link.name: link for link in model.links}
    alone = [node for node in root.children("disable_default_collisions") if _link(node, "link", links, strays)]
    pairs: dict[tuple[str, str], None] = {}
    for node in alone:
        name = node.attribute("link")
        if name is not None:
            pairs |= {_pair(name, other): None for other in links if other != name}
    for node in root.children("enable_collisions"):
        pair = _read_pair(node, links, strays)
        if pair is not None:
            pairs.pop(pair, None)
    for node in root.children("disable_collisions"):
        pair = _read_pair(node, links, strays)
        if pair is not None:
            pairs[pair] = None
    return tuple(pairs)


def _read_pair(node: Node, links: Mapping[str, LinkSpec], strays: _Strays) -> tuple[str, str] | None:
    node.attribute("reason")
    a, b = (_link(node, attribute, links, strays) for attribute in ("link1", "link2"))
    return None if a is None or b is None or a == b else _pair(a, b)


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def _link(node: Node, attribute: str, links: Mapping[str, LinkSpec], strays: _Strays) -> str | None:
    """The name of a link of the model; None if it is missing, which is reported."""
    name = _stated(node, attribute)
    if name is not None and name not in links:
        strays.remember(node, attribute, "link", name, links)
        return None
    return name


def _stated(node: Node, attribute: str) -> str | None:
    """The text of an attribute; None if it is missing, which is a warning."""
    text = node.attribute(attribute)
    if not text:
        message = f'<{node.tag}> has no attribute "{attribute}", and is left out'
        node.diagnostics.warning("ATTRIBUTE_MISSING", message, node, attribute=attribute)
        return None
    return text


# ------------------------------------------------------------------------------------------ postures


def _read_postures(root: Node, model: ModelSpec, strays: _Strays) -> tuple[PostureSpec, ...]:
    bases = _free_bases(root, model)
    read = [_read_posture(node, model, bases, strays) for node in root.children("group_state")]
    return tuple(posture for posture in read if posture is not None)


def _free_bases(root: Node, model: ModelSpec) -> dict[str | None, str]:
    """{virtual joint: link}, and under None the root of the model if it has one: links that float in World."""
    held = {joint.child for joint in model.joints}
    roots = [link.name for link in model.links if link.name not in held and link.name != "world"]
    bases: dict[str | None, str] = {None: roots[0]} if len(roots) == 1 else {}
    for node in root.children("virtual_joint"):
        for attribute in ("type", "parent_frame"):
            node.attribute(attribute)
        name, link = node.attribute("name"), node.attribute("child_link")
        if name is not None and link in roots:
            bases[name] = link
    return bases


def _read_posture(node: Node, model: ModelSpec, bases: Mapping[str | None, str], strays: _Strays) -> PostureSpec | None:
    """A PostureSpec, None without a name."""
    name = _stated(node, "name")
    node.attribute("group")
    joints = {joint.name: joint for joint in model.joints}
    posture = PostureSpec(name=name or "", positions=(), velocities=(), place=node.place)
    for child in node.children("joint"):
        joint, text = _stated(child, "name"), _stated(child, "value")
        if joint is None or text is None:
            continue
        values = _numbers(child, text)
        if values is None:
            continue
        if joint in joints:
            positions = _positions(child, joints[joint], values)
            if positions is not None:
                posture = replace(posture, positions=(*posture.positions, (joint, positions)))
        elif len(values) == FREE and (joint in bases or None in bases):
            link, X = bases[joint if joint in bases else None], _free_pose(child, values)
            if X is not None:
                posture = replace(posture, poses=(*posture.poses, (link, X)))
        elif joint not in bases:
            strays.remember(child, "name", "joint", joint, joints)
    return None if name is None else posture


def _numbers(node: Node, text: str) -> tuple[float, ...] | None:
    """A tuple of finite numbers; None after a warning."""
    values = []
    for word in text.split():
        value = parse_number(word)
        if value is None:
            message = f"{quoted(word)} is not a finite number: the joint is left out"
            node.diagnostics.warning("ATTRIBUTE_INVALID", message, node, attribute="value", value=text)
            return None
        values.append(value)
    return tuple(values)


def _positions(node: Node, joint: JointSpec, values: tuple[float, ...]) -> tuple[float, ...] | None:
    """The positions of a joint of the model; None after a finding if they are not as many as its values."""
    count = joint.kind.num_positions
    if not count:
        message = f"joint {quoted(joint.name)} does not move: its value has no meaning"
        node.diagnostics.note("ELEMENT_MEANINGLESS", message, node, attribute="value")
        return None
    if len(values) != count:
        message = f"joint {quoted(joint.name)} has {count} values, not {len(values)}: it is left out"
        node.diagnostics.warning("ATTRIBUTE_INVALID", message, node, attribute="value")
        return None
    if joint.kind.has_quaternion:  # the last four values
        x, y, z, w = values[-4:]
        return None if _rotation(node, values[-4:]) is None else (w, x, y, z, *values[:-4])
    return values


def _free_pose(node: Node, values: tuple[float, ...]) -> Matrix4 | None:
    """X (4, 4) of x, y, z and a quaternion x, y, z, w; None after a warning if that gives no orientation."""
    R = _rotation(node, values[3:])
    return None if R is None else pose(R, values[:3])


def _rotation(node: Node, quaternion: Sequence[float]) -> Matrix3 | None:
    """(3, 3) of x, y, z, w; None after a warning if all are 0."""
    x, y, z, w = quaternion
    if not any(quaternion):
        message = "the quaternion is zero, and gives no orientation: the joint is left out"
        node.diagnostics.warning("ATTRIBUTE_INVALID", message, node, attribute="value")
        return None
    return matrix_from_quaternion(np.array([w, x, y, z]))

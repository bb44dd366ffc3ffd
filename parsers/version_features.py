"""Which version of its format a file needs: features that are newer than the version it states.

This program reads them all the same; others skip elements that their version does not have, without a word.

URDF: urdfdom's README and xsd. SDFormat: http://sdformat.org/spec and the migration notes of libsdformat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mbcli.parsers.xml_node import Node

# (parent element, feature: child element or @attribute): the version that brought it
_FEATURES = {
    "robot": {
        ("origin", "@quat_xyzw"): "1.1",
        ("geometry", "capsule"): "1.1",
        ("limit", "@acceleration"): "1.2",
        ("limit", "@deceleration"): "1.2",
        ("limit", "@jerk"): "1.2",
    },
    "sdf": {
        ("frame", "@attached_to"): "1.7",
        ("pose", "@relative_to"): "1.7",
        ("xyz", "@expressed_in"): "1.7",
        ("model", "@canonical_link"): "1.7",
        ("geometry", "capsule"): "1.8",
        ("geometry", "ellipsoid"): "1.8",
        ("include", "placement_frame"): "1.8",
        ("model", "@placement_frame"): "1.8",
        ("include", "@merge"): "1.9",
        ("pose", "@degrees"): "1.9",
        ("pose", "@rotation_format"): "1.9",
        ("world", "joint"): "1.10",
        ("joint", "screw_thread_pitch"): "1.10",
        ("axis", "mimic"): "1.11",
        ("axis2", "mimic"): "1.11",
        ("inertial", "@auto"): "1.11",
        ("inertial", "density"): "1.11",
        ("inertial", "auto_inertia_params"): "1.11",
        ("collision", "density"): "1.11",
        ("collision", "auto_inertia_params"): "1.11",
        ("model", "@namespace"): "1.12",
        ("include", "namespace"): "1.12",
    },
}
_UNSTATED = {"robot": "1.0"}  # the version of a file that states none


def check_version(root: Node) -> None:
    """Note once each feature below a root node that its stated version does not have."""
    stated = root.raw("version") or _UNSTATED.get(root.tag)
    known = None if stated is None else _key(stated)
    if stated is None or known is None:
        return
    newer = {
        feature: version for feature, version in _FEATURES.get(root.tag, {}).items() if (_key(version) or ()) > known
    }
    found: dict[tuple[str, str], list[Node]] = {}
    for node, feature in _used(root, newer) if newer else ():
        found.setdefault(feature, []).append(node)
    for feature, nodes in found.items():
        _report(root, *feature, newer[feature], stated, nodes)


def _used(root: Node, features: Mapping[tuple[str, str], str]) -> Iterator[tuple[Node, tuple[str, str]]]:
    """Yields (node, feature) for each place at or below a node that has one of the features."""
    parents: dict[str, Any] = {}
    attributes: dict[str, Any] = {}  # of the element of that tag
    for parent, name in features:
        if name[0] == "@":
            attributes.setdefault(parent, []).append(name[1:])
        else:
            parents.setdefault(name, set()).add(parent)
    for node in root.walk():
        tag = node.tag
        if tag in parents and node.parent is not None and node.parent.tag in parents[tag]:
            yield node, (node.parent.tag, tag)
        for name in attributes.get(tag, ()):
            if node.raw(name) is not None:
                yield node, (tag, "@" + name)


def _key(version: str) -> tuple[int, ...] | None:
    """Something to compare versions by, or None: 1.10 comes after 1.9."""
    parts = (version or "").strip().split(".")
    sound = all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts)
    return tuple(map(int, parts)) if sound else None


def _report(root: Node, parent: str, name: str, version: str, stated: str, nodes: Sequence[Node]) -> None:
    attribute = name[1:] if name[0] == "@" else None
    feature = f'attribute "{attribute}" of <{parent}>' if attribute else f"<{name}> in <{parent}>"
    times = f" ({len(nodes)} times)" if len(nodes) > 1 else ""
    root.diagnostics.note(
        "VERSION_FEATURE",
        f"{feature} came with version {version}, the file is of version {stated}{times}",
        nodes[0],
        attribute=attribute,
        hint=f'other programs may skip it: state version="{version}"',
        related=[node.place for node in nodes[1:11]],
    )

"""Which version of its format a file needs: features that are newer than the version it states.

This program reads them all the same; others skip what their version does not have, without a word.

URDF: urdfdom's README and xsd. SDFormat: http://sdformat.org/spec and the migration notes of libsdformat.
"""

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
        ("pose", "@relative_to"): "1.7",
        ("frame", "@attached_to"): "1.7",
        ("model", "@canonical_link"): "1.7",
        ("xyz", "@expressed_in"): "1.7",
        ("geometry", "capsule"): "1.8",
        ("geometry", "ellipsoid"): "1.8",
        ("model", "@placement_frame"): "1.8",
        ("include", "placement_frame"): "1.8",
        ("pose", "@degrees"): "1.9",
        ("pose", "@rotation_format"): "1.9",
        ("include", "@merge"): "1.9",
        ("world", "joint"): "1.10",
        ("joint", "screw_thread_pitch"): "1.10",
        ("axis", "mimic"): "1.11",
        ("axis2", "mimic"): "1.11",
        ("inertial", "@auto"): "1.11",
        ("inertial", "density"): "1.11",
    },
}
_UNSTATED = {"robot": "1.0"}  # the version of a file that states none


def check_version(root):
    """Warn once of each feature below a root node that its stated version does not have."""
    features = _FEATURES.get(root.tag)
    stated = root.raw("version") or _UNSTATED.get(root.tag)
    if features is None or _key(stated) is None:
        return
    newer = {feature: version for feature, version in features.items() if _key(version) > _key(stated)}
    parents = {parent for parent, _ in newer}
    found = {}
    for node in root.walk():
        if node.tag in parents:
            for feature, version in newer.items():
                if feature[0] == node.tag and _has(node, feature[1]):
                    found.setdefault((feature, version), []).append(node)
    for ((parent, name), version), nodes in found.items():
        _report(root, parent, name, version, stated, nodes)


def _key(version):
    """Something to compare versions by, or None: 1.10 comes after 1.9."""
    parts = (version or "").strip().split(".")
    sound = all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts)
    return tuple(map(int, parts)) if sound else None


def _has(node, name):
    return node.raw(name[1:]) is not None if name[0] == "@" else node.peek(name) is not None


def _report(root, parent, name, version, stated, nodes):
    attribute = name[1:] if name[0] == "@" else None
    what = f'attribute "{attribute}" of <{parent}>' if attribute else f"<{name}> in <{parent}>"
    times = f" ({len(nodes)} times)" if len(nodes) > 1 else ""
    root.diagnostics.warning(
        "VERSION_FEATURE",
        f"{what} came with version {version}, the file is of version {stated}{times}",
        nodes[0] if attribute else nodes[0].peek(name),
        attribute=attribute,
        hint=f'other programs may skip it: state version="{version}"',
        related=[node.place for node in nodes[1:11]],
    )

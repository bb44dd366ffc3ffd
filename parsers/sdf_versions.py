"""What changed between the versions of SDFormat, from 1.4 to 1.12.

A file is read as its version means it. What a later version added is taken from an older file, too, as libsdformat
does, with a warning; what a later version took away is an error there, unless the answer is the same without it.
"""

from .xml_source import quoted

OLDEST_MINOR, NEWEST_MINOR = 4, 12
_VERSIONS = {f"1.{minor}": minor for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1)}

# "parent/child" or "parent/@attribute": the minor version that brought it
_NEW = {
    "frame/@attached_to": 7,
    "pose/@relative_to": 7,
    "xyz/@expressed_in": 7,
    "model/@canonical_link": 7,
    "geometry/capsule": 8,
    "geometry/ellipsoid": 8,
    "include/placement_frame": 8,
    "model/@placement_frame": 8,
    "include/@merge": 9,
    "pose/@degrees": 9,
    "pose/@rotation_format": 9,
    "world/joint": 10,
    "joint/screw_thread_pitch": 10,
    "axis/mimic": 11,
    "axis2/mimic": 11,
    "inertial/@auto": 11,
    "inertial/density": 11,
    "inertial/auto_inertia_params": 11,
    "collision/density": 11,
    "collision/auto_inertia_params": 11,
    "model/@namespace": 12,
    "include/namespace": 12,
}
_NEW_NAMES = {entry.partition("/")[2] for entry in _NEW}


def read_version(root):
    """The minor version of a file, or None with an error."""
    if root.tag != "sdf":
        message = f"the root element of an SDFormat file must be <sdf>, found <{root.tag}>"
        root.diagnostics.error("ELEMENT_INVALID", message, root)
        return None
    version = root.attribute("version", required=True)
    if version is None:
        return None
    minor = _VERSIONS.get(version.strip())
    if minor is None:
        message = f"SDFormat version {quoted(version)} is not supported"
        hint = f"versions 1.{OLDEST_MINOR} to 1.{NEWEST_MINOR} are"
        root.diagnostics.error("ATTRIBUTE_INVALID", message, root, attribute="version", value=version, hint=hint)
    return minor


def report_newer(root, minor):
    """A warning for each kind of element or attribute that the file uses and its version does not have."""
    found = {}
    for node in root.walk() if minor < max(_NEW.values()) else ():
        if node.tag in _NEW_NAMES and node.parent is not None:
            _note(found, f"{node.parent.tag}/{node.tag}", node, minor)
        for name in node.attribute_names:
            if "@" + name in _NEW_NAMES:
                _note(found, f"{node.tag}/@{name}", node, minor)
    for entry, nodes in found.items():
        parent, _, name = entry.partition("/")
        what = f'attribute "{name[1:]}"' if name[0] == "@" else f"<{name}>"
        times = f" ({len(nodes)} times)" if len(nodes) > 1 else ""
        root.diagnostics.warning(
            "VERSION_NEWER",
            f"{what} of <{parent}> is there since SDFormat 1.{_NEW[entry]}, the file says 1.{minor}{times}",
            nodes[0],
            attribute=name[1:] if name[0] == "@" else None,
        )


def _note(found, entry, node, minor):
    if _NEW.get(entry, 0) > minor:
        found.setdefault(entry, []).append(node)


def report_older(node, tag, minor, *, gone, instead):
    """The child of a node that SDFormat has no longer since 1.`gone`: an error from that version on; else the child."""
    child = node.child(tag)
    if child is None or minor < gone:
        return child
    child.diagnostics.error("ELEMENT_INVALID", f"since SDFormat 1.{gone} <{tag}> is {instead}", child)
    child.ignore("settled")
    return None

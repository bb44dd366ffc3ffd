"""The changes between the versions of SDFormat, from 1.2 to 1.12.

Versions 1.2 and 1.3 mean what 1.4 means, as in libsdformat.

A file is read as its version means it. Additions of a later version are taken from an older file, too, as libsdformat
does, with a warning (`version_features`); removals of a later version are errors there, unless the answer is the
same without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.xml_node import quoted

if TYPE_CHECKING:
    from mbcli.parsers.xml_node import Node

OLDEST_MINOR, OLDEST_OF_ITS_OWN, NEWEST_MINOR = 2, 4, 12
_VERSIONS = {f"1.{minor}": max(minor, OLDEST_OF_ITS_OWN) for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1)}


def read_version(root: Node) -> int | None:
    """The minor version of a file, 4 or later, or None with an error."""
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
        root.diagnostics.error("VERSION_UNSUPPORTED", message, root, attribute="version", value=version, hint=hint)
    return minor


def report_older(node: Node, tag: str, minor: int, *, gone: int, instead: str) -> Node | None:
    """The child of a node that SDFormat has no longer since 1.`gone`: an error from that version on; else the child."""
    child = node.child(tag)
    if child is None or minor < gone:
        return child
    child.diagnostics.error("ELEMENT_INVALID", f"since SDFormat 1.{gone} <{tag}> is {instead}", child)
    child.ignore("settled")
    return None

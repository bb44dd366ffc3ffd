"""xacro files: expanded by the xacro package, and only if the user allows it, since that runs code of the file."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mbcli.parsers.xml_source import read_xml

from mbcli.common.extra_packages import import_extra
from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.xml_node import Node

_PREFIX = "xacro:"
# Without a macro of its own to call, nor anything in these elements, a file means the same when it is expanded.
_ACTING = frozenset(
    _PREFIX + tag for tag in ("include", "if", "unless", "element", "attribute", "insert_block", "call")
)
_DEFINING = frozenset(_PREFIX + tag for tag in ("property", "arg", "macro"))
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_ROS_PACKAGES = "ament_index_python"  # the module by which xacro finds packages in ROS 2


def read_expanded(
    root: Node, source: str | os.PathLike[str] | bytes, diagnostics: Diagnostics, packages: PackageMap, name: str | None
) -> Node | None:
    """The root node of a URDF document once its xacro is expanded; None if it cannot be (an error).

    A document in which xacro would change nothing stays as it is: leftover calls of macros are left out with a warning.

    root: of the document as it stands. source: its path, or its bytes. Places in an expanded document are those of the
    result. Raises ResourceError without the xacro package, ModelError for files that xacro refuses.
    """
    if not _has_xacro(root, source):
        return root
    if not _changes_by_expansion(root):
        _leave_out_calls(root)
        return root
    if packages.xacro_arguments is None or isinstance(source, bytes):
        only = "it must be a file, not a text" if packages.xacro_arguments is not None else "--xacro does it"
        hint = f"{only}; xacro runs code of the file"
        diagnostics.error("XACRO_UNEXPANDED", "the file contains xacro: run xacro on it first", root, hint=hint)
        return None
    name = f"{name or source} (expanded by xacro)"
    return read_xml(_expand(os.fspath(source), packages, diagnostics, name), diagnostics, name=name)


def _has_xacro(root: Node, source: str | os.PathLike[str] | bytes) -> bool:
    if not isinstance(source, bytes) and os.fspath(source).endswith(".xacro"):
        return True
    return b"<xacro:" in root.document.content and any(node.tag.startswith(_PREFIX) for node in root.walk())


def _changes_by_expansion(root: Node) -> bool:
    content = _COMMENT.sub(b"", root.document.content)
    if b"${" in content or b"$(" in content:
        return True
    nodes = list(root.walk())
    macros = {
        _PREFIX + (node.raw("name") or "").removeprefix(_PREFIX) for node in nodes if node.tag == _PREFIX + "macro"
    }
    return any(node.tag in _ACTING or node.tag in macros for node in nodes)


def _leave_out_calls(root: Any) -> None:
    for node in root.walk():
        if node.tag.startswith(_PREFIX) and _DEFINING.isdisjoint(outer.tag for outer in node.lineage):
            message = f"<{node.tag}> calls a macro that the file does not define: it is left out"
            node.diagnostics.warning("XACRO_UNEXPANDED", message, node)
            node.ignore("settled")


def _expand(path: str, packages: PackageMap, diagnostics: Diagnostics, name: str) -> bytes:
    """The bytes of the URDF document that xacro makes of a file. name: that of this document."""
    xacro: Any = import_extra("xacro", "xacro", f"{path}: error: --xacro")
    try:
        with _packages_for_xacro(packages, os.path.dirname(path)):
            xacro.all_includes = []  # else it has those of the file before, where this one fails early
            document = xacro.process_file(path, mappings=dict(packages.xacro_arguments or {}))
    except Exception as error:  # code of the file may raise anything
        missing = _missing_package(error)
        if missing is not None:
            raise ResourceError(f"{path}: error: xacro: {missing}") from None
        if diagnostics.quotes_nothing_of(name, xacro.all_includes):
            raise ModelError(f"{path}: error: xacro refuses it, or a file outside of its folder") from None
        raise ModelError(f"{path}: error: xacro: {' '.join(str(error).split())}") from None
    diagnostics.quotes_nothing_of(name, xacro.all_includes)
    return document.toprettyxml(indent="  ", encoding="utf-8")


def _missing_package(error: BaseException) -> str | None:
    """What the package map said of a $(find PACKAGE), around which xacro puts the name of its class."""
    found: Any = error
    while found is not None and not isinstance(found, ResourceError):
        found = getattr(found, "exc", None) or found.__cause__ or found.__context__
    return None if found is None else str(found)


@contextmanager
def _packages_for_xacro(packages: PackageMap, base_dir: str) -> Iterator[None]:
    """Lets $(find PACKAGE) go by the package map, in the place of ROS."""
    finder: Any = ModuleType(f"{_ROS_PACKAGES}.packages")
    finder.PackageNotFoundError = KeyError
    finder.get_package_share_directory = lambda name: packages.package_directory(name, base_dir or os.curdir)
    ros: Any = ModuleType(_ROS_PACKAGES)
    ros.packages = finder
    ros.get_package_share_directory = finder.get_package_share_directory
    ours = {_ROS_PACKAGES: ros, finder.__name__: finder}
    before = {name: sys.modules.get(name) for name in ours}
    sys.modules.update(ours)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module

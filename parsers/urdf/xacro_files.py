"""xacro files: expanded by the xacro package, and only if the user allows it, since that runs code of the file."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ExpatError

from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.xml_source import read_xml

from mbcli.common.extra_packages import import_extra
from mbcli.common.suggestions import did_you_mean
from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
_PLACE_IN_TEXT = re.compile(r": line \d+, column \d+$")  # of expat
MOST_CALLS = 3  # of macros, that a message names
_ROS_PACKAGES = "ament_index_python"  # the module by which xacro finds packages in ROS 2


def read_expanded(
    root: Node, source: str | os.PathLike[str] | bytes, diagnostics: Diagnostics, packages: PackageMap, name: str | None
) -> Node | None:
    """The root node of a URDF document once its xacro is expanded; None if it cannot be (an error).

    A document in which xacro would change nothing stays as it is: leftover calls of macros are left out with a warning.

    root: of the document as it stands. source: its path, or its bytes. Places in an expanded document are those of the
    files that its elements come from. Raises ResourceError without the xacro package, ModelError for files that xacro
    refuses, or one outside of their folder.
    """
    if not _has_xacro(root, source):
        return root
    if not _changes_by_expansion(root) and not packages.xacro_arguments:
        _leave_out_calls(root)
        return root
    if packages.xacro_arguments is None or isinstance(source, bytes):
        only = "it must be a file, not a text" if packages.xacro_arguments is not None else "--xacro does it"
        hint = f"{only}; xacro runs code of the file"
        diagnostics.error("XACRO_UNEXPANDED", "the file contains xacro: run xacro on it first", root, hint=hint)
        return None
    expanded = expand(os.fspath(source), packages, diagnostics, name)
    return None if expanded is None else _read(*expanded, diagnostics)


def expand(
    path: str, packages: PackageMap, diagnostics: Diagnostics, name: str | None = None
) -> tuple[bytes, list[SourceLocation | None], str] | None:
    """The document that xacro makes of a file, where its elements stand in files, in the order of their start tags, and
    what it is called; None if xacro cannot (an error with its place).

    name: of the file in places. Raises ResourceError without the xacro package, or a package that the file names.
    """
    arguments = _Arguments(packages.xacro_arguments or {})
    name = f"{name or path} (expanded by xacro)"
    xacro: Any = import_extra("xacro", "xacro", f"{path}: error: --xacro")
    from mbcli.parsers.urdf import xacro_places  # late: few models are expanded

    try:
        with _packages_for_xacro(packages, os.path.dirname(path)), _places_in_xacro(xacro, arguments.known):
            xacro.all_includes = []  # else it has those of the file before, where this one fails early
            document = xacro.process_file(path, mappings=arguments)
    except Exception as error:  # code of the file may raise anything
        _report(error, path, xacro, diagnostics, name, arguments)
        return None
    if arguments.unknown():
        report = diagnostics.warning if packages.xacro_arguments_are_shared else diagnostics.error
        report("XACRO_FAULT", arguments.unknown(), place=SourceLocation(path))
        if not packages.xacro_arguments_are_shared:
            return None
    places = [xacro_places.place_of(element) for element in xacro_places.elements(document)]
    for file in (name, *dict.fromkeys(place.file for place in places if place is not None)):
        diagnostics.quotes_nothing_of(file, xacro.all_includes)
    return document.toprettyxml(indent="  ", encoding="utf-8"), places, name


def _read(content: bytes, places: list[SourceLocation | None], name: str, diagnostics: Diagnostics) -> Node | None:
    """The root node of an expanded document, whose nodes have the places of its sources."""
    root = read_xml(content, diagnostics, name=name, origins=places)
    if root is None:
        return None
    from mbcli.parsers.urdf.xacro_places import ExpandedTree

    tree = ExpandedTree(root)
    diagnostics.trees.update(dict.fromkeys((place.file for place in places if place is not None), tree))
    return root


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


class _Arguments(dict[str, str]):
    """What is given to a file, which also knows what it asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self._given, self.known = list(given), set[str]()

    def __contains__(self, name: object) -> bool:
        self.known.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.known.add(name)
        return super().__getitem__(name)

    def unknown(self) -> str:
        """A sentence on arguments that no file takes; empty if there are none."""
        names = [name for name in self._given if name not in self.known]
        if not names:
            return ""
        known = sorted(self.known)
        there = f"; it has {', '.join(known)}" if known else ", nor any other"
        likely = did_you_mean(names[0], known)
        return f'xacro: the file has no argument "{names[0]}"{there}{f": {likely}" if likely else ""}'


def _report(
    error: Exception, path: str, xacro: Any, diagnostics: Diagnostics, name: str, arguments: _Arguments
) -> None:
    """Records why xacro refuses a file, at its place. Raises ResourceError for a package that is missing."""
    from mbcli.parsers.urdf.xacro_places import place_of_fault

    place, calls = place_of_fault(error)
    missing = _missing_package(error)
    if missing is not None:
        raise ResourceError(f"{place or path}: error: xacro: {missing}") from None
    if diagnostics.quotes_nothing_of(name, xacro.all_includes):
        raise ModelError(f"{path}: error: xacro refuses it, or a file outside of its folder") from None
    message = " ".join(str(error).split())
    if isinstance(error, ExpatError):
        place = SourceLocation(xacro.filestack[-1], error.lineno, error.offset + 1)
        message = _PLACE_IN_TEXT.sub("", message)
    called = f" (called at {', '.join(map(str, calls[:MOST_CALLS]))})" if calls else ""
    unknown = arguments.unknown()
    hint = unknown.removeprefix("xacro: ") or None
    diagnostics.error("XACRO_FAULT", f"xacro: {message}{called}", place=place or SourceLocation(path), hint=hint)


@contextmanager
def _places_in_xacro(xacro: Any, arguments: set[str]) -> Iterator[None]:
    """Lets xacro read files by a reader that keeps places, and collects the arguments that they declare."""
    from mbcli.parsers.urdf.xacro_places import read_with_places

    parse = xacro.parse

    def read(document: Any, file: str | None = None) -> Any:
        if document is None and file is not None:
            with suppress(OSError):  # xacro has its own words for that
                return read_with_places(file, xacro.root_dir, arguments)
        return parse(document, file)

    xacro.parse = read
    try:
        yield
    finally:
        xacro.parse = parse


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

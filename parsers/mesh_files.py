"""The mesh files that a model names: where they are, and which of them are missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mbcli.parsers.name_spellings import find_spelled, spellings, what_was_tried
from mbcli.parsers.package_map import OUTSIDE, MissingFileError, package_of
from mbcli.parsers.xml_document import MAX_RELATED

from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.spec import Mesh
    from mbcli.parsers.xml_node import Node


class MeshFiles:
    """Looks for mesh files and keeps the missing ones, to report them in a few lines."""

    def __init__(self, packages: PackageMap, base_dir: str) -> None:
        self.packages = packages
        self.base_dir = os.path.abspath(base_dir or os.curdir)
        self._folders: dict[tuple[str, str], str | None] = {}  # those that meshes were looked for in
        self._known: dict[
            Any, tuple[str | None, str, bool]
        ] = {}  # URI -> (path or None, problem, whether it was found nearby)
        # the warning on packages in several directories -> the first node that names one
        self.ambiguities: dict[str, Node] = {}
        # (role, package, whether it is there and must not be read) -> [(node, URI, why)]
        self.missing: dict[tuple[str, str, bool], list[tuple[Node, str, str]]] = {}
        self._missing_files: dict[str, MissingFileError] = {}  # of URIs
        self.nearby: list[
            tuple[Node, str, str]
        ] = []  # (node, URI, path) of those that are found where the URI does not lead

    def find(self, uri: str, node: Node, role: str, *, elsewhere: Iterable[tuple[str, str]] = ()) -> str | None:
        """The path of a mesh, or None. elsewhere: (URI, base directory) that are tried after it."""
        if elsewhere:
            path, problem, is_nearby = self._look_for(uri, elsewhere)
        else:
            path, problem, is_nearby = known = self._known.get(uri) or self._look_for(uri)
            self._known[uri] = known
        if path is not None and is_nearby:
            self.nearby.append((node, uri, path))
        if path is None:
            self.missing.setdefault((role, package_of(uri), OUTSIDE in problem), []).append((node, uri, problem))
        ambiguity = self.packages.ambiguity(uri)
        if ambiguity is not None:
            self.ambiguities.setdefault(ambiguity, node)
        return path

    def _look_for(self, uri: str, elsewhere: Iterable[tuple[str, str]] = ()) -> tuple[str | None, str, bool]:
        """(path or None, why the URI does not lead to it, whether it was found near the file instead)."""
        problem = ""
        places = ((uri, self.base_dir), *elsewhere)
        for candidate, base_dir in places:
            try:
                return self.packages.resolve(candidate, base_dir), problem, False
            except ResourceError as error:
                if not problem and isinstance(error, MissingFileError):
                    self._missing_files[uri] = error
                problem = problem or str(error) + what_was_tried(uri)
        for candidate, base_dir in places:
            path = find_spelled(candidate, base_dir, self.packages.resolve)
            if path is not None:
                return path, problem, True
        for candidate in (uri, *spellings(uri)):
            path = self.packages.find_nearby(candidate, self.base_dir, self._folders)
            if path is not None:
                return path, problem, True
        return None, problem, False

    def report_missing(self, diagnostics: Diagnostics) -> None:
        """Missing meshes, per package, and packages with several directories.

        Dynamics needs no mesh: a missing one is a warning, also of a collision; commands that need it report it.
        """
        report = {"error": diagnostics.error, "warn": diagnostics.warning, "ignore": diagnostics.note}
        for (role, _, is_outside), found in self.missing.items():
            node, uri, why = found[0]
            error = self._missing_files.get(uri)
            similar = None if error is None else self.packages.similar_file(error)
            what = "must not be read" if is_outside else "not found"
            first = ", the first" if len(found) > 1 else ""
            report[self.packages.missing_meshes](
                "URI_OUTSIDE" if is_outside else "URI_LOOKUP",
                f"{_meshes(len(found), role)} {what}{first}: {why}",
                node,
                related=[other.place for other, _, _ in found[1 : 1 + MAX_RELATED]],
                hint=None if similar is None else f"there is {similar}",
            )
        if self.nearby:
            node, uri, path = self.nearby[0]
            diagnostics.note(
                "URI_LOOKUP",
                f'{_meshes(len(self.nearby))} found near the file, where the name does not lead: "{uri}" is {path}',
                node,
                related=[other.place for other, _, _ in self.nearby[1 : 1 + MAX_RELATED]],
            )
        for message, node in self.ambiguities.items():
            diagnostics.warning("URI_LOOKUP", message, node)


def _meshes(count: int, role: str = "") -> str:
    return " ".join(filter(None, (str(count), role, "mesh" if count == 1 else "meshes")))


def relocated(mesh: Mesh, packages: PackageMap, folder: str, *, keeps_package: bool = True) -> tuple[str, str | None]:
    """(URI, problem): the URI that leads to the file of a Mesh from another folder, and why it is not read there, or
    None.

    The mesh's own URI stays where it leads there, where its file was not found, and where it names a package, which
    others find by its name: a path out of the folder would not be read. keeps_package: whether they do.
    """
    if mesh.path is None:
        return mesh.uri, None  # reported when the model was read
    from_there = os.path.relpath(mesh.path, folder or os.curdir)
    problem = None
    is_path = "://" not in mesh.uri
    for uri in (mesh.uri, from_there) if keeps_package or is_path else (from_there,):
        try:
            if os.path.samefile(packages.resolve(uri, folder), mesh.path):
                return uri, None
        except ResourceError as error:
            problem = str(error)
    package = _package_directory(mesh) if keeps_package else None
    if package is not None:
        return mesh.uri, f"its package is not found; --package {package_of(mesh.uri)}={package} gives it"
    return from_there, problem or "its name leads to another file from there"


def _package_directory(mesh: Mesh) -> str | None:
    """The directory for which a URI of a package leads to the file of a Mesh; None for other URIs."""
    inside = unquote(mesh.uri.partition("://")[2]).lstrip("/").partition("/")[2].lstrip("/")
    is_of_package = mesh.uri.lower().startswith(("package://", "model://"))
    if not is_of_package or not inside or mesh.path is None or not mesh.path.endswith(f"/{inside}"):
        return None
    return mesh.path.removesuffix(f"/{inside}")

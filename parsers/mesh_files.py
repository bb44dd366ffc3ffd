"""The mesh files that a model names: where they are, and which of them are missing."""

import os

from mbcli.parsers.package_map import package_of
from mbcli.parsers.xml_source import MAX_RELATED

from mbcli.errors import ResourceError


class MeshFiles:
    """Looks for mesh files and keeps the missing ones, to report them in a few lines."""

    def __init__(self, packages, base_dir):
        self.packages = packages
        self.base_dir = base_dir
        self.ambiguities = {}  # the warning on packages in several directories -> the first node that names one
        self.missing = {}  # (role, package) -> [(node, why)]

    def find(self, uri, node, role, *, elsewhere=()):
        """The path of a mesh, or None. elsewhere: (URI, base directory) that are tried after it."""
        package = package_of(uri)
        path, problem = None, None
        for candidate, base_dir in ((uri, self.base_dir), *elsewhere):
            try:
                path = self.packages.resolve(candidate, base_dir)
                break
            except ResourceError as error:
                problem = problem or str(error)
        if path is None:
            self.missing.setdefault((role, package), []).append((node, problem))
        ambiguity = self.packages.ambiguity(uri)
        if ambiguity is not None:
            self.ambiguities.setdefault(ambiguity, node)
        return path

    def report_missing(self, diagnostics):
        """Missing meshes, per package, and packages with several directories.

        Dynamics needs no mesh: a missing one is a warning, also of a collision; commands that need it report it.
        """
        report = {"error": diagnostics.error, "warn": diagnostics.warning, "ignore": diagnostics.note}
        for (role, _), found in self.missing.items():
            node, why = found[0]
            report[self.packages.missing_meshes](
                "URI_LOOKUP",
                f"{len(found)} {role} mesh{'es' if len(found) > 1 else ''} not found, the first: {why}",
                node,
                related=[other.place for other, _ in found[1 : 1 + MAX_RELATED]],
            )
        for message, node in self.ambiguities.items():
            diagnostics.warning("URI_LOOKUP", message, node)


def relocated(mesh, packages, folder):
    """(URI, problem): the URI that leads to the file of a Mesh from another folder, and why none does, or None.

    The mesh's own URI stays where it does so, and where its file was not found.
    """
    if mesh.path is None:
        return mesh.uri, None  # reported when the model was read
    problem = None
    for uri in (mesh.uri, os.path.relpath(mesh.path, folder or os.curdir)):
        try:
            if os.path.samefile(packages.resolve(uri, folder), mesh.path):
                return uri, None
        except ResourceError as error:
            problem = str(error)
    return mesh.uri, problem or "its name leads to another file from there"

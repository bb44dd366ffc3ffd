"""The mesh files that a model names: where they are, and which of them are missing."""

from mbcli.errors import ResourceError

from .xml_source import MAX_RELATED


class MeshFiles:
    """Looks for mesh files and keeps what is missing, to report it in a few lines."""

    def __init__(self, packages, base_dir):
        self.packages = packages
        self.base_dir = base_dir
        self.names = set()  # of the packages asked for
        self.missing = {}  # (role, package) -> [(node, why)]

    def find(self, uri, node, role):
        """The path of a mesh, or None."""
        package = uri.partition("://")[2].partition("/")[0]
        self.names.add(package)
        try:
            return self.packages.resolve(uri, self.base_dir)
        except ResourceError as error:
            self.missing.setdefault((role, package), []).append((node, str(error)))
            return None

    def report_missing(self, diagnostics):
        """Missing meshes, per package, and packages with several directories."""
        for (role, _), found in self.missing.items():
            node, why = found[0]
            report = diagnostics.note if role == "visual" else diagnostics.warning
            report(
                "URI_LOOKUP",
                f"{len(found)} {role} mesh{'es' if len(found) > 1 else ''} not found, the first: {why}",
                node,
                related=[other.place for other, _ in found[1 : 1 + MAX_RELATED]],
            )
        for name in sorted(self.names & self.packages.ambiguous.keys()):
            places = ", ".join(self.packages.ambiguous[name])
            diagnostics.warning("URI_LOOKUP", f'package "{name}" has several directories, the first is used: {places}')

"""PackageMap under the names of pydrake.multibody.parsing."""

from __future__ import annotations

import os

from mbcli.errors import ResourceError
from mbcli.parsers import package_map


class PackageMap(package_map.PackageMap):
    """Directories of `package://NAME/path`: packages given by name or by a folder to search, then the environment."""

    def Add(self, package_name: str, package_path: str | os.PathLike[str]) -> None:
        """Gives a package by name. Raises ResourceError if the path is missing or the name has another one."""
        self.add(package_name, package_path)

    def AddPackageXml(self, filename: str | os.PathLike[str]) -> None:
        """Gives the package of a package.xml, by the name that it states. Raises ResourceError if it states none."""
        directory = os.path.dirname(os.path.abspath(filename))
        name = package_map.stated_name(directory) if os.path.basename(filename) == "package.xml" else None
        if not name:
            raise ResourceError(f"{os.fspath(filename)} is no package.xml that states a name")
        self.add(name, directory)

    def Remove(self, package_name: str) -> None:
        """Forgets a package given by name. Raises ResourceError if there is none."""
        self.remove(package_name)

    def PopulateFromFolder(self, path: str | os.PathLike[str]) -> None:
        """Searches a folder for packages, when a URL first needs one. Raises ResourceError if it is missing."""
        self.add_path(path)

    def Contains(self, package_name: str) -> bool:
        """Whether the package can be found from the working directory."""
        try:
            self.package_directory(package_name)
        except ResourceError:
            return False
        return True

    def GetPath(self, package_name: str) -> str:
        """The directory of a package. Raises ResourceError if it cannot be found."""
        return self.package_directory(package_name)

    def ResolveUrl(self, url: str) -> str:
        """The path of a package:// or file:// URL. Raises ResourceError."""
        return self.resolve(url)

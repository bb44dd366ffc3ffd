"""PackageMap under the names of pydrake.multibody.parsing."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from typing import Any

from mbcli.common.fast_dataclass import dataclass
from mbcli.common.resources import drakes_cache
from mbcli.errors import ResourceError
from mbcli.parsers import package_map


@dataclass
class RemotePackage:
    """Where a package could be fetched from.

    Args:
        urls: of archives of it.
        sha256: of the archive, 64 hexadecimal digits.
        archive_type: of the archive, as "zip"; by its name if not given.
        strip_prefix: the folder in the archive that is the package.
    """

    urls: list[str]
    sha256: str = ""
    archive_type: str | None = None
    strip_prefix: str | None = None

    def ToJson(self) -> str:
        """The fields as JSON."""
        return json.dumps(vars(self))


class PackageMap(package_map.PackageMap):
    """Directories of `package://NAME/path`: packages given by name or by a folder to search, then the environment."""

    RemoteParams = RemotePackage

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._remote: dict[str, RemotePackage] = {}

    def resolve_named(self, uri: str, base_dir: str | os.PathLike[str] | None = None) -> str:
        """As resolve(); an absolute path, or its file:// URI, may lead anywhere, as one that a program gives."""
        path = uri.removeprefix("file://")
        return os.path.normpath(path) if os.path.isabs(path) and os.path.exists(path) else self.resolve(uri, base_dir)

    def AddRemote(self, package_name: str, params: RemotePackage) -> None:
        """Names a package that lies elsewhere; nothing is ever fetched.

        A URL that needs it leads to the folder of that sha256 and prefix in the cache of packages that Drake keeps
        (`~/.cache/drake/package_map`), else to where other packages are found, as below MBCLI_PACKAGE_PATH; else it is
        an error. ResourceError if the sha256 is none, or the name has another package.
        """
        if not re.fullmatch("[0-9a-fA-F]{64}", params.sha256):
            raise ResourceError(f"package '{package_name}': sha256 has 64 hexadecimal digits, not '{params.sha256}'")
        if package_name in self._named or self._remote.setdefault(package_name, params) != params:
            raise ResourceError(f"package '{package_name}' is another one already")
        self._found.clear()

    def AddMap(self, other_map: PackageMap) -> None:
        """Gives all packages and folders of another map. ResourceError if a name has another package here."""
        other_map.give_to(self)

    def give_to(self, other: PackageMap) -> None:
        """Gives another map what this one was given."""
        other.find_drakes(self._drakes)
        for name, directory in self._named.items():
            other.add(name, directory)
        for name, params in self._remote.items():
            other.AddRemote(name, params)
        for directory in self._paths:
            other.add_path(directory)

    def fetched(self, name: str, tried: list[str]) -> str | None:
        """The directory in which Drake keeps a package that lies elsewhere; None if it is not there."""
        if name not in self._remote:
            return None
        remote = self._remote[name]
        prefix = sha256((remote.strip_prefix or "").encode()).hexdigest()
        folder = os.path.join(drakes_cache(), f"{remote.sha256}-{prefix}")
        if os.path.isdir(folder):
            return folder
        tried.append(f"nothing is fetched from the network, and {folder} is not there")
        return None

    def GetPackageNames(self) -> list[str]:
        """The packages given by name, those that lie elsewhere, and those in folders that were given."""
        names = {*self._named, *self._remote}
        for directory in self._paths:
            names |= set(self._search(directory))
        return sorted(names | {name for name in package_map.DRAKES_PACKAGES if self.Contains(name)})

    def size(self) -> int:
        """The number of GetPackageNames()."""
        return len(self.GetPackageNames())

    def PopulateFromEnvironment(self, environment_variable: str) -> None:
        """Searches the folders that a variable of the environment names, those that are there."""
        for folder in self._variable(environment_variable):
            if os.path.isdir(folder):
                self.add_path(folder)

    def PopulateFromRosPackagePath(self) -> None:
        """Does nothing: ROS_PACKAGE_PATH is searched in any case."""

    @staticmethod
    def MakeEmpty() -> PackageMap:
        """A new map."""
        return PackageMap()

    def Add(self, package_name: str, package_path: str | os.PathLike[str]) -> None:
        """Gives a package by name.

        Args:
          package_name: as in `package://NAME/`.
          package_path: its folder.

        Raises:
          ResourceError: the path is missing, or the name has another one.

        Example:
          >>> packages = PackageMap()
          >>> packages.Add("samples", "sample_models")
          >>> packages.Contains("samples")
          True
        """
        self.add(package_name, package_path)

    def AddPackageXml(self, filename: str | os.PathLike[str]) -> None:
        """Gives the package of a package.xml, by the name that it states. Raises ResourceError if it states none."""
        directory = os.path.dirname(os.path.abspath(filename))
        name = package_map.stated_name(directory) if os.path.basename(filename) == "package.xml" else None
        if not name:
            raise ResourceError(f"{os.fspath(filename)} is no package.xml that states a name")
        self.add(name, directory)

    def Remove(self, package_name: str) -> None:
        """Forgets a package of GetPackageNames(). Raises ResourceError if there is none."""
        if self._remote.pop(package_name, None) is None:
            self.remove(package_name)
        self._found.clear()

    def PopulateFromFolder(self, path: str | os.PathLike[str]) -> None:
        """Searches a folder for packages, when a URL first needs one. Raises ResourceError if it is missing."""
        self.add_path(path)

    def Contains(self, package_name: str) -> bool:
        """Whether the package can be found from the working directory, or is known to lie elsewhere."""
        if package_name in self._remote:
            return True
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

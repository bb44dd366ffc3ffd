"""PackageMap under the names of pydrake.multibody.parsing."""

from mbcli.errors import ResourceError
from mbcli.parsers import package_map


class PackageMap(package_map.PackageMap):
    """Where `package://NAME/path` leads: packages given by name or by a folder to search, then the environment."""

    def Add(self, package_name, package_path):
        """Gives a package by name. Raises ResourceError if the path is missing or the name has another one."""
        self.add(package_name, package_path)

    def Remove(self, package_name):
        """Forgets a package given by name. Raises ResourceError if there is none."""
        self.remove(package_name)

    def PopulateFromFolder(self, path):
        """Searches a folder for packages, when a URL first needs one. Raises ResourceError if it is missing."""
        self.add_path(path)

    def Contains(self, package_name):
        """Whether the package can be found from the working directory."""
        try:
            self.package_directory(package_name)
        except ResourceError:
            return False
        return True

    def GetPath(self, package_name):
        """The directory of a package. Raises ResourceError if it cannot be found."""
        return self.package_directory(package_name)

    def ResolveUrl(self, url):
        """The path of what a package:// or file:// URL names. Raises ResourceError."""
        return self.resolve(url)

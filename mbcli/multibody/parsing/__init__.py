"""Models from files into plants, under the names of pydrake.multibody.parsing."""

from mbcli.multibody.parsing.package_map import PackageMap
from mbcli.multibody.parsing.parser import Parser

__all__ = ["PackageMap", "Parser"]

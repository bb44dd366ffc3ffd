"""Models from files into plants, under the names of pydrake.multibody.parsing."""

from mbcli.multibody.parsing.parser import Parser
from mbcli.parsers.package_map import PackageMap

__all__ = ["PackageMap", "Parser"]

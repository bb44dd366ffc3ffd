"""Packages that an extra of mbcli installs, imported if a format or an option asks for them."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from mbcli.common.foreign_settings import without_settings_of_the_folder
from mbcli.errors import ResourceError


def install_line(extra: str) -> str:
    """The line that installs an extra."""
    return f"pip install 'mbcli[{extra}]'"


def missing_package(package: str, extra: str, what: str = "this format") -> ResourceError:
    """The error that says what needs the package, and the line that installs it."""
    return ResourceError(f"{what} needs the package {package}, which is not installed: {install_line(extra)}")


def require_extra(package: str, extra: str, what: str = "this format") -> None:
    """ResourceError if a package is not there, before it is imported."""
    if find_spec(package) is None:
        raise missing_package(package, extra, what)


def import_extra(name: str, extra: str, what: str = "this format") -> ModuleType:
    """The module of that name; ResourceError if its package is not there. what: that needs it."""
    try:
        with without_settings_of_the_folder():
            return import_module(name)
    except ImportError:
        raise missing_package(name.partition(".")[0], extra, what) from None

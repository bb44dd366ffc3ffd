"""Packages that an extra of mbcli installs, imported if a format or an option asks for them."""

from importlib import import_module
from types import ModuleType

from mbcli.errors import ResourceError


def import_extra(name: str, extra: str) -> ModuleType:
    """The module of that name; ResourceError with the line that installs it if its package is not there."""
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ImportError:
        raise ResourceError(
            f"this format needs the package {package}, which is not installed: pip install 'mbcli[{extra}]'"
        ) from None

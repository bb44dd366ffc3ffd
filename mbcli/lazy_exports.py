"""Public names of packages whose modules are imported when the names are asked for: a start imports what it uses."""

import sys
from importlib import import_module

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def lazy_exports(package: str, names: "Mapping[str, Sequence[str]]") -> "Callable[[str], object]":
    """The function `__getattr__` of a package, whose `dir()` has the names from then on.

    The package imports the same names under `if TYPE_CHECKING:`, where editors and type checkers find them.

    Args:
        package: its name.
        names: {module, by its name in the package or in mbcli: the names that are taken from it}.
    """
    modules = {name: module for module, those in names.items() for name in those}
    known = vars(sys.modules[package])
    known["__dir__"] = lambda: sorted({*known, *modules})

    def late_name(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        known[name] = getattr(import_module(module if module.startswith("mbcli.") else f"{package}.{module}"), name)
        return known[name]

    return late_name

"""Public names of packages whose modules are imported when the names are asked for: a start imports what it uses."""

import builtins
import sys
from _thread import RLock
from importlib import import_module
from importlib.util import find_spec

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

BLOCKS = RLock()  # one block at a time changes `__import__`


class LateName:
    """What an import statement of a block names, instead of what it is."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class LateModule:
    """What an import statement of a block takes names from, instead of the module."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, name: str) -> "LateName | list[str]":
        return public_names(self.module) if name == "__all__" else LateName(self.module, name)


def public_names(module: str) -> "list[str]":
    """The names that `from module import *` takes; a file that has an `__all__` is read for it, not run.

    A package of late names is run, which is cheap.
    """
    path = getattr(sys.modules.get(module) or find_spec(module), "origin", None)
    if path is not None:
        with open(path, encoding="utf-8") as file:
            _, found, rest = file.read().partition("\n__all__ = [")
        if found:
            return rest[: rest.index("]")].split('"')[1::2]
    return import_module(module).__all__


class lazy_exports:
    """A block of import statements that import when their names are asked for, in a module of public names.

        with lazy_exports(__name__):
            from mbcli.math.rigid_transform import RigidTransform as RigidTransform

    Its names become the module's `__all__`, and are in its `dir()`. Editors and type checkers read the statements as
    they stand; `as` with the same name tells them that the name is public.

    Args:
        package: the name of the module.
        others: names that the module defines itself and has in its `__all__`.
    """

    def __init__(self, package: str, *others: str) -> None:
        self.package, self.others, self.known = package, others, vars(sys.modules[package])

    def __enter__(self) -> None:
        BLOCKS.acquire()
        self.load = builtins.__import__
        builtins.__import__ = self.note  # type: ignore[assignment]  # modules that are none

    def __exit__(self, *error: object) -> None:
        builtins.__import__ = self.load
        BLOCKS.release()
        self.late = {name: value for name, value in self.known.items() if isinstance(value, LateName)}
        for name in self.late:
            del self.known[name]
        self.known["__all__"] = [*self.others, *self.late]
        self.known["__dir__"] = lambda: sorted({*self.known, *self.late})
        self.known["__getattr__"] = self.late_name

    def note(
        self,
        name: str,
        globals: "Mapping[str, object] | None" = None,
        locals: "Mapping[str, object] | None" = None,
        fromlist: "Sequence[str] | None" = (),
        level: int = 0,
    ) -> "ModuleType | LateModule":
        """`__import__` during the block: of its own statements it notes the names; other threads import as ever."""
        return LateModule(name) if globals is self.known else self.load(name, globals, locals, fromlist, level)

    def late_name(self, name: str) -> object:
        if name not in self.late:
            raise AttributeError(f"module {self.package!r} has no attribute {name!r}")
        source = self.late[name]
        self.known[name] = getattr(import_module(source.module), source.name)
        return self.known[name]

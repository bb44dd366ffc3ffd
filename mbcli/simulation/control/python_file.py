"""Controllers in files of Python: FILE.py or FILE.py:NAME."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any

from mbcli.common.foreign_settings import without_settings_of_the_folder
from mbcli.errors import ControlError, ResourceError
from mbcli.parsers.diagnostics import printable

if TYPE_CHECKING:
    from types import ModuleType

DEFAULT = ("controller", "Controller")
_TEXT = re.compile(r"(?P<path>.+\.py)(?::(?P<name>\w+))?")


def python_file(text: str) -> tuple[str, str | None] | None:
    """(path, name or None) of FILE.py[:NAME]; None if a text is not that but a command."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    path = found["path"]
    if any(space in path for space in " \t") and not os.path.exists(path):
        return None  # `python3 controller.py`
    return path, found["name"]


def load_controller(path: str, name: str | None) -> Any:
    """The function or class of that name in a file; without a name `controller` or `Controller`.

    ResourceError if there is no such file, ControlError if it does not run or has no such name.
    """
    if not os.path.isfile(path):
        raise ResourceError(f"{printable(path)}: error: there is no such file")
    module = _run(path)
    if name is not None:
        if not hasattr(module, name):
            raise ControlError(f"{path}: error: has no '{name}'; it has {_listed(module)}")
        return getattr(module, name)
    found = [each for each in DEFAULT if hasattr(module, each)]
    if len(found) != 1:
        many = "both" if found else "neither"
        raise ControlError(
            f"{path}: error: has {many} of {' and '.join(DEFAULT)}: say FILE.py:NAME; it has {_listed(module)}"
        )
    return getattr(module, found[0])


def _run(path: str) -> ModuleType:
    """The module of a file; what it imports from its own folder is found, before packages that are installed."""
    path = os.path.abspath(path)
    name = f"controller_{os.path.splitext(os.path.basename(path))[0]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ControlError(f"{path}: error: is not a file of Python")
    module = importlib.util.module_from_spec(spec)
    folder = os.path.dirname(path)
    # behind Python's own modules: a `queue.py` beside it is none of them
    sys.path.insert(_end_of_standard_library(), folder)
    sys.modules[name] = module  # classes in it can be pickled
    try:
        with without_settings_of_the_folder():
            spec.loader.exec_module(module)
    except SyntaxError as error:
        raise ControlError(f"{error.filename}:{error.lineno}: error: {error.msg}") from None
    except Exception as error:  # noqa: BLE001  whatever the file raises
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        place = f"{path}:{frames[-1].lineno}" if frames else path
        raise ControlError(f"{place}: error: raised {type(error).__name__} when it was read: {error}") from None
    except SystemExit:
        raise ControlError(f"{path}: error: ended the program when it was read") from None
    finally:
        sys.path.remove(folder)
    return module


def _end_of_standard_library() -> int:
    """How many entries of the path of modules stand up to the modules that Python brings along."""
    standard = os.path.dirname(os.__file__)
    own = [k for k, entry in enumerate(sys.path) if entry in (standard, os.path.join(standard, "lib-dynload"))]
    return max(own, default=-1) + 1


def _listed(module: ModuleType) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and inspect.getmodule(value) is module
    ]
    return ", ".join(own) or "no function and no class"

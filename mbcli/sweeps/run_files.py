"""Controllers, plans and pushes of the runs of a sweep: as texts that mean the same in another process, and back."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import source_from_cache
from typing import TYPE_CHECKING, Any

import mbcli.parsers
from mbcli.common.argument_names import argument
from mbcli.common.user_cache import user_cache
from mbcli.errors import ArgumentError, ResourceError
from mbcli.simulation.control.choices import ControllerChoice, Follow
from mbcli.simulation.control.python_file import python_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def as_texts(run: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Arguments of RecordedRun as numbers and texts; and {file that they name: SHA-256}.

    ArgumentError for a controller or a push that is no text, ResourceError for a file that is not there.
    """
    found, files = dict(run), list[str]()
    if run.get("controller") is not None:
        found["controller"] = _controller(run["controller"], files)
    if run.get("trajectory") is not None:
        given = run["trajectory"]
        follow = given if isinstance(given, Follow) else Follow(os.fspath(given))
        path = _own(follow.path, files)
        found["trajectory"] = {"path": path, "way": follow.way, "interpolation": follow.interpolation}
    if run.get("pushes"):
        found["pushes"] = list(_pushes(run["pushes"], files))
    return found, digests_of(files)


def from_texts(run: Mapping[str, Any]) -> dict[str, Any]:
    """The contrary of as_texts()."""
    found = dict(run)
    if found.get("controller") is not None:
        found["controller"] = ControllerChoice(**found["controller"])
    if found.get("trajectory") is not None:
        found["trajectory"] = Follow(**found["trajectory"])
    return found


def _controller(given: Any, files: list[str]) -> dict[str, Any]:
    choice = given if isinstance(given, ControllerChoice) else ControllerChoice(given)
    if not isinstance(choice.given, (str, os.PathLike)):
        raise ArgumentError(f"{argument('controller')}: a sweep takes FILE.py:NAME or a command, for other processes")
    text = os.fspath(choice.given)
    file = python_file(text)
    if file is not None:
        path, name = file
        text = _own(path, files) + (f":{name}" if name else "")
    asked = {"rate": choice.rate, "limit": choice.limit, "pickles": choice.pickles}
    return {"given": text, **asked, "delay": choice.delay, "quantum": choice.quantum}


def _pushes(given: str | Iterable[Any], files: list[str]) -> Iterable[str]:
    for push in [given] if isinstance(given, (str, os.PathLike)) else given:
        if not isinstance(push, (str, os.PathLike)):
            raise ArgumentError(f"{argument('pushes')}: a sweep takes texts and tables")
        text = os.fspath(push)
        yield text if "=" in text else _own(text, files)


def _own(path: str, files: list[str]) -> str:
    files.append(os.path.abspath(path))
    return files[-1]


def digests_of(paths: Iterable[str]) -> dict[str, str]:
    """{file: SHA-256}. ResourceError for a file that is not there."""
    return {path: _digest(path) for path in paths}


@contextmanager
def opened_beside(controller: Mapping[str, Any] | None) -> Iterator[list[str]]:
    """The files that Python opens for reading in this block, below the folder of a controller's file or the working
    one, as weights; and the modules that lie below the former. controller: as as_texts() has it.
    """
    file = None if controller is None else python_file(controller["given"])
    found: list[str] = []
    if file is None:
        yield found
        return
    folder = os.path.dirname(os.path.abspath(file[0])) + os.sep
    here = os.getcwd().rstrip(os.sep) + os.sep
    opened: list[str] = []
    _hook()
    _listening.append(opened)
    try:
        yield found
    finally:
        _listening[:] = [each for each in _listening if each is not opened]
        modules = (os.path.abspath(getattr(module, "__file__", None) or "") for module in list(sys.modules.values()))
        named = [*map(_source_of, opened), *(path for path in modules if path.startswith(folder))]
        installed = tuple(f"{place}{os.sep}" for place in (sys.prefix, sys.base_prefix, user_cache(), *_OWN))
        own = {path for path in named if path.startswith((folder, here)) and not path.startswith(installed)}
        found += sorted(filter(os.path.isfile, own))


_OWN = tuple(os.path.dirname(os.path.abspath(str(module.__file__))) for module in (mbcli, mbcli.parsers))
_listening: list[list[str]] = []


@cache
def _hook() -> None:
    """There is no way to take it away."""
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _listening and isinstance(arguments[0], str):
        mode, flags = arguments[1:3]
        if (mode or "r").startswith("r") and not flags & (os.O_WRONLY | os.O_RDWR):
            for opened in _listening:
                opened.append(arguments[0])


def _source_of(path: str) -> str:
    """The absolute path of a file; of a compiled module that of its source."""
    path = os.path.abspath(path)
    with suppress(ValueError, NotImplementedError):
        return source_from_cache(path)
    return path


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise ResourceError(f"{path}: error: {error.strerror}") from None

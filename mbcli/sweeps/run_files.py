"""Controllers, plans and pushes of the runs of a sweep: as texts that mean the same in another process, and back."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError, ResourceError
from mbcli.simulation.control.choices import ControllerChoice, Follow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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
    return found, {path: _digest(path) for path in files}


def from_texts(run: Mapping[str, Any]) -> dict[str, Any]:
    """The contrary of as_texts()."""
    found = dict(run)
    if found.get("controller") is not None:
        found["controller"] = ControllerChoice(**found["controller"])
    if found.get("trajectory") is not None:
        found["trajectory"] = Follow(**found["trajectory"])
    return found


def _controller(given: Any, files: list[str]) -> dict[str, Any]:
    from mbcli.simulation.control.python_file import python_file

    choice = given if isinstance(given, ControllerChoice) else ControllerChoice(given)
    if not isinstance(choice.given, (str, os.PathLike)):
        raise ArgumentError(f"{argument('controller')}: a sweep takes FILE.py:NAME or a command, for other processes")
    text = os.fspath(choice.given)
    file = python_file(text)
    if file is not None:
        path, name = file
        text = _own(path, files) + (f":{name}" if name else "")
    return {"given": text, "rate": choice.rate, "limit": choice.limit, "pickles": choice.pickles}


def _pushes(given: str | Iterable[Any], files: list[str]) -> Iterable[str]:
    for push in [given] if isinstance(given, (str, os.PathLike)) else given:
        if not isinstance(push, (str, os.PathLike)):
            raise ArgumentError(f"{argument('pushes')}: a sweep takes texts and tables")
        text = os.fspath(push)
        yield text if "=" in text else _own(text, files)


def _own(path: str, files: list[str]) -> str:
    files.append(os.path.abspath(path))
    return files[-1]


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise ResourceError(f"{path}: error: {error.strerror}") from None

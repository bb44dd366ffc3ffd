"""The model files below a folder, for `mbcli check FOLDER`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mbcli.errors import ModelError, ResourceError
from mbcli.parsers.file_format import format_of
from mbcli.parsers.formats import FORMATS, format_of_name

if TYPE_CHECKING:
    from collections.abc import Iterator

XACRO = ".xacro"


def model_files(folder: str, *, xacro: bool = False) -> list[str]:
    """The paths of the robots, worlds and directives below a folder, in the order of their names.

    XML files count if their root element is one of a model; xacro files if they may be expanded. Folders and files that
    begin with a point are left out, and links to folders, which may lead in circles. ResourceError if there is none.
    """
    if not os.access(folder, os.R_OK | os.X_OK):
        raise ResourceError(f"{folder}: Permission denied")
    found = [path for path in _files(folder) if _is_model(path, xacro)]
    if not found:
        raise ResourceError(f"{folder}: there is no model file below this folder")
    return found


def _files(folder: str) -> Iterator[str]:
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(directory, name) for name in sorted(names) if not name.startswith("."))


def _is_model(path: str, xacro: bool) -> bool:
    name = path.lower()
    if not os.path.isfile(path):
        return False
    suffix = os.path.splitext(name)[1]
    if suffix == XACRO:
        return xacro
    if suffix != ".xml":
        known = format_of_name(name)
        return known is not None and FORMATS[known].IN_FOLDERS
    try:
        format_of(path, path)
    except (ModelError, ResourceError):
        return False
    return True

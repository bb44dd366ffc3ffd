"""File names that were written for another system: with Windows' `\\`, percent-encoded, in letters of another case.

Where a name leads to no file, the file that it means is taken if only separators or percent-encoding differ; a file
whose letters differ in case is named in the message, since another computer may have both.
"""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mbcli.common.suggestions import closest
from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    LookUp: TypeAlias = Callable[[str, str | os.PathLike[str] | None], str]

MOST_ENTRIES = 10_000  # of a directory, in which a name of other case is looked for

_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_DRIVE = re.compile(r"(?:file:/*)?[A-Za-z]:[\\/]")


def resolve_spelled(uri: str, base_dir: str | os.PathLike[str] | None, look_up: LookUp) -> tuple[str, str | None]:
    """(path, None) of a URI; or (path, note) where it leads to a file only as it is written on this system.

    look_up: of a `PackageMap`: resolve or resolve_model. Raises its ResourceError if no spelling leads to a file.
    """
    try:
        return look_up(uri, base_dir), None
    except ResourceError as error:
        problem = str(error)
    path = find_spelled(uri, base_dir, look_up)
    if path is None:
        raise ResourceError(problem + what_was_tried(uri))
    return path, f'"{uri}" leads to no file: {path} is taken'


def find_spelled(uri: str, base_dir: str | os.PathLike[str] | None, look_up: LookUp) -> str | None:
    """The path to which another spelling of a URI leads; None without one."""
    for other in spellings(uri):
        try:
            return look_up(other, base_dir)
        except ResourceError:
            continue
    return None


def what_was_tried(uri: str) -> str:
    """The end of a message on a URI that leads to no file, nor do its spellings."""
    if _DRIVE.match(uri):
        return "; it is a place on a computer with Windows"
    return "".join(f'; nor does "{other}" lead to a file' for other in spellings(uri))


def spellings(uri: str) -> Iterator[str]:
    """What a URI or path that leads to no file can mean."""
    match = _SCHEME.match(uri)
    scheme = match[0] if match else ""
    rest = uri[len(scheme) :]
    names = [rest, rest.replace("\\", "/")] if "\\" in rest else [rest]
    if _PERCENT.search(rest):
        # look-ups decode a URI, not a path: the other way is tried
        names += [name.replace("%", "%25") if scheme else unquote(name) for name in names]
    return (scheme + name for name in names[1:] if "\0" not in name)


def of_other_case(path: str, root: str) -> str | None:
    """The file below a directory whose name differs from a path in the case of letters only; None without one."""
    if not path.startswith(root.rstrip(os.sep) + os.sep):
        return None
    found = root
    for name in os.path.relpath(path, root).split(os.sep):
        if not os.path.lexists(os.path.join(found, name)):
            other = _entry_of_other_case(found, name)
            if other is None:
                return None
            name = other
        found = os.path.join(found, name)
    return found


def _entry_of_other_case(directory: str, name: str) -> str | None:
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in islice(entries, MOST_ENTRIES)]
    except OSError:
        return None
    return min((entry for entry in names if entry.casefold() == name.casefold()), default=None)


def similar_file(path: str, root: str) -> str | None:
    """The file that a path to none probably means: in its folder one of that name and another suffix, or of a name that
    is nearly so, or elsewhere below a directory one of that name; None without one."""
    folder, wanted = os.path.split(path)
    stem = os.path.splitext(wanted)[0].casefold()
    names = _files_in(folder)
    of_stem = [name for name in names if os.path.splitext(name)[0].casefold() == stem]
    likely = of_stem[0] if of_stem else closest(wanted, names)
    if likely is not None:
        return os.path.join(folder, likely)
    return next((found for found in _files_named(wanted, root) if found is not None), None)


def spelled_alike(path: str, root: str) -> str | None:
    """The only file below a directory that a path to none can mean: of its place but for the case of letters, else of
    its name; None if there are several, or more entries than are looked at."""
    found = list(_files_named(os.path.basename(path), root))
    of_place = [each for each in found if each is not None and each.casefold() == path.casefold()]
    meant = of_place or found
    return meant[0] if len(meant) == 1 and None not in found else None


def _files_named(wanted: str, root: str) -> Iterator[str | None]:
    """The files below a directory of a name, whatever the case of its letters; None at the end if there are more
    entries than are looked at."""
    seen = 0
    for directory, folders, _ in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names = _files_in(directory)
        yield from (os.path.join(directory, name) for name in names if name.casefold() == wanted.casefold())
        seen += len(names) + len(folders)
        if seen > MOST_ENTRIES:
            yield None
            return


def _files_in(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in islice(entries, MOST_ENTRIES) if entry.is_file()]
    except OSError:
        return []
    return sorted(name for name in names if not name.startswith("."))

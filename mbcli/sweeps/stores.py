"""Places of the outputs of a sweep: files, or objects of a store that fsspec knows (extra `s3`): s3://, gs://.

A store has no files that grow and no locks. An object is there whole or not at all: a transaction of fsspec gives it
its name after its last byte.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mbcli.common import output_files
from mbcli.common.argument_names import argument
from mbcli.common.extra_packages import import_extra, install_line
from mbcli.common.left_behind import folder_prefix
from mbcli.errors import OutputError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCAL = ("file://", "local://")
PIECE = 1 << 22  # bytes that are read at once
FETCHED_AT_ONCE = 8  # objects, which are in memory together

_writing = threading.Lock()  # a transaction has all that its file system writes, in whatever thread
_writers: dict[str, Any] = {}  # file systems that nobody else has


def is_address(place: str) -> bool:
    """Whether a place is one of a store."""
    return "://" in place


def as_place(text: str) -> str:
    """A place as it was given; that of a file by its path."""
    return next((text[len(scheme) :] for scheme in LOCAL if text.startswith(scheme)), text)


def exists(place: str) -> bool:
    """Whether something is there."""
    if not is_address(place):
        return os.path.exists(place)
    with _reading(place):
        files, path = file_system(place)
        files.invalidate_cache()
        return files.exists(path)


def refuse_existing(place: str, force: bool) -> None:
    """OutputError if something is there that `force` does not give free."""
    if not is_address(place):
        output_files.refuse_existing(place, force)
    elif not force and exists(place):
        raise OutputError(f"{place}: error: exists already; {argument('force', True)} replaces it")


def names_in(folder: str) -> list[str]:
    """The names in a folder, in order; none if it is not there."""
    if not is_address(folder):
        with suppress(OSError):
            return sorted(os.listdir(folder or "."))
        return []
    with _reading(folder):
        files, path = file_system(folder)
        files.invalidate_cache()
        with suppress(FileNotFoundError, NotADirectoryError):
            found = [name.rstrip("/") for name in files.ls(path, detail=False)]
            marker = path.rstrip("/")  # that some programs make of a folder
            return sorted(name.rpartition("/")[2] for name in found if name != marker)
        return []


@contextmanager
def written(place: str) -> Iterator[str]:
    """The name of an empty file, which is put in a place once the block has ended well. OutputError if it cannot."""
    if not is_address(place):
        try:
            with output_files.replacing(place) as name:
                yield name
        except OSError as error:
            raise OutputError(f"{place}: error: cannot be written: {error.strerror or error}") from None
        return
    with tempfile.TemporaryDirectory(prefix=folder_prefix("store")) as folder:
        name = os.path.join(folder, "content")
        open(name, "xb").close()
        yield name
        with open(name, "rb") as content:
            put(place, content)


def write_bytes(place: str, content: bytes) -> None:
    """Puts some bytes in a place, whole or not at all. OutputError if that fails."""
    if is_address(place):
        put(place, io.BytesIO(content))
        return
    try:
        output_files.write_in_place(place, content)
    except OSError as error:
        raise OutputError(f"{place}: error: cannot be written: {error.strerror or error}") from None


def put(place: str, content: Any) -> None:
    """Puts what a stream has in a place of a store, whole or not at all. OutputError if that fails."""
    path = file_system(place)[1]
    start = "/".join(place.split("/", 3)[:3])
    try:
        with _writing:
            if start not in _writers:
                _writers[start] = file_system(place, skip_instance_cache=True)[0]
            with _writers[start].transaction, _writers[start].open(path, "wb") as target:
                shutil.copyfileobj(content, target, PIECE)
    except Exception as error:  # whatever a store raises
        raise OutputError(f"{place}: error: cannot be written: {_told(error)}") from None


def fetch(folder: str, names: list[str], path: str) -> None:
    """Writes what objects of a folder have to a file here, in their order. ResourceError if that fails."""
    with _reading(folder), open(path, "wb") as file:
        files, top = file_system(folder)
        for k in range(0, len(names), FETCHED_AT_ONCE):
            paths = [f"{top.rstrip('/')}/{name}" for name in names[k : k + FETCHED_AT_ONCE]]
            found = files.cat(paths) if len(paths) > 1 else {paths[0]: files.cat_file(paths[0])}
            file.writelines(found[each] for each in paths)


@contextmanager
def read_here(place: str) -> Iterator[str]:
    """The name of a file on this machine with what a place has. ResourceError if it cannot be read."""
    if not is_address(place):
        yield place
        return
    with tempfile.TemporaryDirectory(prefix=folder_prefix("store")) as folder:
        name = os.path.join(folder, "content")
        with _reading(place):
            files, path = file_system(place)
            with files.open(path, "rb") as content, open(name, "xb") as file:
                shutil.copyfileobj(content, file, PIECE)
        yield name


def remove(place: str) -> None:
    """Removes an object or a file."""
    try:
        if is_address(place):
            files, path = file_system(place)
            files.rm_file(path)
        else:
            os.unlink(place)
    except FileNotFoundError:
        pass
    except Exception as error:  # whatever a store raises
        raise OutputError(f"{place}: error: cannot be removed: {_told(error)}") from None


def file_system(place: str, **options: Any) -> tuple[Any, str]:
    """The file system of an address, and the path in it. ResourceError if its package is not there."""
    fsspec = import_extra("fsspec", "s3", f"{place}: a store")
    try:
        return fsspec.core.url_to_fs(place, **options)
    except ImportError as error:
        cure = f": {install_line('s3')}" if place.startswith(("s3://", "s3a://")) else ""
        raise ResourceError(f"{place}: error: {error}{cure}") from None
    except ValueError as error:
        raise ResourceError(f"{place}: error: is no address of a store: {error}") from None


@contextmanager
def _reading(place: str) -> Iterator[None]:
    try:
        yield
    except ResourceError:
        raise
    except Exception as error:  # whatever a store raises
        raise ResourceError(f"{place}: error: cannot be read: {_told(error)}") from None


def _told(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__

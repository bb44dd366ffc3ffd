"""Whether a result may be written to a file: nothing that exists is replaced by accident, and no input at all."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from mbcli.common.argument_names import argument
from mbcli.common.left_behind import maker, remove_left
from mbcli.errors import OutputError

ATTEMPTS = 16
MOST_OF_NAME = 100  # characters, so that a long name has room for more
DESCRIPTORS = ("/dev", "/proc/")  # folders whose links are the open files of a process
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def refuse_existing(path: str, force: bool) -> None:
    """OutputError if a file is there that `force` does not give free, or a folder."""
    if os.path.isdir(path):
        raise OutputError(f"{path}: error: is a directory")
    refuse_missing_folder(path)
    if os.path.lexists(path) and not force:
        raise OutputError(f"{path}: error: exists already; {argument('force', True)} replaces it")


def refuse_missing_folder(path: str) -> None:
    """OutputError if the folder that a file is to be in is not there, or is no folder: an address of a store."""
    if "://" in path:
        cure = "write it to a disk, and copy it there when it is whole"
        raise OutputError(f"{path}: error: cannot be written: only tables of sweeps go to a store; {cure}")
    folder = os.path.dirname(path.rstrip("/" + os.sep))
    if folder and not os.path.isdir(folder):
        if os.path.lexists(folder):
            raise OutputError(f"{path}: error: cannot be written: {folder} is no folder")
        from shlex import quote  # late, for an error

        cure = f"`mkdir -p {quote(folder)}` makes it"
        raise OutputError(f"{path}: error: cannot be written: there is no folder {folder}; {cure}")


def is_special(path: str) -> bool:
    """Whether it is a pipe or device, which are written to as they are."""
    if os.path.islink(path) and os.path.dirname(os.path.abspath(path)).startswith(DESCRIPTORS):
        return True  # /dev/stdout, whatever it leads to
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def new_file(path: str | os.PathLike[str], suffix: str = "", mode: int = 0o666) -> tuple[int, str]:
    """(descriptor, name) of a new, empty file beside a path, under a random name that no link can stand for.

    Those that killed processes have left beside it are removed.
    """
    folder, base = os.path.split(os.fspath(path))
    start = f".{base[:MOST_OF_NAME]}."
    remove_left(folder, start)
    for _ in range(ATTEMPTS):
        name = os.path.join(folder, f"{start}{maker()}{os.urandom(8).hex()}.partial{suffix}")
        with suppress(FileExistsError):
            return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINK, mode), name
    raise FileExistsError(f"{path}: names beside it are taken")


@contextmanager
def replacing(path: str | os.PathLike[str], suffix: str = "", mode: int = 0o666) -> Iterator[str]:
    """The name of a new, empty file beside a path, which takes its place once the block has ended well.

    A link in that place is replaced, not followed. suffix: that the name must have for the program that writes it.
    mode: who may read and write it, within the umask. All writers of files go by this.
    """
    descriptor, name = new_file(path, suffix, mode)
    os.close(descriptor)
    try:
        yield name
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def write_in_place(path: str | os.PathLike[str], content: bytes, mode: int = 0o666) -> None:
    """Writes a file in one piece, in the place of what is there."""
    with replacing(path, mode=mode) as name, open(name, "r+b", buffering=0) as file:
        left = memoryview(content)
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())


def refuse_inputs(path: str, inputs: Iterable[str]) -> None:
    """OutputError if the file at path is one of the inputs ('-': stdin): `force` is not for them."""
    if not os.path.isfile(path):
        return
    here = os.stat(path)
    for name in inputs:
        there = _status(name)
        if there is not None and os.path.samestat(here, there):
            raise OutputError(f"{path}: error: is an input of this command; its result needs another name")


def _status(name: str) -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno()) if name == "-" else os.stat(name)
    except (OSError, ValueError, AttributeError):  # no file of that name; a name with a zero; no stdin
        return None

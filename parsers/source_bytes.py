"""The bytes of a file that a parser reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mbcli.parsers.spec import SourceLocation

from mbcli.common import git_lfs

if TYPE_CHECKING:
    from mbcli.parsers.diagnostics import Diagnostics


def named_content(
    source: str | os.PathLike[str] | bytes, most: int, name: str | None, diagnostics: Diagnostics
) -> tuple[str, bytes | None]:
    """(name in places, content) of a path or of the bytes of a document; the first one is the main file."""
    name = name or ("<string>" if isinstance(source, bytes) else str(source))
    content = source if isinstance(source, bytes) else read_bytes(source, most, name, diagnostics)
    if diagnostics.main_file is None:
        diagnostics.main_file = name
    return name, content


def read_bytes(path: str | os.PathLike[str], most: int, name: str, diagnostics: Diagnostics) -> bytes | None:
    """The content of a file, at most `most` bytes; None if it cannot be read, which is an error at `name`."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size  # 0 of what is no file, as a device
            content = file.read(min(most, size + 1))
            content = content if len(content) <= size else content + file.read(most - len(content))
        if not git_lfs.is_pointer(content):
            return content
        diagnostics.error("FILE_READ", f"cannot read the file: {git_lfs.ADVICE}", place=SourceLocation(name))
    except OSError as error:
        diagnostics.error("FILE_READ", f"cannot read the file: {error.strerror or error}", place=SourceLocation(name))
    except ValueError:  # a null character in the path
        diagnostics.error("FILE_READ", "cannot read the file: its name is not valid", place=SourceLocation(name))
    return None

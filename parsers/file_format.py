"""The place of a model file, and its format: by the suffix or the root element."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from mbcli.parsers.formats import OF_ROOT_ELEMENT, format_of_name

from mbcli.common import git_lfs
from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from mbcli.parsers.package_map import PackageMap

SNIFFED_BYTES = 65536  # of a file, to find its root element
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"

_SKIPPED = re.compile(r"(?:\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^>\[]*+\[.*?\]\s*>|<![^>]*>)*+", re.DOTALL)
_ROOT = re.compile(r"<([^\s/>!?]+)")


def find_model_file(source: str | os.PathLike[str], packages: PackageMap) -> str:
    """The path of an existing file."""
    source = os.fspath(source)
    if "://" in source:
        source = packages.resolve(source)
    if not os.path.exists(source):
        raise ResourceError(f"{source}: no such file")
    if os.path.isdir(source):
        raise ResourceError(f"{source}: is a directory, not a model file")
    return source


def format_of(source: str | bytes, name: object) -> str:
    """The format of a file, by its path or its content (bytes): a name of FORMATS."""
    if isinstance(source, bytes):
        return _format_of_content(source[:SNIFFED_BYTES], name)
    known = format_of_name(source)
    if known is not None:
        return known
    if not os.path.isfile(source):
        raise ModelError(f"{source}: it is not a regular file: its format must be given")
    try:
        with open(source, "rb") as file:
            return _format_of_content(file.read(SNIFFED_BYTES), name)
    except OSError as error:
        raise ResourceError(f"{source}: {error.strerror}") from None


def _format_of_content(content: bytes, name: object) -> str:
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    skipped = _SKIPPED.match(text)
    root = _ROOT.match(text, skipped.end() if skipped else 0)
    if root is None or root[1] not in OF_ROOT_ELEMENT:
        found = f"its root element is <{root[1]}>" if root else "it has no root element"
        found = git_lfs.ADVICE if git_lfs.is_pointer(content) else found
        found = "it is HDF5; mbcli replay shows a log" if content.startswith(HDF5_SIGNATURE) else found
        raise ModelError(f"{name if isinstance(name, str) else '<string>'}: not a model file: {found}")
    return OF_ROOT_ELEMENT[root[1]]

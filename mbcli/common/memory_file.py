"""Contents of files that are kept in memory, under the names of pydrake.common."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from os import PathLike


class Sha256(NamedTuple):
    """A SHA-256 sum as 64 hexadecimal digits; without an argument all are 0."""

    digits: str = "0" * 64

    @staticmethod
    def Checksum(data: bytes | str) -> Sha256:
        """That of some data, of a text in UTF-8."""
        return Sha256(hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest())

    @staticmethod
    def Parse(sha256: str) -> Sha256 | None:
        """The sum of a text; None if it is none."""
        good = len(sha256) == 64 and not sha256.lower().strip("0123456789abcdef")
        return Sha256(sha256.lower()) if good else None

    def to_string(self) -> str:
        """The digits."""
        return self.digits


class MemoryFile:
    """The contents of a file: bytes, or a text in UTF-8.

    Args:
        extension: of the name, as ".obj"; it is kept in lower case.
        filename_hint: what messages may call it.
    """

    def __init__(self, contents: bytes | str = b"", extension: str = "", filename_hint: str = "") -> None:
        if extension and not extension.startswith("."):
            raise RuntimeError(f"MemoryFile: the extension must be empty or begin with a dot, it is {extension!r}")
        contents = contents.encode() if isinstance(contents, str) else bytes(contents)
        self._parts: dict[str, Any] = {
            "contents": contents,
            "extension": extension.lower(),
            "filename_hint": filename_hint,
        }

    @staticmethod
    def Make(path: str | PathLike[str]) -> MemoryFile:
        """That of a file on disk; OSError if it cannot be read."""
        return MemoryFile(Path(path).read_bytes(), Path(path).suffix, str(path))

    def contents(self) -> bytes:
        """The bytes."""
        return self._parts["contents"]

    def extension(self) -> str:
        """As ".obj", or empty."""
        return self._parts["extension"]

    def filename_hint(self) -> str:
        """What messages may call it."""
        return self._parts["filename_hint"]

    def sha256(self) -> Sha256:
        """The sum of the contents."""
        return Sha256.Checksum(self.contents())

    def __repr__(self) -> str:
        return f"MemoryFile({', '.join(f'{name}={value!r}' for name, value in self._parts.items())})"

    def __getstate__(self) -> dict[str, Any]:
        return self._parts

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

"""Contents of files that are kept in memory, under the names of pydrake.common."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from mbcli.common.fast_dataclass import dataclass
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from os import PathLike


@dataclass(frozen=True)
class Sha256:
    """A SHA-256 sum as 64 hexadecimal digits; without an argument all are 0. They are ordered as their digits are."""

    digits: str = "0" * 64

    @staticmethod
    def Checksum(data: bytes | str) -> Sha256:
        """That of some data, of a text in UTF-8."""
        return Sha256(hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest())

    @staticmethod
    def Parse(sha256: str) -> Sha256 | None:
        """The sum of a text; None if it is none."""
        good = len(sha256) == 64 and all(digit in "0123456789abcdef" for digit in sha256.lower())
        return Sha256(sha256.lower()) if good else None

    def to_string(self) -> str:
        """The digits."""
        return self.digits

    def __lt__(self, other: Sha256) -> bool:
        return self.digits < other.digits


class MemoryFile:
    """The contents of a file.

    Args:
        contents: bytes, or a text in UTF-8.
        extension: of the name, as ".obj"; it is kept in lower case.
        filename_hint: what messages may call it, in one line.
    """

    def __init__(self, contents: bytes | str = b"", extension: str = "", filename_hint: str = "") -> None:
        if extension and not extension.startswith("."):
            raise RuntimeError(f"MemoryFile: the extension must be empty or begin with a dot, it is {extension!r}")
        if "\n" in filename_hint:
            raise RuntimeError("MemoryFile: the filename_hint must be in one line")
        self._contents = contents.encode() if isinstance(contents, str) else bytes(contents)
        self._extension, self._filename_hint = extension.lower(), filename_hint
        self._sha256 = Sha256.Checksum(self._contents)

    @staticmethod
    def Make(path: str | PathLike[str]) -> MemoryFile:
        """That of a file on disk; OSError if it cannot be read."""
        place = Path(path)
        return MemoryFile(place.read_bytes(), place.suffix, str(path))

    def contents(self) -> bytes:
        """The bytes."""
        return self._contents

    def extension(self) -> str:
        """As ".obj", or empty."""
        return self._extension

    def filename_hint(self) -> str:
        """What messages may call it."""
        return self._filename_hint

    def sha256(self) -> Sha256:
        """The sum of the contents."""
        return self._sha256

    @also_named(contents_limit="limit")
    def to_string(self, limit: int = 100) -> str:
        """What makes it again, with so many bytes of its contents at most; a negative limit means all."""
        shown = self._contents if limit < 0 or len(self._contents) <= limit else self._contents[:limit] + b"..."
        return f"MemoryFile(contents={shown!r}, extension={self._extension!r}, filename_hint={self._filename_hint!r})"

    def __repr__(self) -> str:
        return self.to_string()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryFile) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash((self._sha256, self._extension, self._filename_hint))

    def __getstate__(self) -> dict[str, object]:
        return {"contents": self._contents, "extension": self._extension, "filename_hint": self._filename_hint}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(**state)  # type: ignore[misc]

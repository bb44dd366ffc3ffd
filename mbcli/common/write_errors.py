"""Errors of the system while a result is written, that of HDF5 too, which hides them."""

from __future__ import annotations

import contextlib
import os
import re
from typing import IO, TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")


def reason_of_system(error: Exception) -> str:
    """Why the system does not read or write: HDF5 hides its number in a text of several lines."""
    number = error.errno if isinstance(error, OSError) else None
    if number is None:
        found = re.search(r"errno = (\d+)", str(error))
        number = int(found[1]) if found else None
    return os.strerror(number) if number else str(error).partition("\n")[0]


class ErrorKeeper:
    """A stream that never fails but keeps its first error.

    HDF5 cannot let go of a file on a full disk: it tries to write again when the file is closed, and again when
    the last object of it is collected, when Python can only print the error, or ends by SIGSEGV.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._error: OSError | None = None

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """Raises the kept error at the end, in place of that of HDF5."""
        try:
            yield
        finally:
            if self._error is not None:
                raise self._error

    def write(self, data: Any) -> int:
        self._try(self._stream.write, data)
        return len(data)

    def read(self, size: int) -> bytes:
        return self._try(self._stream.read, size) or b""

    def readinto(self, buffer: Any) -> int:
        stream: Any = self._stream  # a file: typing.IO is without this method
        return self._try(stream.readinto, buffer) or 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._try(self._stream.seek, offset, whence) or 0

    def tell(self) -> int:
        return self._try(self._stream.tell) or 0

    def truncate(self, size: int) -> int:
        return self._try(self._stream.truncate, size) or 0

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, call: Callable[..., Result], *arguments: Any) -> Result | None:
        if self._error is None:
            try:
                return call(*arguments)
            except OSError as error:
                self._error = error
        return None
